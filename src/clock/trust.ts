import type { ReadTx } from '../database/index.ts'
import { isoTime } from '../platform/index.ts'
import type { ClockTrust } from './schema.ts'
import * as store from './store.ts'
import type { ClockStateRow, ClockStepRow } from './tables.ts'

/** Values from which an answer about a period is made. The same values give the same answer, whatever is recorded later. */
export type TrustSpan = {
  /** Inclusive. */
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  /** The newest rows that count. */
  readonly rows: { readonly states: number; readonly steps: number }
  /** Nothing is known about later times. */
  readonly untilMs: number
}

type StateChange = ClockTrust['changes'][number]
type StepSeen = ClockTrust['steps'][number]

const mostListed = 1000

/** Returns how far the clock can be trusted in a period: from the rows of the span alone. */
export function trustBetween(tx: ReadTx, { fromMs, toMs, rows, untilMs }: TrustSpan): ClockTrust {
  const millis = { synchronized: 0, unsynchronized: 0, unknown: 0, stopped: 0 }
  const states = [...store.statesUpTo(tx, rows.states)]
  for (const [i, { state, at_ms }] of states.entries()) {
    const endMs = Math.min(states[i + 1]?.at_ms ?? untilMs, toMs)
    // A clock that was set back shows some times twice: neither is taken off.
    millis[state] += Math.max(0, endMs - Math.max(at_ms, fromMs))
  }
  const isWithin = (ms: number) => ms >= fromMs && ms < toMs
  const changes = states.filter(({ at_ms }) => isWithin(at_ms))
  // A step is of the period when it was seen in it, and also when it left it.
  const steps = [...store.stepsUpTo(tx, rows.steps)].filter(
    ({ before_ms, after_ms }) => isWithin(after_ms) || isWithin(before_ms),
  )
  const before = states.findLast(({ at_ms }) => at_ms < fromMs)
  const seconds = Object.entries(millis).map(([state, ms]) => [state, Math.round(ms) / 1000])
  return {
    seconds: Object.fromEntries(seconds) as ClockTrust['seconds'],
    atStart: before ? toChange(before) : null,
    changes: changes.slice(-mostListed).map(toChange),
    changeCount: changes.length,
    steps: steps.slice(-mostListed).map(toStep),
    stepCount: steps.length,
  }
}

const toChange = ({ at_ms, state, source, server, stratum, offset_ms }: ClockStateRow): StateChange => ({
  at: isoTime(at_ms),
  state,
  source,
  server,
  stratum,
  offsetMs: offset_ms,
})

const toStep = ({ before_ms, after_ms, cause, state, source }: ClockStepRow): StepSeen => ({
  at: isoTime(after_ms),
  byMs: after_ms - before_ms,
  before: isoTime(before_ms),
  after: isoTime(after_ms),
  cause,
  state,
  source,
})
