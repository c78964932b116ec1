/** Compares motion as it was recorded with motion as other settings would have found it. Pure; wall clock times. */
import type { ReplayedMotion } from './cell-replay.ts'

/** A detection that was recorded. `endMs` is the end of its clip; without a clip, the motion itself. */
export type RecordedMotion = { readonly id: number; readonly motionMs: number; readonly endMs: number }

type Span = { readonly fromMs: number; readonly toMs: number }

export type Comparison = {
  readonly events: readonly (ReplayedMotion & { readonly detectionId: number | undefined })[]
  /** Recorded motion that would not have been found. */
  readonly lost: readonly number[]
  /** Recorded motion that the clip of another event would have shown. */
  readonly merged: readonly number[]
  /** Recorded motion of a time of which no cells are stored. */
  readonly undecided: readonly number[]
  /** Events that were not recorded. */
  readonly added: number
}

/** The wall clock of a replay is that of a block, so the same motion may differ by some milliseconds. */
const sameMs = 500

/** Compares within a span. Both lists may reach beyond it, so that motion across its ends is matched too. */
export function compareMotion(
  replayed: readonly ReplayedMotion[],
  recorded: readonly RecordedMotion[],
  span: Span,
  seen: readonly Span[],
): Comparison {
  const matched = match(replayed, recorded)
  const isInside = ({ motionMs }: { readonly motionMs: number }) => motionMs >= span.fromMs && motionMs < span.toMs
  const ids = new Set(matched.values())
  const open = recorded.filter((one) => isInside(one) && !ids.has(one.id))
  const isSeen = ({ motionMs }: RecordedMotion) =>
    seen.some(({ fromMs, toMs }) => motionMs >= fromMs - sameMs && motionMs < toMs + sameMs)
  const isShown = ({ motionMs }: RecordedMotion) =>
    replayed.some((one) => one.hasClip && motionMs >= one.motionMs && motionMs <= one.endMs)
  const events = replayed.filter(isInside).map((motion) => ({ ...motion, detectionId: matched.get(motion) }))
  const idsOf = (some: readonly RecordedMotion[]) => some.map(({ id }) => id)
  return {
    events,
    lost: idsOf(open.filter((one) => isSeen(one) && !isShown(one))),
    merged: idsOf(open.filter((one) => isSeen(one) && isShown(one))),
    undecided: idsOf(open.filter((one) => !isSeen(one))),
    added: events.filter(({ detectionId }) => detectionId === undefined).length,
  }
}

/** Subtracts motion that was recorded since `before` from the added motion. Motion that fired at the same moment is the same. */
export function matchLate(
  { events }: Pick<Comparison, 'events'>,
  before: readonly RecordedMotion[],
  recorded: readonly RecordedMotion[],
): Pick<Comparison, 'events' | 'added'> {
  const known = new Set(before.map(({ id }) => id))
  const late = recorded.filter(({ id }) => !known.has(id))
  const matched = match(
    events.filter(({ detectionId }) => detectionId === undefined),
    late,
  )
  const all = events.map((one) => ({ ...one, detectionId: one.detectionId ?? matched.get(one) }))
  return { events: all, added: all.filter(({ detectionId }) => detectionId === undefined).length }
}

/** Gives each event at most one recorded detection: first those of the same moment, then those that overlap. */
function match(replayed: readonly ReplayedMotion[], recorded: readonly RecordedMotion[]): Map<ReplayedMotion, number> {
  const matched = new Map<ReplayedMotion, number>()
  const taken = new Set<number>()
  const isSame = (a: ReplayedMotion, b: RecordedMotion) => Math.abs(a.motionMs - b.motionMs) <= sameMs
  const overlaps = (a: ReplayedMotion, b: RecordedMotion) => a.motionMs <= b.endMs && b.motionMs <= a.endMs
  for (const fits of [isSame, overlaps]) {
    for (const motion of replayed) {
      if (matched.has(motion)) continue
      const found = recorded.find((one) => !taken.has(one.id) && fits(motion, one))
      if (!found) continue
      matched.set(motion, found.id)
      taken.add(found.id)
    }
  }
  return matched
}
