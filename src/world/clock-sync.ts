import { existsSync } from 'node:fs'

/**
 * Whether the system itself says that its clock is not to be trusted: it stands before the program was built, or
 * systemd-timesyncd runs and has not reached a server since boot (it makes this file when it has). Where nothing can
 * say, the clock counts as right.
 */
export function clockIsTrusted(nowMs: number, builtAtMs: number, timesyncFolder = '/run/systemd/timesync'): boolean {
  if (nowMs < builtAtMs) return false
  return !existsSync(timesyncFolder) || existsSync(`${timesyncFolder}/synchronized`)
}
