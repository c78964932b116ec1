import t from 'tap'
import { frameSize } from '../../src/video/decoding/frames.ts'
import { PictureJudge } from '../../src/video/motion/picture-judge.ts'

const settings = { sensitivity: 0.3, cooldownMs: 5000, preRecordMs: 5000, postRecordMs: 10_000 }
const everyMs = 200

/** A wall that is not of one tone, and before it something red. `light`: how bright it is. */
function wall(place?: number, light = 1): Uint8Array {
  const pixels = new Uint8Array(frameSize.bytes).fill(255)
  for (let i = 0; i < frameSize.width * frameSize.height; i += 1) {
    const [x, y] = [i % frameSize.width, Math.floor(i / frameSize.width)]
    const tone = (7 * x + 13 * y) % 50
    const isThere = place !== undefined && x >= place && x < place + 30 && y >= 30 && y < 60
    pixels.set(isThere ? [255 - tone, 2 * tone, 30] : Array(3).fill(light * (90 + tone)), 4 * i)
  }
  return pixels
}

/** A camera with a key frame each second, which is decoded as the judge commands. */
class Camera {
  readonly judge = new PictureJudge({ masks: [], zones: [] })
  readonly judgedMs: number[] = []
  readonly firedMs: number[] = []
  decoded = 0
  readonly #keyAtMs: number
  readonly #placeAt: (ms: number) => number | undefined
  readonly #lightAt: (ms: number) => number

  constructor(keyAtMs: number, placeAt: (ms: number) => number | undefined, lightAt: (ms: number) => number = () => 1) {
    this.#keyAtMs = keyAtMs
    this.#placeAt = placeAt
    this.#lightAt = lightAt
    this.judge.reconnect(0)
  }

  run(toMs: number): this {
    for (let ms = 0; ms < toMs; ms += 40) {
      const isKey = ms % 1000 === this.#keyAtMs
      const isFrame = ms % everyMs === 0
      if (this.judge.wakefulness.kind !== 'asleep') {
        if (isFrame || isKey) this.#push(ms, isFrame, isKey)
      } else if (isKey) {
        const command = this.#push(ms, false, true)
        if (command?.kind !== 'wake') continue
        for (let past = command.afterPtsMs + 40; past <= ms; past += 40)
          if (past % everyMs === 0) this.#push(past, true, false)
      }
    }
    return this
  }

  #push(takenMs: number, isFrame: boolean, isKey: boolean) {
    this.decoded += 1
    const picture = {
      pixels: wall(this.#placeAt(takenMs), this.#lightAt(takenMs)),
      takenMs,
      arrivedMs: takenMs,
      isFrame,
    }
    const { judged, outcomes, command } = this.judge.push(
      { ...picture, keyPtsMs: isKey ? takenMs : undefined },
      null,
      settings,
    )
    if (judged) this.judgedMs.push(takenMs)
    for (const outcome of outcomes) if (outcome.kind === 'fired') this.firedMs.push(outcome.motionMs)
    return command
  }
}

const walker = (fromMs: number, toMs: number) => (ms: number) =>
  ms >= fromMs && ms < toMs ? 10 + Math.floor((ms - fromMs) / 40) : undefined

for (const keyAtMs of [0, 120])
  t.test(`nothing moves, key frames come ${keyAtMs} ms after frames: one picture a second is judged`, async (t) => {
    const camera = new Camera(keyAtMs, () => undefined).run(60_000)
    t.equal(camera.judge.wakefulness.kind, 'asleep')
    t.same(camera.firedMs, [])
    const asleep = camera.judgedMs.filter((ms) => ms >= 40_000)
    t.same(
      asleep,
      Array.from({ length: 20 }, (_, i) => 40_000 + 1000 * i + keyAtMs),
    )
  })

t.test('motion after a sleep begins when it does without a sleep, and is judged picture by picture', async (t) => {
  for (const fromMs of [45_040, 45_400, 45_960]) {
    const camera = new Camera(0, walker(fromMs, fromMs + 3000)).run(60_000)
    t.equal(camera.firedMs.length, 1)
    const [firedMs = 0] = camera.firedMs
    t.ok(firedMs >= fromMs && firedMs <= fromMs + 2 * everyMs, `${firedMs} for ${fromMs}`)
    const onset = camera.judgedMs.filter((ms) => ms > 45_000 && ms < 47_000)
    t.same(
      onset,
      Array.from({ length: 9 }, (_, i) => 45_200 + everyMs * i),
      'each once, in order',
    )
  }
})

t.test('something that came and went between two key frames is found by the exposure that it changed', async (t) => {
  const camera = new Camera(0, walker(45_040, 45_960), (ms) => (ms >= 45_900 ? 0.95 : 1)).run(60_000)
  t.equal(camera.firedMs.length, 1)
  const steady = new Camera(
    0,
    () => undefined,
    (ms) => (ms >= 45_900 ? 0.985 : 1),
  ).run(47_000)
  t.equal(steady.judge.wakefulness.kind, 'asleep')
})

t.test('times of judged pictures never run back', async (t) => {
  const { judgedMs } = new Camera(120, walker(45_040, 48_000)).run(60_000)
  t.same(
    judgedMs,
    judgedMs.toSorted((a, b) => a - b),
  )
})
