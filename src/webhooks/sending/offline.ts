import { errorCode } from '../../platform/faults.ts'

/**
 * Error codes that mean that the gateway itself is offline: no route to the address, its interface down, no answer from a resolver.
 * EHOSTUNREACH is not among them, whatever its text says: Linux answers a missing route with ENETUNREACH. It answers EHOSTUNREACH
 * when a neighbour or a router on the way reports that the receiver's host is not there.
 */
const ownTrouble = new Set(['ENETUNREACH', 'ENETDOWN', 'EAI_AGAIN'])

/**
 * Returns whether a failure to reach an endpoint is the gateway's own. Each address of a name was tried, and the error as a whole
 * has the code of the first. It is the gateway's own failure only if all of them failed so. Otherwise a box without IPv6 would
 * count every receiver that refuses it over IPv4 as an outage of the gateway.
 */
export function isOffline(error: unknown): boolean {
  return rootsOf(error).every((root) => ownTrouble.has(errorCode(root) ?? ''))
}

/** The failures of the single addresses behind what an HTTP client throws, or the failure itself. */
export function rootsOf(error: unknown): readonly unknown[] {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors : [cause]
}
