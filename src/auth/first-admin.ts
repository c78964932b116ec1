import { join } from 'node:path'
import { built, type ReadTx, type Tx } from '../database/index.ts'
import { type RandomBytes, randomSecret, writeFileDurably } from '../platform/index.ts'
import type { LocalAccount } from './local-accounts.ts'
import { hashSecret } from './secret-hash.ts'
import { sql, tables } from './tables.ts'

const newAccount = built(tables.local_account, (row) => sql.insertInto('local_account').values(row))
const accounts = built({}, () => sql.selectFrom('local_account').select(['username', 'role', 'secret_hash']))

/** Name of the account that a first start without a config makes. */
export const firstAdminName = 'admin'

export const firstAdminFile = (dataDir: string): string => join(dataDir, 'first-admin')

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

/** Returns the accounts in the database, by user name. */
export function storedAccounts(tx: ReadTx): Map<string, LocalAccount> {
  const rows = tx.all(accounts)
  return new Map(rows.map((r) => [r.username, { username: r.username, role: r.role, secretHash: r.secret_hash }]))
}
