import type { PlacementEvent } from '../ledger/index.ts'
import { readBarcode } from '../warehouse/index.ts'

/**
 * Context of EPCIS 2.0 and the Core Business Vocabulary 2.0 (GS1). An event's text is made from its row and its slot's
 * master data only, so the same row always gives the same text.
 */
export const epcisContext = [
  'https://ref.gs1.org/standards/epcis/2.0.0/epcis-context.jsonld',
  { gatehouse: 'urn:gatehouse:' },
] as const

/** Step and condition of each event type; the action is always OBSERVE. */
const meaning = {
  PLACED: { bizStep: 'storing', disposition: 'in_progress' },
  REMOVED: { bizStep: 'picking', disposition: 'in_progress' },
  VERIFIED: { bizStep: 'inspecting', disposition: 'conformant' },
  DISPUTED: { bizStep: 'inspecting', disposition: 'non_conformant' },
} as const

type ErrorDeclaration = {
  readonly declarationTime: string
  readonly reason: 'incorrect_data'
  readonly correctiveEventIDs: readonly string[]
}

export type Surroundings = {
  /** The gateway's address; places and goods without a GS1 key are named under it. */
  readonly siteUrl: string
  /** UTC offset of the slot's warehouse at the time of the event: `+01:00`. */
  readonly zoneOffset: string
  /** Turns the event into the declaration that it was wrong. */
  readonly errorDeclaration?: ErrorDeclaration | undefined
}

export const epcisId = (eventId: string): string => `urn:uuid:${eventId}`

/** Returns one ObjectEvent. Goods taken out of a slot have a readPoint and no bizLocation. */
export function objectEvent(event: PlacementEvent, around: Surroundings): Record<string, unknown> {
  const place = { id: slotUri(around.siteUrl, event) }
  return {
    type: 'ObjectEvent',
    eventID: epcisId(event.eventId),
    eventTime: event.timestamp,
    eventTimeZoneOffset: around.zoneOffset,
    recordTime: event.received_at,
    ...(around.errorDeclaration && { errorDeclaration: around.errorDeclaration }),
    ...goods(event.asset_barcode, around.siteUrl),
    action: 'OBSERVE',
    ...meaning[event.event_type],
    readPoint: place,
    ...(event.event_type !== 'REMOVED' && { bizLocation: place }),
    ...(event.scale_weight_kg !== null && {
      sensorElementList: [{ sensorReport: [{ type: 'Mass', value: event.scale_weight_kg, uom: 'KGM' }] }],
    }),
    'gatehouse:eventType': event.event_type,
    'gatehouse:seq': event.seq,
    'gatehouse:evidenceHash': event.evidence_hash,
    ...(event.photo_sha256 !== null && { 'gatehouse:photoSha256': event.photo_sha256 }),
    ...(event.work_order_ref !== null && { 'gatehouse:workOrderRef': event.work_order_ref }),
  }
}

/** Returns the URI of a slot by its label; a label that looks like a slot's number is marked as a label. */
function slotUri(siteUrl: string, { slot_code }: PlacementEvent): string {
  const byLabel = /^[1-9]\d{0,14}$/.test(slot_code) ? '?by=slot_id' : ''
  return `${siteUrl}/api/whms/slots/${segment(slot_code)}${byLabel}`
}

/** Keys that name a single thing in a Digital Link, the strongest first. */
const things = [['00'], ['01', '21'], ['8006', '21'], ['8003'], ['8004'], ['8010', '8011']] as const
/** Keys that name a class of goods. */
const kinds = [['01', '10'], ['01']] as const

/**
 * Returns the goods of an event: a GS1 Digital Link where the barcode has a GS1 key, else the asset's address at this
 * gateway. A GTIN without a serial names a class, with quantity one. A value that is invalid in a link is named by the
 * address too, so that it can be read back.
 */
function goods(barcode: string, siteUrl: string): { epcList: string[] } | { epcList: []; quantityList: object[] } {
  const { gs1 } = readBarcode(barcode)
  const has = (ids: readonly string[]) => gs1 !== undefined && ids.every((id) => gs1.has(id))
  const thing = things.find(has)
  const ids = thing ?? kinds.find(has)
  const link = gs1 && ids && linkOf(gs1, ids)
  if (link === undefined) return { epcList: [`${siteUrl}/api/whms/assets/${segment(barcode)}`] }
  return thing ? { epcList: [link] } : { epcList: [], quantityList: [{ epcClass: link, quantity: 1 }] }
}

/** Returns the link; undefined when a value is invalid in a link. */
function linkOf(gs1: ReadonlyMap<string, string>, ids: readonly string[]): string | undefined {
  const link = `https://id.gs1.org/${ids.flatMap((id) => [id, segment(gs1.get(id) ?? '')]).join('/')}`
  return readBarcode(link).gs1 ? link : undefined
}

/** Encodes a path segment, including the reserved characters of RFC 3986 that encodeURIComponent leaves. */
function segment(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}
