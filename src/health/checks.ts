import type { CheckStatus, Component } from './kinds.ts'

type Check = { readonly status: CheckStatus }

const badness: Record<CheckStatus, number> = { healthy: 0, degraded: 1, unhealthy: 2 }

/**
 * Returns the state of the gateway as these checks show it: that of the worst component without `webhooks`. A receiver that does not
 * answer is shown and does not count, because its notifications are kept.
 */
export function overall(checks: Readonly<Partial<Record<Component, Check>>>): CheckStatus {
  const { webhooks: _, ...own } = checks
  return Object.values(own).reduce<CheckStatus>(
    (worst, { status }) => (badness[status] > badness[worst] ? status : worst),
    'healthy',
  )
}

/** Returns the level for metrics: 0 healthy, 1 degraded, 2 unhealthy. */
export const levelOf = (status: CheckStatus): number => badness[status]
