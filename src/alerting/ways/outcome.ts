/** How an attempt to send a message ended. */
export type Outcome =
  | { readonly kind: 'sent' }
  | {
      readonly kind: 'failed'
      /** One line for the admin, without a secret. */
      readonly error: string
      /** Whether another attempt cannot succeed. */
      readonly isFinal: boolean
      /** The header of an HTTP answer. */
      readonly retryAfter?: string | undefined
      /** Whether the push service says that the subscription has ended. */
      readonly isGone?: true
    }
  /** The gateway stops: nothing is known. */
  | { readonly kind: 'abandoned' }

export const failed = (error: string, isFinal = false): Extract<Outcome, { kind: 'failed' }> => ({
  kind: 'failed',
  error,
  isFinal,
})

/** Time from the start of an attempt to its end. */
export const attemptMs = 30_000
