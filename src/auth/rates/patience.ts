import { backoffMs } from '../../flow/index.ts'

/** Wrong PINs of one badge at one device before the delay starts. */
const freeAttempts = 5
/** Wrong PINs in a row at one device, of any badges, before its delay starts. */
export const freeAttemptsOfDevice = 20
const delay = { firstMs: 30_000, longestMs: 15 * 60_000 }
/** Without a wrong PIN for this long, the count starts again. */
const forgottenAfterMs = 60 * 60_000

/** Wrong PINs of a badge at a device. */
export type Tries = { readonly wrong: number; readonly lastMs: number }

/**
 * Returns the wait before the next try, in milliseconds: 30 s after the fifth wrong PIN in a row, then twice as long each time.
 * Counted by badge and device, so that tries at one device do not block the badge elsewhere. Pure.
 */
export function waitMs(tries: Tries | undefined, nowMs: number, free = freeAttempts): number {
  if (!tries || tries.wrong < free || nowMs - tries.lastMs >= forgottenAfterMs) return 0
  const wait = backoffMs(delay, tries.wrong - free + 1)
  return Math.max(0, tries.lastMs + wait - nowMs)
}

export function afterWrong(tries: Tries | undefined, nowMs: number): Tries {
  const before = tries && nowMs - tries.lastMs < forgottenAfterMs ? tries.wrong : 0
  return { wrong: before + 1, lastMs: nowMs }
}
