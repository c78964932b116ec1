import { isoTime } from '../../platform/index.ts'
import type { HubTx, HubWrite } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'

/** A log with its keys, as a gateway's token reaches it. */
export type FedLog = {
  readonly log_id: string
  readonly site_id: string
  readonly origin: string
  readonly vkeys: readonly string[]
  readonly superseded_by: string | null
  /** Number of its last leaf that counts, as text; null without an end. */
  readonly ends_at: string | null
  /** Its site has another box, or is closed. */
  readonly is_retired: boolean
}

export type LogState = 'live' | 'forked' | 'retired'

/** The row that a feed locks. */
export type Head = {
  readonly size: number
  readonly frontier: Buffer
  readonly state: LogState
  /** Leaves whose names have come. */
  readonly namedTo: number
  readonly witnessedSize: number
  readonly witnessedRoot: Buffer | null
  readonly witnessedNote: string | null
  /** When it was cosigned. */
  readonly witnessedAt: Date | null
}

/** A checkpoint with the signature of the head office; null when it was not shown to continue the one that was cosigned last. */
export type Cosigned = {
  readonly size: number
  readonly root: Buffer
  readonly note: string
  readonly cosignature: string | null
}

const logOfToken = hubStatement(
  'log-of-token',
  `SELECT t.site_id, l.log_id, l.origin, coalesce(h.vkeys, l.vkeys) AS vkeys, l.superseded_by, l.ends_at,
     l.retired_at IS NOT NULL AS is_retired FROM gateway_token t
   LEFT JOIN log l ON l.site_id = t.site_id AND l.log_id = $2 LEFT JOIN log_head h ON h.log_id = l.log_id AND h.log_id = $2
   WHERE t.token_hash = $1 AND t.revoked_at IS NULL`,
)
const logById = hubStatement(
  'log-by-id',
  `SELECT l.log_id, l.site_id, l.origin, coalesce(h.vkeys, l.vkeys) AS vkeys, l.superseded_by, l.ends_at,
     l.retired_at IS NOT NULL AS is_retired FROM log l
   LEFT JOIN log_head h ON h.log_id = l.log_id AND h.log_id = $1 WHERE l.log_id = $1`,
)
const followers = hubStatement(
  'logs-with-followers',
  'SELECT log_id, superseded_by FROM log WHERE site_id = (SELECT site_id FROM log WHERE log_id = $1) AND superseded_by IS NOT NULL',
)
const beginHead = hubStatement(
  'begin-head',
  'INSERT INTO log_head (log_id) VALUES ($1) ON CONFLICT (log_id) DO NOTHING',
)
const lockedHead = hubStatement(
  'lock-head',
  `SELECT size, frontier, state, named_to, witnessed_size, witnessed_root, witnessed_note, witnessed_at FROM log_head
   WHERE log_id = $1 FOR UPDATE NOWAIT`,
)
const changedConfig = `$8::jsonb #>> '{fleet,configHash}' <> status #>> '{fleet,configHash}'`
const movedHead = hubStatement(
  'move-head',
  `UPDATE log_head SET size = $2, frontier = $3, witnessed_size = coalesce($4, witnessed_size),
   witnessed_root = coalesce($5, witnessed_root), witnessed_note = coalesce($6, witnessed_note),
   witnessed_cosignature = coalesce($9, witnessed_cosignature), witnessed_at = CASE WHEN $4 IS NULL THEN witnessed_at ELSE $7 END,
   fed_at = $7, status = coalesce($8::jsonb, status),
   config_before = CASE WHEN ${changedConfig} THEN status #> '{fleet,configSections}' ELSE config_before END,
   config_changed_at = CASE WHEN ${changedConfig} THEN $7 ELSE config_changed_at END WHERE log_id = $1`,
)
const markedHead = hubStatement('mark-head', 'UPDATE log_head SET state = $2 WHERE log_id = $1')
const handedOver = hubStatement('hand-over', 'UPDATE log_head SET vkeys = $2 WHERE log_id = $1')
const newEvidence = hubStatement(
  'put-fork-evidence',
  `INSERT INTO fork_evidence (log_id, place, sent_hash, kind, known, known_note, sent, sent_note, seen_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (log_id, place, sent_hash) DO NOTHING`,
)
const namedTo = hubStatement('move-named', 'UPDATE log_head SET named_to = $2 WHERE log_id = $1')
const newAlert = hubStatement(
  'raise-alert',
  `INSERT INTO alert (log_id, alert_id, source, type, severity, opened_at, detail) VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (log_id, alert_id) DO NOTHING`,
)

/** The row of a token whose site has no such log. */
type NoLog = { readonly [Column in keyof Omit<FedLog, 'site_id'>]: null } & Pick<FedLog, 'site_id'>

/** Returns the site of a token, and the log with this id if it is that site's. Returns undefined for a token that is not valid. */
export async function findLogOfToken(
  db: HubTx,
  tokenHash: Buffer,
  logId: string,
): Promise<{ readonly siteId: string; readonly log: FedLog | undefined } | undefined> {
  const [row] = await db.rows<FedLog | NoLog>(logOfToken, [tokenHash, logId])
  if (!row) return undefined
  return { siteId: row.site_id, log: row.log_id === null ? undefined : row }
}

export async function findLog(db: HubTx, logId: string): Promise<FedLog | undefined> {
  const [row] = await db.rows<FedLog>(logById, [logId])
  return row
}

/** Ids of the logs that a log continues, over any number of restores. */
export async function formerLogs(db: HubTx, logId: string): Promise<string[]> {
  const rows = await db.rows<{ log_id: string; superseded_by: string }>(followers, [logId])
  const found = [logId]
  for (const id of found) {
    found.push(
      ...rows.filter((row) => row.superseded_by === id && !found.includes(row.log_id)).map((row) => row.log_id),
    )
  }
  return found.slice(1)
}

/** Makes the head of a log that has none. */
export async function ensureHead(db: HubTx, logId: string): Promise<void> {
  await db.rows(beginHead, [logId])
}

/** Locks and returns the head of a log; NOT_READY when another feed has it, undefined when there is none yet. */
export async function lockHead(tx: HubTx, logId: string): Promise<Head | undefined> {
  type Row = {
    size: string
    frontier: Buffer
    state: LogState
    named_to: string
    witnessed_size: string
    witnessed_root: Buffer | null
    witnessed_note: string | null
    witnessed_at: Date | null
  }
  const [row] = await tx.rows<Row>(lockedHead, [logId])
  return (
    row && {
      size: Number(row.size),
      frontier: row.frontier,
      state: row.state,
      namedTo: Number(row.named_to),
      witnessedSize: Number(row.witnessed_size),
      witnessedRoot: row.witnessed_root,
      witnessedNote: row.witnessed_note,
      witnessedAt: row.witnessed_at,
    }
  )
}

/** The names of the first so many leaves have come. */
export function moveNamed(tx: HubWrite, logId: string, end: number): void {
  tx.send(namedTo, [logId, end])
}

/** Stores the head after a feed. `newest`: the checkpoint that is cosigned last from now on; undefined: the same as before. */
export function moveHead(
  tx: HubWrite,
  logId: string,
  { size, frontier, newest }: Pick<Head, 'size' | 'frontier'> & { readonly newest: Cosigned | undefined },
  fed: { readonly atMs: number; readonly status: object | undefined },
): void {
  tx.send(movedHead, [
    ...[logId, size, frontier, newest?.size, newest?.root, newest?.note],
    ...[isoTime(fed.atMs), fed.status ? JSON.stringify(fed.status) : null, newest?.cosignature],
  ])
}

export function markHead(tx: HubWrite, logId: string, state: LogState): void {
  tx.send(markedHead, [logId, state])
}

/** From now on these keys sign the log, and no others. */
export function handOver(tx: HubWrite, logId: string, vkeys: readonly string[]): void {
  tx.send(handedOver, [logId, vkeys])
}

/** A contradiction: the stored leaf or root at a place, and the sent one. */
export type Contradiction = {
  /** Number of the first leaf that differs, or the size of the checkpoint that does. */
  readonly place: number
  readonly kind: 'leaf' | 'root'
  readonly known: Buffer | null
  readonly knownNote: string | null
  readonly sent: Buffer | null
  readonly sentNote: string
  readonly sentHash: Buffer
}

export function keepEvidence(tx: HubWrite, logId: string, found: Contradiction, atMs: number): void {
  tx.send(newEvidence, [
    ...[logId, found.place, found.sentHash, found.kind, found.known, found.knownNote, found.sent, found.sentNote],
    isoTime(atMs),
  ])
}

export function raiseAlert(
  tx: HubWrite,
  logId: string,
  alert: { readonly id: string; readonly type: string; readonly severity: string; readonly detail: object },
  atMs: number,
): void {
  tx.send(newAlert, [
    ...[logId, alert.id, 'hub', alert.type, alert.severity, isoTime(atMs), JSON.stringify(alert.detail)],
  ])
}
