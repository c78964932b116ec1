import fc from 'fast-check'
import t from 'tap'
import {
  type Detector,
  type DetectorEvent,
  type DetectorOutcome,
  type DetectorSettings,
  detect,
  detectorDueMs,
  longestClipMs,
  newDetector,
} from '../../src/video/motion/detector.ts'
import type { FrameScore } from '../../src/video/motion/score.ts'

const defaults: DetectorSettings = { sensitivity: 0.3, cooldownMs: 5000, preRecordMs: 5000, postRecordMs: 10_000 }
const frameMs = 200
const none: FrameScore = { score: 0, raw: 0, whole: null, view: 'normal' }
const motion: FrameScore = { ...none, score: 0.5, raw: 0.6 }
const scene: FrameScore = { ...none, whole: 'view' }
const light: FrameScore = { ...none, whole: 'light' }
const covered: FrameScore = { ...none, view: 'covered' }
const turned: FrameScore = { ...none, view: 'turned' }
/** For so long the usual view is seen before its loss fires. */
const clearMs = 6000

/** A detector on a clock that is moved by hand. */
class Bench {
  detector: Detector = newDetector
  nowMs = 100_000
  readonly outcomes: (DetectorOutcome & { atMs: number })[] = []
  readonly settings: DetectorSettings

  constructor(settings: Partial<DetectorSettings> = {}) {
    this.settings = { ...defaults, ...settings }
  }

  get fired() {
    return this.outcomes.filter((outcome) => outcome.kind === 'fired')
  }

  get closed() {
    return this.outcomes.filter((outcome) => outcome.kind === 'closed')
  }

  give(event: DetectorEvent): this {
    const { detector, outcomes } = detect(this.detector, event, this.nowMs, this.settings)
    this.detector = detector
    this.outcomes.push(...outcomes.map((outcome) => ({ ...outcome, atMs: this.nowMs })))
    return this
  }

  /** Frames that all say the same, for so long. */
  see(frame: FrameScore, ms: number): this {
    for (let passed = 0; passed < ms; passed += frameMs) {
      this.nowMs += frameMs
      this.give({ kind: 'scored', frame })
    }
    return this
  }
}

t.test('motion fires at once, and its clip goes from the pre-roll to the post-roll', async (t) => {
  const bench = new Bench().see(none, 2000)
  const startMs = bench.nowMs + frameMs
  bench.see({ ...motion, score: 0.1 }, frameMs).see(motion, 1000)
  t.match(bench.fired, [
    { motionMs: startMs, atMs: startMs + frameMs, score: 0.5, sceneChange: false, clipFromMs: startMs - 5000 },
  ])
  const lastMs = bench.nowMs
  bench.see(none, 20_000)
  t.match(bench.closed, [{ endMs: lastMs + 10_000, atMs: lastMs + 10_000, by: 'post-roll' }])
  t.equal(bench.detector.state.kind, 'quiet')
})

t.test('a score as high as the sensitivity is not over it', async (t) => {
  t.same(new Bench().see({ ...motion, score: 0.3, raw: 0.3 }, 5000).outcomes, [])
})

t.test('motion during the post-roll makes the clip longer, not a second one', async (t) => {
  const bench = new Bench().see(motion, 1000).see(none, 9000).see(motion, 1000)
  const lastMs = bench.nowMs
  bench.see(none, 12_000)
  t.equal(bench.fired.length, 1)
  t.match(bench.closed, [{ endMs: lastMs + 10_000 }])
})

t.test('a clip ends although no frame comes any more', async (t) => {
  const bench = new Bench().see(motion, 1000)
  const dueMs = detectorDueMs(bench.detector, bench.settings) ?? 0
  t.equal(dueMs, bench.nowMs + 10_000)
  bench.nowMs = dueMs
  t.match(bench.give({ kind: 'tick' }).closed, [{ endMs: dueMs, by: 'post-roll' }])
})

t.test('what moves without end is cut into clips of five minutes, with the cooldown between them', async (t) => {
  const bench = new Bench().see(motion, 15 * 60_000)
  t.ok(bench.closed.every(({ by }) => by === 'longest'))
  t.equal(bench.closed.length, 2)
  t.equal(bench.fired.length, 3, 'motion that goes on is no event of its own during the cooldown')
  const [first, second] = [bench.closed[0], bench.fired[1]]
  t.ok((second?.clipFromMs ?? 0) >= (first?.endMs ?? 0) + 5000)
  t.ok((second?.clipFromMs ?? 0) <= (first?.endMs ?? 0) + 5000 + frameMs)
})

t.test('the next clip begins no earlier than the cooldown allows: its pre-roll is trimmed', async (t) => {
  const bench = new Bench()
    .see(motion, 1000)
    .see(none, 10_000 + 5000 + 1000)
    .see(motion, 1000)
  const end = bench.closed[0]?.endMs ?? 0
  t.equal(bench.fired[1]?.clipFromMs, end + 5000)
  t.ok((bench.fired[1]?.motionMs ?? 0) - (bench.fired[1]?.clipFromMs ?? 0) < 5000)
})

t.test(
  'motion during the cooldown is an event without a clip; if it is still there at the end, it gets one',
  async (t) => {
    const bench = new Bench({ cooldownMs: 20_000 }).see(motion, 1000).see(none, 15_000)
    bench.see(motion, 1000)
    t.match(bench.fired[1], { clipFromMs: null, score: 0.5 })
    bench.see(none, 2000).see(motion, 1000)
    t.equal(bench.fired.length, 2, 'a short pause makes no second event')
    bench.see(none, 8000).see(motion, 6000)
    const end = bench.closed[0]?.endMs ?? 0
    t.equal(bench.fired.length, 3)
    t.ok((bench.fired[2]?.clipFromMs ?? 0) >= end + 20_000)
    t.match(bench.fired[2], { score: 0.5 })
  },
)

t.test('a light that is switched is counted and is no motion', async (t) => {
  const bench = new Bench().see(none, 1000).see(light, 600).see(none, 5000).see(scene, 1600).see(none, 5000)
  t.same(bench.outcomes, [])
  t.equal(bench.detector.suppressed, 2)
})

t.test('a change of the whole picture that goes on is motion, and marked', async (t) => {
  const bench = new Bench().see(none, 1000)
  const startMs = bench.nowMs + frameMs
  bench.see(scene, 3000)
  t.match(bench.fired, [{ motionMs: startMs, sceneChange: true, score: 1, clipFromMs: startMs - 5000 }])
  t.ok((bench.fired[0]?.atMs ?? 0) - startMs <= 2400)
})

t.test('lamps that start and a camera that adjusts to them are no motion, however long they take', async (t) => {
  const bench = new Bench()
    .see(none, 1000)
    .see(light, 8000)
    .see({ ...motion, score: 0.1 }, 800)
    .see(none, 5000)
  t.same(bench.outcomes, [])
  t.equal(bench.detector.suppressed, 1)
})

t.test('a light that was switched has settled after a second without a change', async (t) => {
  const bench = new Bench().see(none, 1000).see(light, 600).see(none, 800)
  t.equal(bench.detector.suppressed, 0)
  t.equal(bench.see(none, 400).detector.suppressed, 1)
})

t.test(
  'motion began with the first frame that changed, before a pause of one frame, and after one of two',
  async (t) => {
    const began = (pauseMs: number) => {
      const bench = new Bench().see(none, 1000).see({ ...motion, score: 0.1 }, frameMs)
      const changedMs = bench.nowMs
      const [fired] = bench.see(none, pauseMs).see(motion, frameMs).fired
      return (fired?.motionMs ?? 0) - changedMs
    }
    t.equal(began(frameMs), 0)
    t.equal(began(2 * frameMs), 3 * frameMs)
  },
)

t.test('somebody who switches the light on and walks in is found, a little later', async (t) => {
  const bench = new Bench().see(none, 1000).see(light, 600).see(motion, 4000)
  t.match(bench.fired, [{ sceneChange: true, score: 0.5 }])
})

t.test('what stirs for long and then moves began shortly before it fired', async (t) => {
  const bench = new Bench().see({ ...motion, score: 0.1 }, 10_000).see(motion, 400)
  t.equal((bench.fired[0]?.atMs ?? 0) - (bench.fired[0]?.motionMs ?? 0), 1600)
})

t.test('without a post-roll a clip still shows all of one motion', async (t) => {
  const bench = new Bench({ postRecordMs: 0 }).see(motion, 3000)
  const lastMs = bench.nowMs
  bench.see(none, 3000)
  t.equal(bench.fired.length, 1)
  t.match(bench.closed, [{ endMs: lastMs }])
})

t.test('a stream that ends, or a stop, closes the clip with what there is', async (t) => {
  for (const why of ['stream-ended', 'stopped'] as const) {
    const bench = new Bench().see(motion, 1000)
    const endMs = bench.nowMs - 300
    bench.give({ kind: 'interrupted', why, endMs })
    t.match(bench.closed, [{ endMs, by: why }])
    t.equal(bench.see(none, 60_000).closed.length, 1)
    t.equal(bench.fired.length, 1, 'and what was moving then fires nothing afterwards')
  }
})

for (const [what, lost] of Object.entries({ covered, turned })) {
  t.test(`a lens that is ${what} fires once, with a clip that shows how it came about`, async (t) => {
    const bench = new Bench().see(none, clearMs)
    const lastMs = bench.nowMs
    // The person who does it is seen for less than a second; then nothing changes any more.
    bench.see({ ...scene, view: lost.view }, 600).see(lost, 120_000)
    t.match(bench.fired, [{ sceneChange: true, score: 1 }])
    t.equal(bench.fired.length, 1)
    const [fired] = bench.fired
    t.ok((fired?.atMs ?? 0) - lastMs > 2000 && (fired?.atMs ?? 0) - lastMs <= 3200, 'after more than 2 s')
    t.ok((fired?.motionMs ?? Infinity) <= lastMs + frameMs, 'its motion begins no later than the change')
    t.equal(fired?.clipFromMs, (fired?.motionMs ?? 0) - 5000)
    t.match(bench.closed, [{ endMs: (fired?.atMs ?? 0) + 10_000 }], 'the clip ends though the lens stays so')
    t.equal(bench.detector.suppressed, 0, 'it is no step that settled')
  })

  t.test(`a lens that is ${what} for two seconds or less is no motion`, async (t) => {
    t.same(new Bench().see(none, clearMs).see(lost, 2000).see(none, 30_000).outcomes, [])
  })
}

t.test('a lens that is covered again after it was clear for five seconds fires again, and not before', async (t) => {
  const bench = new Bench({ cooldownMs: 0 }).see(none, clearMs).see(covered, 60_000)
  bench.see(none, 4000).see(covered, 60_000).see(none, 4800).see(turned, 60_000)
  t.equal(bench.fired.length, 1)
  bench.see(none, clearMs).see(covered, 4000)
  t.equal(bench.fired.length, 2)
})

t.test('the view that comes back is no motion by itself', async (t) => {
  const bench = new Bench({ cooldownMs: 0 }).see(none, clearMs).see(covered, 60_000)
  bench.see({ ...scene, view: 'covered' }, 600).see(none, 60_000)
  t.equal(bench.fired.length, 1)
})

t.test(
  'a lens that is covered while a clip is open is reported once, and is shown in that clip to the end',
  async (t) => {
    const bench = new Bench().see(none, clearMs).see(motion, 1000).see(covered, 4000)
    const changes = bench.outcomes.filter(({ kind }) => kind === 'sceneChanged')
    t.match(changes, [{ score: 1 }])
    const reportedMs = changes[0]?.atMs ?? 0
    bench.see(covered, 60_000)
    t.equal(bench.fired.length, 1)
    t.match(bench.closed, [{ endMs: reportedMs + 10_000 }])
    const already = new Bench().see(none, clearMs).see(scene, 3000).see(covered, 60_000)
    t.match(already.fired, [{ sceneChange: true }])
    t.equal(already.outcomes.filter(({ kind }) => kind === 'sceneChanged').length, 0, 'that clip fired for it')
  },
)

t.test('a lens that is covered again while the same clip is open is reported again', async (t) => {
  const bench = new Bench({ postRecordMs: 60_000 }).see(none, clearMs).see(motion, 1000)
  bench.see(covered, 10_000).see(none, clearMs).see(covered, 10_000)
  t.same(
    bench.outcomes.map(({ kind }) => kind),
    ['fired', 'sceneChanged', 'sceneChanged'],
  )
})

t.test(
  'a lens that is covered during the cooldown fires at once, and has its clip when the cooldown ends',
  async (t) => {
    const bench = new Bench({ cooldownMs: 60_000 }).see(none, clearMs).see(motion, 1000).see(none, 30_000)
    const lastMs = bench.nowMs
    bench.see(covered, 120_000)
    t.match(bench.fired, [
      { sceneChange: false },
      { sceneChange: true, clipFromMs: null },
      { sceneChange: true, score: 1, clipFromMs: Number },
    ])
    t.equal(bench.fired.length, 3)
    t.ok((bench.fired[1]?.atMs ?? Infinity) - lastMs <= 3200, 'the notification does not wait')
    t.equal(bench.fired[2]?.clipFromMs, (bench.closed[0]?.endMs ?? 0) + 60_000, 'clips are the cooldown apart')
  },
)

t.test('a covered lens whose pictures stop in the cooldown has its clip when they come again', async (t) => {
  const bench = new Bench({ cooldownMs: 60_000 }).see(none, clearMs).see(motion, 1000).see(none, 12_000)
  bench.see(covered, 10_000)
  for (let passed = 0; passed < 120_000; passed += 1000) {
    bench.nowMs += 1000
    bench.give({ kind: 'tick' })
  }
  t.equal(bench.fired.length, 2, 'a clip needs pictures')
  t.equal(detectorDueMs(bench.detector, bench.settings), undefined, 'time alone changes nothing')
  bench.give({ kind: 'interrupted', why: 'stream-ended', endMs: bench.nowMs })
  const againMs = bench.nowMs + frameMs
  bench.see(covered, 4000)
  t.match(bench.fired[2], { sceneChange: true, atMs: againMs, clipFromMs: againMs - 5000 })
  t.equal(bench.fired.length, 3)
})

t.test('a lens that is covered while its connection is lost in the cooldown has its clip after it', async (t) => {
  const bench = new Bench({ cooldownMs: 60_000 }).see(none, clearMs).see(motion, 1000).see(none, 12_000)
  bench.see(covered, 10_000).give({ kind: 'interrupted', why: 'stream-ended', endMs: bench.nowMs })
  bench.see(covered, 120_000)
  t.match(bench.fired[2], { sceneChange: true, clipFromMs: (bench.closed[0]?.endMs ?? 0) + 60_000 })
  t.equal(bench.fired.length, 3)
})

t.test('a lens that is free again before the cooldown ends has no clip', async (t) => {
  const bench = new Bench({ cooldownMs: 60_000 }).see(none, clearMs).see(motion, 1000).see(none, 12_000)
  bench.see(covered, 10_000).see(none, 120_000)
  t.match(bench.fired, [{ sceneChange: false }, { sceneChange: true, clipFromMs: null }])
  t.equal(bench.fired.length, 2)
})

t.test('a lens is watched only after its usual view was seen: a replay may begin while it is covered', async (t) => {
  t.same(new Bench().see(covered, 60_000).outcomes, [])
})

t.test(
  'a view that is not known, and a stream that ends, make what was seen before them doubtful no longer',
  async (t) => {
    const unknown = new Bench().see(none, clearMs)
    for (let i = 0; i < 20; i += 1) unknown.see(covered, 1600).see({ ...none, view: null }, frameMs)
    t.same(unknown.outcomes, [])
    const ended = new Bench().see(none, clearMs).see(covered, 1600)
    ended.give({ kind: 'interrupted', why: 'stream-ended', endMs: ended.nowMs }).see(covered, 1600)
    t.same(ended.outcomes, [])
    t.match(ended.see(covered, 2000).fired, [{ sceneChange: true }], 'a lens that stays covered after it does fire')
    ended.give({ kind: 'interrupted', why: 'stream-ended', endMs: ended.nowMs }).see(covered, 60_000)
    t.equal(ended.fired.length, 1, 'and fires once, over all connections')
  },
)

const frame = fc.oneof(
  { weight: 4, arbitrary: fc.constant(none) },
  { weight: 3, arbitrary: fc.constant(motion) },
  { weight: 1, arbitrary: fc.constantFrom(scene, light) },
  { weight: 1, arbitrary: fc.constantFrom(covered, turned, { ...motion, view: null }) },
)
const seen = fc.array(fc.tuple(frame, fc.integer({ min: 200, max: 30_000 })), { minLength: 1, maxLength: 25 })
const anySettings = fc.record({
  sensitivity: fc.constantFrom(0, 0.3, 0.49),
  cooldownMs: fc.constantFrom(0, 1000, 5000, 60_000),
  preRecordMs: fc.constantFrom(0, 5000, 60_000),
  postRecordMs: fc.constantFrom(0, 500, 10_000, 300_000),
})

t.test('whatever moves: clips are the cooldown apart, no two are open together, none is too long', async () => {
  fc.assert(
    fc.property(seen, anySettings, (history, settings) => {
      const bench = new Bench(settings)
      for (const [one, ms] of history) bench.see(one, ms)
      bench.give({ kind: 'interrupted', why: 'stopped', endMs: bench.nowMs })
      let open: number | undefined
      let lastEnd = -Infinity
      for (const outcome of bench.outcomes) {
        if (outcome.kind === 'closed') {
          if (open === undefined || outcome.endMs < open || outcome.endMs > outcome.atMs) return false
          if (outcome.endMs - open > Math.max(longestClipMs, settings.postRecordMs) + settings.preRecordMs) return false
          open = undefined
          lastEnd = outcome.endMs
        } else if (outcome.kind === 'fired' && outcome.clipFromMs !== null) {
          if (open !== undefined || outcome.clipFromMs - lastEnd < settings.cooldownMs) return false
          if (outcome.motionMs - outcome.clipFromMs > settings.preRecordMs) return false
          open = outcome.clipFromMs
        }
      }
      return open === undefined
    }),
    { numRuns: 300 },
  )
})

/** The lens is clear, somebody moves, no one does, the lens is covered: the last one at any time of clip and cooldown. */
const cover = fc.record({
  clear: fc.integer({ min: clearMs, max: 30_000 }),
  moving: fc.constantFrom(0, 1000, 8000),
  still: fc.integer({ min: 0, max: 90_000 }),
  lost: fc.constantFrom(covered, turned),
  // The detector reports it after two seconds.
  lostFor: fc.integer({ min: 4000, max: 90_000 }),
})

t.test(
  'every lens that is covered is reported at once, and shown by one clip unless it is free before the cooldown ends',
  async () => {
    fc.assert(
      fc.property(fc.array(cover, { minLength: 1, maxLength: 8 }), anySettings, (covers, settings) => {
        const bench = new Bench(settings)
        const lost: { fromMs: number; untilMs: number }[] = []
        for (const { clear, moving, still, lost: view, lostFor } of covers) {
          bench.see(none, clear).see(motion, moving).see(none, still)
          const fromMs = bench.nowMs
          bench.see(view, lostFor)
          lost.push({ fromMs, untilMs: bench.nowMs })
        }
        bench.give({ kind: 'interrupted', why: 'stopped', endMs: bench.nowMs })
        const reports = bench.outcomes.filter(
          (outcome) => outcome.kind === 'sceneChanged' || (outcome.kind === 'fired' && outcome.sceneChange),
        )
        const clips = bench.fired
          .filter(({ clipFromMs }) => clipFromMs !== null)
          .map(({ clipFromMs }, i) => ({ fromMs: clipFromMs ?? 0, toMs: bench.closed[i]?.endMs ?? 0 }))
        return lost.every(({ fromMs, untilMs }) => {
          const mine = reports.filter(({ atMs }) => atMs > fromMs && atMs <= untilMs)
          const [first, second] = mine
          if (!first || first.atMs - fromMs < 2000 || first.atMs - fromMs > 3200) return false
          const waits = first.kind === 'fired' && first.clipFromMs === null
          const isShown = clips.some((clip) => clip.fromMs <= first.atMs && first.atMs <= clip.toMs)
          if (!waits) return mine.length === 1 && isShown
          const coolMs = (clips.findLast(({ fromMs: ms }) => ms < first.atMs)?.toMs ?? 0) + settings.cooldownMs
          // Where the cooldown ends within a frame of the cover, the order of the two decides.
          if (Math.abs(coolMs - untilMs) <= frameMs && mine.length === 1) return true
          if (coolMs > untilMs) return mine.length === 1
          const fromCoolMs = second?.kind === 'fired' && second.clipFromMs !== null ? second.clipFromMs - coolMs : -1
          return mine.length === 2 && fromCoolMs >= 0 && fromCoolMs <= frameMs
        })
      }),
      { numRuns: 500 },
    )
  },
)

t.test('every motion that lasts two seconds is in a clip or an event, whatever was before', async () => {
  fc.assert(
    fc.property(seen, (history) => {
      const bench = new Bench()
      for (const [one, ms] of history) bench.see(one, ms)
      const sinceMs = bench.nowMs
      bench.see(motion, 2600)
      const inClip = bench.detector.state.kind === 'active'
      return inClip || bench.outcomes.some(({ atMs }) => atMs > sinceMs - 12_000)
    }),
    { numRuns: 300 },
  )
})
