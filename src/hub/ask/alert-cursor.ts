import { AppError } from '../../errors/index.ts'
import { isoTime } from '../../platform/index.ts'
import type { AlertPlace, AlertRow } from './store.ts'

/** Returns the cursor behind an alert, opaque to the client. Pure. */
export function alertCursor({ closed_at, opened_at, log_id, alert_id }: AlertRow): string {
  const state = closed_at === null ? 'open' : 'closed'
  return Buffer.from(`${state} ${isoTime(opened_at.getTime())} ${log_id} ${alert_id}`).toString('base64url')
}

/** Returns the place in a cursor made by `alertCursor`; undefined for an empty one. Throws VALIDATION_ERROR. Pure. */
export function readAlertCursor(cursor: string): AlertPlace | undefined {
  if (cursor === '') return undefined
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  const [, state, openedAt, logId, id] = /^(open|closed) (\S{20,40}) ([0-9a-f-]{36}) ([^\0]+)$/.exec(text) ?? []
  const isPlace =
    openedAt !== undefined &&
    Number.isFinite(Date.parse(openedAt)) &&
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(logId ?? '')
  if (!isPlace || logId === undefined || id === undefined)
    throw AppError.field('cursor', 'is not a cursor of this list')
  return { isOpen: state === 'open', openedAt: isoTime(Date.parse(openedAt)), logId, id }
}
