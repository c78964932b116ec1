/** Times of the pictures in a ring: late ones, missing ones, and a clock that jumped. */
import t, { type Test } from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { packetBytes, retimed, type Unit, UnitSplitter } from '../../src/video/format/transport-stream.ts'
import { Ring } from '../../src/video/stream/ring.ts'
import { footage } from '../support/footage.ts'
import { transportStream } from '../support/transport-stream.ts'

const stream = transportStream(await footage('passer'), locateFfmpeg().path)
const units = new UnitSplitter().push(stream, 0)
/** A picture: its time by the camera's clock, and its arrival. */
type Arrival = { readonly ptsMs: number; readonly atMs: number }
const everyMs = 100

/** A camera with an even and right clock. Its pictures arrive after a delay, or never. */
class Camera {
  readonly arrivals: Arrival[] = []
  #nowMs = 0
  /** How much the camera's clock is ahead of the true one. */
  aheadMs = 0
  /** How much faster the camera's clock is than the true one, as a share. */
  drift = 0

  /** For so long each picture arrives so late, but in order. */
  play(forMs: number, lateMs: (sinceMs: number) => number = () => 0): this {
    const endMs = this.#nowMs + forMs
    for (let sinceMs = 0; this.#nowMs < endMs; this.#nowMs += everyMs, sinceMs += everyMs) {
      const before = this.arrivals.at(-1)?.atMs ?? -Infinity
      const ptsMs = this.#nowMs * (1 + this.drift) + this.aheadMs
      this.arrivals.push({ ptsMs, atMs: Math.max(this.#nowMs + lateMs(sinceMs), before + 1) })
    }
    return this
  }

  /** Nothing that is taken for so long arrives. */
  leaveOut(forMs: number): this {
    this.#nowMs += forMs
    return this
  }

  jump(ms: number): this {
    this.aheadMs += ms
    return this
  }

  restart(): this {
    this.aheadMs = -this.#nowMs
    return this
  }
}

/**
 * Returns the ring's findings: the number of clock jumps, and the times of missing pictures, in seconds. Without `readEveryMs` each
 * picture is read when it arrives.
 */
function judged(arrivals: readonly Arrival[], readEveryMs = 0, firstReadMs = 0) {
  let jumps = 0
  const missing: string[] = []
  const seconds = (ms: number) => Math.round(ms / everyMs) / (1000 / everyMs)
  const ring = new Ring({
    keepMs: 1000,
    onJump: () => (jumps += 1),
    onMissing: ({ fromMs, toMs }) => missing.push(`${seconds(fromMs)}-${seconds(toMs)}`),
  })
  ring.begin(-1000)
  ring.push(stream.subarray(0, 3 * packetBytes), 0)
  const readAt = (ms: number) => Math.ceil((ms - firstReadMs) / readEveryMs) * readEveryMs + firstReadMs
  for (const [i, { ptsMs, atMs }] of arrivals.entries()) {
    const { bytes } = retimed(units[i % units.length] as Unit, 90_000_000 + ptsMs)
    if (readEveryMs === 0) ring.push(bytes, atMs)
    else ring.push(bytes, readAt(atMs), readAt(atMs) - readEveryMs)
  }
  return { jumps, missing }
}

const minute = 60_000
const isFine = (t: Test, camera: Camera, says: string) =>
  t.same(judged(camera.arrivals), { jumps: 0, missing: [] }, says)

t.test('pictures that are late are all there, however they come', async (t) => {
  for (const stallMs of [3000, 4900, 20_000]) {
    const held = (sinceMs: number) => Math.max(stallMs - sinceMs, 0)
    isFine(
      t,
      new Camera().play(minute).play(stallMs, held).play(minute),
      `held back for ${stallMs / 1000} s, then all at once`,
    )
  }
  const behind = (sinceMs: number) => Math.min(sinceMs * 0.3, 12_000)
  isFine(
    t,
    new Camera()
      .play(minute)
      .play(3 * minute, behind)
      .play(minute),
    'a busy gateway, twelve seconds behind for minutes',
  )
  isFine(t, new Camera().play(minute, (sinceMs) => Math.max(8000 - sinceMs, 0)).play(minute), 'late from the beginning')
})

t.test('the place of a moment stays where it is while a gateway is behind for minutes', async (t) => {
  const camera = new Camera().play(minute).play(5 * minute, (sinceMs) => Math.min(sinceMs * 0.3, 12_000))
  const ring = new Ring({ keepMs: 1000 })
  ring.push(stream.subarray(0, 3 * packetBytes), 0)
  for (const [i, { ptsMs, atMs }] of camera.arrivals.entries()) {
    ring.push(retimed(units[i % units.length] as Unit, 90_000_000 + ptsMs).bytes, atMs)
  }
  const wrongMs = ring.arrivalOf(90_000_000)
  t.ok(wrongMs >= 0 && wrongMs <= 300, `${wrongMs} ms: of the camera's clock, not of the delay`)
})

t.test('pictures that never come are missing, and the clock has not jumped', async (t) => {
  const hiccup = new Camera().play(minute).leaveOut(4000).play(minute)
  t.same(judged(hiccup.arrivals), { jumps: 0, missing: ['59.9-64'] }, 'nothing came for four seconds')

  for (const behindMs of [3000, 12_000]) {
    const behind = (sinceMs: number) => Math.min(sinceMs * 0.3, behindMs)
    const dropped = new Camera()
      .play(minute)
      .play(2 * minute, behind)
      .leaveOut(behindMs)
      .play(minute)
    const missing = [`179.9-${180 + behindMs / 1000}`]
    t.same(
      judged(dropped.arrivals),
      { jumps: 0, missing },
      'behind for two minutes, until the camera left out what waited',
    )
  }

  const fromTheBeginning = new Camera()
    .play(5000, () => 8000)
    .leaveOut(8000)
    .play(minute)
  t.same(judged(fromTheBeginning.arrivals), { jumps: 0, missing: ['4.9-13'] }, 'behind since it was connected')

  t.same(judged(new Camera().play(minute).leaveOut(1500).play(minute).arrivals).missing, [], 'less than two seconds')
  const slow = Array.from({ length: 60 }, (_, i) => ({ ptsMs: i * 3000, atMs: i * 3000 }))
  t.same(judged(slow), { jumps: 0, missing: [] }, 'a camera that sends a picture every three seconds leaves none out')
})

t.test('a clock that runs a little fast or slow has not jumped', async (t) => {
  for (const drift of [-0.002, -0.0001, 0.0001, 0.002]) {
    const camera = new Camera()
    camera.drift = drift
    isFine(t, camera.play(20 * minute), `${drift * 100} %`)
  }
})

t.test(
  'the first pictures of a slow camera, at which ffmpeg looks for half a minute, are no jump when they come',
  async (t) => {
    for (const stepMs of [1250, 2700, 10_000]) {
      const times = Array.from({ length: 60 }, (_, i) => i * stepMs)
      const arrivals = times.map((ptsMs, i) => ({ ptsMs, atMs: Math.max(ptsMs, 8 * stepMs + i) }))
      t.same(judged(arrivals), { jumps: 0, missing: [] }, `a picture every ${stepMs} ms`)
      const jumped = arrivals.map(({ ptsMs, atMs }, i) => ({ ptsMs: ptsMs + (i < 20 ? 0 : 4000), atMs }))
      t.equal(judged(jumped).jumps, 1, 'and its clock is watched from then on')
    }
  },
)

t.test('a clock that jumped is seen, and no picture is called missing for it', async (t) => {
  for (const ms of [2000, 10_000, 3_600_000, -2000, -10_000, -1_200_000]) {
    const camera = new Camera()
      .play(5 * minute)
      .jump(ms)
      .play(minute)
    t.same(judged(camera.arrivals), { jumps: 1, missing: [] }, `${ms / 1000} s`)
  }
  const restarted = new Camera()
    .play(5 * minute)
    .restart()
    .play(minute)
  t.same(judged(restarted.arrivals), { jumps: 1, missing: [] }, 'a camera that begins at 0 again')
  const afterSilence = new Camera()
    .play(5 * minute)
    .leaveOut(4000)
    .jump(10_000)
    .play(minute)
  t.same(judged(afterSilence.arrivals), { jumps: 1, missing: [] }, 'after a silence of four seconds')
  const drifting = new Camera()
  drifting.drift = -0.0001
  t.same(
    judged(
      drifting
        .play(20 * minute)
        .jump(5000)
        .play(minute).arrivals,
    ).jumps,
    1,
    'of a clock that is slow',
  )
})

/** Readings of once a second, and more seldom, that begin at any time. */
const readings = [500, 1000, 1250].flatMap((everyMs) =>
  [50, 250, 450, 650, 850, 950].map((firstMs) => [everyMs, firstMs] as const),
)

t.test('a clock that jumped by little is seen as well when video is read once a second', async (t) => {
  for (const ms of [2000, 2100, 2300, 2600, 10_000]) {
    const camera = new Camera().play(minute).jump(ms).play(minute)
    for (const [everyMs, firstMs] of readings) {
      if (ms < everyMs + 1000) continue
      t.same(judged(camera.arrivals, everyMs, firstMs), { jumps: 1, missing: [] }, `${ms} ms, read every ${everyMs} ms`)
    }
  }
})

t.test('pictures that never come, and late ones, are told from a jump when video is read once a second', async (t) => {
  for (const [everyMs, firstMs] of readings) {
    const judge = (camera: Camera) => judged(camera.arrivals, everyMs, firstMs)
    for (const ms of [2000, 2300, 4000]) {
      const { jumps, missing } = judge(new Camera().play(minute).leaveOut(ms).play(minute))
      t.same([jumps, missing.length], [0, 1], `nothing came for ${ms} ms`)
    }
    const held = (sinceMs: number) => Math.max(4900 - sinceMs, 0)
    t.same(judge(new Camera().play(minute).play(4900, held).play(minute)), { jumps: 0, missing: [] }, 'all at once')
    const behind = (sinceMs: number) => Math.min(sinceMs * 0.3, 3000)
    const dropped = new Camera()
      .play(minute)
      .play(2 * minute, behind)
      .leaveOut(3000)
      .play(minute)
    t.equal(judge(dropped).jumps, 0, 'a camera that left out what waited')
    const caughtUp = new Camera()
      .play(minute, () => 800)
      .leaveOut(2800)
      .play(minute)
    t.equal(judge(caughtUp).jumps, 0, 'as late as ever, until nothing came for two seconds')
    const rare = Array.from({ length: 60 }, (_, i) => ({ ptsMs: i * 2500, atMs: i * 2500 }))
    t.same(judged(rare, everyMs, firstMs), { jumps: 0, missing: [] }, 'a picture every 2.5 seconds')
  }
})
