import type { Role } from '../config/index.ts'
import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import type { Clock } from '../platform/index.ts'
import { Recent } from './recent.ts'

/** Longer than a credential may be used stale: one that was right once is checked before unknown ones. */
const keptForMs = 30 * 24 * 3_600_000
/** When the clock is this much before a row's time, it was set back, and no age can be computed. */
const clockSlackMs = 5 * 60_000
const callersInMemory = 10_000

export type StoredCredential = { readonly username: string; readonly asBearer: boolean; readonly ageMs: number }

export type Verification = {
  readonly id: Buffer
  readonly instance: string
  readonly username: string
  readonly asBearer: boolean
  readonly groups: readonly string[]
  readonly role: Role
}

/**
 * Stores whom storage servers vouched for, and by which credentials, so that they survive a restart. Rows are written
 * in the background: what a power cut loses is asked for again.
 */
export class KnownCallers {
  readonly #work: UnitOfWork
  readonly #clock: Pick<Clock, 'now'>
  readonly #audit: AuditTrail
  readonly #groups = new Recent<readonly string[]>(callersInMemory)

  constructor(options: { work: UnitOfWork; clock: Pick<Clock, 'now'>; audit: AuditTrail }) {
    this.#work = options.work
    this.#clock = options.clock
    this.#audit = options.audit
  }

  /** Returns what is stored of a credential; undefined when nothing is, or when its age cannot be computed. */
  find(id: Buffer): StoredCredential | undefined {
    const row = this.#work.read((tx) =>
      tx.oneOf<{ username: string; as_bearer: number; verified_at_ms: number }>(
        'SELECT username, as_bearer, verified_at_ms FROM known_credential WHERE id = +?',
        [id],
      ),
    )
    const ageMs = row && this.#clock.now() - row.verified_at_ms
    if (!row || ageMs === undefined || ageMs < -clockSlackMs) return undefined
    return { username: row.username, asBearer: row.as_bearer === 1, ageMs: Math.max(ageMs, 0) }
  }

  /** Returns the groups that the server last named for this user; undefined for an unknown user. */
  groupsOf(instance: string, username: string): readonly string[] | undefined {
    const key = JSON.stringify([instance, username])
    const known = this.#groups.get(key) ?? this.#work.read((tx) => storedGroups(tx, instance, username))
    if (known) this.#groups.set(key, known)
    return known
  }

  verified(verification: Verification): void {
    const { instance, username, groups } = verification
    this.#groups.set(JSON.stringify([instance, username]), groups)
    void this.#work.write((tx) => this.#store(tx, verification)).catch(() => {})
  }

  /** Deletes a credential that the server refused. */
  ended(id: Buffer): void {
    void this.#work
      .write((tx) => {
        const row = tx.oneOf<{ username: string; instance: string }>(
          'SELECT username, instance FROM known_credential WHERE id = +?',
          [id],
        )
        if (!row) return
        tx.runOf('DELETE FROM known_credential WHERE id = +?', [id])
        this.#audit.write(tx, undefined, {
          action: 'caller.credential_ended',
          entity: 'caller',
          operator: row.username,
          changes: { instance: row.instance },
        })
      })
      .catch(() => {})
  }

  #store(tx: Tx, { id, instance, username, asBearer, groups, role }: Verification): void {
    const nowMs = this.#clock.now()
    const before = tx.oneOf<{ role: string }>('SELECT role FROM known_caller WHERE instance = +? AND username = +?', [
      instance,
      username,
    ])
    tx.runOf(
      `INSERT INTO known_caller (instance, username, groups, role, updated_at_ms) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (instance, username) DO UPDATE SET groups = excluded.groups, role = excluded.role,
         updated_at_ms = excluded.updated_at_ms`,
      [instance, username, JSON.stringify(groups), role, nowMs],
    )
    tx.runOf('DELETE FROM known_credential WHERE verified_at_ms < +?', [nowMs - keptForMs])
    tx.runOf(
      `INSERT INTO known_credential (id, instance, username, as_bearer, verified_at_ms) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET instance = excluded.instance, username = excluded.username,
         as_bearer = excluded.as_bearer, verified_at_ms = excluded.verified_at_ms`,
      [id, instance, username, asBearer ? 1 : 0, nowMs],
    )
    if (!before || before.role === role) return
    this.#audit.write(tx, undefined, {
      action: 'caller.role_changed',
      entity: 'caller',
      operator: username,
      changes: { from: before.role, to: role, instance },
    })
  }
}

function storedGroups(tx: ReadTx, instance: string, username: string): readonly string[] | undefined {
  const row = tx.oneOf<{ groups: string }>('SELECT groups FROM known_caller WHERE instance = +? AND username = +?', [
    instance,
    username,
  ])
  return row && (JSON.parse(row.groups) as string[])
}
