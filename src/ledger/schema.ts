import { z } from '@hono/zod-openapi'
import {
  barcode,
  closedObject,
  httpUrl,
  label,
  lines,
  onceFieldsFit,
  optional,
  optionalTime,
  rowId,
  sha256Hex,
  text,
  timeOut,
} from '../http/index.ts'
import { Evidence, EvidenceState } from '../log/index.ts'
import { warningCodes } from './warnings.ts'

export const placementEventTypes = ['PLACED', 'REMOVED', 'VERIFIED', 'DISPUTED'] as const
const EventType = z.enum(placementEventTypes)

const Scan = closedObject({
  slot: optional(barcode()).openapi({ description: 'the string that the scanner read from the slot label' }),
  asset: optional(barcode()).openapi({ description: 'the string that the scanner read from the asset' }),
  symbology: optional(text(64)),
}).openapi('Scan', { description: 'Codes that the scanner read. Unknown keys are refused.' })

export const NewPlacementEvent = z
  .object({
    event_type: EventType,
    slot_id: optional(rowId()).openapi({ description: 'integer id of the slot; or send slot_code' }),
    slot_code: optional(label(64)).openapi({ description: 'label of the slot' }),
    asset_barcode: barcode().openapi({
      description: 'as scanned: stored and returned unchanged, and compared in every GS1 form',
    }),
    operator: optional(text(128)).openapi({ description: 'default: the caller' }),
    timestamp: optionalTime().openapi({ description: "default: the gateway's time" }),
    photo_url: optional(httpUrl()).openapi({ description: 'required for PLACED; never fetched by the gateway' }),
    photo_sha256: optional(sha256Hex()),
    photo_taken_at: optionalTime(),
    scale_weight_kg: optional(z.number().min(0).max(100_000)),
    evidence_hash: optional(sha256Hex()).openapi({
      description: 'hash made by the client; kept as client_evidence_hash',
    }),
    cctv_clip_url: optional(httpUrl()),
    work_order_ref: optional(text(128)),
    verification_notes: optional(lines(4000)),
    scan: optional(Scan),
    client_event_id: optional(text(128)).openapi({
      description: 'unique per caller for ever: a repeat gets the same answer and is not recorded again',
    }),
    corrects_event_id: optional(rowId()),
    placement_event_id: optional(rowId()).openapi({
      description:
        'id of the PLACED event that the caller looked at; not for PLACED. If the slot holds another placement at the time of the event, the answer is 400 PLACEMENT_MISMATCH and nothing is recorded',
    }),
  })
  .refine((event) => event.slot_id !== undefined || event.slot_code !== undefined, {
    path: ['slot_id'],
    message: 'required (or slot_code)',
    ...onceFieldsFit('slot_id', 'slot_code'),
  })
  .refine((event) => event.event_type !== 'PLACED' || event.placement_event_id === undefined, {
    path: ['placement_event_id'],
    message: 'not for PLACED: it names the placement that is verified, disputed or ended',
    ...onceFieldsFit('event_type', 'placement_event_id'),
  })
  .openapi('NewPlacementEvent')

export type NewPlacementEvent = z.output<typeof NewPlacementEvent>

export const slotStateShape = {
  isOccupied: z.boolean(),
  assetBarcode: z.string().nullable(),
  isVerified: z.boolean().optional().openapi({ description: 'absent while the slot is empty' }),
  isDisputed: z.boolean().optional().openapi({ description: 'absent while the slot is empty' }),
}

export const Warning = z.object({ code: z.enum(warningCodes), message: z.string() }).openapi('Warning')

export const placementEventShape = {
  id: rowId(),
  eventId: z.string().openapi({ format: 'uuid' }),
  seq: z.int().openapi({ description: 'index of its leaf in the log' }),
  event_type: EventType,
  slot_id: rowId(),
  slot_code: z.string(),
  asset_barcode: z.string(),
  asset_key: z.string().openapi({ description: 'the barcode as it is compared' }),
  operator: z.string().openapi({
    description: 'erased after the person was erased; in events of older versions erased- and 8 digits',
  }),
  actor: z.string().openapi({ description: 'the verified caller; after the person was erased, as in operator_id' }),
  timestamp: timeOut(),
  device_timestamp: timeOut().nullable(),
  received_at: timeOut(),
  clock_offset_ms: z.int().nullable(),
  time_quality: z.enum(['synced', 'corrected', 'unsynced']),
  photo_url: z.string().nullable(),
  photo_sha256: z.string().nullable(),
  photoEvidence: z.enum(['held', 'claimed', 'opening_list', 'count']).nullable().openapi({
    description: 'held: the gateway has the photo; opening_list, count: these replace a photo',
  }),
  photo_taken_at: timeOut().nullable(),
  scale_weight_kg: z.number().nullable(),
  evidence_hash: z.string().openapi({ description: 'SHA-256 of the bytes of the leaf' }),
  client_evidence_hash: z.string().nullable(),
  cctv_clip_url: z.string().nullable(),
  work_order_ref: z.string().nullable(),
  verification_notes: z.string().nullable(),
  scan: z
    .object({ slot: z.string().optional(), asset: z.string().optional(), symbology: z.string().optional() })
    .nullable(),
  scanEvidence: z.enum(['matched', 'mismatched', 'claimed']).openapi({
    description:
      "matched: both strings of the scan name the event's own slot and asset; mismatched: one of them does not; claimed: no scan, or half of one",
  }),
  client_event_id: z.string().nullable(),
  corrects_event_id: z.int().nullable(),
  warnings: z.array(Warning),
  opening: z
    .object({
      sha256: z.string().openapi({ description: 'SHA-256 of the list as it was imported' }),
      line: z.int(),
      countedAt: timeOut().nullable().openapi({ description: 'null: not counted yet' }),
    })
    .nullable()
    .openapi({ description: 'line in the list of opening stock' }),
  count: z
    .object({ id: rowId(), scanId: rowId(), scanSha256: z.string() })
    .nullable()
    .openapi({ description: 'scan of the count' }),
}

export const PlacementEvent = z.object(placementEventShape).openapi('PlacementEvent')
export type PlacementEvent = z.infer<typeof PlacementEvent>

const recordedShape = {
  ...placementEventShape,
  effect: z.enum(['applied', 'superseded', 'none']),
  slot: z
    .object({ id: rowId(), slot_id: z.string(), ...slotStateShape })
    .openapi({ description: 'state of the slot after the event' }),
}
export const RecordedEvent = z.object({ success: z.literal(true), ...recordedShape }).openapi('RecordedEvent')
export type RecordedEvent = z.infer<typeof RecordedEvent>

/** A recorded event as POST answers it: with how far it is secured. */
export const RecordedReply = z
  .object({ success: z.literal(true), ...recordedShape, evidence: Evidence })
  .openapi('RecordedReply')
export type RecordedReply = z.infer<typeof RecordedReply>

/** An event of a list. */
export const ListedEvent = z.object({ ...placementEventShape, evidence: EvidenceState }).openapi('ListedEvent')
export type ListedEvent = z.infer<typeof ListedEvent>

/** A recorded event inside the answer to an act of several. */
export const AppendedEvent = z.object(recordedShape).openapi('AppendedEvent')
export type AppendedEvent = z.infer<typeof AppendedEvent>
