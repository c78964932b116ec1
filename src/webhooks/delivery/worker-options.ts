import type { UnitOfWork } from '../../database/index.ts'
import type { AuditTrail, Outbox } from '../../journal/index.ts'
import type { Clock, Logger, RandomBytes, SecretBox } from '../../platform/index.ts'
import type { Sender } from '../sending/sender.ts'
import type { TestMaker } from '../sending/test-message.ts'
import type { WebhookSettings } from '../settings.ts'
import type { Pacing } from './pacing.ts'

/** One attempt has been recorded. */
export type AttemptReport = {
  readonly webhookId: string
  readonly outcome: 'delivered' | 'failed'
  /** To the answer's headers, or to the failure. */
  readonly seconds: number
}

export type DeliveryWorkerOptions = TestMaker & {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly random: RandomBytes
  readonly box: SecretBox
  readonly audit: AuditTrail
  readonly outbox: Pick<Outbox, 'created' | 'written'>
  readonly sender: Pick<Sender, 'send' | 'abandon'>
  readonly pacing: Pacing
  readonly settings: () => WebhookSettings
  readonly log: Logger
  readonly onAttempt?: ((report: AttemptReport) => void) | undefined
}
