import { builderOver, defaulted, integer, maybe, type RowOf, real, text, word } from '../database/index.ts'
import type { ClockReport } from '../platform/index.ts'

export const tables = {
  clock_state: {
    id: integer,
    at_ms: integer,
    state: word<ClockReport['state'] | 'stopped'>(),
    source: maybe(text),
    server: maybe(text),
    stratum: maybe(integer),
    offset_ms: maybe(real),
  },
  clock_step: {
    id: integer,
    cause: word<'running' | 'restart' | 'no_clock'>(),
    before_ms: integer,
    after_ms: integer,
    state: word<ClockReport['state']>(),
    source: maybe(text),
  },
  clock_mark: {
    one: defaulted(integer),
    at_ms: integer,
  },
  expiry_mark: {
    one: defaulted(integer),
    at_ms: integer,
  },
} as const

export const sql = builderOver(tables)

export type ClockStateRow = RowOf<typeof tables.clock_state>
export type ClockStepRow = RowOf<typeof tables.clock_step>
