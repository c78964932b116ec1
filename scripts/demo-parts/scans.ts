import type { Answer, Client } from './client.ts'
import { same } from './expect.ts'
import type { DemoSlot } from './warehouse.ts'

export const eventsPath = '/api/whms/events'
const photosPath = '/api/whms/evidence/photos'

/** A scan that a handheld keeps until it is answered; sent again, it goes under the same Idempotency-Key. */
export type Scan = { readonly key: string; readonly body: Readonly<Record<string, unknown>> }

type Placed = { slot: DemoSlot; pallet: string; photoUrl: string; weightKg?: number; key: string }

/** A placement, with the raw strings of both labels: the pallet's comes with the prefix of its symbology. */
export function placement({ slot, pallet, photoUrl, weightKg = 420, key }: Placed): Scan {
  return {
    key,
    body: {
      event_type: 'PLACED',
      slot_id: slot.id,
      asset_barcode: pallet,
      photo_url: photoUrl,
      scale_weight_kg: weightKg,
      scan: { slot: slot.label, asset: `]C1${pallet}`, symbology: 'gs1-128' },
    },
  }
}

/** Removal, verification or dispute of what stands in the slot, under an id of the client's own that is good for ever. */
export function judgement(
  type: 'REMOVED' | 'VERIFIED' | 'DISPUTED',
  slot: DemoSlot,
  pallet: string,
  key: string,
): Scan {
  return { key, body: { event_type: type, slot_id: slot.id, asset_barcode: pallet, client_event_id: key } }
}

export function send(by: Client, { key, body }: Scan, headers: Record<string, string> = {}): Promise<Answer> {
  return by.ask('POST', eventsPath, { body, headers: { 'Idempotency-Key': key, ...headers } })
}

/** Throws unless it was recorded. */
export function record(by: Client, { key, body }: Scan): Promise<Answer> {
  return by.expect(201, 'POST', eventsPath, { body, headers: { 'Idempotency-Key': key } })
}

/** @returns the body of the answer: url and sha256 of the photo that the gateway now holds */
export async function uploadPhoto(by: Client, photo: Buffer): Promise<{ url: string; sha256: string }> {
  const headers = { 'Content-Type': 'image/png' }
  return (await by.expect(201, 'POST', photosPath, { bytes: photo, headers })).body
}

/** Throws unless the event is there as the answer to its POST said. @param answered the body of that answer */
export async function isAsAnswered(by: Client, answered: Answer['body']): Promise<void> {
  // The log may have been signed over the event since.
  const { effect: _, slot: __, evidence: ___, ...event } = answered
  const { evidence: ____, ...now } = await by.get(`${eventsPath}/${event.id}`)
  same(`event ${event.id}`, now, event)
}

/** How many events the ledger holds. */
export async function countEvents(by: Client): Promise<number> {
  return (await by.get(`${eventsPath}?limit=1`)).pagination.total
}
