import { useEffect, useRef, useState } from 'hono/jsx/dom'
import { Refused } from './ask.ts'
import { type Heard, listen } from './live.ts'

/** The gateway computes such lists anew each time, so they are asked at most this often. */
const leastMs = 5000
const aloneMs = 15_000
const firstMs = 1500

type Loaded<T> = { readonly answer: T | undefined; readonly problem: string; readonly reload: () => void }

/**
 * Loads an answer, and again when the gateway tells one of these kinds; without the stream every 15 s. A hidden page asks nothing, and
 * at once when it is seen again. What was known stays while it is asked again. `onLeft` is called when the sign-in has ended.
 */
export function useLive<T>(load: () => Promise<T>, kinds: readonly Heard['kind'][], onLeft: () => void): Loaded<T> {
  const [answer, setAnswer] = useState<T | undefined>(undefined)
  const [problem, setProblem] = useState('')
  const state = useRef({ timer: 0, askedMs: 0, isAsking: false, isOver: false, isWanted: false })
  const now = state.current ?? { timer: 0, askedMs: 0, isAsking: false, isOver: false, isWanted: false }
  const ask = () => {
    clearTimeout(now.timer)
    if (now.isAsking || now.isOver || document.hidden) return
    now.isAsking = true
    now.askedMs = performance.now()
    load()
      .then(
        (next) => {
          if (now.isOver) return
          setProblem('')
          setAnswer(next)
        },
        (error: Error) => {
          if (error instanceof Refused && error.isSignedOut) onLeft()
          else if (!now.isOver) setProblem(error.message)
        },
      )
      .finally(() => {
        now.isAsking = false
        // What is being asked for may have been read before the change.
        if (now.isWanted) reload()
        else soon(aloneMs)
      })
  }
  const reload = () => {
    now.isWanted = now.isAsking
    if (!now.isAsking) ask()
  }
  const soon = (ms: number) => {
    clearTimeout(now.timer)
    if (!now.isOver) now.timer = window.setTimeout(ask, ms)
  }
  const askSoon = () => soon(Math.max(0, now.askedMs === 0 ? 0 : now.askedMs + leastMs - performance.now()))
  const look = () => !document.hidden && reload()
  useEffect(() => {
    now.isOver = false
    document.addEventListener('visibilitychange', look)
    soon(firstMs)
    const unlisten = listen((heard) => {
      if (heard.kind === 'lost' || (heard.kind === 'hello' && !heard.data.resumed) || kinds.includes(heard.kind))
        askSoon()
    })
    return () => {
      now.isOver = true
      clearTimeout(now.timer)
      document.removeEventListener('visibilitychange', look)
      unlisten()
    }
  }, [])
  return { answer, problem, reload }
}
