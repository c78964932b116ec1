import { useEffect, useState } from 'preact/hooks'
import { ask, gatewayNow } from '../../data/ask.ts'
import type { Day } from '../../data/day-line.ts'
import type { Gap, List } from '../../data/shapes.ts'
import { type DayDetection, type Entry, entriesOf } from './entries.ts'

export type Scores = { readonly values: Float32Array; readonly intervalMs: number; readonly read: number }

type Page<T> = List<T> & { readonly pagination: { readonly nextCursor?: string | null } }

/** More than this of one kind is not a day, but a camera that is set wrong. */
const mostPages = 6
const todayMs = 15_000
const intervalMs = 200
/** The gateway answers for six hours at most; in smaller parts a trace appears sooner. */
const partMs = 4 * 3_600_000

async function all<T>(path: string): Promise<T[]> {
  const found: T[] = []
  let cursor: string | null | undefined
  for (let page = 0; page < mostPages; page++) {
    const { data, pagination }: Page<T> = await ask<Page<T>>(
      `${path}&limit=500${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
    )
    found.push(...data)
    cursor = pagination.nextCursor
    if (!cursor) break
  }
  return found
}

/** Reads detections and gaps of a day; today's again and again. */
export function useEntries(id: number, day: Day): { entries: readonly Entry[] | undefined; problem: string } {
  const [entries, setEntries] = useState<readonly Entry[] | undefined>(undefined)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    let isOver = false
    let timer = 0
    setEntries(undefined)
    const span = `from=${iso(day.fromMs)}&to=${iso(day.toMs)}`
    const read = () => {
      Promise.all([
        all<DayDetection>(`/api/iot/detection-events?cctvId=${id}&trigger=all&${span}`),
        all<Gap>(`/api/iot/cctv/${id}/gaps?${span}`),
      ])
        .then(
          ([detections, gaps]) => {
            if (isOver) return
            setEntries(entriesOf(detections, gaps, day, gatewayNow()))
            setProblem('')
          },
          (error: Error) => !isOver && setProblem(error.message),
        )
        .finally(() => {
          if (!isOver && day.toMs > gatewayNow()) timer = window.setTimeout(read, todayMs)
        })
    }
    read()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [id, day.fromMs])
  return { entries, problem }
}

/** Reads how much the pictures of a day changed, part after part. */
export function useScores(id: number, day: Day): Scores {
  const [scores, setScores] = useState<Scores>(() => nothingRead(day))
  useEffect(() => {
    let isOver = false
    const { values } = nothingRead(day)
    setScores({ values, intervalMs, read: 0 })
    const read = async () => {
      const endMs = Math.min(day.toMs, gatewayNow())
      for (let fromMs = day.fromMs; fromMs < endMs && !isOver; fromMs += partMs) {
        const span = `from=${iso(fromMs)}&to=${iso(Math.min(fromMs + partMs, endMs))}`
        const answer = await ask<{ scores: readonly (number | null)[] }>(`/api/iot/cctv/${id}/scores?${span}`)
        if (isOver) return
        const first = Math.round((fromMs - day.fromMs) / intervalMs)
        for (const [i, score] of answer.scores.entries())
          if (score !== null && first + i < values.length) values[first + i] = score
        setScores({ values, intervalMs, read: first + answer.scores.length })
      }
    }
    // The trace is an extra: clips and gaps say what matters.
    read().catch(() => {})
    return () => {
      isOver = true
    }
  }, [id, day.fromMs])
  return scores
}

const nothingRead = (day: Day): Scores => ({
  values: new Float32Array(Math.ceil((day.toMs - day.fromMs) / intervalMs)).fill(Number.NaN),
  intervalMs,
  read: 0,
})

const iso = (ms: number) => new Date(ms).toISOString()
