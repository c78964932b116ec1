import type { Identity } from '../../log/index.ts'

/**
 * What a placement may lean on when no one took a photo; who names it has it in the same commit. A line of a list
 * of opening stock, or a scan of a count: there the pallet has been seen, so `ledger.enforce` refuses nothing, and who
 * scanned it is known from the scan.
 */
export type Grounds =
  | { readonly kind: 'opening'; readonly list: string; readonly line: number }
  | {
      readonly kind: 'count'
      readonly countId: number
      readonly scanId: number
      readonly scanSha256: string
      /** Who scanned; undefined once erased. */
      readonly counter: Identity | undefined
    }

/** The columns of a row that say what the event leans on. */
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
