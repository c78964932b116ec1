import fc from 'fast-check'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { pictureSize } from '../../src/video/format/picture-size.ts'
import { packetBytes, retimed, type Unit, UnitSplitter } from '../../src/video/format/transport-stream.ts'
import { type Cut, Ring } from '../../src/video/stream/ring.ts'
import { footage } from '../support/footage.ts'
import { transportStream as written } from '../support/transport-stream.ts'

const ffmpeg = locateFfmpeg().path
const passer = await footage('passer')
const perSecond = passer.fps
const groupMs = passer.gopMs
const pictures = (passer.durationMs / 1000) * perSecond

/** The footage as the ingest's ffmpeg writes it; `offset` in seconds. */
const transportStream = (clip: Parameters<typeof written>[0], offset = '0') => written(clip, ffmpeg, offset)

const stream = transportStream(passer)

/** A ring into which each picture came at the time that it says. */
function filledRing(options: ConstructorParameters<typeof Ring>[0], rounds = 1): Ring {
  const ring = new Ring(options)
  const units = new UnitSplitter().push(stream, 0)
  const tables = stream.subarray(0, stream.length - units.reduce((sum, unit) => sum + unit.bytes.length, 0))
  ring.push(tables.subarray(0, 3 * packetBytes), 0)
  for (let round = 0; round < rounds; round += 1) {
    units.forEach((unit, i) => {
      ring.push(unit.bytes, 1_000_000 + round * passer.durationMs + (i * 1000) / perSecond)
    })
  }
  return ring
}

function bytesOf(cut: Cut | undefined): Buffer {
  return cut ? Buffer.concat([cut.tables, ...cut.units.map((unit) => unit.bytes)]) : Buffer.alloc(0)
}

t.test('a key frame states its size, in every codec, up to 4K', async (t) => {
  for (const name of ['passer', 'passer-hevc', 'counted-8mbit', 'counted-4k', 'counted-mjpeg'] as const) {
    const { width, height, ...clip } = await footage(name)
    const splitter = new UnitSplitter()
    const [first] = splitter.push(transportStream(clip).subarray(0, 4 << 20), 0)
    t.same(first && pictureSize(first, splitter.codec), { width, height }, name)
  }
})

t.test(
  'pictures are punctual once enough of them have come, until one is late, and again when they have caught up',
  async (t) => {
    const ring = new Ring({ keepMs: 5000 })
    const splitter = new UnitSplitter()
    const units = splitter.push(stream, 0)
    ring.push(splitter.tables.subarray(0, 2 * packetBytes), 0)
    const everyMs = 1000 / perSecond
    let nowMs = 1_000_000
    /** Plays so many pictures, of which the camera has taken `behind` more by then. */
    const play = (count: number, behind: number) => {
      for (let i = 0; i < count; i += 1) {
        const [number, unit] = [played, units[played % units.length] as Unit]
        played += 1
        nowMs = 1_000_000 + (number + behind) * everyMs
        ring.push(retimed(unit, number * everyMs).bytes, nowMs)
      }
    }
    let played = 0
    t.notOk(ring.isPunctual(nowMs), 'nothing has come')
    play(9 * perSecond, 0)
    t.notOk(ring.isPunctual(nowMs), 'how late the first ones were is not known yet')
    play(3 * perSecond, 0)
    t.ok(ring.isPunctual(nowMs))
    t.ok(ring.isPunctual(nowMs + 2 * everyMs))
    t.notOk(ring.isPunctual(nowMs + 500), 'nothing has come for a while')
    play(perSecond, perSecond)
    t.notOk(ring.isPunctual(nowMs), 'a second late')
    play(perSecond, 0)
    t.ok(ring.isPunctual(nowMs))
    ring.restart()
    t.notOk(ring.isPunctual(nowMs), 'another process')
  },
)

t.test('the video since the newest key frame is counted, also when it is no longer held', async (t) => {
  const ring = new Ring({ keepMs: 1000, maxBytes: 20_000 })
  const splitter = new UnitSplitter()
  const units = splitter.push(stream, 0)
  ring.push(splitter.tables, 0)
  for (const [i, unit] of units.entries()) if (i === 0 || !unit.key) ring.push(unit.bytes, i * 67)
  t.equal(Math.round(ring.keylessMs / 1000), Math.round(passer.durationMs / 1000))
})

t.test('a transport stream is cut into its pictures, and key frames are known', async (t) => {
  const splitter = new UnitSplitter()
  const units = splitter.push(stream, 7)
  t.equal(units.length, pictures - 1, 'the last one is complete when another begins')
  t.same(
    units.flatMap((unit, i) => (unit.key ? [i] : [])),
    [0, 1, 2, 3].map((second) => second * perSecond),
  )
  t.equal(
    Math.round((units.at(-1)?.ptsMs ?? 0) - (units[0]?.ptsMs ?? 0)),
    Math.round(((pictures - 2) * 1000) / perSecond),
  )
  t.equal(units[0]?.arrivedMs, 7)
  t.equal(splitter.codec, 'h264')
  t.equal(splitter.tables.length, 2 * packetBytes)
})

t.test('HEVC is known as such', async (t) => {
  const splitter = new UnitSplitter()
  const units = splitter.push(transportStream(await footage('passer-hevc')), 0)
  t.equal(splitter.codec, 'hevc')
  t.equal(units.filter((unit) => unit.key).length, 4)
})

t.test('the pictures are the same, however the pipe cuts the bytes', async () => {
  const bytesOf = (units: Unit[]) => Buffer.concat(units.map((unit) => unit.bytes))
  const whole = bytesOf(new UnitSplitter().push(stream, 0))
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 9 }), (sizes) => {
      const splitter = new UnitSplitter()
      const units: Unit[] = []
      for (let at = 0, i = 0; at < stream.length; i += 1) {
        const size = sizes[i % sizes.length] ?? 1
        units.push(...splitter.push(stream.subarray(at, at + size), 0))
        at += size
      }
      return bytesOf(units).equals(whole)
    }),
    { numRuns: 30, examples: [[[1]], [[packetBytes]]] },
  )
})

t.test('noise between packets costs no more than the pictures it hits', async (t) => {
  const middle = Math.floor(stream.length / 2 / packetBytes) * packetBytes
  const noisy = Buffer.concat([stream.subarray(0, middle), Buffer.from('not a packet'), stream.subarray(middle)])
  t.equal(new UnitSplitter().push(noisy, 0).length, pictures - 1)
})

t.test('time goes on when the clock of the stream wraps after 26.5 hours', async (t) => {
  const units = new UnitSplitter().push(transportStream(passer, String(2 ** 33 / 90_000 - 2)), 0)
  const steps = units.slice(1).map((unit, i) => Math.round(unit.ptsMs - (units[i]?.ptsMs ?? 0)))
  t.ok(steps.every((ms) => ms === 66 || ms === 67))
})

t.test('a cut begins with the tables and the key frame at or before the moment', async (t) => {
  const ring = filledRing({ keepMs: 60_000 })
  const cut = ring.since(1_000_000 + 2500)
  t.equal(Math.round((cut?.startPtsMs ?? 0) - (cut?.firstPtsMs ?? 0)), 467, 'it starts with what was to be seen then')
  const next = ring.since(1_000_000 + 2500, 1_000_000 + 2500)
  t.equal(Math.round((next?.startPtsMs ?? 0) - (next?.firstPtsMs ?? 0)), 533, 'or with the next picture')
  const again = new UnitSplitter().push(bytesOf(cut), 0)
  t.equal(again[0]?.key, true)
  t.equal(again.length, pictures - 3 - 2 * perSecond, 'the newest picture is never complete')
  t.equal(cut?.codec, 'h264')

  const tooEarly = ring.since(1_000_000 - 5000)
  t.equal(tooEarly?.startPtsMs, tooEarly?.firstPtsMs, 'what is not there any more is not promised')
  t.equal(new Ring({ keepMs: 1000 }).since(0), undefined)
})

t.test('a cut that may show nothing taken so far begins at its earliest moment', (t) => {
  const ring = filledRing({ keepMs: 60_000 })
  const newestMs = ring.newestMs ?? 0
  const late = ring.since(newestMs - 2000, newestMs + 700)
  t.equal(late?.startPtsMs, (ring.newest?.ptsMs ?? 0) + 700, 'after the newest picture, which is late')
  t.end()
})

t.test('packets that come late in a burst do not move the place of a moment', async (t) => {
  const ring = new Ring({ keepMs: 60_000 })
  const units = new UnitSplitter().push(stream, 0)
  ring.push(stream.subarray(0, 3 * packetBytes), 0)
  // The network holds back a second of pictures.
  units.forEach((unit, i) => {
    const ms = (i * 1000) / perSecond
    ring.push(unit.bytes, ms > 1000 && ms < 2000 ? 2000 : ms)
  })
  t.equal(Math.round(ring.ptsAt(1500) ?? 0), Math.round((units[0]?.ptsMs ?? 0) + 1500))
})

t.test('it keeps what was asked for, one group and a little more, and no more bytes than it may', async (t) => {
  const ring = filledRing({ keepMs: 3000 })
  const oldest = ring.since(-Infinity)
  const heldMs = (ring.newest?.ptsMs ?? 0) - (oldest?.firstPtsMs ?? 0)
  t.ok(heldMs >= 3000 && heldMs <= 3000 + 1500 + groupMs, `${heldMs} ms`)
  t.equal(Math.round(ring.groupMs ?? 0), groupMs)
  t.equal(Math.round(ring.picturesPerSecond ?? 0), perSecond)

  const small = filledRing({ keepMs: 60_000, maxBytes: 60_000 })
  t.ok(small.sizeBytes <= 60_000)
  t.equal(new UnitSplitter().push(bytesOf(small.since(-Infinity)), 0)[0]?.key, true)
})

t.test('who subscribes in the turn of a cut misses nothing and gets nothing twice', async (t) => {
  const ring = new Ring({ keepMs: 60_000 })
  const half = Math.floor(stream.length / 3)
  ring.push(stream.subarray(0, half), 0)
  const got = [bytesOf(ring.since(-Infinity))]
  const unsubscribe = ring.subscribe({ unit: (unit) => got.push(unit.bytes), broken: () => {} })
  ring.push(stream.subarray(half, 2 * half), 100)
  unsubscribe()
  ring.push(stream.subarray(2 * half), 200)
  const expected = new UnitSplitter().push(stream.subarray(0, 2 * half), 0)
  t.same(Buffer.concat(got).subarray(2 * packetBytes), Buffer.concat(expected.map((unit) => unit.bytes)))
})

t.test('the first pictures of a connection, whose times ffmpeg does not know, get even ones', async (t) => {
  const unknown = new UnitSplitter().push(transportStream(passer, '10'), 0)
  // As ffmpeg 4 does it: the first six have times one tick apart.
  const counted = unknown.slice(0, 20).map((unit, i) => retimed(unit, i < 6 ? 10_333.3 - 0.011 * (6 - i) : unit.ptsMs))
  const tables = transportStream(passer, '10').subarray(0, 3 * packetBytes)
  const again = new UnitSplitter().push(Buffer.concat([tables, ...counted.map((unit) => unit.bytes)]), 0)
  t.equal(again.length, 19)
  const off = again.map((unit, i) => Math.abs(unit.ptsMs - (unknown[i]?.ptsMs ?? 0)))
  t.ok(Math.max(...off) < 1, `${Math.max(...off)} ms`)
  const written = new UnitSplitter().push(Buffer.concat([tables, ...again.map((unit) => unit.bytes)]), 0)
  t.same(
    written.map((unit) => Math.round(unit.ptsMs)),
    again.slice(0, -1).map((unit) => Math.round(unit.ptsMs)),
    'and their bytes say so',
  )
})

t.test('a jump of two seconds is one, back or forth; a gap, a burst and reordered pictures are none', async (t) => {
  const jumps = (steps: readonly (readonly [ptsMs: number, arrivedMs: number])[]) => {
    let count = 0
    const ring = new Ring({ keepMs: 60_000, onJump: () => (count += 1) })
    const units = new UnitSplitter().push(stream, 0)
    ring.push(stream.subarray(0, 3 * packetBytes), 0)
    for (const [i, [ptsMs, arrivedMs]] of steps.entries()) {
      ring.push(retimed(units[i] as Unit, 10_000 + ptsMs).bytes, arrivedMs)
    }
    return count
  }
  const steady = Array.from({ length: 10 }, (_, i) => [i * 100, i * 100] as const)
  t.equal(jumps([...steady, [1000, 1000], [1100, 1100]]), 0)
  t.equal(jumps([...steady, [3100, 1000], [3200, 1100]]), 1, 'two seconds ahead')
  t.equal(jumps([...steady, [-1100, 1000], [-1000, 1100]]), 1, 'two seconds back')
  t.equal(jumps([...steady, [5000, 5000], [5100, 5100]]), 0, 'nothing came for four seconds')
  t.equal(jumps([...steady, [1000, 5000], [1100, 5001], [1200, 5002]]), 0, 'four seconds late, all at once')
  t.equal(jumps([...steady, [1300, 1300], [1100, 1300], [1200, 1300], [1600, 1600]]), 0, 'B-frames')
})

t.test('another process, or a jump of the clock, ends what is being recorded', async (t) => {
  const ring = filledRing({ keepMs: 60_000 })
  let broken = 0
  ring.subscribe({ unit: () => {}, broken: () => (broken += 1) })
  ring.push(transportStream(passer, '5000'), 1_000_000 + passer.durationMs)
  t.equal(broken, 1)
  t.ok((ring.since(-Infinity)?.firstPtsMs ?? 0) > 4_900_000, 'what was before the jump is gone')
  ring.restart()
  t.equal(broken, 2)
  t.equal(ring.sizeBytes, 0)
  t.equal(ring.since(-Infinity), undefined)
})
