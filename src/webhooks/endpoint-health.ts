/** Failed attempts, of one delivery or in a row over all, after which an endpoint is failing. */
const failingAfter = 6

/** Failed attempts in a row over all deliveries after which an endpoint is switched off. */
export const disabledAfter = 100

export type EndpointStatus = 'active' | 'failing' | 'disabled'

export type EndpointHealth = {
  readonly status: EndpointStatus
  /** Failed attempts since the last 2xx, over all deliveries. */
  readonly consecutiveFailures: number
}

/** The health of an endpoint without failures. */
export const healthy: EndpointHealth = { status: 'active', consecutiveFailures: 0 }

/**
 * Returns the health of an endpoint after an attempt. Any 2xx makes it healthy; a failure never makes it better.
 * @param attempt number of the attempt within its delivery, from 1
 */
export function afterAttempt(health: EndpointHealth, delivered: boolean, attempt: number): EndpointHealth {
  if (delivered) return healthy
  const consecutiveFailures = health.consecutiveFailures + 1
  return { status: worse(health.status, consecutiveFailures, attempt), consecutiveFailures }
}

function worse(status: EndpointStatus, consecutiveFailures: number, attempt: number): EndpointStatus {
  if (status === 'disabled' || consecutiveFailures >= disabledAfter) return 'disabled'
  if (status === 'failing' || consecutiveFailures >= failingAfter || attempt >= failingAfter) return 'failing'
  return 'active'
}
