import type { UnitOfWork } from '../database/index.ts'
import type { Checkpoints, EvidenceClient } from '../evidence/index.ts'
import type { Log } from '../log/index.ts'
import type { Clock, Logger, RandomBytes } from '../platform/index.ts'
import type { RowChanges } from '../warehouse/index.ts'
import type { Changed } from './rides.ts'
import type { FeedFinding } from './verdict.ts'

/** The head office of the config. */
export type FeedSettings = {
  readonly url: string
  readonly caFile: string | null
  /** Its verifier key as a witness; null: its confirmations are not stored. */
  readonly vkey: string | null
  readonly maxBytesPerSecond: number | null
  /** Whether names of people go there, if it takes them. */
  readonly openings: 'never' | 'names'
  /** Reads the token. Throws when the file cannot be read. */
  readonly token: () => string
}

export type FeederNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  readonly logRoom: Log
  readonly checkpoints: Pick<Checkpoints, 'make' | 'newest'>
  readonly client: Pick<EvidenceClient, 'post' | 'stop'>
  readonly changes: Changed<RowChanges>
  /** Undefined without a head office. */
  readonly settings: () => FeedSettings | undefined
  /** Whether notifications are being sent now: they go first. */
  readonly isBusy: () => boolean
  /** State of this gateway, for the people at the head office. */
  readonly status: () => Promise<object>
  readonly onFed: (outcome: 'fed' | FeedFinding, leaves: number, bytes: number) => void
}

/** State of the feed. */
export type FeedSeen = {
  readonly url: string
  /** Leaves that the head office has acknowledged since this start; null before the first answer. */
  readonly size: number | null
  /** Wall clock of the last acknowledgement; null before the first. */
  readonly fedAtMs: number | null
  /** Agreement on names of people; null before the first answer. */
  readonly names: 'sent' | 'kept here' | 'not taken there' | null
  /** The version of gatehouse that the head office offers; null: none. */
  readonly offer: string | null
  readonly trouble: { readonly finding: FeedFinding; readonly words: string } | undefined
  /** Milliseconds for which it has not been well. */
  readonly forMs: number
}
