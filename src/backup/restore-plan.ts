import type { SignedHead } from '../evidence/index.ts'
import type { KnownLog } from '../log/index.ts'

/** Contents of the data folder before the restore; undefined parts are missing or unreadable. */
export type Present = {
  /** The last head that this box signed. */
  readonly head: SignedHead | undefined
  readonly ledger:
    | {
        readonly logs: readonly KnownLog[]
        readonly root: string
        readonly lastEventMs: number | null
        /** Whether it has the head that this box signed last. */
        readonly reachesHead: boolean
      }
    | undefined
}

/** The ledger that comes back. */
export type Coming = {
  readonly logs: readonly KnownLog[]
  /** Root over all leaves of the growing log, hex. */
  readonly root: string
  /** Whether a checkpoint is one of this ledger: its log is there, has as many leaves, and gives that root. */
  readonly holds: (head: SignedHead) => boolean
}

export type RestorePlan = {
  /**
   * Whether the log continues as a new one. Only a ledger that is there and ends with the same leaf needs none. In every other case
   * the backup may lack leaves that were handed out or signed.
   */
  readonly forks: boolean
  /** The head that this box signed and that the backup does not reach. */
  readonly behind: SignedHead | undefined
  /** Leaves that are there now and that the backup does not have; null: unknown. */
  readonly lostLeaves: number | null
  /**
   * The growing log, when all of these hold. It or one before it began with a fork of a log of the backup. The backup lacks more of
   * it than its first leaf. The ledger has all that was signed.
   */
  readonly since: KnownLog | undefined
}

/** Says what a restore does to the log. Pure. */
export function planRestore(coming: Coming, { head, ledger }: Present): RestorePlan {
  const behind = head && !coming.holds(head) ? head : undefined
  const log = coming.logs.at(-1)
  const now = ledger?.logs.at(-1)
  const isSame = now !== undefined && now.logId === log?.logId && now.size === log.size && ledger?.root === coming.root
  const lostLeaves = ledger ? leavesNotIn(coming.logs, ledger.logs) : null
  return {
    forks: !isSame || behind !== undefined,
    behind,
    lostLeaves,
    since: ledger?.reachesHead ? recordedSince(coming.logs, ledger.logs) : undefined,
  }
}

/** The command of an earlier restore may name the newest backup, which is another one by now. So any state of these logs counts. */
function recordedSince(coming: readonly KnownLog[], now: readonly KnownLog[]): KnownLog | undefined {
  const sizes = new Map(coming.map(({ logId, size }) => [logId, size]))
  if (!now.some(({ logId }) => sizes.has(logId))) return undefined
  const isMore = ({ logId, parent, size }: KnownLog) => parent !== null && size > Math.max(1, sizes.get(logId) ?? 0)
  return now.some(isMore) ? now.at(-1) : undefined
}

function leavesNotIn(coming: readonly KnownLog[], now: readonly KnownLog[]): number {
  const sizes = new Map(coming.map(({ logId, size }) => [logId, size]))
  return now.reduce((sum, { logId, size }) => sum + Math.max(0, size - (sizes.get(logId) ?? 0)), 0)
}
