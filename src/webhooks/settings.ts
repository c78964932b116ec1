import type { ProbeIntervals } from './delivery/pace.ts'

/** The webhook settings of the config. They are read at every use, so that a reload applies at once. */
export type WebhookSettings = {
  /** CIDRs of private receivers. */
  readonly allowNetworks: readonly string[]
  /** PEM file of authorities to trust besides the built-in ones. */
  readonly caFile?: string | undefined
  /** From the start of an attempt to the answer's headers. */
  readonly timeoutMs: number
  /** Delay before attempt 1, 2, 3 …, each counted from the attempt before. */
  readonly retryScheduleMs: readonly number[]
  /** Between two attempts at an endpoint that is slowed down, or towards which the gateway is offline. Default 10 s to 5 min. */
  readonly probe?: ProbeIntervals | undefined
  /** Tests of endpoints that were disabled by their failures. Default: every 15 min. */
  readonly autoResume?: AutoResume | undefined
  /** Attempts a second at one endpoint while it catches up after an outage. Default 50. */
  readonly drainPerSecond?: number | undefined
  /** Addresses that answer whenever the gateway gets out. Default: none, then nothing is asked. */
  readonly uplinkProbes?: readonly string[] | undefined
}

type AutoResume = { readonly enabled: boolean; readonly everyMs: number }

export function probeOf({ probe }: WebhookSettings): ProbeIntervals {
  return probe ?? { initialMs: 10_000, maxMs: 5 * 60_000 }
}

export function autoResumeOf({ autoResume }: WebhookSettings): AutoResume {
  return autoResume ?? { enabled: true, everyMs: 15 * 60_000 }
}

export function uplinkProbesOf({ uplinkProbes }: WebhookSettings): readonly string[] {
  return uplinkProbes ?? []
}

export function drainPerSecondOf({ drainPerSecond }: WebhookSettings): number {
  return drainPerSecond ?? 50
}
