import type { Role } from '../config/index.ts'
import { built, integer, pick, type ReadTx, type Tx, type UnitOfWork } from '../database/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import type { Clock } from '../platform/index.ts'
import { Recent } from './rates/recent.ts'
import { sql, tables } from './tables.ts'

/** Longer than a credential may be used stale: one that was right once is checked before unknown ones. */
export const keptForMs = 30 * 24 * 3_600_000
/** When the clock is this much before a row's time, it was set back, and no age can be computed. */
export const clockSlackMs = 5 * 60_000
const callersInMemory = 10_000

const credential = built(pick(tables.known_credential, 'id'), ({ id }) =>
  sql
    .selectFrom('known_credential')
    .select(['username', 'instance', 'as_bearer', 'verified_at_ms'])
    .where('id', '=', id),
)
const withoutCredential = built(pick(tables.known_credential, 'id'), ({ id }) =>
  sql.deleteFrom('known_credential').where('id', '=', id),
)
const withoutOldCredentials = built({ ms: integer }, ({ ms }) =>
  sql.deleteFrom('known_credential').where('verified_at_ms', '<', ms),
)
const keptCredential = built(tables.known_credential, ({ id, ...facts }) =>
  sql
    .insertInto('known_credential')
    .values({ id, ...facts })
    .onConflict((on) => on.column('id').doUpdateSet(facts)),
)
const callerNamed = built(pick(tables.known_caller, 'instance', 'username'), ({ instance, username }) =>
  sql
    .selectFrom('known_caller')
    .select(['groups', 'role'])
    .where('instance', '=', instance)
    .where('username', '=', username),
)
const keptCaller = built(tables.known_caller, ({ instance, username, ...facts }) =>
  sql
    .insertInto('known_caller')
    .values({ instance, username, ...facts })
    .onConflict((on) => on.columns(['instance', 'username']).doUpdateSet(facts)),
)

export type StoredCredential = { readonly username: string; readonly asBearer: boolean; readonly ageMs: number }

export type Verification = {
  readonly id: Buffer
  readonly instance: string
  readonly username: string
  readonly asBearer: boolean
  readonly groups: readonly string[]
  readonly role: Role
}

/** The part of the store of known callers that `StorageUsers` uses. */
export type CallerMemory = Pick<KnownCallers, 'find' | 'groupsOf' | 'verified' | 'ended'>

type KnownCallersNeeds = { work: UnitOfWork; clock: Pick<Clock, 'now'>; audit: AuditTrail }

/**
 * Stores the callers that storage servers vouched for, with their credentials, so that they survive a restart. Rows are written in
 * the background; after a power cut, lost ones are asked for again.
 */
export class KnownCallers {
  readonly #needs: KnownCallersNeeds
  readonly #groups = new Recent<readonly string[]>(callersInMemory)

  constructor(needs: KnownCallersNeeds) {
    this.#needs = needs
  }

  /** Returns what is stored of a credential; undefined when nothing is, or when its age cannot be computed. */
  find(id: Buffer): StoredCredential | undefined {
    const row = this.#needs.work.read((tx) => tx.get(credential, { id }))
    const ageMs = row && this.#needs.clock.now() - row.verified_at_ms
    if (!row || ageMs === undefined || ageMs < -clockSlackMs) return undefined
    return { username: row.username, asBearer: row.as_bearer === 1, ageMs: Math.max(ageMs, 0) }
  }

  /** Returns the groups that the server last named for this user; undefined for an unknown user. */
  groupsOf(instance: string, username: string): readonly string[] | undefined {
    const key = userKey(instance, username)
    const known = this.#groups.get(key)
    if (known) return known
    const stored = this.#needs.work.read((tx) => storedGroups(tx, instance, username))
    if (stored) this.#groups.set(key, stored)
    return stored
  }

  verified(verification: Verification): void {
    const { instance, username, groups } = verification
    this.#groups.set(userKey(instance, username), groups)
    void this.#needs.work.write((tx) => this.#store(tx, verification)).catch(() => {})
  }

  /** Deletes a credential that the server refused. */
  ended(id: Buffer): void {
    void this.#needs.work
      .write((tx) => {
        const row = tx.get(credential, { id })
        if (!row) return
        tx.run(withoutCredential, { id })
        this.#needs.audit.write(tx, undefined, {
          action: 'caller.credential_ended',
          entity: 'caller',
          operator: row.username,
          changes: { instance: row.instance },
        })
      })
      .catch(() => {})
  }

  #store(tx: Tx, { id, instance, username, asBearer, groups, role }: Verification): void {
    const nowMs = this.#needs.clock.now()
    const before = tx.get(callerNamed, { instance, username })
    tx.run(keptCaller, { instance, username, groups: JSON.stringify(groups), role, updated_at_ms: nowMs })
    tx.run(withoutOldCredentials, { ms: nowMs - keptForMs })
    tx.run(keptCredential, { id, instance, username, as_bearer: asBearer ? 1 : 0, verified_at_ms: nowMs })
    if (!before || before.role === role) return
    this.#needs.audit.write(tx, undefined, {
      action: 'caller.role_changed',
      entity: 'caller',
      operator: username,
      changes: { from: before.role, to: role, instance },
    })
  }
}

/** No URL has a NUL in it. */
const userKey = (instance: string, username: string): string => `${instance}\0${username}`

function storedGroups(tx: ReadTx, instance: string, username: string): readonly string[] | undefined {
  const row = tx.get(callerNamed, { instance, username })
  return row && (JSON.parse(row.groups) as string[])
}
