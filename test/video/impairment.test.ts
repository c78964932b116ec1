import t from 'tap'
import { frameSize } from '../../src/video/index.ts'
import { impairedBy, JudgedShare, neverBad } from '../../src/video/motion/impairment.ts'
import { MotionWatch } from '../../src/video/thread/motion-watch.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const bad = (sinceMs: number) => ({ isBad: true, sinceMs })
const well = (sinceMs: number) => ({ isBad: false, sinceMs })
const nothing = {
  ...{ still: neverBad, covered: neverBad, turned: neverBad, few_pictures: neverBad, too_busy: neverBad },
  no_events: neverBad,
}

t.test('a camera is impaired by the worst of what is wrong, and well when the last of it has ended', async (t) => {
  t.match(impairedBy({ ...nothing, covered: bad(7), too_busy: bad(3) }), { why: 'covered', sinceMs: 7 })
  t.match(impairedBy({ ...nothing, covered: well(9), too_busy: bad(3) }), { why: 'too_busy', sinceMs: 3 })
  t.match(impairedBy({ ...nothing, covered: well(9), too_busy: well(12) }), { why: null, sinceMs: 12 })
})

/** Takes five frames a second from a second on; of each five, so many are judged. */
function look(share: JudgedShare, fromSecond: number, seconds: number, judged: number): JudgedShare {
  for (let i = 0; i < seconds * 5; i += 1) share.add(fromSecond * 1000 + i * 200, i % 5 < judged)
  return share
}

t.test(
  'a box that looks at two pictures a second misses motion; one that looks at three or more finds it',
  async (t) => {
    t.match(look(new JudgedShare(), 0, 60, 3).trouble, { isBad: false })
    const share = look(look(new JudgedShare(), 0, 10, 5), 10, 10, 2)
    t.match(share.trouble, bad(10_400), 'since the first that was left out')
    t.match(look(share, 20, 10, 5).trouble, well(19_800), 'until the last that was left out')
  },
)

t.test('pictures that came all at once, more than can wait, were not looked at', async (t) => {
  const clock = new SimulatedClock(0)
  const idle = () => {}
  const watch = new MotionWatch({
    ...{ clock, area: { masks: [], zones: [] }, onOutcome: idle, fewPictures: () => neverBad },
    ...{ eventsTrouble: () => neverBad, decoderTrouble: () => neverBad, unfit: () => null, onCommand: idle },
    settings: () => ({ sensitivity: 0.3, cooldownMs: 5000, preRecordMs: 5000, postRecordMs: 10_000 }),
    cells: { frame: idle, reconnected: idle, interrupted: idle },
  })
  t.teardown(() => watch.stop())
  clock.advance(60_000)
  watch.push(new Uint8Array(25 * frameSize.bytes))
  const { impairment, dropped } = watch.counts()
  t.equal(dropped, 15)
  t.match(impairment, { why: 'too_busy' })
})
