import { AppError } from '../../errors/index.ts'
import { type NoteKey, noteKey, readVkey, vkeyOf } from '../../evidence/index.ts'
import { MerkleFrontier } from '../../log/index.ts'
import { isoTime, type Logger } from '../../platform/index.ts'
import type { HubDatabase, HubTx, HubWrite } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import { endAhead } from './ahead.ts'
import { findCheckpoint, keepNewest } from './checkpoints.ts'
import type { ForkFact } from './facts.ts'
import { eraseBehind, eraseNamesOf } from './names-behind.ts'
import { endRegisters } from './registers-end.ts'
import { ensureHead, type FedLog, findLog, lockHead, markHead, raiseAlert } from './store.ts'
import type { StoredRoots } from './stored-tree.ts'

const newLog = hubStatement(
  'put-child-log',
  `INSERT INTO log (log_id, site_id, origin, vkeys, enrolled_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (log_id) DO NOTHING`,
)
const superseded = hubStatement('supersede-log', 'UPDATE log SET superseded_by = $2, ends_at = $3 WHERE log_id = $1')
const retiredAs = hubStatement(
  'retire-child-log',
  'UPDATE log SET retired_at = parent.retired_at FROM log AS parent WHERE log.log_id = $1 AND parent.log_id = $2',
)
const abandoned = hubStatement('abandon-log', 'UPDATE log SET ends_at = 0 WHERE log_id = $1')

type Child = {
  readonly parent: FedLog
  readonly fork: ForkFact
  readonly logId: string
  readonly origin: string
  readonly keys: readonly NoteKey[]
}

/** Returns the same public keys under the name of another log. */
export function keysUnder(origin: string, vkeys: readonly string[]): NoteKey[] {
  return vkeys.flatMap((vkey) => {
    const key = readVkey(vkey)
    return key ? [noteKey(origin, key.type, key.publicKey)] : []
  })
}

/**
 * Enrols a log that continues a known one, after a restore. The parent takes no more feeds, and its floor ends where the child
 * begins. Its leaves behind that stay as evidence without the names of their people, and raise an alert. All of it in one
 * transaction. The child of a retired log is retired, too. Throws NOT_FOUND when the number of the child is that of another site's
 * log.
 */
export async function adopt(
  {
    db,
    roots,
    nowMs,
    log,
  }: { readonly db: HubDatabase; readonly roots: StoredRoots; readonly nowMs: number; readonly log: Logger },
  { parent, fork, logId, origin, keys }: Child,
): Promise<FedLog> {
  const vkeys = keys.map(vkeyOf)
  await db.transaction(async (tx) => {
    await retire({ tx, roots, nowMs }, parent, fork)
    // The same backup was restored twice: what was recorded between the two is on no branch any more.
    for (const branch of await branchBehind(tx, parent, logId)) {
      const head = await lockHead(tx, branch.log_id)
      await eraseNamesOf(tx, branch.log_id, nowMs)
      markHead(tx, branch.log_id, 'retired')
      keepNewest(tx, branch.log_id)
      raiseAlert(tx, branch.log_id, alertOf('log.branch-lost', { continuedBy: logId }), nowMs)
      tx.send(abandoned, [branch.log_id])
      await endRegisters(tx, branch.log_id, { from: endOf(branch, head?.size ?? 0), to: 0 })
    }
    tx.send(newLog, [logId, parent.site_id, origin, vkeys, isoTime(nowMs)])
    tx.send(retiredAs, [logId, parent.log_id])
    // The restore is declared.
    endAhead(tx, parent.log_id, nowMs)
    tx.send(superseded, [parent.log_id, logId, fork.parentSize])
    await ensureHead(tx, logId)
    // Another site may have taken the number a moment ago.
    if ((await findLog(tx, logId))?.origin !== origin) throw notEnrolled()
  })
  log.warn({ logId, parent: parent.log_id, parentSize: fork.parentSize }, 'a gateway goes on with a new log')
  return {
    log_id: logId,
    site_id: parent.site_id,
    origin,
    vkeys,
    superseded_by: null,
    ends_at: null,
    is_retired: parent.is_retired,
  }
}

/** Returns the refusal of a log that is not known as this site's. */
export const notEnrolled = () =>
  new AppError('NOT_FOUND', 'This log is not enrolled here; run gatehouse hub join with a new code')

const alertOf = (type: string, detail: object) => ({ id: type, type, severity: 'critical', detail })

async function retire(
  { tx, roots, nowMs }: { readonly tx: HubWrite; readonly roots: StoredRoots; readonly nowMs: number },
  parent: FedLog,
  fork: ForkFact,
): Promise<void> {
  const { log_id: logId } = parent
  const head = await lockHead(tx, logId)
  if (!head) throw new AppError('NOT_FOUND', 'The log that this one continues was never fed')
  markHead(tx, logId, 'retired')
  keepNewest(tx, logId)
  const known = await rootAt({ tx, roots }, logId, head, fork.parentSize)
  if (known && known.toString('hex') !== fork.parentRoot) {
    raiseAlert(tx, logId, alertOf('log.parent-differs', { parentSize: fork.parentSize }), nowMs)
  }
  if (head.size > fork.parentSize) {
    await eraseBehind(tx, logId, { size: fork.parentSize, end: head.size }, nowMs)
    const lost = { parentSize: fork.parentSize, size: head.size }
    raiseAlert(tx, logId, alertOf('log.leaves-behind-fork', lost), nowMs)
  }
  // Where it ended earlier before, registers come forward again.
  await endRegisters(tx, logId, { from: endOf(parent, head.size), to: Math.min(fork.parentSize, head.size) })
}

/** Returns how many of the stored leaves of a log count. */
const endOf = ({ ends_at }: FedLog, size: number): number => (ends_at === null ? size : Math.min(Number(ends_at), size))

/** Returns the logs that continued a log before another one does, the nearest first. */
async function branchBehind(tx: HubTx, parent: FedLog, logId: string): Promise<FedLog[]> {
  const found: FedLog[] = []
  for (
    let next = parent.superseded_by;
    next !== null && next !== logId && !found.some((one) => one.log_id === next);
  ) {
    const branch = await findLog(tx, next)
    if (branch?.site_id !== parent.site_id) break
    found.push(branch)
    next = branch.superseded_by
  }
  return found
}

/** The root of the parent at the fork; undefined when its leaves up to there have not come. */
async function rootAt(
  { tx, roots }: { readonly tx: HubTx; readonly roots: StoredRoots },
  logId: string,
  head: { size: number; frontier: Buffer },
  size: number,
) {
  if (head.size === size) return MerkleFrontier.from(size, head.frontier).root()
  if (size < head.size) return roots.at(tx, logId, size)
  // Every one that is ahead of the leaves was kept, and the newest a moment ago.
  return (await findCheckpoint(tx, logId, size))?.root
}
