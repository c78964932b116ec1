/** Times in milliseconds by the wall clock. */
export type Span = { readonly fromMs: number; readonly toMs: number }

/** Seconds before and after an event that its film shows: a forklift comes, sets the pallet down and leaves. */
export const filmSeconds = { before: 10, after: 10 } as const

/** Events that follow each other share a film; one that is longer than this is another film. */
const longestMs = 60_000
/** Their ids are in the leaf of the film, which must not grow beyond 64 KiB. */
const mostEvents = 200
/** A film that ends sooner than this may be closed by now, and takes no more events. */
const closingMs = 2000
/** A scanner's clock may be this much behind that of the previous scanner. */
const toleranceMs = 500

export type WantedFilm = Span & {
  readonly events: number
  /** Whether the cameras thread makes it already. */
  readonly isBegun: boolean
}

/** Returns what the film of a moment should show. */
export function filmSpan(momentMs: number): Span {
  return { fromMs: momentMs - filmSeconds.before * 1000, toMs: momentMs + filmSeconds.after * 1000 }
}

/**
 * Returns the span of a wanted film when it also shows another span. Undefined when it cannot: it would be too long, is full, or
 * has begun and cannot begin earlier or end later.
 */
export function joined(film: WantedFilm, span: Span, nowMs: number): Span | undefined {
  const both = { fromMs: Math.min(film.fromMs, span.fromMs), toMs: Math.max(film.toMs, span.toMs) }
  if (both.toMs - both.fromMs > longestMs || film.events >= mostEvents) return undefined
  if (!film.isBegun) return both
  if (span.fromMs < film.fromMs - toleranceMs) return undefined
  if (span.toMs > film.toMs && film.toMs - nowMs < closingMs) return undefined
  return { fromMs: film.fromMs, toMs: both.toMs }
}
