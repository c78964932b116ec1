import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { preRollProblem } from '../../src/video/clips/pre-roll.ts'
import { packetBytes, UnitSplitter } from '../../src/video/format/transport-stream.ts'
import { Ring } from '../../src/video/stream/ring.ts'
import { type MemoryUser, VideoMemory } from '../../src/video/video-memory.ts'
import { type FootageName, footage } from '../support/footage.ts'

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)

t.test('whoever keeps no more than an equal share keeps all of it, and together they keep to the limit', (t) => {
  const sizes = fc.array(fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 20 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(sizes, fc.integer({ min: 0, max: 500 }), (groups, limit) => {
      const memory = new VideoMemory()
      const kept = groups.map((own) => [...own])
      const before = kept.map(sum)
      const users = kept.map((own): MemoryUser => ({ bytes: () => sum(own), shed: () => own.shift() !== undefined }))
      for (const user of users) memory.add(user)
      memory.limitBytes = limit
      const share = limit / groups.length
      const isUntouched = kept.every((own, i) => (before[i] ?? 0) > share || sum(own) === before[i])
      return memory.bytes <= limit && isUntouched
    }),
    { numRuns: 2000 },
  )
  t.end()
})

/** A camera that sends this footage once; its ring shares the memory. */
async function camera(memory: VideoMemory, name: FootageName) {
  const clip = await footage(name)
  const input = ['-nostdin', '-loglevel', 'error', '-r', String(clip.fps), '-f', clip.codec, '-i', clip.file]
  const output = ['-c', 'copy', '-f', 'mpegts', '-muxdelay', '0', '-muxpreload', '0', 'pipe:1']
  const stream = execFileSync(locateFfmpeg().path, [...input, ...output], { maxBuffer: 64 << 20 })
  const units = new UnitSplitter().push(stream, 0)
  const ring = new Ring({ keepMs: 4000 })
  ring.push(stream.subarray(0, 3 * packetBytes), 0)
  memory.add({ bytes: () => ring.sizeBytes, shed: () => ring.shed() })
  const send = (fromMs: number, untilMs: number) => {
    for (const unit of units.filter(({ ptsMs }) => ptsMs >= fromMs && ptsMs < untilMs)) {
      ring.push(unit.bytes, unit.ptsMs)
      memory.settle()
    }
  }
  return { ring, send }
}

t.test('a flooding camera shortens its own pre-roll, and not that of the others', async (t) => {
  const memory = new VideoMemory(4_000_000)
  const quiet = [await camera(memory, 'crossing'), await camera(memory, 'crossing')]
  const flooding = await camera(memory, 'counted-8mbit')
  for (let ms = 0; ms < 7500; ms += 500) {
    for (const { send } of [flooding, ...quiet]) send(ms, ms + 500)
    t.ok(memory.bytes <= 4_000_000, `${memory.bytes} bytes`)
  }
  for (const { ring } of quiet) {
    t.ok(ring.playableMs >= 4000, `${ring.playableMs} ms`)
    t.equal(preRollProblem(ring, 4000), null)
  }
  t.ok(flooding.ring.playableMs < 3900, `${flooding.ring.playableMs} ms`)
  t.equal(preRollProblem(flooding.ring, 4000), 'memory')
})

t.test('a short pre-roll is over when there is memory again', async (t) => {
  const memory = new VideoMemory(1_500_000)
  const { ring, send } = await camera(memory, 'counted-8mbit')
  send(0, 3000)
  t.equal(preRollProblem(ring, 4000), 'memory')
  memory.limitBytes = Number.POSITIVE_INFINITY
  send(3000, 8000)
  t.equal(preRollProblem(ring, 4000), null)
})

t.test('key frames further apart than the pre-roll are a problem, and a young ring is none', (t) => {
  const seen = { playableMs: 2000, groupMs: undefined, wasShortened: false }
  t.equal(preRollProblem(seen, 5000), null)
  t.equal(preRollProblem({ ...seen, playableMs: 30_000, groupMs: 10_000 }, 5000), 'key-frames')
  t.equal(preRollProblem({ ...seen, playableMs: 30_000, groupMs: 5000 }, 5000), null)
  t.equal(preRollProblem({ ...seen, playableMs: 0, wasShortened: true }, 0), null, 'no pre-roll is asked for')
  t.end()
})
