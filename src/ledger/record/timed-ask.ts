import type { Context } from 'hono'
import { type AppEnv, type Ask, askOf } from '../../http/index.ts'
import { deviceTimeOf } from './device-time.ts'
import type { EventOrigin } from './recorder.ts'

/** Who asks for an event, under which Idempotency-Key, and what the clock of the device shows. */
export type TimedAsk = EventOrigin & Ask

/** Throws VALIDATION_ERROR on a malformed header. */
export const timedAskOf = (c: Context<AppEnv>): TimedAsk => ({ ...askOf(c), deviceTimeMs: deviceTimeOf(c) })
