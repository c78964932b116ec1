import type { z } from '@hono/zod-openapi'

const shared = new Map<string, z.ZodType>()

/**
 * A parameter that many operations take, described once under `components.parameters`. Its name there is `ref`. The key of the
 * shape that uses it has to be `name`.
 */
export function sharedParameter<T extends z.ZodType>(
  ref: string,
  where: { in: 'query' | 'header'; name: string },
  schema: T,
): T {
  const named = schema.openapi(ref, { param: where })
  shared.set(ref, named)
  return named
}

/** The parameters that were made by `sharedParameter`, by name. */
export const sharedParameters: ReadonlyMap<string, z.ZodType> = shared

/** Descriptions by name, for parameters without a description. */
export const parameterDescriptions: Readonly<Record<string, string>> = {
  id: 'The id of the resource, as its list and its creation answer it. One that is unknown, or that the caller may not see, is 404.',
  barcode: 'The barcode of the asset in any form that a scanner gives, percent-encoded.',
  code: 'The code as the scanner gives it, percent-encoded.',
  sha256: 'The SHA-256 of the file, 64 hex digits.',
  deliveryId: 'The id of the delivery, as in X-Service-Delivery.',
  cursor:
    '`nextCursor` of the previous page: continues after its last row, also when rows were added since. Default: from the beginning.',
  from: 'Only what happened at or after this time, RFC 3339 with offset.',
  to: 'Only what happened before this time, RFC 3339 with offset.',
  at: 'As it was at this time, RFC 3339 with offset. Default: now.',
  known_at: 'As the ledger knew it at this time, RFC 3339 with offset. Default: now.',
  by: '`slot_id`: read the id in the path as a slot label, even if it is a number. Default: a whole number is the id.',
  after_seq: 'Only what was recorded after this seq, oldest first and without gaps.',
  slot_id: 'Only of the slot with this id.',
  slot_code: 'Only of the slot with this label.',
  slot: 'Only of the slot with this label.',
  asset_barcode: 'Only of this asset; the barcode in any form.',
  event_type: 'Only events of this type.',
  operator: 'Only records with this operator.',
  work_order_ref: 'Only with this reference of a work order.',
  corrects_event_id: 'Only corrections of the event with this id.',
  zoneId: 'Only of the zone with this id.',
  warehouseId: 'Only of the warehouse with this id.',
  transportUnitId: 'Only of the transport unit with this id.',
  cctvId: 'The id of the camera, as the list of cameras answers it.',
  scaleId: 'Only of this scale.',
  sscc: 'Only the asset with this SSCC, 18 digits.',
  gtin: 'Only assets with this GTIN.',
  lot: 'Only assets of this lot.',
  serial: 'Only assets with this serial number.',
  provisional:
    '`true`: only assets that events have mentioned and no one has registered. `false`: only registered ones.',
  carrier: 'Only units of this carrier.',
  direction: 'Only units that come in, or only units that go out.',
  reference: 'Only units with this reference.',
  stage: 'Only units at this stage of the workflow.',
  status: 'Only what has this status.',
  state: 'Only what is in this state.',
  type: 'Only what is of this type.',
  kind: 'Only what is of this kind.',
  severity: 'Only incidents of this severity.',
  category: 'Only incidents of this category.',
  printer: 'Only jobs of this printer.',
  acknowledged: '`true`: only what somebody has acknowledged. `false`: only what no one has.',
  entity: 'Only what was done to things of this kind.',
  entity_id: 'Only what was done to the thing with this id; with `entity`.',
  action: 'Only actions of this name.',
  format: 'The form of the file.',
}
