import { createHash } from 'node:crypto'
import { built, maybe, pick, type ReadTx, statement, type Tx, text, type UnitOfWork } from '../database/index.ts'
import type { AuditFacts, AuditOrigin, AuditTrail } from '../journal/index.ts'
import { type Identity, mayBeSame, type People, people } from '../log/index.ts'
import { sql, tables } from './tables.ts'

export type ConfigAccount = { readonly username: string; readonly role: string; readonly secretHash: string }

type Seen = Identity & { readonly role: string; readonly secret_mark: Buffer }

const seenAccounts = statement({
  columns: { name: text, instance: maybe(text), ...pick(tables.account_seen, 'role', 'secret_mark') },
  sql: `SELECT p.name, p.instance, a.role, a.secret_mark FROM account_seen a JOIN ${people} p ON p.id = a.person_id
    ORDER BY p.id`,
})
const withoutSeen = built({}, () => sql.deleteFrom('account_seen'))
const newSeen = built(tables.account_seen, (row) => sql.insertInto('account_seen').values(row))
const withoutPerson = built(pick(tables.account_seen, 'person_id'), ({ person_id }) =>
  sql.deleteFrom('account_seen').where('person_id', '=', person_id),
)

/** Forgets that a person's account was seen. */
export function forgetAccount(tx: Tx, personId: number): void {
  tx.run(withoutPerson, { person_id: personId })
}

type AccountWatchNeeds = {
  work: UnitOfWork
  people: People
  audit: AuditTrail
  /** The instance of the config's accounts. */
  instance: () => string
}

/**
 * Records changes of the config's accounts and their permissions in the audit trail, also those that were made while the daemon was
 * down.
 */
export class AccountWatch {
  readonly #needs: AccountWatchNeeds

  constructor(needs: AccountWatchNeeds) {
    this.#needs = needs
  }

  /** Compares the accounts with the stored ones, notes each difference, and stores the new ones. */
  note(accounts: readonly ConfigAccount[], by: AuditOrigin): Promise<void> {
    return this.#needs.work.write((tx) => {
      const now = accounts.map((account) => ({
        name: account.username,
        instance: this.#needs.instance(),
        role: account.role,
        secret_mark: createHash('sha256').update(account.secretHash).digest(),
      }))
      const before = seenBefore(tx)
      const facts = now.flatMap((account) =>
        differences(
          before.find((seen) => mayBeSame(seen, account)),
          account,
        ),
      )
      const gone = before.filter((seen) => !now.some((account) => mayBeSame(seen, account)))
      for (const account of gone) facts.push(fact('caller.account_removed', account, { role: account.role }))
      for (const one of facts) this.#needs.audit.write(tx, by, one)
      if (facts.length > 0 || before.some(({ instance }) => instance === null)) this.#keep(tx, now)
    })
  }

  #keep(tx: Tx, accounts: readonly Seen[]): void {
    tx.run(withoutSeen)
    for (const { role, secret_mark, ...who } of accounts) {
      tx.run(newSeen, { person_id: this.#needs.people.of(tx, who).id, role, secret_mark })
    }
  }
}

/** Returns the stored accounts without erased ones. Accounts from before names had an instance have none. */
function seenBefore(tx: ReadTx): Seen[] {
  return tx.all(seenAccounts)
}

function differences(before: Seen | undefined, now: Seen): AuditFacts[] {
  if (!before) return [fact('caller.account_added', now, { role: now.role })]
  return [
    ...(before.role === now.role
      ? []
      : [fact('caller.role_changed', now, { role: { from: before.role, to: now.role } })]),
    ...(before.secret_mark.equals(now.secret_mark) ? [] : [fact('caller.secret_changed', now, { secret: 'changed' })]),
  ]
}

/** Makes the audit entry; its operator is the account's owner. */
function fact(action: string, { name, instance }: Seen, changes: object): AuditFacts {
  return { action, entity: 'caller', operator: { name, instance }, changes: { ...changes } }
}
