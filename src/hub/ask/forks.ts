import { AppError } from '../../errors/index.ts'
import { readCheckpointText, readNote } from '../../evidence/index.ts'
import { isoTime } from '../../platform/index.ts'
import { unpackBundle } from '../feed/bundle.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import type { SeenLog } from './seen-log.ts'

/** The leaves of a whole feed may belong to one. */
export const mostForks = 10

const evidence = hubStatement(
  'forks-of-log',
  `SELECT place, sent_hash, kind, known, known_note, sent, sent_note, seen_at FROM fork_evidence
   WHERE log_id = $1 AND (place, sent_hash) > ($2::bigint, $3::bytea) ORDER BY place, sent_hash LIMIT $4`,
)

type Row = {
  readonly place: string
  readonly sent_hash: Buffer
  readonly kind: 'leaf' | 'root'
  readonly known: Buffer | null
  readonly known_note: string | null
  readonly sent: Buffer | null
  readonly sent_note: string
  readonly seen_at: Date
}

/**
 * Returns the places at which a log has shown two histories. Each has both sides as they came: the stored one and the sent one.
 * Throws VALIDATION_ERROR for a cursor that is none.
 */
export async function forksOf(
  db: HubTx,
  { logId }: SeenLog,
  page: { readonly cursor: string; readonly limit: number },
) {
  const after = readCursor(page.cursor)
  const rows = await db.rows<Row>(evidence, [logId, after.place, after.hash, page.limit + 1])
  const shown = rows.slice(0, page.limit)
  const last = shown.at(-1)
  return {
    data: shown.map(forkOut),
    nextCursor: rows.length > shown.length && last ? `${last.place}.${last.sent_hash.toString('hex')}` : null,
  }
}

function readCursor(cursor: string) {
  if (cursor === '') return { place: -1, hash: Buffer.alloc(0) }
  const [, place, hash = ''] = /^(\d{1,15})\.((?:[0-9a-f]{2})*)$/.exec(cursor) ?? []
  if (place === undefined) throw AppError.field('cursor', 'is not a cursor of this list')
  return { place: Number(place), hash: Buffer.from(hash, 'hex') }
}

function forkOut(row: Row) {
  const place = Number(row.place)
  const facts = { place, kind: row.kind, seenAt: isoTime(row.seen_at.getTime()) }
  if (row.kind === 'leaf') {
    const side = (leaf: Buffer | null, note: string | null) => ({ leaf: inBase64(leaf), root: null, note })
    return { ...facts, known: side(row.known, row.known_note), sent: { ...side(row.sent, row.sent_note), leaves: [] } }
  }
  const sent = sentOf(row.sent)
  const side = (root: Buffer | undefined, note: string | null) => ({
    leaf: null,
    root: inBase64(root ?? rootIn(note, place)),
    note,
  })
  return {
    ...facts,
    known: side(row.known ?? undefined, row.known_note),
    sent: { ...side(sent.root, row.sent_note), leaves: sent.leaves.map((leaf) => leaf.toString('base64')) },
  }
}

const rootBytes = 32

/** For two roots, the sent one is stored, or the packed leaves under it, which take more room than a root. */
function sentOf(sent: Buffer | null): { readonly root?: Buffer; readonly leaves: readonly Buffer[] } {
  if (!sent) return { leaves: [] }
  return sent.length === rootBytes ? { root: sent, leaves: [] } : { leaves: unpackBundle(sent) }
}

/** The root that a checkpoint of this size states. */
function rootIn(note: string | null, size: number): Buffer | null {
  const signed = note === null ? undefined : readNote(note)
  const head = signed && readCheckpointText(signed.text)
  return head?.size === size ? head.root : null
}

const inBase64 = (bytes: Buffer | null): string | null => bytes?.toString('base64') ?? null
