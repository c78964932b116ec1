import { statfsSync } from 'node:fs'

export type CheckStatus = 'healthy' | 'degraded' | 'unhealthy'
export type Check = { readonly status: CheckStatus; readonly responseTime: number }

/** One component: says how it is, or throws when it is not there. */
export type Probe = () => CheckStatus

/** Runs a probe and takes its time in milliseconds. What throws is unhealthy; why is for the log, not for strangers. */
export function runProbe(probe: Probe, onFailure: (error: unknown) => void): Check {
  const startedMs = performance.now()
  const status = attempt(probe, onFailure)
  return { status, responseTime: Math.round((performance.now() - startedMs) * 1000) / 1000 }
}

function attempt(probe: Probe, onFailure: (error: unknown) => void): CheckStatus {
  try {
    return probe()
  } catch (error) {
    onFailure(error)
    return 'unhealthy'
  }
}

const worst: Record<CheckStatus, number> = { healthy: 0, degraded: 1, unhealthy: 2 }

/** The whole box is as well as its worst component. */
export function overall(checks: Iterable<Check>): CheckStatus {
  return [...checks].reduce<CheckStatus>(
    (so, check) => (worst[check.status] > worst[so] ? check.status : so),
    'healthy',
  )
}

export type DiskLimits = { readonly minFreeBytes: number; readonly ledgerReserveBytes: number }

export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** Below the ledger's reserve the box can't do its work; below minFreeBytes it still can, but somebody should look. */
export function diskStatus(free: number, limits: DiskLimits): CheckStatus {
  if (free < limits.ledgerReserveBytes) return 'unhealthy'
  return free < limits.minFreeBytes ? 'degraded' : 'healthy'
}
