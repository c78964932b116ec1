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

/** An endpoint of which nothing bad is known. */
export const healthy: EndpointHealth = { status: 'active', consecutiveFailures: 0 }

/**
 * What an attempt says about its endpoint. Any 2xx makes it healthy; otherwise it only ever gets worse.
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
