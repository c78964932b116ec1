import { useEffect, useRef, useState } from 'hono/jsx/dom'
import { onSignedInAgain } from './again.ts'
import { Refused } from './ask.ts'
import { type Heard, listen } from './live.ts'

/** The gateway computes such lists anew each time, so they are asked at most this often. */
const leastMs = 5000
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
  /** It takes many requests: nothing makes it be asked for again within `leastMs`. */
  readonly isHeavy?: boolean
}

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
  return isHeavy || isUsedUp ? Math.max(wantedMs, leastMs) : wantedMs
}

/** Notes that it is asked for now, and whether that is early. */
function noteQuestion<T>(now: State<T>): void {
  const askedMs = performance.now()
  if (now.askedMs > 0 && askedMs - now.askedMs < leastMs) now.quickMs = [...now.quickMs, askedMs].slice(-mostQuick)
  now.askedMs = askedMs
}

/** Returns how long it is until the next question, when so long after the last one is wanted. */
function leftMs<T>({ askedMs, quickMs }: State<T>, wantedMs: number, isHeavy: boolean): number {
  const nowMs = performance.now()
  return askedMs === 0 ? 0 : Math.max(0, askedMs + paceMs(wantedMs, quickMs, nowMs, isHeavy) - nowMs)
}

type Loaded<T> = { readonly answer: T | undefined; readonly problem: string; readonly reload: () => void }

/**
 * Loads an answer, and again when the gateway tells one of these kinds; else every 15 s, unless the stream tells all that
 * changes it. A hidden page asks nothing, and at once when it is seen again. What was known stays while it is asked again. `onLeft` is
 * called when the sign-in has ended; after the next one it is asked at once.
 */
export function useLive<T>(
  load: () => Promise<T>,
  kinds: readonly Heard['kind'][],
  onLeft: () => void,
  { isAbout = () => true, comesLive = () => false, isUrgent = false, isFixed = false, isHeavy = false }: Manner<T> = {},
): Loaded<T> {
  const [answer, setAnswer] = useState<T | undefined>(undefined)
  const [problem, setProblem] = useState('')
  const state = useRef<State<T>>(blank())
  const now = state.current ?? blank<T>()
  const ask = () => {
    clearTimeout(now.timer)
    if (now.isAsking || now.isOver || document.hidden) return
    now.isAsking = true
    now.heardMs = undefined
    noteQuestion(now)
    load()
      .then(
        (next) => {
          if (now.isOver) return
          now.answer = next
          now.hasFailed = false
          setProblem('')
          setAnswer(next)
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
  const rest = () => {
    if (now.heardMs !== undefined) return askSoon(now.heardMs)
    soon(restMs(now, { isFixed, comesLive }))
  }
  const reload = () => {
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
    if (heard.kind === 'hello' || heard.kind === 'lost') now.isLive = heard.kind === 'hello'
    const isAnew = heard.kind === 'lost' || (heard.kind === 'hello' && !heard.data.resumed)
    if (!isAnew && !(kinds.includes(heard.kind) && isAbout(heard, now.answer))) return
    now.heardMs = Math.min(waitOf(heard), now.heardMs ?? leastMs)
    // What is being asked for may have been read before it.
    if (!now.isAsking) askSoon(now.heardMs)
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
  /** It is wanted again as soon as it was answered. */
  isWanted: boolean
  /** What was heard since it was asked waits for so long after the question; undefined: nothing was heard. */
  heardMs: number | undefined
  isLive: boolean
  /** The newest answer is older than something that was asked for in vain. */
  hasFailed: boolean
  /** The sign-in, or the link, had ended when it was asked for. */
  hasLeft: boolean
  answer: T | undefined
}

const blank = <T>(): State<T> => ({
  ...{ timer: 0, askedMs: 0, quickMs: [], isAsking: false, isOver: false, isWanted: false },
  ...{ heardMs: undefined, isLive: false, hasFailed: false, hasLeft: false, answer: undefined },
})
