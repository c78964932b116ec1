import type { Point, Polygon } from '../data/shapes.ts'
import { rounded } from '../hall/polygon-edit.ts'
import type { Entry } from './day/entries.ts'

/** A part of the picture: in a mask nothing counts, outside of all zones nothing counts. */
export type Area = { readonly kind: 'mask' | 'zone'; readonly points: Polygon }

export type Tried = { readonly sensitivity: number; readonly areas: readonly Area[] }

/** Answer of the gateway to a what-if. */
export type WhatIfAnswer = {
  readonly sensitivity: number
  readonly events: readonly { readonly timestamp: string; readonly score: number; readonly detectionId?: number }[]
  readonly recorded: number
  readonly lost: readonly number[]
  readonly merged: readonly number[]
  readonly undecided: readonly number[]
  readonly added: number
  readonly unknown: readonly { readonly from: string; readonly to: string }[]
}

export type Verdict = 'stays' | 'gone' | 'merged' | 'undecided'

/** Result of other settings on a day. */
export type Trial = {
  readonly sensitivity: number
  /** By recorded detection. A film of an event on the floor has none: no sensitivity changes it. */
  readonly verdicts: ReadonlyMap<number, Verdict>
  readonly recorded: number
  /** Events that it would have been. */
  readonly would: number
  readonly added: readonly { readonly atMs: number; readonly score: number }[]
  /** How long nothing is known of. */
  readonly unknownMs: number
}

/** Reads an answer for the entries of its day. Pure. */
export function trialOf(answer: WhatIfAnswer, entries: readonly Entry[]): Trial {
  const { lost, merged, undecided, recorded, unknown } = answer
  const special = new Map<number, Verdict>([
    ...lost.map((id) => [id, 'gone'] as const),
    ...merged.map((id) => [id, 'merged'] as const),
    ...undecided.map((id) => [id, 'undecided'] as const),
  ])
  for (const { detectionId } of answer.events) if (detectionId !== undefined) special.set(detectionId, 'stays')
  const known = entries.flatMap((entry) =>
    entry.kind === 'detection' && entry.detection.trigger === 'motion' ? [entry.detection.id] : [],
  )
  const verdicts = known.flatMap((id) => {
    const verdict = special.get(id)
    return verdict ? [[id, verdict] as const] : []
  })
  return {
    sensitivity: answer.sensitivity,
    verdicts: new Map(verdicts),
    recorded,
    would: recorded - lost.length - merged.length + answer.added,
    added: answer.events
      .filter(({ detectionId }) => detectionId === undefined)
      .map(({ timestamp, score }) => ({ atMs: Date.parse(timestamp), score })),
    unknownMs: unknown.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0),
  }
}

/** Says whether two settings find the same. Pure. */
export const isSame = (a: Tried, b: Tried): boolean => JSON.stringify(a) === JSON.stringify(b)

export const polygonsOf = ({ areas }: Tried, kind: Area['kind']): Polygon[] =>
  areas.filter((area) => area.kind === kind).map(({ points }) => points)

/** Returns the keys of a camera's config entry, as they are pasted below its id. Pure. */
export function configEntry(tried: Tried, now: Tried): string {
  const list = (name: string, kind: Area['kind']): string[] => {
    const polygons = polygonsOf(tried, kind)
    if (polygons.length === 0) return polygonsOf(now, kind).length === 0 ? [] : [`  ${name}: []`]
    return [`  ${name}:`, ...polygons.map((polygon) => `    - [${polygon.map(pointText).join(', ')}]`)]
  }
  return ['motion:', `  sensitivity: ${tried.sensitivity}`, ...list('masks', 'mask'), ...list('zones', 'zone')].join(
    '\n',
  )
}

const pointText = ({ x, y }: Point) => `{ x: ${rounded(x, 3)}, y: ${rounded(y, 3)} }`
