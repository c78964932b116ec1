import t from 'tap'
import { openCells } from '../../src/video/motion/mask.ts'
import { NoiseLevel, thresholdOf } from '../../src/video/motion/noise-level.ts'
import { RestlessWindows } from '../../src/video/motion/restless-windows.ts'

/** Feeds these shares to one window, and returns the rest of the last one. */
function leftOf(shares: readonly number[]): number {
  const restless = new RestlessWindows(1, 1)
  let left = 0
  for (const share of shares) {
    const one = Float64Array.of(share)
    restless.subtract(one)
    left = one[0] ?? 0
  }
  return left
}
const frames = (count: number, share: (i: number) => number) => Array.from({ length: count }, (_, i) => share(i))

t.test('what changes all the time is taken off within half a minute, and more than that is left', async (t) => {
  const fan = frames(150, () => 0.5)
  t.ok(leftOf([...fan, 0.5]) < 0.05)
  const left = leftOf([...fan, 0.9])
  t.ok(left > 0.3 && left < 0.5, 'somebody in front of the fan')
})

t.test('people who pass now and then are not learned', async (t) => {
  // One second in ten.
  const aisle = frames(600, (i) => (i % 50 < 5 ? 0.6 : 0))
  t.ok(leftOf([...aisle, 0.6]) > 0.35)
})

t.test('a window that hardly changes is left as it is', async (t) => {
  t.equal(leftOf([...frames(300, () => 0.03), 0.3]), 0.3)
  t.ok(leftOf([...frames(300, () => 0.05), 0.3]) < 0.26)
})

t.test('a fan that was switched on is known for the most part after a quarter of a minute', async (t) => {
  const left = leftOf([...frames(900, () => 0), ...frames(75, () => 0.5), 0.5])
  t.ok(left > 0.11 && left < 0.19, `${left} of 0.5`)
})

t.test('a fan that was switched off is forgotten after some minutes', async (t) => {
  const off = [...frames(300, () => 0.5), ...frames(900, () => 0)]
  t.ok(leftOf([...off, 0.5]) > 0.45)
})

t.test('who comes a minute after somebody worked at a place for half a minute is found there', async (t) => {
  const worked = [...frames(900, () => 0), ...frames(150, () => 0.6), ...frames(300, () => 0)]
  t.ok(leftOf([...worked, 0.6]) > 0.3)
})

/** Boxes on a conveyor: a window is a fifth full most of the time, and with every tenth frame comes a crowd. */
const boxes = (count: number) => frames(count, (i) => (i % 10 === 0 ? 0.6 : i % 5 === 0 ? 0.3 : 0.2))
/** Few boxes, for half a minute. */
const few = frames(150, () => 0.1)

t.test('a crowd of boxes after few is known on a conveyor that has moved for three minutes', async (t) => {
  // For 750 and 150 frames the mean is 0.225 and the standard deviation 0.124. Mean and one and three quarters
  // of it are 0.442.
  const left = leftOf([...boxes(750), ...few, 0.5])
  t.ok(left > 0.05 && left < 0.07, `${left} of 0.5`)
  t.ok(leftOf([...boxes(700), ...few, 0.5]) > 0.25, 'it has moved for less')
  t.ok(leftOf([...boxes(750), ...frames(900, () => 0.1), 0.5]) > 0.35, 'the last crowd was more than three minutes ago')
})

t.test('a conveyor that rested for over 15 s is learned anew', async (t) => {
  const rested = (count: number) => leftOf([...boxes(900), ...frames(count, () => 0), ...frames(10, () => 0.1), 0.5])
  t.ok(rested(70) < 0.12)
  t.ok(rested(80) > 0.22)
})

t.test('where something moved for less than half of the last three minutes, no crowds are known', async (t) => {
  const passing = (moved: number) => frames(900, (i) => (i % 50 < moved ? 0.4 : 0))
  t.ok(leftOf([...passing(28), ...frames(40, () => 0), 0.6]) < 0.15)
  t.ok(leftOf([...passing(22), ...frames(40, () => 0), 0.6]) > 0.2)
})

t.test('somebody at a conveyor who reaches beyond it is seen by what was learned in half a minute', async (t) => {
  const restless = new RestlessWindows(2, 2)
  const left = (conveyor: number, beside: number) => {
    const both = Float64Array.of(conveyor, beside)
    restless.subtract(both)
    return both[0] ?? 0
  }
  for (const share of [...boxes(750), ...few]) left(share, 0)
  t.ok(left(0.5, 0.05) < 0.13, 'boxes')
  t.ok(left(0.5, 0.3) > 0.25, 'somebody')
})

/** A grey picture with as much added to each pixel as `shift` says. */
function grey(shift: (i: number) => number): Uint8Array {
  return Uint8Array.from({ length: 160 * 90 * 4 }, (_, i) => (i % 4 === 3 ? 255 : 100 + shift(Math.floor(i / 4))))
}

t.test('the threshold follows the noise of the camera, between its bounds', async (t) => {
  t.equal(thresholdOf(0), 0.012)
  t.equal(thresholdOf(255), 0.08)
  t.equal(thresholdOf(11), (1.2 * 11) / 264)
  const noise = new NoiseLevel()
  t.equal(noise.threshold, 0.08, 'nothing is known yet')
  for (let i = 0; i < 10; i += 1)
    noise.add(
      grey(() => 0),
      grey((pixel) => pixel % 20),
    )
  // 90 % of 20 equally frequent differences are up to 17: the quantile lies at the end of that step.
  t.ok(Math.abs(noise.threshold - (1.2 * 18) / 264) < 0.004)
})

t.test('somebody who passes is no noise', async (t) => {
  const noise = new NoiseLevel()
  for (let i = 0; i < 100; i += 1)
    noise.add(
      grey(() => 0),
      grey((pixel) => (i > 60 && pixel < 1200 ? 80 : pixel % 5)),
    )
  t.ok(noise.threshold < 0.03)
})

t.test('the noise is that of most of the last 30 seconds', async (t) => {
  const noise = new NoiseLevel()
  const [before, quiet, noisy] = [grey(() => 0), grey((pixel) => pixel % 4), grey((pixel) => pixel % 16)]
  const see = (frame: Uint8Array, count: number) => {
    for (let i = 0; i < count; i += 1) noise.add(before, frame)
    return noise.threshold
  }
  const usual = see(quiet, 250)
  t.equal(see(noisy, 65), usual, '13 seconds of noise')
  t.ok(see(noisy, 25) > 2 * usual, '18 seconds')
})

t.test('a polygon opens or closes each cell by the part that it covers', async (t) => {
  const triangle = [
    { x: 0, y: 0 },
    { x: 1 / 16, y: 0 },
    { x: 0, y: 1 / 9 },
  ]
  const masked = openCells({ masks: [triangle], zones: [] })
  // The points on the diagonal may be on either side.
  t.ok(Math.abs((masked[0] ?? 0) - 0.5) <= 0.05)
  t.ok(masked.slice(1).every((share) => share === 1))
  const zoned = openCells({ masks: [], zones: [triangle] })
  t.ok(Math.abs((zoned[0] ?? 0) + (masked[0] ?? 0) - 1) < 1e-9)
  t.ok(zoned.slice(1).every((share) => share === 0))
  t.ok(openCells({ masks: [], zones: [] }).every((share) => share === 1))
})
