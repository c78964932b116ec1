/** Memory of video that is filled again: no one may see another picture in it than the one that he kept. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { silentLogger } from '../../src/platform/index.ts'
import { Spool } from '../../src/video/clips/spool.ts'
import { packetBytes, retimed, type Unit, UnitSplitter } from '../../src/video/format/transport-stream.ts'
import { giveBack, keep, takeBlock } from '../../src/video/format/video-blocks.ts'
import { History } from '../../src/video/history/history.ts'
import { Ring } from '../../src/video/stream/ring.ts'
import { freshGroup } from '../../src/video/stream/snapshot.ts'
import { footage } from '../support/footage.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { transportStream } from '../support/transport-stream.ts'

const clip = await footage('empty')
const stream = transportStream(clip, locateFfmpeg().path)
const tables = stream.subarray(0, 3 * packetBytes)
const splitter = new UnitSplitter()
const round = [...splitter.push(stream, 0), ...splitter.flush()].map((unit) => retimed(unit, unit.ptsMs))

/** Four minutes, 25 MB: far more than is kept. */
const minutes = Array.from({ length: 24 }, (_, i) =>
  round.map((unit) => retimed(unit, unit.ptsMs + i * clip.durationMs)),
).flat()

/** Has everything come to a ring in one turn of the event loop, at the time of its picture. */
function play(ring: Ring, units: readonly Unit[], clock?: SimulatedClock): void {
  for (const { bytes, ptsMs } of units) {
    clock?.advance(Math.max(ptsMs - clock.monotonic(), 0))
    ring.push(bytes, ptsMs)
  }
}

/** A picture of many packets, each with another content. */
function large(unit: Unit, packets: number): Buffer {
  const more = Array.from({ length: packets }, (_, i) => {
    const packet = Buffer.alloc(packetBytes, (i % 200) + 1)
    packet.set([0x47, 0x01, 0x00, 0x10 + (i % 16)])
    return packet
  })
  return Buffer.concat([unit.bytes, ...more])
}

t.test('pictures of any size come out as they went in, larger ones than a block too', async (t) => {
  const sizes = [1, 900, 1500, 0, 4000, 2, 30_000, 1, 700, 1394, 1395]
  const sent = sizes.map((packets, i) => large(round[i] as Unit, packets))
  const bytes = Buffer.concat([tables, ...sent])
  for (const step of [packetBytes - 1, 9973, 262_144, bytes.length]) {
    const known = new UnitSplitter({ timesAreKnown: true })
    const units: Unit[] = []
    for (let at = 0; at < bytes.length; at += step) units.push(...known.push(bytes.subarray(at, at + step), 0))
    const found = [...units, ...known.flush()].map((unit) => unit.bytes)
    t.ok(
      found.length === sent.length && found.every((one, i) => one.equals(sent[i] as Buffer)),
      `${found.length} pictures, in parts of ${step} bytes`,
    )
  }
})

t.test('a ring fills again what it gave up, and takes no memory for it', async (t) => {
  const ring = new Ring({ keepMs: 2000 })
  const blocks = new Set<ArrayBufferLike>()
  ring.subscribe({ unit: ({ bytes }) => blocks.add(bytes.buffer), broken: () => {} })
  ring.push(tables, 0)
  play(ring, minutes)
  const sizeBytes = [...blocks].reduce((sum, { byteLength }) => sum + byteLength, 0)
  t.ok(sizeBytes < 6 * 1024 * 1024, `${sizeBytes} bytes for ${minutes.length} pictures`)
})

t.test('what is kept stays as it is until it is given back by everybody', async (t) => {
  const block = takeBlock(1000)
  const bytes = block.subarray(0, 500)
  keep(bytes)
  keep(bytes)
  giveBack(block)
  giveBack(bytes)
  t.not(takeBlock(1000).buffer, block.buffer, 'somebody has it')
  giveBack(bytes)
  t.equal(takeBlock(1000).buffer, block.buffer)
})

t.test('a disk that comes to nothing while minutes of video arrive still gets the pictures as they were', async (t) => {
  const folder = join(t.testdir(), 'history')
  const [clock, ring] = [new SimulatedClock(0), new Ring({ keepMs: 0 })]
  const history = new History({ folder, clock, log: silentLogger(), freeBytes: () => 1000 })
  ring.push(tables, 0)
  history.keep(7, 1, ring)
  const written = minutes.slice(0, minutes.length / 4)
  play(ring, written, clock)
  await history.stop()
  const file = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))))
  const known = new UnitSplitter({ timesAreKnown: true })
  const found = [...known.push(file, 0), ...known.flush()]
  t.ok(found.length > written.length - 5, `${found.length} of ${written.length}`)
  const sent = new Map(written.map((unit) => [Math.round(unit.ptsMs), unit.bytes]))
  t.ok(found.every(({ bytes, ptsMs }) => bytes.equals(sent.get(Math.round(ptsMs)) as Buffer)))
})

t.test('so does a clip', async (t) => {
  const path = join(t.testdir(), 'clip.ts')
  const ring = new Ring({ keepMs: 2000 })
  ring.push(tables, 0)
  const [before, after] = [minutes.slice(0, 300), minutes.slice(300, 2000)]
  play(ring, before)
  const from = { fromMs: (before.at(-1) as Unit).ptsMs - 1000, notBeforeMs: -Infinity }
  const room = { take: () => true, giveBack: () => {} }
  const spool = new Spool({ path, ring, ...from, room, prepare: () => Promise.resolve() })
  play(ring, after)
  await spool.close(Infinity)
  const known = new UnitSplitter({ timesAreKnown: true })
  const found = [...known.push(readFileSync(path), 0), ...known.flush()]
  const sent = new Map(minutes.map((unit) => [Math.round(unit.ptsMs), unit.bytes]))
  t.ok(found.length > after.length, `${found.length} pictures`)
  t.ok(found.every(({ bytes, ptsMs }) => bytes.equals(sent.get(Math.round(ptsMs)) as Buffer)))
})

t.test('a clip has its whole pre-roll, also one of 4K with a minute before the motion', async (t) => {
  const path = join(t.testdir(), 'clip.ts')
  const ring = new Ring({ keepMs: 60_000 })
  ring.push(tables, 0)
  const past = minutes.slice(0, 80).map((unit) => ({ ...unit, bytes: large(unit, 5600) }))
  play(ring, past)
  t.ok(ring.sizeBytes > 70 * 1024 * 1024)
  const room = { take: () => true, giveBack: () => {} }
  const from = { fromMs: past[0]?.ptsMs ?? 0, notBeforeMs: -Infinity }
  const spool = new Spool({ path, ring, ...from, room, prepare: () => Promise.resolve() })
  t.match(await spool.close(Infinity), { cutShort: null })
  t.ok(readFileSync(path).includes(past[70]?.bytes as Buffer))
})

t.test('so does a snapshot that waits for its turn', async (t) => {
  const [clock, ring] = [new SimulatedClock(0), new Ring({ keepMs: 0 })]
  ring.push(tables, 0)
  play(ring, minutes.slice(0, 300), clock)
  const group = await freshGroup(ring, clock, 1000)
  const before = group?.units.map(({ bytes }) => Buffer.from(bytes)) ?? []
  play(ring, minutes.slice(300), clock)
  t.ok(before.length > 0 && group?.units.every(({ bytes }, i) => bytes.equals(before[i] as Buffer)))
})
