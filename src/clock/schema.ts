import { z } from '@hono/zod-openapi'
import { time, timeOut } from '../http/index.ts'
import { clockStates } from '../platform/index.ts'

const source = z
  .string()
  .nullable()
  .openapi({ description: 'the time service that answered: timesyncd, chrony or ntpd; null: none answered' })
const offsetMs = z.number().nullable().openapi({
  description: "this clock minus the server's, as the service estimated it; positive: ahead; null: it gives none",
})
const server = z.string().nullable().openapi({ description: 'as the time service names it' })
const stratum = z.int().nullable().openapi({ description: 'distance from a reference clock (RFC 5905), 1 to 15' })
const stateText =
  'synchronized, unsynchronized: a time service says so · unknown: none runs here, or none answered; it may be right or wrong'

const Change = z.object({
  at: timeOut(),
  state: z
    .enum([...clockStates, 'stopped'])
    .openapi({ description: `${stateText} · stopped: the gateway did not run` }),
  source,
  server,
  stratum,
  offsetMs,
})

const Step = z.object({
  at: timeOut().openapi({ description: 'time of the clock after it' }),
  byMs: z.int().openapi({ description: 'positive: forward' }),
  before: timeOut().openapi({
    description: 'time of the clock without the step; at a start: the newest known time',
  }),
  after: timeOut(),
  cause: z.enum(['running', 'restart', 'no_clock']).openapi({
    description:
      'running: seen while the gateway ran · restart: at a start, the clock was behind the newest known time · no_clock: at a start, it was before 2026',
  }),
  state: z.enum(clockStates).openapi({ description: 'answer of the time services when it was seen' }),
  source,
})

const seconds = z.number().min(0)
const trustShape = {
  seconds: z.object({ synchronized: seconds, unsynchronized: seconds, unknown: seconds, stopped: seconds }).openapi({
    description: 'seconds of the period in each state; time before the first start and time to come are in none',
  }),
  atStart: Change.nullable().openapi({ description: 'the state at the beginning; null: nothing was recorded before' }),
  changes: z.array(Change).openapi({ description: 'within the period, oldest first; the newest thousand' }),
  changeCount: z.int().min(0),
  steps: z.array(Step).openapi({ description: 'steps of more than 2 s, oldest first; the newest thousand' }),
  stepCount: z.int().min(0),
}

/** Trust in the gateway's clock in a period. */
export const ClockTrust = z.object(trustShape).openapi('ClockTrust')
export type ClockTrust = z.infer<typeof ClockTrust>

export const clockShape = {
  now: z.object({
    state: z.enum(clockStates).openapi({ description: stateText }),
    source,
    server,
    stratum,
    offsetMs,
    since: timeOut().openapi({ description: 'when this state was first seen, at the latest at the start' }),
  }),
  from: timeOut(),
  to: timeOut(),
  ...trustShape,
}

export const ClockQuery = z.object({
  from: time().optional().openapi({ description: 'inclusive; default: 30 days before `to`', format: 'date-time' }),
  to: time().optional().openapi({ description: 'exclusive; default: now', format: 'date-time' }),
})
