import type { Tx } from '../database/index.ts'
import type { Caller, RequestOrigin } from '../http/index.ts'
import type { Identity, People, Person } from '../log/index.ts'
import type { Clock } from '../platform/index.ts'
import { redacted } from './redact.ts'

export type AuditEntity =
  | 'warehouse'
  | 'zone'
  | 'slot'
  | 'asset'
  | 'event'
  | 'transport_unit'
  | 'scale_reading'
  | 'camera'
  | 'detection_event'
  | 'incident'
  | 'report'
  | 'webhook'
  | 'alert'
  | 'caller'
  | 'config'
  | 'photo'
  | 'print_job'
  | 'opening_list'
  | 'count'

export type AuditFacts = {
  /** What was done: `placement.recorded`, `slot.updated`. */
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
  /** How the act came when there is no caller: `start`, `signal` or `command`. */
  readonly mode?: string
}

/** Writes the audit trail, in the transaction of the acts. */
export class AuditTrail {
  readonly #people: People
  readonly #clock: Pick<Clock, 'now'>

  constructor(options: { people: People; clock: Pick<Clock, 'now'> }) {
    this.#people = options.people
    this.#clock = options.clock
  }

  /** Appends an entry. `by` absent: the gateway itself acted. `by` without a caller: a person at the box, not signed in. */
  write(tx: Tx, by: AuditOrigin | undefined, facts: AuditFacts): void {
    const id = (tx.oneOf<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM main.audit_entry')?.id ?? 0) + 1
    const nowMs = this.#clock.now()
    const actor = by?.caller && this.#people.ofCaller(tx, by.caller)
    const operator = this.#operatorOf(tx, facts.operator, by?.caller, actor)
    const commitment = (person: Person | undefined, field: string) =>
      person ? this.#people.commitment(person, { subject: 'audit', row: id, field }) : null
    tx.runOf(
      `INSERT INTO main.audit_entry (id, timestamp_ms, operator_commitment, actor_commitment, action, entity, entity_id,
         changes, request_id, address, auth_mode, log_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        id,
        nowMs,
        commitment(operator, 'operator'),
        commitment(actor, 'actor'),
        facts.action,
        facts.entity,
        facts.entityId === undefined ? null : String(facts.entityId),
        facts.changes ? JSON.stringify(redacted(facts.changes)) : null,
        by?.requestId ?? null,
        by?.address ?? null,
        by?.caller?.authMode ?? by?.mode ?? null,
        this.#people.logNumber,
      ],
    )
    if (!actor && !operator) return
    tx.runOf('INSERT INTO audit_person (entry_id, timestamp_ms, operator_id, actor_id) VALUES (?, ?, ?, ?)', [
      id,
      nowMs,
      operator?.id ?? null,
      actor?.id ?? null,
    ])
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
        ? this.#people.of(tx, named)
        : caller
          ? this.#people.ofOperator(tx, named, caller)
          : this.#people.of(tx, { name: named, instance: null })
    return operator.id === actor?.id ? undefined : operator
  }
}
