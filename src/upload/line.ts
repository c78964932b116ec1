import { backoffMs } from '../flow/index.ts'
/** How the server stores: Nextcloud has chunks and hashes; any other WebDAV server has neither. */
export const flavors = ['nextcloud', 'webdav'] as const
export type Flavor = (typeof flavors)[number]
export type Scheme = 'bearer' | 'basic'

/** State of the server and of the connection to it. Times are monotonic. */
export type Line =
  /** It has to be asked before anything is sent. */
  | { readonly kind: 'unknown'; readonly failures: number }
  | { readonly kind: 'up'; readonly flavor: Flavor; readonly scheme: Scheme }
  /** It takes nothing before `untilMs`. `failures`: in a row. */
  | { readonly kind: 'down'; readonly failures: number; readonly untilMs: number; readonly error: string }
  /** It takes nothing of this account, until somebody has done what `remedy` says. */
  | { readonly kind: 'refused'; readonly untilMs: number; readonly error: string; readonly remedy: string }

/** How a probe ended. */
export type Probed =
  | { readonly kind: 'up'; readonly flavor: Flavor; readonly scheme: Scheme }
  | { readonly kind: 'pause'; readonly error: string; readonly afterMs: number | null }
  | Refusal

/** Why the server takes nothing of the account, in words, and the remedy. */
export type Refusal = {
  readonly kind: 'refused'
  readonly error: string
  readonly remedy: string
  /** Whether it refuses the password itself. */
  readonly isPassword: boolean
}

const probeMs = { firstMs: 10_000, longestMs: 5 * 60_000 }
const longestAskedMs = 24 * 3_600_000
/** A refused password is tried again once an hour: servers count wrong passwords, and lock whole addresses out. */
const refusedPasswordMs = 3_600_000

export const unknownLine: Line = { kind: 'unknown', failures: 0 }

/** Why nothing is sent now; null while the server takes files, or was not asked yet. */
export const errorOf = (line: Line): string | null => ('error' in line ? line.error : null)

/** The line after a probe. */
export function probed(line: Line, outcome: Probed, nowMs: number): Line {
  switch (outcome.kind) {
    case 'up':
      return outcome
    case 'pause':
      return paused(line, outcome.error, outcome.afterMs, nowMs)
    case 'refused':
      return refused(outcome, nowMs)
  }
}

/** The server takes nothing of the account. */
export function refused({ error, remedy, isPassword }: Refusal, nowMs: number): Line {
  return { kind: 'refused', untilMs: nowMs + (isPassword ? refusedPasswordMs : probeMs.longestMs), error, remedy }
}

/** The server takes nothing for a while: 10 s, doubling to 5 min, or as long as it asked for. */
export function paused(line: Line, error: string, afterMs: number | null, nowMs: number): Line {
  // Two transfers that end together are one failure.
  if (line.kind === 'down' && line.untilMs > nowMs) return line
  const failures = (line.kind === 'down' || line.kind === 'unknown' ? line.failures : 0) + 1
  const waitMs = Math.max(backoffMs(probeMs, failures), Math.min(afterMs ?? 0, longestAskedMs))
  return { kind: 'down', failures, untilMs: nowMs + waitMs, error }
}

/** Returns the next act: send files, ask the server first, or wait for `ms`. */
export function nextOf(line: Line, nowMs: number): { kind: 'send' } | { kind: 'probe' } | { kind: 'wait'; ms: number } {
  switch (line.kind) {
    case 'up':
      return { kind: 'send' }
    case 'unknown':
      return { kind: 'probe' }
    case 'down':
    case 'refused':
      return line.untilMs > nowMs ? { kind: 'wait', ms: line.untilMs - nowMs } : { kind: 'probe' }
  }
}
