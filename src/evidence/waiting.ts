import type { RandomBytes } from '../platform/index.ts'

const firstMs = 30_000
const longestMs = 3_600_000

/**
 * Returns the wait after so many failures in a row: 30 s doubling to an hour, less up to half of it by chance. So many gateways do
 * not ask at once when a witness comes back.
 */
export function retryDelayMs(failures: number, random: RandomBytes): number {
  const whole = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs)
  const share = (random(2)[0] ?? 0) / 255
  return Math.round(whole * (1 - share / 2))
}
