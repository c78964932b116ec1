import { isoTime } from '../../platform/index.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import { bundleWidth, unpackBundle } from './bundle.ts'
import { bundlesBetween } from './leaves-store.ts'

/** Bundles that are unpacked at once: 16,384 leaves. */
const bundlesAtOnce = 64

const erasedFields = 'value = NULL, salt = NULL, person_id = NULL, erased_at = $2'
const anyOpening = hubStatement('any-opening', 'SELECT 1 FROM opening WHERE log_id = $1 AND erased_at IS NULL LIMIT 1')
const erasedOfLog = hubStatement(
  'erase-openings-of-log',
  `UPDATE opening SET ${erasedFields} WHERE log_id = $1 AND erased_at IS NULL`,
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
  const last = Math.ceil(end / bundleWidth) - 1
  for (let first = Math.floor(size / bundleWidth); first <= last; first += bundlesAtOnce) {
    const leaves = await leavesOf(tx, logId, first, Math.min(first + bundlesAtOnce - 1, last))
    const behind = leaves.slice(Math.max(0, size - first * bundleWidth))
    await tx.rows(erasedBehind, [logId, isoTime(atMs), behind.flatMap(commitmentsIn)])
  }
}

/** Erases all names of a log that no other one continues. */
export async function eraseNamesOf(tx: HubTx, logId: string, atMs: number): Promise<void> {
  await tx.rows(erasedOfLog, [logId, isoTime(atMs)])
}

async function leavesOf(tx: HubTx, logId: string, first: number, last: number): Promise<Buffer[]> {
  return (await bundlesBetween(tx, logId, first, last)).flatMap(({ packed }) => unpackBundle(packed))
}

/** Returns every hash that a leaf names; those of people are among them. */
function commitmentsIn(leaf: Buffer): Buffer[] {
  const hashes = Object.values(JSON.parse(leaf.toString('utf8')) as object).filter(isHash)
  return hashes.map((hash) => Buffer.from(hash, 'hex'))
}

const isHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
