import type { Identity } from '../../log/index.ts'

/**
 * Grounds for a placement without a photo: a line of a list of opening stock, or a scan of a count. The caller that names them
 * stores them in the same commit. The pallet has been seen there, so `ledger.enforce` refuses nothing. The scan names its operator.
 */
export type Grounds =
  | { readonly kind: 'opening'; readonly list: string; readonly line: number }
  | {
      readonly kind: 'count'
      readonly countId: number
      readonly scanId: number
      readonly scanSha256: string
      /** Person who scanned; undefined once erased. */
      readonly counter: Identity | undefined
    }

/** Returns the columns of a row that state the event's grounds. */
export function groundColumns(grounds: Grounds | undefined) {
  const opening = grounds?.kind === 'opening' ? grounds : undefined
  const count = grounds?.kind === 'count' ? grounds : undefined
  return {
    opening_list: opening?.list ?? null,
    opening_line: opening?.line ?? null,
    count_id: count?.countId ?? null,
    count_scan_id: count?.scanId ?? null,
    count_scan_sha256: count?.scanSha256 ?? null,
  }
}
