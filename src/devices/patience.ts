/** Wrong PINs of one badge at one device that cost nothing. */
const forNothing = 5
/** In a row at one device, of whatever badges. */
export const forNothingOfDevice = 20
const firstWaitMs = 30_000
const longestWaitMs = 15 * 60_000
/** Without a wrong one for so long, and all is forgotten. */
const forgottenAfterMs = 60 * 60_000

/** What is held against a badge at a device. */
export type Tries = { readonly wrong: number; readonly lastMs: number }

/**
 * How long the next look at a PIN has to wait, pure: 30 s after the fifth wrong one in a row, then twice as long each
 * time. Of one badge at one device: who tries a colleague's badge does not stop the colleague elsewhere.
 */
export function waitMs(tries: Tries | undefined, nowMs: number, free = forNothing): number {
  if (!tries || tries.wrong < free || nowMs - tries.lastMs >= forgottenAfterMs) return 0
  const wait = Math.min(firstWaitMs * 2 ** (tries.wrong - free), longestWaitMs)
  return Math.max(0, tries.lastMs + wait - nowMs)
}

export function afterWrong(tries: Tries | undefined, nowMs: number): Tries {
  const before = tries && nowMs - tries.lastMs < forgottenAfterMs ? tries.wrong : 0
  return { wrong: before + 1, lastMs: nowMs }
}
