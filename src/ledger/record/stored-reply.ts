import { z } from '@hono/zod-openapi'
import type { ReadTx } from '../../database/index.ts'
import type { StoredForm } from '../../journal/index.ts'
import { recordedOnly } from '../../log/index.ts'
import { RecordedReply } from '../schema.ts'
import { findEvent, toPlacementEvent } from '../store.ts'

/** The fields of an event's first reply that do not follow from its row. */
const EventReference = z.object({ event: z.int(), ...RecordedReply.pick({ effect: true, slot: true }).shape })

/**
 * Stores the first reply to an event as a reference to its row: a copy of the row would be a third of all bytes of a commit. A repeat
 * gets the same bytes, without the name of a person who was erased since. Other replies are stored as sent.
 */
export const eventReply: StoredForm<RecordedReply> = {
  toStore: (body) => {
    if (body.evidence !== recordedOnly) return body
    const { id, effect, slot } = body
    return { event: id, effect, slot } satisfies z.infer<typeof EventReference>
  },
  toSend: (tx, stored) => {
    const reference = EventReference.safeParse(stored).data
    return reference ? replyOf(tx, reference) : stored
  },
}

function replyOf(tx: ReadTx, { event, effect, slot }: z.infer<typeof EventReference>): RecordedReply {
  const row = findEvent(tx, event)
  if (!row) throw new Error(`there is no event ${event}`)
  return { success: true, ...toPlacementEvent(row), effect, slot, evidence: recordedOnly }
}
