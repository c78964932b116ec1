import type { ReadTx, Tx } from '../database/index.ts'
import type { DetectionEvent } from './schema.ts'
import type { DetectionEventRow } from './tables.ts'

/** How far the copy of a clip is. `url`: where it is, once it is uploaded. */
export type CopyState = { readonly status: DetectionEvent['uploadStatus']; readonly url: string | null }

/** The copies of clips on the storage server, which a room above makes. */
export type DetectionCopies = {
  /** Called in the transaction of the row. */
  recorded(tx: Tx, row: DetectionEventRow): void
  stateOf(tx: ReadTx, row: DetectionEventRow): CopyState
  /** Clips of a camera that have no copy yet. */
  pendingOf(tx: ReadTx, cctvId: number): number
}
