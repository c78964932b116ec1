import { useEffect, useRef, useState } from 'preact/hooks'
import { onSignedInAgain } from './again.ts'
import { Refused } from './ask.ts'
import type { Heard } from './heard.ts'
import { listen } from './live.ts'

/** The gateway computes such lists anew each time, so they are requested at most this often. */
const leastMs = 5000
/** `leastMs` of an answer that takes many requests. */
const leastOfHeavyMs = 10_000
/** Two screens agree within a second on units and incidents, which change seldom. */
const leastOfSeldomMs = 500
/** Requests in a minute that may come within `leastMs`: screens of one account share its rate of requests. */
const mostQuick = 2
const aloneMs = 15_000
const firstMs = 1500
/** Answers that the stream changes are requested again this often, in case the stream or the page fails. */
const whileLiveMs = 60_000

/** How an answer changes. */
type Manner<T> = {
  /** Whether a message of the gateway may change this answer. Default: always. */
  readonly isAbout?: (heard: Heard, answer: T | undefined) => boolean
  /** Whether the stream sends all changes of this answer: then it is not polled while the stream is open. Default: never. */
  readonly comesLive?: (answer: T) => boolean
  /** It is requested before the stream is open. Default: a list waits for the stream for a moment, so that it is read once. */
  readonly isUrgent?: boolean
  /** The answer never changes: it is requested until it is there. */
  readonly isFixed?: boolean
  /** It takes many requests: nothing repeats them within `leastOfHeavyMs`. */
  readonly isHeavy?: boolean
  /** Applies a message of the gateway without a request; undefined: a request is needed. Default: always. */
  readonly apply?: (heard: Heard, answer: T) => T | undefined
}

/** The answer on the page, and later messages that were not applied: only their subjects must be requested. */
export type Since<T> = { readonly answer: T; readonly heard: readonly Heard[] }

type Known<T> = Pick<State<T>, 'answer' | 'isLive' | 'hasFailed' | 'hasLeft'>

/** Returns the pause after an answer or a refusal; undefined: no more requests. Pure. */
export function restMs<T>(
  { answer, isLive, hasFailed, hasLeft }: Known<T>,
  { isFixed = false, comesLive = () => false }: Manner<T>,
): number | undefined {
  if (isFixed && (answer !== undefined || hasLeft)) return undefined
  return isLive && !hasFailed && answer !== undefined && comesLive(answer) ? whileLiveMs : aloneMs
}

/** Notes that a request failed. Returns whether the sign-in has ended. */
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

/** Notes a request: whether it is early, and whether it is for the whole answer. */
function noteQuestion<T>(now: State<T>, isWhole: boolean): void {
  const askedMs = performance.now()
  if (now.askedMs > 0 && askedMs - now.askedMs < leastMs) now.quickMs = [...now.quickMs, askedMs].slice(-mostQuick)
  if (isWhole) now.wholeMs = askedMs
  Object.assign(now, { askedMs, heardMs: undefined, heard: [], isAllWanted: false })
}

/** Returns the messages since the last answer, where they alone need a request; undefined: the whole answer does. */
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

/**
 * Notes a message of the gateway. Returns the answer with it applied, or the pause after the last request. Returns neither when the
 * message is about others.
 */
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
 * Loads an answer, and again after a message of one of these kinds. Otherwise polls every 15 s, unless the stream sends all
 * changes. A hidden page sends no request, and one at once when it is visible again. The old answer stays meanwhile. Calls `onLeft`
 * when the sign-in has ended; after the next one a request is sent at once. Gives `load` the messages since the last answer when
 * they alone are the reason.
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
          // A view that is gone may have been left with other words.
          if (now.isOver) return
          if (isLeft(now, error)) onLeft()
          else setProblem(error.message)
        },
      )
      .finally(() => {
        now.isAsking = false
        // The answer under way may have been read before the change.
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
  /** Newest times of requests within `leastMs` of the one before. */
  quickMs: readonly number[]
  isAsking: boolean
  isOver: boolean
  /** Time of the last request for the whole answer. */
  wholeMs: number
  /** It is wanted again as soon as it was answered. */
  isWanted: boolean
  /** The whole answer is wanted. */
  isAllWanted: boolean
  /** Pause after the last request for messages since then; undefined: there are none. */
  heardMs: number | undefined
  heard: Heard[]
  isLive: boolean
  /** The newest answer is older than a failed request. */
  hasFailed: boolean
  /** The sign-in, or the link, had ended at the last request. */
  hasLeft: boolean
  answer: T | undefined
}

const blank = <T>(): State<T> => ({
  timer: 0,
  askedMs: 0,
  wholeMs: 0,
  quickMs: [],
  isAsking: false,
  isOver: false,
  isWanted: false,
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
