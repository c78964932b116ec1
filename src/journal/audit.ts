import { built, changes, integer, maybe, pick, type ReadTx, statement, type Tx, text } from '../database/index.ts'
import type { Caller, RequestOrigin } from '../http/index.ts'
import type { Identity, People, Person } from '../log/index.ts'
import type { Clock } from '../platform/index.ts'
import { type AuditEntryRow, entryHash } from './audit-hash.ts'
import type { AuditEntity } from './entities.ts'
import { redacted } from './redact.ts'
import { sql, tables } from './tables.ts'

const lastEntry = statement({
  columns: { id: integer },
  sql: 'SELECT coalesce(max(id), 0) AS id FROM main.audit_entry',
})
const newEntry = built(tables.audit_entry, (row) => sql.insertInto('audit_entry').values(row))
const newHash = built(tables.audit_hash, (row) => sql.insertInto('audit_hash').values(row))
const newPeople = built(tables.audit_person, (row) => sql.insertInto('audit_person').values(row))

/** Takes a person out of the links of entries, of at most so many. */
const withoutPerson = changes({
  sql: (column: 'operator_id' | 'actor_id') => `UPDATE audit_person SET ${column} = NULL
    WHERE entry_id IN (SELECT entry_id FROM audit_person WHERE ${column} = ? LIMIT ?)`,
  samples: [['operator_id'], ['actor_id']],
})

/** The audit trail, for a join in SQL. */
export const auditEntries = 'main.audit_entry'

export type AuditFacts = {
  /** Name of the act: `placement.recorded`, `slot.updated`. */
  readonly action: string
  readonly entity: AuditEntity
  readonly entityId?: string | number
  /** On whose behalf, when it is not the caller: a name as a client sent it, or an identity. */
  readonly operator?: string | Identity | undefined
  /** Old and new values; no names of people, no secrets. */
  readonly changes?: Record<string, unknown>
}

export type AuditOrigin = Omit<RequestOrigin, 'caller'> & {
  readonly caller?: Pick<Caller, 'username' | 'instance' | 'authMode'>
  /** Origin of an act without a caller: `start`, `signal` or `command`. */
  readonly mode?: string
}

/** People linked to the entries, for verification: both fields of each row. */
export const linksOfEntries = statement({
  columns: {
    row: integer,
    log: maybe(integer),
    ...pick(tables.audit_person, 'operator_id', 'actor_id'),
    operator: maybe(text),
    actor: maybe(text),
  },
  sql: `SELECT a.id AS row, a.log_id AS log, l.operator_id, l.actor_id,
      a.operator_commitment AS operator, a.actor_commitment AS actor
    FROM main.audit_person l JOIN main.audit_entry a ON a.id = l.entry_id WHERE l.entry_id > +? ORDER BY l.entry_id LIMIT ?`,
})

/** Returns the newest entry. Entries are numbered without a gap. */
export function endOfTrail(tx: ReadTx): number {
  return tx.get(lastEntry)?.id ?? 0
}

/** Takes a person out of the links of entries. @returns the most that one statement took away, at most `limit` */
export function unlinkFromTrail(tx: Tx, personId: number, limit: number): number {
  const columns = ['operator_id', 'actor_id'] as const
  return Math.max(...columns.map((column) => tx.run(withoutPerson(column), [personId, limit]).changes))
}

type AuditTrailNeeds = { people: People; clock: Pick<Clock, 'now'> }

/** The audit trail, written in the transaction of the act. */
export class AuditTrail {
  readonly #needs: AuditTrailNeeds

  constructor(needs: AuditTrailNeeds) {
    this.#needs = needs
  }

  /** Appends an entry. `by` absent: the gateway itself acted. `by` without a caller: a person at the box, not signed in. */
  write(tx: Tx, by: AuditOrigin | undefined, facts: AuditFacts): void {
    const id = endOfTrail(tx) + 1
    const nowMs = this.#needs.clock.now()
    const actor = by?.caller && this.#needs.people.ofCaller(tx, by.caller)
    const operator = this.#operatorOf(tx, facts.operator, by?.caller, actor)
    const commitment = (person: Person | undefined, field: string) =>
      person ? this.#needs.people.commitment(person, { subject: 'audit', row: id, field }) : null
    const row: AuditEntryRow = {
      id,
      timestamp_ms: nowMs,
      operator_commitment: commitment(operator, 'operator'),
      actor_commitment: commitment(actor, 'actor'),
      action: facts.action,
      entity: facts.entity,
      entity_id: facts.entityId === undefined ? null : String(facts.entityId),
      changes: facts.changes ? JSON.stringify(redacted(facts.changes)) : null,
      request_id: by?.requestId ?? null,
      address: by?.address ?? null,
      auth_mode: by?.caller?.authMode ?? by?.mode ?? null,
      log_id: this.#needs.people.logNumber,
    }
    tx.run(newEntry, row)
    // Stored with its entry: only this hash finds changes before a digest covers the entry.
    tx.run(newHash, { entry_id: id, hash: entryHash(row) })
    if (!actor && !operator) return
    tx.run(newPeople, {
      entry_id: id,
      timestamp_ms: nowMs,
      operator_id: operator?.id ?? null,
      actor_id: actor?.id ?? null,
    })
  }

  /** Returns the person on whose behalf the act was done; undefined when it is the actor. */
  #operatorOf(
    tx: Tx,
    named: string | Identity | undefined,
    caller: AuditOrigin['caller'],
    actor: Person | undefined,
  ): Person | undefined {
    if (named === undefined) return undefined
    const operator =
      typeof named !== 'string'
        ? this.#needs.people.of(tx, named)
        : caller
          ? this.#needs.people.ofOperator(tx, named, caller)
          : this.#needs.people.of(tx, { name: named, instance: null })
    return operator.id === actor?.id ? undefined : operator
  }
}
