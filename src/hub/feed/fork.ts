import { AppError } from '../../errors/index.ts'
import { type NoteKey, noteKey, readVkey, vkeyOf } from '../../evidence/index.ts'
import { MerkleFrontier } from '../../log/index.ts'
import { isoTime, type Logger } from '../../platform/index.ts'
import type { HubDatabase, HubTx, HubWrite } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import { findCheckpoint, keepNewest } from './checkpoints.ts'
import type { ForkFact } from './facts.ts'
import { eraseBehind, eraseNamesOf } from './names-behind.ts'
import { ensureHead, type FedLog, findLog, lockHead, markHead, raiseAlert } from './store.ts'
import { storedRoot } from './stored-tree.ts'

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

// Registers only move forward, and no right to delete is granted: what came after the fork is marked, then the newest before it
// is put in its place. A mark that stays means that nothing is known.
const marked = {
  slot: hubStatement('mark-slots-behind', `UPDATE slot_state SET event_type = '-' WHERE log_id = $1 AND seq > $2`),
  asset: hubStatement(
    'mark-assets-behind',
    // The key begins with the asset, so the assets are looked for first.
    `UPDATE asset_position SET event_type = '-' WHERE log_id = $1 AND seq > $2
     AND asset_key IN (SELECT p.asset_key FROM placement p WHERE p.log_id = $1 AND p.seq > $2)`,
  ),
  judgement: hubStatement(
    'mark-judgements-behind',
    `UPDATE judgement SET verdict = '-' WHERE log_id = $1 AND seq > $2`,
  ),
}
const refilled = {
  slot: hubStatement(
    'refill-slots',
    `INSERT INTO slot_state (log_id, slot_id, slot_code, at, seq, event_type, asset_key)
     SELECT DISTINCT ON (p.slot_id) p.log_id, p.slot_id, p.slot_code, p.at, p.seq, p.event_type, p.asset_key FROM placement p
     WHERE p.log_id = $1 AND p.seq <= $2 AND p.event_type IN ('P', 'R')
       AND p.slot_id IN (SELECT s.slot_id FROM slot_state s WHERE s.log_id = $1 AND s.event_type = '-')
     ORDER BY p.slot_id, p.at DESC, p.seq DESC
     ON CONFLICT (log_id, slot_id) DO UPDATE SET slot_code = excluded.slot_code, at = excluded.at, seq = excluded.seq,
       event_type = excluded.event_type, asset_key = excluded.asset_key`,
  ),
  asset: hubStatement(
    'refill-assets',
    `INSERT INTO asset_position (log_id, asset_key, at, seq, event_type, slot_id, slot_code)
     SELECT DISTINCT ON (p.asset_key) p.log_id, p.asset_key, p.at, p.seq, p.event_type, p.slot_id, p.slot_code FROM placement p
     WHERE p.log_id = $1 AND p.seq <= $2 AND p.event_type IN ('P', 'R')
       AND EXISTS (SELECT 1 FROM asset_position a WHERE a.log_id = p.log_id AND a.asset_key = p.asset_key AND a.event_type = '-')
     ORDER BY p.asset_key, p.at DESC, p.seq DESC
     ON CONFLICT (log_id, asset_key) DO UPDATE SET at = excluded.at, seq = excluded.seq, event_type = excluded.event_type,
       slot_id = excluded.slot_id, slot_code = excluded.slot_code`,
  ),
  judgement: hubStatement(
    'refill-judgements',
    `INSERT INTO judgement (log_id, slot_id, asset_key, at, seq, verdict)
     SELECT DISTINCT ON (p.slot_id, p.asset_key) p.log_id, p.slot_id, p.asset_key, p.at, p.seq, p.event_type FROM placement p
     WHERE p.log_id = $1 AND p.seq <= $2 AND p.event_type IN ('V', 'D')
       AND p.slot_id IN (SELECT j.slot_id FROM judgement j WHERE j.log_id = $1 AND j.verdict = '-')
     ORDER BY p.slot_id, p.asset_key, p.at DESC, p.seq DESC
     ON CONFLICT (log_id, slot_id, asset_key) DO UPDATE SET at = excluded.at, seq = excluded.seq, verdict = excluded.verdict`,
  ),
}

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
 * Enrols a log that continues a known one, after a restore. The parent takes no more feeds, and what it says of the floor ends
 * where the child begins; leaves behind that stay as evidence without the names of their people, and raise an alert. All of it in one
 * transaction. The child of a retired log is retired, too. Throws NOT_FOUND when the number of the child is that of another site's log.
 */
export async function adopt(
  { db, nowMs, log }: { readonly db: HubDatabase; readonly nowMs: number; readonly log: Logger },
  { parent, fork, logId, origin, keys }: Child,
): Promise<FedLog> {
  const vkeys = keys.map(vkeyOf)
  await db.transaction(async (tx) => {
    await retire({ tx, nowMs }, parent, fork)
    // The same backup was restored twice: what was recorded between the two is on no branch any more.
    for (const branch of await branchBehind(tx, parent, logId)) {
      await lockHead(tx, branch)
      await eraseNamesOf(tx, branch, nowMs)
      markHead(tx, branch, 'retired')
      keepNewest(tx, branch)
      raiseAlert(tx, branch, alertOf('log.branch-lost', { continuedBy: logId }), nowMs)
      tx.send(abandoned, [branch])
      endRegisters(tx, branch, 0, 0)
    }
    tx.send(newLog, [logId, parent.site_id, origin, vkeys, isoTime(nowMs)])
    tx.send(retiredAs, [logId, parent.log_id])
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
  { tx, nowMs }: { readonly tx: HubWrite; readonly nowMs: number },
  { log_id: logId, ends_at: endedAt }: FedLog,
  fork: ForkFact,
): Promise<void> {
  const head = await lockHead(tx, logId)
  if (!head) throw new AppError('NOT_FOUND', 'The log that this one continues was never fed')
  markHead(tx, logId, 'retired')
  keepNewest(tx, logId)
  const known = await rootAt(tx, logId, head, fork.parentSize)
  if (known && known.toString('hex') !== fork.parentRoot) {
    raiseAlert(tx, logId, alertOf('log.parent-differs', { parentSize: fork.parentSize }), nowMs)
  }
  if (head.size > fork.parentSize) {
    await eraseBehind(tx, logId, { size: fork.parentSize, end: head.size }, nowMs)
    const lost = { parentSize: fork.parentSize, size: head.size }
    raiseAlert(tx, logId, alertOf('log.leaves-behind-fork', lost), nowMs)
  } else if (endedAt === null) return
  // Registers that ended earlier before may have to come forward again, so all of them are read anew.
  endRegisters(tx, logId, endedAt === null ? fork.parentSize : 0, fork.parentSize)
}

/** Takes registers behind `after` away, and puts the newest up to `size` in their place. */
function endRegisters(tx: HubWrite, logId: string, after: number, size: number): void {
  for (const statement of Object.values(marked)) tx.send(statement, [logId, after])
  for (const statement of Object.values(refilled)) tx.send(statement, [logId, size])
}

/** Returns the logs that continued a log before another one does, the nearest first. */
async function branchBehind(tx: HubTx, parent: FedLog, logId: string): Promise<string[]> {
  const found: string[] = []
  for (let next = parent.superseded_by; next !== null && next !== logId && !found.includes(next); ) {
    const branch = await findLog(tx, next)
    if (branch?.site_id !== parent.site_id) break
    found.push(next)
    next = branch.superseded_by
  }
  return found
}

/** The root of the parent at the fork; undefined when its leaves up to there have not come. */
async function rootAt(tx: HubTx, logId: string, head: { size: number; frontier: Buffer }, size: number) {
  if (head.size === size) return MerkleFrontier.from(size, head.frontier).root()
  if (size < head.size) return storedRoot(tx, logId, size)
  // Every one that is ahead of the leaves was kept, and the newest a moment ago.
  return (await findCheckpoint(tx, logId, size))?.root
}
