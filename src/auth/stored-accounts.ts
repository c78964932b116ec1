import { built, type Head, pick, type ReadTx, type Tx } from '../database/index.ts'
import type { LocalAccount } from './local-accounts.ts'
import { sql, tables } from './tables.ts'

/** An account of the database. */
export type StoredAccount = LocalAccount & {
  readonly groups: readonly string[]
  readonly createdAtMs: number
  /** Null: it may sign in. */
  readonly disabledAtMs: number | null
  /**
   * The admin of a first start without config, on a gateway that has a config by now. It cannot sign in until an admin
   * resets it.
   */
  readonly isDormant: boolean
  /** A passkey signs in without a password. */
  readonly passkeyAlone: boolean
}

const rows = built({}, () =>
  sql
    .selectFrom('local_account as a')
    .leftJoin('local_account_state as s', 's.username', 'a.username')
    .select(['a.username', 'a.role', 'a.secret_hash', 'a.created_at_ms'])
    .select(['s.groups', 's.held_secret_hash', 's.disabled_at_ms', 's.passkey_alone'])
    .orderBy('a.username'),
)
const storedAccount = built(tables.local_account, ({ username, created_at_ms, ...facts }) =>
  sql
    .insertInto('local_account')
    .values({ username, created_at_ms, ...facts })
    .onConflict((on) => on.column('username').doUpdateSet(facts)),
)
const storedState = built(tables.local_account_state, ({ username, ...facts }) =>
  sql
    .insertInto('local_account_state')
    .values({ username, ...facts })
    .onConflict((on) => on.column('username').doUpdateSet(facts)),
)
const withoutAccount = built(pick(tables.local_account, 'username'), ({ username }) =>
  sql.deleteFrom('local_account').where('username', '=', username),
)

/**
 * The accounts of the database. All of them are in memory, so that a request reads no row; the memory follows the commits.
 */
export class StoredAccounts implements Head {
  #accounts: ReadonlyMap<string, StoredAccount>

  /** @param isFirstAdminAwake whether the gateway runs without a config, so that the admin of the first start may sign in */
  constructor(tx: ReadTx, isFirstAdminAwake: boolean) {
    const accounts = tx.all(rows).map(
      (row): StoredAccount => ({
        username: row.username,
        role: row.role,
        secretHash: row.held_secret_hash ?? row.secret_hash,
        groups: row.groups === null ? [] : JSON.parse(row.groups),
        createdAtMs: row.created_at_ms,
        disabledAtMs: row.disabled_at_ms,
        isDormant: row.groups === null && !isFirstAdminAwake,
        passkeyAlone: row.passkey_alone === 1,
      }),
    )
    this.#accounts = new Map(accounts.map((account) => [account.username, account]))
  }

  save(): ReadonlyMap<string, StoredAccount> {
    return this.#accounts
  }

  restore(saved: ReadonlyMap<string, StoredAccount>): void {
    this.#accounts = saved
  }

  /** Returns an account that may sign in. */
  active(username: string): LocalAccount | undefined {
    const account = this.#accounts.get(username)
    return account && account.disabledAtMs === null && !account.isDormant ? account : undefined
  }

  /** Returns an account, disabled and dormant ones too. */
  find(username: string): StoredAccount | undefined {
    return this.#accounts.get(username)
  }

  /** Lists the accounts by name, without dormant ones. */
  all(): StoredAccount[] {
    return [...this.#accounts.values()]
      .filter(({ isDormant }) => !isDormant)
      .toSorted((a, b) => (a.username < b.username ? -1 : 1))
  }

  /** Stores an account, a new one or the changed one of that name. */
  put(tx: Tx, account: Omit<StoredAccount, 'isDormant'>): StoredAccount {
    const { username, role, secretHash, groups, createdAtMs, disabledAtMs, passkeyAlone } = account
    const isDisabled = disabledAtMs !== null
    tx.run(storedAccount, { username, role, secret_hash: isDisabled ? '' : secretHash, created_at_ms: createdAtMs })
    tx.run(storedState, {
      username,
      groups: JSON.stringify(groups),
      held_secret_hash: isDisabled ? secretHash : null,
      disabled_at_ms: disabledAtMs,
      passkey_alone: passkeyAlone ? 1 : 0,
    })
    const stored = { ...account, isDormant: false }
    this.#accounts = new Map([...this.#accounts, [username, stored]])
    return stored
  }

  remove(tx: Tx, username: string): void {
    tx.run(withoutAccount, { username })
    this.#accounts = new Map([...this.#accounts].filter(([name]) => name !== username))
  }
}
