import { sql as raw } from 'kysely'
import { severityOf } from '../config/index.ts'
import {
  built,
  integer,
  keysOfPage,
  listings,
  pick,
  type ReadTx,
  type RowOf,
  type Tx,
  type UnitOfWork,
} from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { countLimit, historyLimit } from '../http/index.ts'
import type { AuditOrigin, AuditTrail, Outbox } from '../journal/index.ts'
import { type Clock, isoTime } from '../platform/index.ts'
import type { AlertOut, AlertQuery } from './schema.ts'
import { sql, tables } from './tables.ts'

type Row = RowOf<typeof tables.alert> & { readonly resolved_at_ms: number | null }

/** Alerts with the time of their end. */
const withEnds = () =>
  sql
    .selectFrom('alert')
    .leftJoin('alert_end', 'alert_end.alert_id', 'alert.id')
    .selectAll('alert')
    .select('alert_end.at_ms as resolved_at_ms')

const newAlert = built(pick(tables.alert, 'kind', 'subject', 'message', 'created_at_ms'), (row) =>
  sql.insertInto('alert').values(row),
)
const sameAlert = built(pick(tables.alert, 'kind', 'subject'), ({ kind, subject }) =>
  sql
    .selectFrom('alert')
    .select(raw.lit(1).as('found'))
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('acknowledged_at_ms', 'is', null)
    .limit(raw.lit(1)),
)
const conditions = {
  any: '1',
  true: 'acknowledged_at_ms IS NOT NULL',
  false: 'acknowledged_at_ms IS NULL',
} as const
type Wanted = keyof typeof conditions
const alertsOf = listings(
  (wanted: Wanted) => ({
    from: 'alert',
    key: ['id'],
    within: [],
    passing: [{ sql: conditions[wanted], values: [] }],
  }),
  [['any'], ['true'], ['false']],
)
const alertById = built(pick(tables.alert, 'id'), ({ id }) => withEnds().where('id', '=', id))
const newestOfTrouble = built(pick(tables.alert, 'kind', 'subject'), ({ kind, subject }) =>
  withEnds().where('kind', '=', kind).where('subject', '=', subject).orderBy('id', 'desc').limit(raw.lit(1)),
)
const newEnd = built(tables.alert_end, (row) => sql.insertInto('alert_end').values(row))
const alertsBehind = built({ after: integer }, ({ after }) =>
  withEnds().where('id', '>', after).orderBy('id').limit(raw.lit(200)),
)
const newestId = built({}, () => sql.selectFrom('alert').select('id').orderBy('id', 'desc').limit(raw.lit(1)))
const openAlerts = built({}, () => withEnds().where('acknowledged_at_ms', 'is', null).orderBy('id', 'desc').limit(200))
const newestAlerts = built({ limit: integer }, ({ limit }) =>
  sql
    .selectFrom('alert')
    .select(['kind', 'subject', 'message', 'created_at_ms', 'acknowledged_at_ms'])
    .orderBy('id', 'desc')
    .limit(limit),
)
const raisedSince = built(pick(tables.alert, 'kind', 'created_at_ms'), ({ kind, created_at_ms }) =>
  sql
    .selectFrom('alert')
    .select(raw.lit(1).as('found'))
    .where('kind', '=', kind)
    .where('created_at_ms', '>=', created_at_ms)
    .limit(raw.lit(1)),
)
const seen = built({ id: integer, acknowledged_at_ms: integer }, ({ id, acknowledged_at_ms }) =>
  sql.updateTable('alert').set({ acknowledged_at_ms }).where('id', '=', id),
)

export type NewAlert = {
  readonly kind: string
  readonly subject: string
  readonly message: string
  readonly nowMs: number
}

/** Returns the newest alerts, acknowledged or not, newest first. */
export function recentAlerts(tx: ReadTx, limit: number) {
  return tx.all(newestAlerts, { limit }).map(({ created_at_ms, acknowledged_at_ms, ...alert }) => ({
    ...alert,
    createdAt: isoTime(created_at_ms),
    acknowledgedAt: acknowledged_at_ms === null ? null : isoTime(acknowledged_at_ms),
  }))
}

/** Whether an alert of this kind was raised at this time or later. */
export function wasRaisedSince(tx: ReadTx, kind: string, sinceMs: number): boolean {
  return tx.get(raisedSince, { kind, created_at_ms: sinceMs }) !== undefined
}

/** The part of the outbox that an alert needs. */
export type AlertJournal = Pick<Outbox, 'created'>

/** Stores an alert for the admin and notifies the receivers with `event.created`. */
export function raiseAlert(tx: Tx, outbox: AlertJournal, alert: NewAlert): void {
  const { kind, subject, message, nowMs } = alert
  const { lastId: id } = tx.run(newAlert, { kind, subject, message, created_at_ms: nowMs })
  const row = { id, kind, subject, message, created_at_ms: nowMs, acknowledged_at_ms: null, resolved_at_ms: null }
  outbox.created(tx, { type: 'alert.raised', timestampMs: nowMs, data: asOut(row) })
}

/** As `raiseAlert`, unless an alert with the same kind and subject is not acknowledged yet. */
export function raiseAlertOnce(tx: Tx, outbox: AlertJournal, alert: NewAlert): void {
  const same = tx.get(sameAlert, { kind: alert.kind, subject: alert.subject })
  if (!same) raiseAlert(tx, outbox, alert)
}

/** Notes the end of the trouble that the newest alert of kind and subject reports, and notifies the receivers once. */
export function resolveAlert(
  tx: Tx,
  outbox: AlertJournal,
  { kind, subject, nowMs }: Pick<NewAlert, 'kind' | 'subject' | 'nowMs'>,
): void {
  const row = tx.get(newestOfTrouble, { kind, subject })
  if (!row || row.resolved_at_ms !== null) return
  tx.run(newEnd, { alert_id: row.id, at_ms: nowMs })
  outbox.created(tx, { type: 'alert.resolved', timestampMs: nowMs, data: asOut({ ...row, resolved_at_ms: nowMs }) })
}

/** Returns the alerts behind this one, the oldest first, at most 200. */
export const alertsAfter = (tx: ReadTx, after: number): AlertOut[] => tx.all(alertsBehind, { after }).map(asOut)

/** Returns the id of the newest alert; 0 without one. */
export const newestAlertId = (tx: ReadTx): number => tx.get(newestId)?.id ?? 0

/** Returns an alert as it is now; undefined for one that is not stored. */
export function findAlert(tx: ReadTx, id: number): AlertOut | undefined {
  const row = tx.get(alertById, { id })
  return row && asOut(row)
}

type AlertsNeeds = {
  readonly work: UnitOfWork
  readonly audit: AuditTrail
  readonly clock: Pick<Clock, 'now'>
}

/** The caller who acknowledges, or the channel whose link did. */
export type AlertOrigin = AuditOrigin & { readonly channel?: string }

/** The admin's list of alerts. */
export class Alerts {
  readonly #needs: AlertsNeeds
  #unwritten: () => readonly NewAlert[] = () => []

  constructor(needs: AlertsNeeds) {
    this.#needs = needs
  }

  /** Adds alerts that are not stored yet to `list`; `unwritten` returns them, newest last. */
  alsoList(unwritten: () => readonly NewAlert[]): void {
    this.#unwritten = unwritten
  }

  /** Newest first. Ends early when `signal` says that the client has gone. */
  async list(query: AlertQuery, signal?: AbortSignal) {
    const { limit = historyLimit, offset = 0 } = query
    const unwritten = query.acknowledged === 'true' ? [] : unwrittenRows(this.#unwritten())
    const shown = unwritten.slice(offset, offset + limit)
    const listing = alertsOf(query.acknowledged ?? 'any')
    const page = { limit: limit - shown.length, offset: Math.max(offset - unwritten.length, 0) }
    const { keys, hasMore, total } = await keysOfPage(this.#needs.work, listing, page, countLimit, signal)
    const rows = this.#needs.work.read((tx) => keys.flatMap(([id = 0]) => tx.get(alertById, { id }) ?? []))
    const all = total === null ? null : total + unwritten.length
    const pagination = {
      limit,
      offset,
      total: all !== null && all > countLimit ? null : all,
      hasMore: hasMore || unwritten.length > offset + limit,
      nextCursor: null,
    }
    return { success: true as const, data: [...shown, ...rows].map(asOut), pagination }
  }

  /** Returns the alerts that are not acknowledged, newest first, at most 200. Those that are not stored yet come last. */
  open(): AlertOut[] {
    const rows = this.#needs.work.read((tx) => tx.all(openAlerts))
    return [...rows, ...unwrittenRows(this.#unwritten())].map(asOut)
  }

  /** Returns an alert as it is now; undefined for one that is not stored. */
  find(id: number): AlertOut | undefined {
    return this.#needs.work.read((tx) => findAlert(tx, id))
  }

  /** Marks an alert as seen; a repeat changes nothing. Throws NOT_FOUND. */
  acknowledge(id: number | undefined, by: AlertOrigin): Promise<{ success: true } & AlertOut> {
    return this.#needs.work.write((tx) => {
      const row = id === undefined ? undefined : tx.get(alertById, { id })
      if (!row) throw AppError.notFound('Alert')
      if (row.acknowledged_at_ms !== null) return { success: true, ...asOut(row) }
      const nowMs = this.#needs.clock.now()
      tx.run(seen, { id: row.id, acknowledged_at_ms: nowMs })
      const changes = by.channel === undefined ? {} : { changes: { channel: by.channel } }
      this.#needs.audit.write(tx, by, { action: 'alert.acknowledged', entity: 'alert', entityId: row.id, ...changes })
      return { success: true, ...asOut({ ...row, acknowledged_at_ms: nowMs }) }
    })
  }
}

/** Returns unwritten alerts as rows, newest first. They have ids -1, -2 … until they are stored. */
function unwrittenRows(alerts: readonly NewAlert[]): Row[] {
  return alerts
    .map(({ kind, subject, message, nowMs }, at) => ({
      ...{ id: -1 - at, kind, subject, message },
      created_at_ms: nowMs,
      acknowledged_at_ms: null,
      resolved_at_ms: null,
    }))
    .toReversed()
}

function asOut(row: Row): AlertOut {
  return {
    id: row.id,
    kind: row.kind,
    subject: row.subject,
    message: row.message,
    createdAt: isoTime(row.created_at_ms),
    acknowledgedAt: row.acknowledged_at_ms === null ? null : isoTime(row.acknowledged_at_ms),
    severity: severityOf(row.kind),
    resolvedAt: row.resolved_at_ms === null ? null : isoTime(row.resolved_at_ms),
  }
}
