import t from 'tap'
import { frameSize } from '../../src/video/index.ts'
import { acceptLooks, ViewWatch } from '../../src/video/motion/view-watch.ts'
import { makeScene, type Scene } from '../support/scenes/kinds.ts'
import { play } from '../support/scenes/play.ts'

const perSecond = 5
const place = (seed: number, changes: Partial<Scene> = {}): Uint8Array[] => [
  ...play({ ...makeScene('noise', seed, 40_000), disturbance: { grain: 1.5 }, ...changes }),
]
const [here, there] = [place(1), place(3)]
const dim = place(1, { disturbance: { grain: 1.5, light: 0.25 } })
const grey = here.map((_, i) => new Uint8Array(frameSize.bytes).fill(60 + (i % 3)))

/** Shows frames again and again for so long. */
function show(watch: ViewWatch, frames: readonly Uint8Array[], seconds: number): ViewWatch {
  for (let i = 0; i < seconds * perSecond; i += 1) watch.push(frames[i % frames.length] ?? new Uint8Array())
  return watch
}
const watching = () => show(new ViewWatch(), here, 40)

t.test('a camera whose light is switched shows what it showed', async (t) => {
  t.equal(show(watching(), dim, 60).state, 'normal')
})

t.test('people and a lorry that stays leave the view as it is', async (t) => {
  for (const kind of ['busy aisle', 'lorry', 'forklift'] as const) {
    const watch = new ViewWatch()
    const states = [...play(makeScene(kind, 3, 120_000))].map((frame) => {
      watch.push(frame)
      return watch.state
    })
    t.same(new Set(states), new Set(['normal']), kind)
  }
})

t.test('a covered lens is noticed after ten seconds, and is well when the cover is gone', async (t) => {
  const watch = watching()
  t.equal(show(watch, grey, 8).state, 'normal', 'somebody may stand before it for a moment')
  t.equal(show(watch, grey, 4).state, 'covered')
  t.equal(watch.sinceFrames, 12 * perSecond, 'since the last picture that showed something')
  t.equal(show(watch, grey, 2 * acceptLooks).state, 'covered', 'a cover is never accepted by time')
  t.equal(show(watch, here, 6).state, 'normal')
  t.equal(watch.sinceFrames, 5 * perSecond, 'since the first picture that shows something again')
})

t.test('a look says at once what it finds', async (t) => {
  const watch = new ViewWatch()
  t.equal(show(watch, here, 15).seen, null, 'nothing while the view is learned')
  t.equal(show(watch, here, 10).seen, 'normal')
  t.equal(show(watch, grey, 1).seen, 'covered')
  t.equal(show(watch, there, 1).seen, 'turned')
  t.equal(show(watch, here, 1).seen, 'normal')
  watch.reconnect()
  t.equal(show(watch, grey, 4).seen, null, 'nothing while a camera that starts adjusts its exposure')
  t.equal(show(watch, grey, 1).seen, 'covered')
})

t.test('a hall without light is not covered; a dark cover, and a lens without focus, are', async (t) => {
  for (const light of [0.25, 0.05, 0.03]) {
    const night = place(1, { disturbance: { grain: 1.5, light } })
    const watch = watching()
    const seen = Array.from({ length: 10 }, () => show(watch, night, 1).seen)
    t.notOk(seen.includes('covered') || seen.includes('turned'), `${light}: ${seen}`)
  }
  const hand = here.map((_, i) =>
    Uint8Array.from({ length: frameSize.bytes }, (_, at) =>
      at % 4 === 3 ? 255 : 3 + ((at >> 2) % frameSize.width) / 40 + ((at * 7919 + i * 104_729) % 3),
    ),
  )
  t.equal(show(watching(), hand, 1).seen, 'covered')
  t.equal(show(watching(), here.map(unfocused), 1).seen, 'covered')
})

/** The mean of 25 by 25 pixels around each. */
function unfocused(frame: Uint8Array): Uint8Array {
  const across = meanOf(frame, 4, frameSize.width)
  return meanOf(across, 4 * frameSize.width, frameSize.height)
}

function meanOf(frame: Uint8Array, step: number, length: number): Uint8Array {
  return frame.map((_, at) => {
    const place = Math.floor(at / step) % length
    let [sum, count] = [0, 0]
    for (let by = Math.max(-12, -place); by <= Math.min(12, length - 1 - place); by += 1) {
      sum += frame[at + by * step] ?? 0
      count += 1
    }
    return sum / count
  })
}

t.test('a turned camera is noticed, and is well when it is turned back', async (t) => {
  const watch = watching()
  t.equal(show(watch, there, 12).state, 'turned')
  t.equal(show(watch, here, 6).state, 'normal')
})

t.test('a new view is accepted after half an hour, and the old one is then another place', async (t) => {
  const watch = watching()
  t.equal(show(watch, there, acceptLooks - 10).state, 'turned')
  t.equal(show(watch, there, 30).state, 'normal')
  t.equal(show(watch, here, 12).state, 'turned')
})

t.test('a start through the API accepts the picture as it is', async (t) => {
  const watch = show(watching(), there, 12)
  watch.accept()
  t.equal(show(watch, there, 60).state, 'normal')
})
