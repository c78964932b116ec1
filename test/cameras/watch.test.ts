import fc from 'fast-check'
import t from 'tap'
import { without } from '../../src/cameras/span.ts'
import {
  type ClosedGap,
  type GapCause,
  gapCauses,
  notWatching,
  smallestGapMs,
  type Watch,
  type WatchEvent,
  watchDueMs,
  watchStep,
} from '../../src/cameras/watch.ts'

const live: Watch = { receiving: true, decidedMs: 0, open: null }
const pictures = (atMs: number): WatchEvent => ({ kind: 'pictures', atMs })
const trying = (atMs: number): WatchEvent => ({ kind: 'trying', atMs })
const none = (cause: GapCause, sinceMs: number, atMs: number, ofAttempt = true): WatchEvent => ({
  ...{ kind: 'none', cause, sinceMs, atMs, ofAttempt, detail: cause },
})

/** Plays events and returns the ended gaps, as `cause from-to`, and the open one. */
function play(watch: Watch, ...events: WatchEvent[]): { ended: string[]; open: string | null } {
  const ended: ClosedGap[] = []
  let now = watch
  for (const event of events) {
    const { watch: next, closed } = watchStep(now, event)
    ended.push(...closed)
    now = next
  }
  const { open } = now
  return {
    ended: ended.map(({ cause, fromMs, toMs }) => `${cause} ${fromMs}-${toMs}`),
    open: open && `${open.cause} ${open.fromMs}-`,
  }
}

t.test('a gap goes from the last picture before it to the first one after it', async (t) => {
  const frozen = none('stalled', 10_000, 15_000)
  t.strictSame(play(live, frozen, trying(17_000), pictures(19_000)), { ended: ['stalled 10000-19000'], open: null })
})

t.test('pictures that are missing for less than two seconds are no gap', async (t) => {
  const lost = none('offline', 10_000, 10_000)
  t.strictSame(play(live, lost, pictures(11_999)).ended, [])
  t.strictSame(play(live, lost, pictures(12_000)).ended, ['offline 10000-12000'])
})

t.test('where the cause changes, one gap ends and the next begins', async (t) => {
  const lost = none('offline', 10_000, 10_000)
  const seen = play(live, lost, trying(60_000), none('refused', 0, 61_000), trying(70_000), pictures(70_500))
  t.strictSame(seen.ended, ['offline 10000-60000', 'refused 60000-70500'], 'the attempt belongs to what it came to')
  const stopped = play(live, lost, trying(60_000), none('disarmed', 0, 61_000, false))
  t.strictSame(stopped, { ended: ['offline 10000-61000'], open: 'disarmed 61000-' }, 'a stop counts when it comes')
})

t.test('new settings that work make one short gap, and settings that do not are no reason of ours', async (t) => {
  const replaced = [none('restarted', 10_000, 10_100, false), trying(10_100)]
  t.strictSame(play(live, ...replaced, pictures(13_000)).ended, ['restarted 10000-13000'])
  const wrong = [...replaced, none('offline', 10_000, 12_000), trying(13_000), pictures(15_000)]
  t.strictSame(play(live, ...wrong).ended, ['offline 10000-15000'])
})

t.test('a box that was down missed the time until the first picture, or until another cause is known', async (t) => {
  const down = notWatching({ cause: 'daemon_down', detail: null, fromMs: -90_000, attemptMs: 0 })
  t.strictSame(play(down, trying(500), pictures(2500)).ended, ['daemon_down -90000-2500'])
  t.strictSame(play(down, trying(500), none('offline', 0, 700)), {
    ended: ['daemon_down -90000-500'],
    open: 'offline 500-',
  })
})

t.test('late pictures of a process that was replaced end no gap', async (t) => {
  const stopped = none('disarmed', 10_000, 10_000, false)
  t.strictSame(play(live, stopped, trying(20_000), pictures(9900)).open, 'disarmed 10000-')
  t.strictSame(play(live, stopped, trying(20_000), pictures(9900), pictures(21_000)).ended, ['disarmed 10000-21000'])
})

t.test('motion in the cooldown is a gap until the cooldown is over, or until the pictures end', async (t) => {
  const moved: WatchEvent = { kind: 'cooldown', fromMs: 10_000, untilMs: 11_500, detail: 'moved' }
  const watch = watchStep(live, moved).watch
  t.equal(watchDueMs(watch), 11_500)
  t.strictSame(play(watch, { kind: 'tick', atMs: 11_600 }), { ended: ['cooldown 10000-11500'], open: null })
  t.strictSame(play(watch, none('offline', 10_700, 10_700), pictures(20_000)).ended, [
    'cooldown 10000-10700',
    'offline 10700-20000',
  ])
})

const missing = (fromMs: number, toMs: number): WatchEvent => ({
  ...{ kind: 'missing', fromMs, toMs, cause: 'stalled', detail: 'missing' },
})

t.test('pictures that never came are a gap, though others came before and after', async (t) => {
  t.strictSame(play(live, missing(10_000, 14_000)), { ended: ['stalled 10000-14000'], open: null })
  t.strictSame(play(live, missing(10_000, 11_999)).ended, [], 'not less than two seconds')
  const lost = [none('offline', 10_000, 10_000), pictures(20_000)]
  t.strictSame(play(live, ...lost, missing(15_000, 25_000)).ended, ['offline 10000-20000', 'stalled 20000-25000'])
  t.strictSame(play(live, none('offline', 10_000, 10_000), missing(12_000, 15_000)).open, 'offline 10000-')
  t.strictSame(play(live, missing(10_000, 14_000), none('offline', 13_000, 15_000)).open, 'offline 14000-')
})

const impaired = (cause: GapCause, sinceMs: number, atMs: number): WatchEvent => ({
  ...{ kind: 'impaired', cause, sinceMs, atMs, detail: cause },
})
const well = (sinceMs: number): WatchEvent => ({ kind: 'unimpaired', sinceMs })

t.test('a camera that shows nothing did not watch, though its pictures come', (t) => {
  const covered = [pictures(5000), impaired('covered', 10_000, 20_000), pictures(20_500)]
  t.strictSame(play(live, ...covered).open, 'covered 10000-')
  t.strictSame(play(live, ...covered, impaired('covered', 10_000, 21_000), well(30_000), well(30_000)).ended, [
    'covered 10000-30000',
  ])
  t.strictSame(play(live, impaired('still', 10_000, 11_000), well(11_999)).ended, [], 'not less than two seconds')
  const turned = [impaired('turned', 10_000, 20_000), impaired('still', 5000, 40_000), well(50_000)]
  t.strictSame(play(live, ...turned).ended, ['turned 10000-40000', 'still 40000-50000'])
  t.strictSame(play(live, none('offline', 10_000, 10_000), impaired('covered', 5000, 12_000)).open, 'offline 10000-')
  t.strictSame(play(live, ...covered, none('offline', 30_000, 31_000)), {
    ...{ ended: ['covered 10000-30000'], open: 'offline 30000-' },
  })
  t.end()
})

t.test('a cooldown of a covered camera is a gap between two others', (t) => {
  const cooled: WatchEvent = { kind: 'cooldown', fromMs: 20_000, untilMs: 30_000, detail: '' }
  const again = impaired('covered', 10_000, 31_000)
  const seen = [impaired('covered', 10_000, 12_000), cooled, impaired('covered', 10_000, 25_000)]
  t.strictSame(play(live, ...seen, { kind: 'tick', atMs: 30_000 }, again, well(40_000)).ended, [
    ...['covered 10000-20000', 'cooldown 20000-30000', 'covered 30000-40000'],
  ])
  t.end()
})

type Move = {
  readonly kind: 'pictures' | 'trying' | 'cooldown' | 'missing' | 'impaired' | 'unimpaired' | 'tick' | GapCause
  readonly ms: number
  readonly ago: number
}

/** Time passes by `ms`; the last picture was up to `ago` before that. */
const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Move['kind']>(
      ...(['pictures', 'pictures', 'trying', 'cooldown', 'missing', 'impaired', 'unimpaired', 'tick'] as const),
      ...gapCauses,
    ),
    ms: fc.nat(5000),
    ago: fc.nat(6000),
  }),
  { maxLength: 80 },
)

function eventOf({ kind, ago }: Move, atMs: number, pictureMs: number): WatchEvent {
  switch (kind) {
    case 'pictures':
    case 'trying':
    case 'tick':
      return { kind, atMs }
    case 'missing':
      return { kind, fromMs: atMs - ago, toMs: atMs, cause: 'stalled', detail: '' }
    case 'cooldown':
      return { kind, fromMs: Math.max(atMs - ago, pictureMs), untilMs: atMs + ago, detail: '' }
    case 'impaired':
      return impaired(ago % 2 === 0 ? 'covered' : 'still', atMs - ago, atMs)
    case 'unimpaired':
      return well(atMs - ago)
    default:
      return {
        kind: 'none',
        sinceMs: Math.max(atMs - ago, pictureMs),
        atMs,
        cause: kind,
        detail: null,
        ofAttempt: ago % 2 === 0,
      }
  }
}

t.test('whatever happens, gaps are in order, never overlap, and tile the time with what was watched', async () => {
  fc.assert(
    fc.property(moves, (all) => {
      let watch: Watch = notWatching({ cause: 'restarted', detail: null, fromMs: 0, attemptMs: 0 })
      const ended: ClosedGap[] = []
      let nowMs = 0
      let edgeMs = 0
      for (const move of all) {
        nowMs += move.ms
        const due = watchDueMs(watch)
        for (const event of [
          ...(due !== undefined && due <= nowMs ? [{ kind: 'tick', atMs: nowMs } as const] : []),
          eventOf(move, nowMs, edgeMs),
        ]) {
          const step = watchStep(watch, event)
          if (step.watch.receiving !== watch.receiving || step.closed.length > 0) edgeMs = nowMs
          watch = step.watch
          ended.push(...step.closed)
        }
        if (!watch.receiving && !watch.open) return false
      }
      const lasting = watch.open ? [{ ...watch.open, toMs: Math.max(nowMs, watch.open.fromMs) }] : []
      const gaps = [...ended, ...lasting]
      if (gaps.some(({ fromMs, toMs }, i) => toMs < fromMs || fromMs < (gaps[i - 1]?.toMs ?? 0))) return false
      const endMs = Math.max(nowMs, ...gaps.map(({ toMs }) => toMs))
      const watched = without({ fromMs: 0, toMs: endMs }, gaps)
      const sum = (spans: readonly { fromMs: number; toMs: number }[]) =>
        spans.reduce((total, { fromMs, toMs }) => total + toMs - fromMs, 0)
      return sum(watched) + sum(gaps) === endMs && ended.every(({ fromMs, toMs }) => toMs > fromMs)
    }),
    { numRuns: 1000 },
  )
})

t.test('an outage counts from two seconds on, however it came about', async (t) => {
  t.equal(smallestGapMs, 2000)
})
