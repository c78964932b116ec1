import type { Context } from 'hono'
import { type AppEnv, type Ask, askOf } from '../../http/index.ts'
import { deviceTimeOf } from './device-time.ts'
import type { EventOrigin } from './recorder.ts'

/** Caller of an event with the Idempotency-Key, and the clock of its device. */
export type TimedAsk = EventOrigin & Ask

/** Throws VALIDATION_ERROR on a malformed header. */
export const timedAskOf = (c: Context<AppEnv>): TimedAsk => ({ ...askOf(c), deviceTimeMs: deviceTimeOf(c) })
