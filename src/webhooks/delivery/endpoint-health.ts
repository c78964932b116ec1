/** Failed attempts of one delivery after which its endpoint is failing. */
const failingAfter = 6

/** Failed attempts in a row over all deliveries after which an endpoint gets one attempt at a time. */
export const slowedAfter = 6

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

/** The place of an attempt in the retry schedule of its delivery. */
export type InSchedule = {
  /** From 1. */
  readonly attempt: number
  /** Attempts that the schedule has. */
  readonly attempts: number
}

/**
 * Returns the health of an endpoint after an attempt. Any 2xx makes it healthy; a failure never makes it better. Under a
 * schedule of less than six attempts the last one counts as the sixth: no delivery is given up without an alert.
 */
export function afterAttempt(health: EndpointHealth, delivered: boolean, place: InSchedule): EndpointHealth {
  if (delivered) return healthy
  const consecutiveFailures = health.consecutiveFailures + 1
  return { status: worse(health.status, consecutiveFailures, place), consecutiveFailures }
}

function worse(status: EndpointStatus, failures: number, { attempt, attempts }: InSchedule): EndpointStatus {
  if (status === 'disabled' || failures >= disabledAfter) return 'disabled'
  return status === 'failing' || attempt >= Math.min(failingAfter, attempts) ? 'failing' : 'active'
}
