import { join } from 'node:path'
import { sql as raw } from 'kysely'
import { built, type ReadTx, type Tx } from '../database/index.ts'
import { type RandomBytes, randomSecret, writeFileDurably } from '../platform/index.ts'
import type { LocalAccount } from './local-accounts.ts'
import { hashSecret } from './secret-hash.ts'
import { sql, tables } from './tables.ts'

const newAccount = built(tables.local_account, (row) => sql.insertInto('local_account').values(row))
const anyAccount = built({}, () => sql.selectFrom('local_account').select('username').limit(raw.lit(1)))

/** Name of the account that a first start without a config makes. */
export const firstAdminName = 'admin'

export const firstAdminFile = (dataDir: string): string => join(dataDir, 'first-admin')

/** Says whether the database has an account, so that a start makes no first admin. */
export const hasAccounts = (tx: ReadTx): boolean => tx.get(anyAccount) !== undefined

/** Makes a new admin with its secret. Stores nothing. */
export async function newFirstAdmin(random: RandomBytes): Promise<{ account: LocalAccount; secret: string }> {
  const secret = randomSecret(random)
  return { account: { username: firstAdminName, role: 'admin', secretHash: await hashSecret(secret, random) }, secret }
}

/**
 * Stores the account. The secret's file (0600) is written first: an account without its secret would lock everyone out.
 */
export function storeFirstAdmin(tx: Tx, dataDir: string, account: LocalAccount, secret: string, nowMs: number): void {
  writeFileDurably(firstAdminFile(dataDir), `${secret}\n`, 0o600)
  const { username, role, secretHash } = account
  tx.run(newAccount, { username, role, secret_hash: secretHash, created_at_ms: nowMs })
}
