import fc from 'fast-check'
import t from 'tap'
import { type Frame, FrameQueue, FrameSplitter, frameSize, giveBackFrame } from '../../src/video/decoding/frames.ts'

t.test('frames come out whole, however the pipe cuts them', async () => {
  const stream = new Uint8Array(frameSize.bytes * 3 + 17).map((_, i) => i % 251)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 90_000 }), { minLength: 1 }), (sizes) => {
      const splitter = new FrameSplitter()
      const frames: Frame[] = []
      for (let at = 0, i = 0; at < stream.length; i += 1) {
        const size = sizes[i % sizes.length] ?? 1
        frames.push(...splitter.push(stream.subarray(at, at + size), i))
        at += size
      }
      return (
        frames.length === 3 &&
        frames.every(
          ({ pixels }, n) =>
            pixels.byteOffset === 0 && pixels.every((value, i) => value === (n * frameSize.bytes + i) % 251),
        )
      )
    }),
    { numRuns: 10 },
  )
})

t.test('pixels that were given back become those of a later frame, and of no other', async (t) => {
  const splitter = new FrameSplitter()
  const next = (value: number) => splitter.push(new Uint8Array(frameSize.bytes).fill(value), 0)[0] as Frame
  const [first, second] = [next(1), next(2)]
  giveBackFrame(first.pixels)
  const later = [next(3), next(4), next(5)]
  t.equal(later.filter(({ pixels }) => pixels === first.pixels).length, 1)
  t.ok(second.pixels.every((value) => value === 2))
  t.ok(later.every(({ pixels }, i) => pixels.every((value) => value === 3 + i)))
})

t.test('a frame that was begun is not finished by another process', async (t) => {
  const splitter = new FrameSplitter()
  splitter.push(new Uint8Array(100).fill(1), 0)
  splitter.reset()
  const [frame] = splitter.push(new Uint8Array(frameSize.bytes).fill(2), 1)
  t.equal(frame?.pixels[0], 2)
})

t.test('when scoring does not keep up, the oldest frame goes and is counted', async (t) => {
  const queue = new FrameQueue(2)
  for (const arrivedMs of [1, 2, 3, 4, 5]) queue.put({ pixels: new Uint8Array(4), arrivedMs, takenMs: 0 })
  t.equal(queue.dropped, 3)
  t.same([queue.take()?.arrivedMs, queue.take()?.arrivedMs, queue.take()], [4, 5, undefined])
})

const minute = 60_000

/** The most, in either direction, that a frame of a minute was dated wrong. Each comes so late; the clock is slower by a share. */
function wrongBy(lateMs: (sinceMs: number) => number, slower = 0): (atMinute: number) => number {
  const splitter = new FrameSplitter()
  const wrong: number[] = []
  return (atMinute) => {
    for (let i = wrong.length; i * 200 <= (atMinute + 1) * minute; i += 1) {
      const tookMs = i * 200 * (1 + slower)
      const [frame] = splitter.push(new Uint8Array(frameSize.bytes), tookMs + 100 + lateMs(tookMs)) as [Frame]
      wrong.push(Math.abs(frame.takenMs - tookMs))
    }
    return Math.max(...wrong.slice(atMinute * 300, (atMinute + 1) * 300))
  }
}

t.test('motion is dated right by a gateway that has been behind for minutes', async (t) => {
  const wrong = wrongBy((ms) => (ms < minute || ms > 9 * minute ? 0 : 20_000))
  t.ok(wrong(0) <= 1)
  t.ok(wrong(1) <= 50, 'behind for a minute')
  // Clocks of cameras run slower by up to a thousandth, so no one knows it better.
  t.ok(wrong(8) <= 500, `${wrong(8)} ms, behind for eight minutes`)
  t.ok(wrong(10) <= 1, 'no more')
})

t.test('a camera with a slow clock is dated right, and a much too slow one no worse with the years', async (t) => {
  t.ok(wrongBy(() => 0, 0.001)(60) <= 50)
  const [early, late] = [wrongBy(() => 0, 0.003)(20), wrongBy(() => 0, 0.003)(120)]
  t.ok(early < 1500 && late < 1500, `${early} and ${late} ms`)
})

t.test('a frame that is decoded late still says when its picture came', async (t) => {
  const splitter = new FrameSplitter()
  const lateMs = [40, 0, 20, 900, 700, 500, 10]
  const taken = lateMs.flatMap((late, i) =>
    splitter.push(new Uint8Array(frameSize.bytes), 5000 + i * 200 + late).map(({ takenMs }) => takenMs),
  )
  // The filter's own delay is 100 ms; the first frame has nothing to be compared with.
  t.same(taken, [4940, 5100, 5300, 5500, 5700, 5900, 6100])
  splitter.reset()
  t.same(splitter.push(new Uint8Array(frameSize.bytes), 9000)[0]?.takenMs, 8900, 'another process counts anew')
})
