import { type Api, operation, resource, sendResource } from '../http/index.ts'
import { isoTime } from '../platform/index.ts'
import type { ClockBook } from './book.ts'
import { ClockQuery, clockShape } from './schema.ts'

const usualSpanMs = 30 * 24 * 60 * 60 * 1000

const getClock = operation({
  id: 'getClockTrust',
  method: 'get',
  path: '/api/governance/clock',
  access: 'audit:read',
  tag: 'Governance',
  summary: "How far the gateway's clock can be trusted",
  description:
    'The present answer of the time services of the system (asked every minute), how long each of their states lasted in a period, and each step of the clock by more than 2 s.',
  input: { query: ClockQuery },
  success: { 200: { description: 'The clock', schema: resource(clockShape).openapi('Clock') } },
})

export function clockRoutes(api: Api, book: ClockBook, nowMs: () => number): void {
  api.openapi(getClock, (c) => {
    const { to: toMs = nowMs() + 1, from: fromMs = toMs - usualSpanMs } = c.req.valid('query')
    const { state, source, server, stratum, offsetMs, sinceMs } = book.report
    const now = { state, source, server, stratum, offsetMs, since: isoTime(Math.round(sinceMs)) }
    return sendResource(c, { now, from: isoTime(fromMs), to: isoTime(toMs), ...book.trust(fromMs, toMs) })
  })
}
