import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, Refused } from '../data/ask.ts'
import type { Day } from '../data/day-line.ts'
import type { Entry } from './day/entries.ts'
import { polygonsOf, type Trial, type Tried, trialOf, type WhatIfAnswer } from './tune-trial.ts'

/** A slider that still moves sends no request. */
const restMs = 250

/** Requests a what-if for the newest settings: one at a time, and later changes are the next one. */
export function useTrial(
  id: number,
  day: Day,
  tried: Tried,
  entries: readonly Entry[] | undefined,
  onTrial: (trial: Trial | undefined) => void,
): { problem: string; isAsking: boolean; retry: () => void } {
  const [problem, setProblem] = useState('')
  const [isAsking, setAsking] = useState(false)
  const [answer, setAnswer] = useState<WhatIfAnswer | undefined>(undefined)
  const [attempt, setAttempt] = useState(0)
  const last = useRef<Promise<unknown>>(Promise.resolve())
  const key = JSON.stringify([id, day.fromMs, tried])
  useEffect(() => {
    setAnswer(undefined)
  }, [day.fromMs])
  useEffect(() => {
    let isOver = false
    let timer = 0
    const run = () => {
      if (isOver) return
      return whatIf(id, day, tried).then(
        (found) => {
          if (isOver) return
          setProblem('')
          setAnswer(found)
          setAsking(false)
        },
        (error: Error) => {
          if (isOver) return
          if (error instanceof Refused && error.code === 'REPLAYS_WAITING') {
            timer = window.setTimeout(next, error.retryAfterSeconds * 1000)
            return
          }
          setProblem(error.message)
          setAsking(false)
        },
      )
    }
    const next = () => {
      last.current = (last.current ?? Promise.resolve()).then(run)
    }
    setAsking(true)
    timer = window.setTimeout(next, restMs)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [key, attempt])
  useEffect(() => {
    onTrial(answer && entries ? trialOf(answer, entries) : undefined)
  }, [answer, entries])
  useEffect(() => () => onTrial(undefined), [])
  return { problem, isAsking, retry: () => setAttempt((before) => before + 1) }
}

const whatIf = (id: number, day: Day, tried: Tried) =>
  ask<WhatIfAnswer>(`/api/iot/cctv/${id}/what-if`, {
    method: 'POST',
    body: {
      from: new Date(day.fromMs).toISOString(),
      to: new Date(day.toMs).toISOString(),
      sensitivity: tried.sensitivity,
      masks: polygonsOf(tried, 'mask'),
      zones: polygonsOf(tried, 'zone'),
    },
  })
