import type { FilmSpan } from '../history/history-index.ts'

/** Footage of a camera, in the same clock as the span. */
export type Footage = {
  readonly nowMs: number
  /** The oldest picture that a film could begin with; undefined while the ring is empty. */
  readonly ringFromMs: number | undefined
  /** Whether history has the moment, or will have it because it is being written. */
  readonly hasHistory: boolean
}

/** `live`: from the ring, and the video that follows. `history`: from segments, once the span is over. */
export type FilmSource = 'live' | 'history' | 'none'

/** A ring that begins this much later still counts as complete. */
const toleranceMs = 250

/**
 * Chooses the source of a film: the ring if it has the whole film, else history. Without history, takes the part that the ring has
 * or that is still to come.
 */
export function filmSource({ fromMs, atMs, toMs }: FilmSpan, { nowMs, ringFromMs, hasHistory }: Footage): FilmSource {
  if (ringFromMs !== undefined && ringFromMs <= fromMs + toleranceMs) return 'live'
  if (hasHistory) return 'history'
  const hasMoment = ringFromMs !== undefined && ringFromMs <= atMs
  return hasMoment || toMs > nowMs ? 'live' : 'none'
}
