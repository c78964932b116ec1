import type { StorageAnswer } from './storage-client.ts'

/** When a credential was last verified; on the monotonic clock, at the moment the question went out. */
export type Known = {
  readonly username: string
  readonly verifiedMs: number
  /** Whether the server took it as a bearer token; else as a Basic password. */
  readonly asBearer: boolean
}

export type BeliefSettings = { readonly freshForMs: number; readonly staleForMs: number }

/** An answer `wrong` is believed this long. */
export const wrongForMs = 10 * 60_000

/** What is done with a credential before the server is asked. */
export function beforeAsking(
  known: Known | undefined,
  wrongUntilMs: number | undefined,
  nowMs: number,
  { freshForMs }: BeliefSettings,
): 'believe' | 'refuse' | 'ask' {
  if (wrongUntilMs !== undefined && nowMs < wrongUntilMs) return 'refuse'
  return known && nowMs - known.verifiedMs < freshForMs ? 'believe' : 'ask'
}

/**
 * What the server's answer makes of the credential. Only an answer proves anything: without one, what was verified
 * serves for a while as `stale`, and what was never verified is `unknown`, not wrong.
 */
export function afterAnswer(
  known: Known | undefined,
  answer: StorageAnswer['kind'],
  nowMs: number,
  { staleForMs }: BeliefSettings,
): 'fresh' | 'wrong' | 'stale' | 'unknown' {
  if (answer === 'verified') return 'fresh'
  if (answer === 'wrong') return 'wrong'
  return known && nowMs - known.verifiedMs <= staleForMs ? 'stale' : 'unknown'
}
