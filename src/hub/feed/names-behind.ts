import { isoTime } from '../../platform/index.ts'
import { byteStrings } from '../store/arrays.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import { leavesBehind } from './leaves-store.ts'

/** Names that one statement erases, so that none takes long however many a log has. */
const mostNames = 5000

const erasedFields = 'value = NULL, salt = NULL, person_id = NULL, erased_at = $2'
const anyOpening = hubStatement('any-opening', 'SELECT 1 FROM opening WHERE log_id = $1 AND erased_at IS NULL LIMIT 1')
const namesAfter = hubStatement(
  'names-after',
  `SELECT commitment FROM opening WHERE log_id = $1 AND commitment > $2 AND erased_at IS NULL ORDER BY commitment LIMIT ${mostNames}`,
)
const erasedBehind = hubStatement(
  'erase-openings-behind',
  `UPDATE opening SET ${erasedFields} WHERE log_id = $1 AND commitment = ANY($3::bytea[]) AND erased_at IS NULL`,
)

/**
 * Erases the names in the leaves of a log behind the first `size`. A restored gateway gives the numbers of their people to others, so no
 * later erasure could find them. Call it with the head locked.
 */
export async function eraseBehind(
  tx: HubTx,
  logId: string,
  { size, end }: { readonly size: number; readonly end: number },
  atMs: number,
): Promise<void> {
  if ((await tx.rows(anyOpening, [logId])).length === 0) return
  for await (const leaves of leavesBehind(tx, logId, size, end)) {
    const hashes = leaves.flatMap(commitmentsIn)
    for (let i = 0; i < hashes.length; i += mostNames) {
      await tx.rows(erasedBehind, [logId, isoTime(atMs), byteStrings(hashes.slice(i, i + mostNames))])
    }
  }
}

/** Erases all names of a log that no other one continues. */
export async function eraseNamesOf(tx: HubTx, logId: string, atMs: number): Promise<void> {
  for (let after: Buffer = Buffer.alloc(0); ; ) {
    const rows = await tx.rows<{ commitment: Buffer }>(namesAfter, [logId, after])
    const last = rows.at(-1)
    if (!last) return
    await tx.rows(erasedBehind, [logId, isoTime(atMs), byteStrings(rows.map(({ commitment }) => commitment))])
    after = last.commitment
  }
}

/** Returns every hash that a leaf names; those of people are among them. */
function commitmentsIn(leaf: Buffer): Buffer[] {
  const hashes = Object.values(JSON.parse(leaf.toString('utf8')) as object).filter(isHash)
  return hashes.map((hash) => Buffer.from(hash, 'hex'))
}

const isHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
