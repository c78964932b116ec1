import type { ReadTx, Tx } from '../database/index.ts'
import type { DetectionEvent } from './schema.ts'
import type { DetectionEventRow } from './tables.ts'

/** State of the copy of a clip. `url`: its address, once it is uploaded. */
export type CopyState = { readonly status: DetectionEvent['uploadStatus']; readonly url: string | null }

/** A clip that is being recorded. `atMs`: when its motion began. */
export type OpenClip = { readonly id: number; readonly cctvId: number; readonly atMs: number }

/** The copies of clips on the storage server, which a room above makes. */
export type DetectionCopies = {
  /** Called in the transaction in which a clip begins, when what it shall be held for is known. */
  begun(tx: Tx, clip: OpenClip): void
  /** No film was made, because the clip of the detection `by` shows the same. In the transaction in which that is noted. */
  covered(tx: Tx, film: number, by: number): void
  /** Called in the transaction of the row. */
  recorded(tx: Tx, row: DetectionEventRow): void
  stateOf(tx: ReadTx, row: DetectionEventRow): CopyState
  /** Clips of a camera that have no copy yet. */
  pendingOf(tx: ReadTx, cctvId: number): number
}
