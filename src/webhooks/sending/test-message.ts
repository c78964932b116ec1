import { type CheckpointNote, type Outbox, withCheckpoint } from '../../journal/index.ts'
import type { TestData } from '../events.ts'
import type { Webhook } from '../store.ts'
import type { SignedMessage } from './signature.ts'

export type TestMaker = {
  readonly outbox: Outbox
  readonly makeId: () => string
  readonly site: { readonly siteId: string; readonly warehouseId: number }
  /** Returns the newest checkpoint. */
  readonly newestCheckpoint: () => CheckpointNote | undefined
}

/** A test, and the id of its event. */
export type TestMessage = SignedMessage & { readonly type: 'webhook.test'; readonly eventId: string }

/** Returns a `webhook.test` event with a new delivery id, and with a checkpoint for a webhook that wants one. */
export function testMessage(
  { outbox, makeId, site, newestCheckpoint }: TestMaker,
  { id: webhookId, checkpoint }: Pick<Webhook, 'id' | 'checkpoint'>,
  timestampMs: number,
): TestMessage {
  const message = `A test of this webhook by ${site.siteId}; nothing happened in the warehouse.`
  const data: TestData = { webhookId, message }
  const envelope = outbox.envelope('webhook.test', makeId(), timestampMs, data, site.warehouseId)
  const body = Buffer.from(JSON.stringify(envelope), 'utf8')
  const note = checkpoint ? newestCheckpoint() : undefined
  return {
    type: 'webhook.test',
    eventId: envelope.id,
    deliveryId: makeId(),
    timestampMs,
    body: note ? withCheckpoint(body, JSON.stringify(note)) : body,
  }
}
