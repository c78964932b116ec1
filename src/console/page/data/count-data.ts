export const countsApi = '/api/whms/counts'

export type Count = {
  readonly id: number
  readonly state: 'open' | 'counting' | 'review' | 'approved' | 'cancelled'
  readonly reference: string | null
  readonly slots: { readonly total: number; readonly counted: number }
  readonly outcomes: Readonly<Record<'matched' | 'corrected' | 'moved' | 'conflict' | 'not_counted', number>> | null
  readonly createdBy: string | null
  readonly closedBy: string | null
  readonly closedAt: string | null
  readonly reason: string | null
  readonly version: number
  readonly createdAt: string
}

export type CountSlot = {
  readonly slot_id: number
  readonly slot_code: string
  readonly state: 'to_count' | 'counted' | 'to_recount'
}

export type Line = {
  readonly slot_id: number
  readonly slot_code: string
  readonly status: 'not_counted' | 'matched' | 'different' | 'moved' | 'conflict'
  /** Result of the approval for the slot; null before. */
  readonly outcome: 'matched' | 'corrected' | 'moved' | 'conflict' | 'not_counted' | null
  readonly expected: readonly string[]
  readonly found: readonly string[] | null
  readonly extra: readonly { readonly asset_barcode: string; readonly ledgerSlot: string | null }[]
  readonly counter: string | null
}

export const isEnded = ({ state }: Pick<Count, 'state'>): boolean => state === 'approved' || state === 'cancelled'

/** Returns the lines of a field, trimmed, each once, without empty ones. Pure. */
export const linesOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(/[\n,;]/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
]

type Form = { readonly what: string; readonly slots: string; readonly sample: string; readonly reference: string }

/** Returns the request that opens a count, or the wrong field. Pure. */
export function orderOf({
  what,
  slots,
  sample,
  reference,
}: Form): Readonly<Record<string, unknown>> | 'slots' | 'sample' {
  const codes = linesOf(slots)
  if (what === 'slots' && codes.length === 0) return 'slots'
  const drawn = sample.trim() === '' ? undefined : Number(sample)
  if (drawn !== undefined && !(Number.isInteger(drawn) && drawn >= 1 && drawn <= 1000)) return 'sample'
  return {
    ...(what === 'slots' && { slot_codes: codes }),
    ...(what.startsWith('zone ') && { zoneId: Number(what.slice('zone '.length)) }),
    ...(drawn !== undefined && { sample: drawn }),
    ...(reference.trim() !== '' && { reference: reference.trim() }),
  }
}
