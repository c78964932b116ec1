import type { StorageAnswer } from './client.ts'

/** A verified credential; its time is monotonic, in milliseconds, at the moment the question was sent. */
export type Known = {
  readonly username: string
  readonly verifiedMs: number
  /** Whether the server accepted it as a bearer token; otherwise as a Basic password. */
  readonly asBearer: boolean
}

export type BeliefSettings = { readonly freshForMs: number; readonly staleForMs: number }

/** An answer `wrong` is believed this long. */
export const wrongForMs = 10 * 60_000

/** Decides what to do with a credential before the server is asked. Pure. */
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
 * Decides what the server's answer means for a credential. Without an answer, a credential that was verified is used as
 * `stale` for a while, and one that was never verified is `unknown`, not wrong. Pure.
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
