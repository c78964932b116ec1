import type { ReadTx } from '../../database/index.ts'
import type { Span } from '../span.ts'
import type { GapCause } from '../watch.ts'
import { everyWatch, gapsUpTo } from './store.ts'

/** An open gap, without its camera. */
export type LastingGap = { readonly fromMs: number; readonly cause: GapCause }

/** Totals of the gaps of a period over all cameras together, so that no camera is revealed. */
export type GapCounts = {
  readonly count: number
  /** Cut to the period; two cameras that are away at the same time count twice. */
  readonly millis: number
  readonly byCause: Readonly<Record<string, { readonly count: number; readonly millis: number }>>
  /** The longest within the period, with its own begin and end; `toMs` null: it went on. */
  readonly longest: Within | null
}

type OneGap = { readonly fromMs: number; readonly toMs: number | null; readonly cause: GapCause }
type Within = OneGap & { readonly millis: number }

const batch = 1000

/** Returns the open gaps. They have no leaf yet. */
export function lastingGaps(tx: ReadTx): LastingGap[] {
  return everyWatch(tx).flatMap(({ open_from_ms, open_cause }) =>
    open_from_ms === null || open_cause === null ? [] : [{ fromMs: open_from_ms, cause: open_cause }],
  )
}

/**
 * Counts the gaps of a period: those that the first `logSize` leaves of the log state, and `lasting` ones up to `untilMs`. The
 * same values give the same answer, whatever is recorded later.
 */
export function tallyGaps(
  tx: ReadTx,
  span: Span,
  known: { log: number; logSize: number; lasting: readonly LastingGap[]; untilMs: number },
): GapCounts {
  const tally = new Map<GapCause, { count: number; millis: number }>()
  let longest: Within | undefined
  for (const gap of everyGap(tx, known)) {
    const endMs = Math.min(gap.toMs ?? known.untilMs, span.toMs)
    const millis = endMs - Math.max(gap.fromMs, span.fromMs)
    if (millis <= 0) continue
    const { count, millis: before } = tally.get(gap.cause) ?? { count: 0, millis: 0 }
    tally.set(gap.cause, { count: count + 1, millis: before + millis })
    if (!longest || millis > longest.millis) longest = { ...gap, millis }
  }
  const byCause = [...tally].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    count: byCause.reduce((sum, [, { count }]) => sum + count, 0),
    millis: byCause.reduce((sum, [, { millis }]) => sum + millis, 0),
    byCause: Object.fromEntries(byCause),
    longest: longest ?? null,
  }
}

function* everyGap(
  tx: ReadTx,
  { log, logSize, lasting }: { log: number; logSize: number; lasting: readonly LastingGap[] },
): Generator<OneGap> {
  for (let lastId = 0, more = true; more; ) {
    const rows = gapsUpTo(tx, lastId, log, logSize, batch)
    for (const { from_ms, to_ms, cause } of rows) yield { fromMs: from_ms, toMs: to_ms, cause }
    lastId = rows.at(-1)?.id ?? lastId
    more = rows.length === batch
  }
  for (const { fromMs, cause } of lasting) yield { fromMs, toMs: null, cause }
}
