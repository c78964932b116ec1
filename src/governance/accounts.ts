import { createHash } from 'node:crypto'
import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import type { AuditFacts, AuditOrigin, AuditTrail } from '../journal/index.ts'
import type { Openings } from '../log/index.ts'

export type ConfigAccount = { readonly username: string; readonly role: string; readonly secretHash: string }

type Seen = { readonly person_commitment: string; readonly role: string; readonly secret_mark: Buffer }

/** Who may what is in the config; this tells the trail when that changes, also while the daemon was down. */
export class AccountWatch {
  readonly #work: UnitOfWork
  readonly #openings: Openings
  readonly #audit: AuditTrail

  constructor(options: { work: UnitOfWork; openings: Openings; audit: AuditTrail }) {
    this.#work = options.work
    this.#openings = options.openings
    this.#audit = options.audit
  }

  /** Compares the accounts with those of last time, tells each difference, and keeps them for the next time. */
  note(accounts: readonly ConfigAccount[], by: AuditOrigin): Promise<void> {
    return this.#work.write((tx) => {
      const now = accounts.map((account) => ({
        person_commitment: this.#openings.person(tx, account.username),
        role: account.role,
        secret_mark: createHash('sha256').update(account.secretHash).digest(),
      }))
      const before = seenBefore(tx)
      const facts = [...now.flatMap((account) => differences(before.get(account.person_commitment), account))]
      for (const { person_commitment: gone } of now) before.delete(gone)
      for (const account of before.values()) facts.push(fact('caller.account_removed', account, { role: account.role }))
      for (const one of facts) this.#audit.write(tx, by, one)
      if (facts.length > 0) keep(tx, now)
    })
  }
}

function seenBefore(tx: ReadTx): Map<string, Seen> {
  const rows = tx.allOf<Seen>('SELECT person_commitment, role, secret_mark FROM account_seen')
  return new Map(rows.map((row) => [row.person_commitment, row]))
}

function keep(tx: Tx, accounts: readonly Seen[]): void {
  tx.runOf('DELETE FROM account_seen')
  for (const { person_commitment: person, role, secret_mark: mark } of accounts) {
    tx.runOf('INSERT INTO account_seen VALUES (?, ?, ?)', [person, role, mark])
  }
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

/** The operator is whose account it is. */
function fact(action: string, { person_commitment: operatorCommitment }: Seen, changes: object): AuditFacts {
  return { action, entity: 'caller', operatorCommitment, changes: { ...changes } }
}
