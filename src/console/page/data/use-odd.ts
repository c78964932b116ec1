import { useEffect, useRef, useState } from 'preact/hooks'
import { discrepancyWords } from '../i18n/discrepancy-words.ts'
import { onSignedInAgain } from './again.ts'
import { ask, gatewayNow, Refused } from './ask.ts'
import { untilNextMs } from './odd-rounds.ts'
import type { Discrepancy, List } from './shapes.ts'

/** A finger on the slider passes many times; only the one where it rests is requested. */
export const restMs = 150

/** Contradictions of the ledger by slot; undefined until the gateway has answered. */
type Odd = ReadonlyMap<number, string> | undefined

/** `at`: the requested time of the floor, empty for now. */
type Question = {
  readonly at: string
  readonly askedMs: number
  /** A refusal that will not pass. */
  readonly isOver?: boolean
  readonly retryAfterMs?: number
}

/** Left out: a pallet that was not registered says nothing about where it is. */
const oddIn = (all: readonly Discrepancy[]): ReadonlyMap<number, string> =>
  new Map(
    all.filter(({ kind }) => kind !== 'unregistered_asset').map((one) => [one.slot.id, discrepancyWords(one).what]),
  )

/** The same question would be refused again. */
const isLasting = (error: unknown): boolean =>
  error instanceof Refused && error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429

/**
 * Returns the contradictions of the floor at a time, never those of another one. A hidden page sends no request, and one at once
 * when it is visible again. After a lasting refusal it asks again only then, and after the next sign-in.
 *
 * @param at the requested time; undefined for now
 * @param shownAt the time of the shown floor, empty for now; undefined while none is shown
 * @param changes something that differs after an event
 */
export function useOdd(at: string | undefined, shownAt: string | undefined, isReady: boolean, changes: unknown): Odd {
  const [known, setKnown] = useState<{ readonly at: string; readonly odd: Odd } | undefined>(undefined)
  const [round, setRound] = useState(0)
  const last = useRef<Question | undefined>(undefined)
  const wanted = useRef('')
  wanted.current = at ?? ''
  const again = () => setRound((before) => before + 1)
  useEffect(() => {
    const begin = () => {
      last.current = undefined
      again()
    }
    document.addEventListener('visibilitychange', begin)
    const unwatch = onSignedInAgain(begin)
    return () => {
      document.removeEventListener('visibilitychange', begin)
      unwatch()
    }
  }, [])
  useEffect(() => {
    const time = at ?? ''
    const before = last.current?.at === time ? last.current : undefined
    if (!isReady || document.hidden || before?.isOver) return
    const read = () => {
      const question = { at: time, askedMs: performance.now() }
      last.current = question
      const fail = (error: unknown) => {
        // A newer request may be under way.
        if (last.current !== question) return
        const retryAfterMs = error instanceof Refused ? error.retryAfterSeconds * 1000 : 0
        last.current = { ...question, isOver: isLasting(error), retryAfterMs }
        if (wanted.current === time) again()
      }
      ask<List<Discrepancy>>(`/api/whms/discrepancies${at === undefined ? '' : `?at=${encodeURIComponent(at)}`}`).then(
        // Also when something has changed meanwhile: on a busy floor something always has.
        ({ data }) => wanted.current === time && setKnown({ at: time, odd: oddIn(data) }),
        fail,
      )
    }
    const timer = setTimeout(read, before ? waitMs(before) : restMs)
    return () => clearTimeout(timer)
  }, [at, isReady, changes, round])
  return known !== undefined && known.at === shownAt ? known.odd : undefined
}

function waitMs({ askedMs, retryAfterMs = 0 }: Question): number {
  const sinceMs = performance.now() - askedMs
  return Math.max(untilNextMs(gatewayNow(), sinceMs), retryAfterMs - sinceMs)
}
