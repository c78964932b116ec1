/** A decoder that is behind is bounded by time, and key frames that were not given are not missed. */
import t, { type Test } from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { silentLogger } from '../../src/platform/index.ts'
import { framesPerSecond } from '../../src/video/decoding/frames.ts'
import { RingDecoder } from '../../src/video/decoding/ring-decoder.ts'
import { packetBytes, retimed, type Unit, UnitSplitter } from '../../src/video/format/transport-stream.ts'
import type { Picture } from '../../src/video/motion/picture-judge.ts'
import { Ring } from '../../src/video/stream/ring.ts'
import { footage } from '../support/footage.ts'
import { needs } from '../support/needs.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { transportStream } from '../support/transport-stream.ts'

const { path } = locateFfmpeg()
const passer = await footage('passer')
const stream = transportStream(passer, path, '0')
const splitter = new UnitSplitter()
const units = splitter.push(stream, 0)
const frameMs = 1000 / framesPerSecond
const everyMs = 1000 / passer.fps
/** When the first picture comes. */
const beginMs = 1000

/** A ring that fills as time passes, and its decoder. */
class Watched {
  readonly clock = new SimulatedClock()
  readonly pictures: Picture[] = []
  readonly leftOutMs: number[] = []
  readonly overdue: string[] = []
  readonly ring = new Ring({ keepMs: 10_000 })
  readonly decoder: RingDecoder
  #given = 0
  #ptsMs = 90_000_000

  constructor(t: Test) {
    this.decoder = new RingDecoder({
      ...{ ring: this.ring, ffmpeg: { path }, clock: this.clock, log: silentLogger(), mayBegin: () => true },
      ...{ onBegin: () => {}, onMessage: () => {} },
      onPicture: (picture) => this.pictures.push(picture),
      onLeftOut: (takenMs) => this.leftOutMs.push(takenMs),
      onOverdue: (why) => this.overdue.push(why),
    })
    this.clock.advance(beginMs)
    this.ring.push(stream.subarray(0, 3 * packetBytes), beginMs)
    this.decoder.start()
    t.teardown(() => this.decoder.stop())
  }

  /** Lets the camera send so many pictures; `from`: the number of the first one in the film. */
  async send(count: number, from = this.#given): Promise<void> {
    this.#given = from
    for (let i = 0; i < count; i += 1) {
      const { bytes } = retimed(units[this.#given % units.length] as Unit, this.#ptsMs)
      this.ring.push(bytes, this.clock.monotonic())
      this.#given += 1
      this.#ptsMs += everyMs
      this.clock.advance(everyMs)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Sends pictures, and resolves when the newest one has come back. */
  async untilJudged(send: () => Promise<void>): Promise<void> {
    const before = this.clock.monotonic()
    await send()
    const newestMs = Math.max(before - everyMs, this.clock.monotonic() - 2 * frameMs)
    await this.until(() => (this.pictures.at(-1)?.takenMs ?? 0) >= newestMs)
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Pictures of a second; each second begins with a key frame. */
const second = passer.fps

t.test('it is never behind by more than two seconds, and goes on with a key frame', needs('ffmpeg'), async (t) => {
  const watched = new Watched(t)
  await watched.untilJudged(() => watched.send(2 * second))
  const { decoder } = watched
  process.kill(decoder.pid ?? 0, 'SIGSTOP')
  const stoppedMs = watched.clock.monotonic()
  await watched.send(6 * second)
  const [leftOutMs = 0] = watched.leftOutMs
  t.ok(leftOutMs >= stoppedMs && leftOutMs <= stoppedMs + 2500, `left out from ${leftOutMs - stoppedMs} ms on`)
  t.ok(watched.leftOutMs.length >= 15, `${watched.leftOutMs.length} are counted`)
  process.kill(decoder.pid ?? 0, 'SIGCONT')
  const before = watched.clock.monotonic()
  await watched.until(() => watched.pictures.some(({ takenMs }) => takenMs > leftOutMs - 3 * frameMs))
  await watched.send(second)
  await watched.send(second)
  await watched.until(() => watched.pictures.some(({ takenMs }) => takenMs >= before))
  const taken = watched.pictures.map(({ takenMs }) => takenMs)
  t.same(
    taken,
    taken.toSorted((a, b) => a - b),
    'in order',
  )
  t.notOk(watched.leftOutMs.some((ms) => ms >= before + 1000))
})

t.test('a key frame too many between two others does not make them rare', needs('ffmpeg'), async (t) => {
  const watched = await asleep(t)
  // The camera begins its film again shortly after a key frame, as another scene makes an encoder do.
  await watched.send(7)
  await watched.send(second, 0)
  for (let i = 0; i < 3; i += 1) {
    await watched.untilJudged(() => watched.send(2, 0))
    await watched.send(second - 2, 2)
  }
  t.same(watched.overdue, [])
})

t.test('a key frame that does not come in time is told, once', needs('ffmpeg'), async (t) => {
  const watched = await asleep(t)
  for (let i = 0; i < 4; i += 1) await watched.send(second - 2, 2)
  t.same(watched.overdue, ['key_frames_rare'])
})

async function asleep(t: Test): Promise<Watched> {
  const watched = new Watched(t)
  await watched.untilJudged(() => watched.send(2 * second))
  watched.decoder.obey({ kind: 'sleep' })
  await watched.untilJudged(() => watched.send(2, 0))
  return watched
}
