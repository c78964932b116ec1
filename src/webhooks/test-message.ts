import type { Outbox } from '../journal/index.ts'
import type { TestData } from './events.ts'
import type { SignedMessage } from './signature.ts'

/** What `testMessage` needs. */
export type TestMaker = {
  readonly outbox: Outbox
  readonly makeId: () => string
  readonly site: { readonly siteId: string; readonly warehouseId: number }
}

/** A test, and the id of its event. */
export type TestMessage = SignedMessage & { readonly type: 'webhook.test'; readonly eventId: string }

/** Returns a `webhook.test` event with a new delivery id. */
export function testMessage({ outbox, makeId, site }: TestMaker, webhookId: string, timestampMs: number): TestMessage {
  const message = `A test of this webhook by ${site.siteId}; nothing happened in the warehouse.`
  const data: TestData = { webhookId, message }
  const envelope = outbox.envelope('webhook.test', makeId(), timestampMs, data, site.warehouseId)
  return {
    type: 'webhook.test',
    eventId: envelope.id,
    deliveryId: makeId(),
    timestampMs,
    body: Buffer.from(JSON.stringify(envelope), 'utf8'),
  }
}
