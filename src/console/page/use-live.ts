import { useRef, useState } from 'hono/jsx/dom'
import { onSignedInAgain } from './again.ts'
import { Refused } from './ask.ts'
import { useEffect } from './effect.ts'
import type { Heard } from './heard.ts'
import { listen } from './live.ts'

/** The gateway computes such lists anew each time, so they are asked at most this often. */
const leastMs = 5000
/** As `leastMs`, of what takes many requests. */
const leastOfHeavyMs = 10_000
/** Two screens agree within a second on units and incidents, which change seldom. */
const leastOfSeldomMs = 500
/** So often in a minute an answer is asked for again within `leastMs`: screens of one account share its rate of requests. */
const mostQuick = 2
const aloneMs = 15_000
const firstMs = 1500
/** What the stream tells is asked again this often, in case that something is wrong with either of them. */
const whileLiveMs = 60_000

/** How an answer changes. */
type Manner<T> = {
  /** Says whether what the gateway sent may change this answer. Default: always. */
  readonly isAbout?: (heard: Heard, answer: T | undefined) => boolean
  /** Says whether the stream tells all that changes this answer: then nothing else is asked while it comes. Default: never. */
  readonly comesLive?: (answer: T) => boolean
  /** It is asked for before the stream has come. Default: a list waits for it for a moment, so that it is read once. */
  readonly isUrgent?: boolean
  /** The answer never changes: it is asked for until it is there. */
  readonly isFixed?: boolean
  /** It takes many requests: nothing makes it be asked for again within `leastOfHeavyMs`. */
  readonly isHeavy?: boolean
  /** Applies what the gateway sent, so that nothing is asked for; undefined: it has to be asked for. Default: always. */
  readonly apply?: (heard: Heard, answer: T) => T | undefined
}

/** What is on the page, and what the gateway sent since that was not applied: only what it is about has to be asked for. */
export type Since<T> = { readonly answer: T; readonly heard: readonly Heard[] }

type Known<T> = Pick<State<T>, 'answer' | 'isLive' | 'hasFailed' | 'hasLeft'>

/** Returns how long nothing is asked after an answer or a refusal; undefined: nothing more is asked. Pure. */
export function restMs<T>(
  { answer, isLive, hasFailed, hasLeft }: Known<T>,
  { isFixed = false, comesLive = () => false }: Manner<T>,
): number | undefined {
  if (isFixed && (answer !== undefined || hasLeft)) return undefined
  return isLive && !hasFailed && answer !== undefined && comesLive(answer) ? whileLiveMs : aloneMs
}

/** Notes that something was asked for in vain. Returns whether the sign-in has ended. */
function isLeft<T>(now: State<T>, error: Error): boolean {
  now.hasFailed = true
  now.hasLeft = error instanceof Refused && error.isSignedOut
  return now.hasLeft
}

/** Returns how long to wait after the last question, when so long is wanted and these questions came early. Pure. */
export function paceMs(wantedMs: number, quickMs: readonly number[], nowMs: number, isHeavy = false): number {
  const isUsedUp = quickMs.filter((ms) => nowMs - ms < 60_000).length >= mostQuick
  return Math.max(wantedMs, isHeavy ? leastOfHeavyMs : isUsedUp ? leastMs : 0)
}

/** Notes that it is asked for now, whether that is early, and whether all of it is. */
function noteQuestion<T>(now: State<T>, isWhole: boolean): void {
  const askedMs = performance.now()
  if (now.askedMs > 0 && askedMs - now.askedMs < leastMs) now.quickMs = [...now.quickMs, askedMs].slice(-mostQuick)
  if (isWhole) now.wholeMs = askedMs
  Object.assign(now, { askedMs, heardMs: undefined, heard: [], isAllWanted: false })
}

/** Returns what came since the last answer, where nothing else has to be asked for; undefined: all is asked for. */
function sinceOf<T>({ answer, heard, isAllWanted, isLive, hasFailed, wholeMs }: State<T>): Since<T> | undefined {
  const isDue = isAllWanted || !isLive || hasFailed || performance.now() - wholeMs >= whileLiveMs
  return isDue || answer === undefined || heard.length === 0 ? undefined : { answer, heard }
}

/** Returns how long it is until the next question, when so long after the last one is wanted. */
function leftMs<T>({ askedMs, quickMs }: State<T>, wantedMs: number, isHeavy = false): number {
  const nowMs = performance.now()
  return askedMs === 0 ? 0 : Math.max(0, askedMs + paceMs(wantedMs, quickMs, nowMs, isHeavy) - nowMs)
}

type Noted<T> = { readonly applied?: T; readonly waitMs?: number }

/** Notes what the gateway sent. Returns the answer with it, or how long after the last question it is asked for; neither: it is about others. */
function noteHeard<T>(
  now: State<T>,
  heard: Heard,
  kinds: readonly Heard['kind'][],
  { isAbout = () => true, apply = () => undefined }: Manner<T>,
): Noted<T> {
  if (heard.kind === 'hello' || heard.kind === 'lost') now.isLive = heard.kind === 'hello'
  const isAnew = heard.kind === 'lost' || (heard.kind === 'hello' && !heard.data.resumed)
  if (!isAnew && !(kinds.includes(heard.kind) && isAbout(heard, now.answer))) return {}
  // An answer that is on its way may have been read before it.
  const applied = isAnew || now.isAsking || now.answer === undefined ? undefined : apply(heard, now.answer)
  if (applied !== undefined) return { applied }
  if (isAnew) now.isAllWanted = true
  else now.heard.push(heard)
  now.heardMs = Math.min(waitOf(heard), now.heardMs ?? leastMs)
  return { waitMs: now.heardMs }
}

type Loaded<T> = { readonly answer: T | undefined; readonly problem: string; readonly reload: () => void }

/**
 * Loads an answer, and again when the gateway tells one of these kinds; else every 15 s, unless the stream tells all that
 * changes it. A hidden page asks nothing, and at once when it is seen again. What was known stays while it is asked again. `onLeft` is
 * called when the sign-in has ended; after the next one it is asked at once. `load` gets what came since where that alone is why it asks.
 */
export function useLive<T>(
  load: (since?: Since<T>) => Promise<T>,
  kinds: readonly Heard['kind'][],
  onLeft: () => void,
  manner: Manner<T> = {},
): Loaded<T> {
  const { isUrgent, isFixed, isHeavy } = manner
  const [answer, setAnswer] = useState<T | undefined>(undefined)
  const [problem, setProblem] = useState('')
  const state = useRef<State<T>>(blank())
  const now = state.current ?? blank<T>()
  const ask = () => {
    clearTimeout(now.timer)
    if (now.isAsking || now.isOver || document.hidden) return
    now.isAsking = true
    const since = sinceOf(now)
    noteQuestion(now, since === undefined)
    load(since)
      .then(
        (next) => {
          if (now.isOver) return
          now.hasFailed = false
          setProblem('')
          show(next)
        },
        (error: Error) => {
          if (isLeft(now, error)) onLeft()
          else if (!now.isOver) setProblem(error.message)
        },
      )
      .finally(() => {
        now.isAsking = false
        // What is being asked for may have been read before the change.
        if (now.isWanted) reload()
        else rest()
      })
  }
  const show = (next: T) => {
    now.answer = next
    setAnswer(next)
  }
  const rest = () => (now.heardMs === undefined ? soon(restMs(now, manner)) : askSoon(now.heardMs))
  const reload = () => {
    now.isAllWanted = true
    now.isWanted = now.isAsking
    if (!now.isAsking) ask()
  }
  const soon = (ms: number | undefined) => {
    clearTimeout(now.timer)
    if (!now.isOver && ms !== undefined) now.timer = window.setTimeout(ask, ms)
  }
  const askSoon = (wantedMs: number) => soon(leftMs(now, wantedMs, isHeavy))
  const look = () => !document.hidden && !(isFixed && now.answer !== undefined) && reload()
  const hear = (heard: Heard) => {
    const { applied, waitMs } = noteHeard(now, heard, kinds, manner)
    if (applied !== undefined) return show(applied)
    if (waitMs !== undefined && !now.isAsking) askSoon(waitMs)
  }
  useEffect(() => {
    now.isOver = false
    document.addEventListener('visibilitychange', look)
    const unwatch = onSignedInAgain(look)
    soon(isUrgent ? 0 : firstMs)
    const unlisten = isFixed ? () => {} : listen(hear)
    return () => {
      now.isOver = true
      clearTimeout(now.timer)
      document.removeEventListener('visibilitychange', look)
      unwatch()
      unlisten()
    }
  }, [])
  return { answer, problem, reload }
}

const waitOf = ({ kind }: Heard): number => (kind === 'unit' || kind === 'incident' ? leastOfSeldomMs : leastMs)

type State<T> = {
  timer: number
  askedMs: number
  /** When it was asked for within `leastMs` of the question before: the newest of these times. */
  quickMs: readonly number[]
  isAsking: boolean
  isOver: boolean
  /** All of it was asked for last at this time. */
  wholeMs: number
  /** It is wanted again as soon as it was answered. */
  isWanted: boolean
  /** Not only what was heard is wanted. */
  isAllWanted: boolean
  /** What was heard since it was asked waits for so long after the question; undefined: nothing was heard. */
  heardMs: number | undefined
  heard: Heard[]
  isLive: boolean
  /** The newest answer is older than something that was asked for in vain. */
  hasFailed: boolean
  /** The sign-in, or the link, had ended when it was asked for. */
  hasLeft: boolean
  answer: T | undefined
}

const blank = <T>(): State<T> => ({
  ...{ timer: 0, askedMs: 0, wholeMs: 0, quickMs: [], isAsking: false, isOver: false, isWanted: false },
  ...{
    isAllWanted: false,
    heardMs: undefined,
    heard: [],
    isLive: false,
    hasFailed: false,
    hasLeft: false,
    answer: undefined,
  },
})
