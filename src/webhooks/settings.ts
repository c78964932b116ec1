/** What the config says of webhooks; asked for at every use, so that a reload applies at once. */
export type WebhookSettings = {
  /** CIDRs of private receivers. */
  readonly allowNetworks: readonly string[]
  /** PEM file of authorities to trust besides the built-in ones. */
  readonly caFile?: string | undefined
  /** From the start of an attempt to the answer's headers. */
  readonly timeoutMs: number
  /** Delay before attempt 1, 2, 3 …, each counted from the attempt before. */
  readonly retryScheduleMs: readonly number[]
}
