import fc from 'fast-check'
import t from 'tap'
import { newPace, type PaceLimits, pace } from '../../src/cameras/live/pace.ts'

const limits: PaceLimits = { mostBytes: 1000, fewBytes: 100, patienceMs: 10_000 }

/** Plays pictures of 100 bytes, 40 ms apart, to a connection that takes so many bytes after each. */
function play(pictures: readonly { key: boolean; taken: number }[]) {
  let state = newPace
  let waitingBytes = 0
  let mostWaiting = 0
  const acts = pictures.map(({ key, taken }, i) => {
    const step = pace(state, { key, sizeBytes: 100, waitingBytes, nowMs: i * 40 }, limits)
    state = step.pace
    if (step.act === 'send') waitingBytes += 100
    mostWaiting = Math.max(mostWaiting, waitingBytes)
    waitingBytes = Math.max(waitingBytes - taken, 0)
    return step.act
  })
  return { acts, mostWaiting }
}

const anyPictures = fc.array(fc.record({ key: fc.boolean(), taken: fc.integer({ min: 0, max: 300 }) }), {
  maxLength: 400,
})

t.test('whatever the connection does, each piece that a viewer gets begins with a key frame', async () => {
  fc.assert(
    fc.property(anyPictures, (pictures) => {
      const { acts } = play(pictures)
      return acts.every((act, i) => act !== 'send' || pictures[i]?.key || acts[i - 1] === 'send')
    }),
  )
})

t.test('no more waits for a viewer than the first picture and the limit', async () => {
  fc.assert(fc.property(anyPictures, (pictures) => play(pictures).mostWaiting <= 100 + limits.mostBytes + 100))
})

t.test('a viewer who keeps up gets every picture', async (t) => {
  const pictures = Array.from({ length: 100 }, (_, i) => ({ key: i % 25 === 0, taken: 100 }))
  t.ok(play(pictures).acts.every((act) => act === 'send'))
})

t.test('a viewer who catches up goes on at the next key frame', async (t) => {
  const pictures = Array.from({ length: 100 }, (_, i) => ({ key: i % 25 === 0, taken: i < 20 ? 0 : 300 }))
  const { acts } = play(pictures)
  t.same(acts.slice(20, 25), ['drop', 'drop', 'drop', 'drop', 'drop'], 'not in the middle of a group')
  t.ok(acts.slice(25).every((act) => act === 'send'))
})

t.test('a viewer who takes nothing for ten seconds is ended', async (t) => {
  const { acts } = play(Array.from({ length: 400 }, (_, i) => ({ key: i % 25 === 0, taken: 0 })))
  const behindFrom = acts.indexOf('drop')
  t.equal((acts.indexOf('close') - behindFrom) * 40, 10_040)
})

t.test('a large first group does not count against the viewer while it is on its way', async (t) => {
  const first = pace(newPace, { key: true, sizeBytes: 50_000, waitingBytes: 0, nowMs: 0 }, limits)
  const next = pace(first.pace, { key: false, sizeBytes: 100, waitingBytes: 50_000, nowMs: 40 }, limits)
  t.equal(next.act, 'send')
})
