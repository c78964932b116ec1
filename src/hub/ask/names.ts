import { bundleWidth, unpackBundle } from '../feed/bundle.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import type { Move } from './store.ts'

/** Most moves of a trail that names are looked up for, the newest ones. Each may lie in a separate bundle. */
const mostNamed = 50

const bundlesNamed = hubStatement(
  'bundles-of-moves',
  'SELECT n, packed FROM entry_bundle WHERE log_id = $1 AND n = ANY($2::bigint[])',
)
const valuesOf = hubStatement(
  'names-behind-commitments',
  `SELECT encode(commitment, 'hex') AS commitment, value FROM opening
   WHERE log_id = $1 AND commitment = ANY($2::bytea[]) AND value IS NOT NULL`,
)

/**
 * Returns the operators of an asset's newest moves: the name behind the commitment in the leaf itself. A move without a name is of
 * somebody who was erased, or names do not come here.
 */
export async function operatorsOf(db: HubTx, moves: readonly Move[]): Promise<ReadonlyMap<Move, string>> {
  const found = new Map<Move, string>()
  for (const [logId, ofLog] of Map.groupBy(moves.slice(-mostNamed), (move) => move.logId)) {
    const commitments = await commitmentsIn(db, logId, ofLog)
    const asked = [...new Set(commitments.values())].map((hex) => Buffer.from(hex, 'hex'))
    const rows = await db.rows<{ commitment: string; value: string }>(valuesOf, [logId, asked])
    const values = new Map(rows.map(({ commitment, value }) => [commitment, value]))
    for (const [move, commitment] of commitments) {
      const value = values.get(commitment)
      if (value !== undefined) found.set(move, value)
    }
  }
  return found
}

async function commitmentsIn(db: HubTx, logId: string, moves: readonly Move[]): Promise<Map<Move, string>> {
  const numberOf = ({ seq }: Move) => Math.floor((seq - 1) / bundleWidth)
  const numbers = [...new Set(moves.map(numberOf))]
  const rows = await db.rows<{ n: string; packed: Buffer }>(bundlesNamed, [logId, numbers])
  const bundles = new Map(rows.map(({ n, packed }) => [Number(n), unpackBundle(packed)]))
  const found = new Map<Move, string>()
  for (const move of moves) {
    const leaf = bundles.get(numberOf(move))?.[(move.seq - 1) % bundleWidth]
    const { operator } = leaf ? (JSON.parse(leaf.toString('utf8')) as { operator?: unknown }) : {}
    if (typeof operator === 'string' && /^[0-9a-f]{64}$/.test(operator)) found.set(move, operator)
  }
  return found
}
