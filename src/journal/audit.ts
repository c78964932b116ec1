import type { Tx } from '../database/index.ts'
import type { Caller, RequestOrigin } from '../http/index.ts'
import type { Openings } from '../log/index.ts'
import type { Clock } from '../world/index.ts'
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
  /** On whose behalf, when another than the caller. */
  readonly operator?: string | undefined
  /** In place of `operator`, for a person whose name may be erased already. */
  readonly operatorCommitment?: string | undefined
  /** Old and new values; no names of people, no secrets. */
  readonly changes?: Record<string, unknown>
}

export type AuditOrigin = Omit<RequestOrigin, 'caller'> & {
  readonly caller?: Pick<Caller, 'username' | 'authMode'>
  /** By which way it came, when there is no caller to say so: `signal`. */
  readonly mode?: string
}

/** The audit trail, written in the transaction of what it tells. */
export class AuditTrail {
  readonly #openings: Openings
  readonly #clock: Pick<Clock, 'now'>

  constructor(options: { openings: Openings; clock: Pick<Clock, 'now'> }) {
    this.#openings = options.openings
    this.#clock = options.clock
  }

  /** `by` absent: the gateway itself did it. Without a caller: somebody whom nobody vouched for. */
  write(tx: Tx, by: AuditOrigin | undefined, facts: AuditFacts): void {
    const operator =
      facts.operator === undefined || facts.operator === by?.caller?.username
        ? (facts.operatorCommitment ?? null)
        : this.#openings.person(tx, facts.operator)
    tx.runOf(
      `INSERT INTO audit_entry (id, timestamp_ms, operator_commitment, actor_commitment, action, entity, entity_id, changes,
         request_id, address, auth_mode)
       VALUES ((SELECT coalesce(max(id), 0) + 1 FROM audit_entry), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        this.#clock.now(),
        operator,
        by?.caller ? this.#openings.person(tx, by.caller.username) : null,
        facts.action,
        facts.entity,
        facts.entityId === undefined ? null : String(facts.entityId),
        facts.changes ? JSON.stringify(redacted(facts.changes)) : null,
        by?.requestId ?? null,
        by?.address ?? null,
        by?.caller?.authMode ?? by?.mode ?? null,
      ],
    )
  }
}
