import { z } from '@hono/zod-openapi'
import {
  barcode,
  ErrorFacts,
  label,
  lines,
  onceFieldsFit,
  optional,
  optionalTime,
  readLater,
  resource,
  rowId,
} from '../../http/index.ts'
import { AppendedEvent, NewPlacementEvent, PlacementEvent } from '../schema.ts'

/** The forms of acts that append several events in one commit. */

export const batchLimit = 100
export const batchBytesLimit = 1024 * 1024

const later = readLater(NewPlacementEvent, 'NewPlacementEvent', AppendedEvent)

/** An event of a batch as it was sent, read by itself. */
export const readItem = later.read

export const NewBatch = z
  .object({
    mode: optional(z.enum(['proceed', 'rollback'])).openapi({
      description: 'proceed: each by itself. rollback (default): all or none',
    }),
    events: z.array(later.item).min(1).max(batchLimit),
  })
  .openapi('NewBatch')
export type NewBatch = z.output<typeof NewBatch>

const BatchItemResult = z
  .object({
    index: z.int(),
    status: z
      .int()
      .openapi({ description: 'as POST of this event alone would answer: 201, 200 for a repeat, 400, 403' }),
    event: AppendedEvent.optional(),
    error: ErrorFacts.optional(),
  })
  .openapi('BatchItemResult')
export type BatchItemResult = z.infer<typeof BatchItemResult>

export const RecordedBatch = resource({ results: z.array(BatchItemResult) }).openapi('RecordedBatch')
export type RecordedBatch = z.infer<typeof RecordedBatch>

const {
  operator,
  photo_url,
  photo_sha256,
  photo_taken_at,
  scale_weight_kg,
  cctv_clip_url,
  work_order_ref,
  verification_notes,
  scan,
  client_event_id,
} = NewPlacementEvent.shape

export const NewMove = z
  .object({
    asset_barcode: barcode(),
    to_slot_id: optional(rowId()).openapi({ description: 'where it is now; or to_slot_code' }),
    to_slot_code: optional(label(64)),
    from_slot_id: optional(rowId()).openapi({
      description: 'slot from which it was taken; default: its slot by the ledger',
    }),
    from_slot_code: optional(label(64)),
    timestamp: optionalTime().openapi({ description: 'when it was taken; it is placed at least 1 ms later' }),
    operator,
    photo_url: photo_url.openapi({ description: 'required; of the pallet where it is now' }),
    photo_sha256,
    photo_taken_at,
    scale_weight_kg,
    cctv_clip_url,
    work_order_ref,
    verification_notes,
    scan: scan.openapi({ description: 'the scan proof of the placement' }),
    client_event_id,
  })
  .refine((move) => move.to_slot_id !== undefined || move.to_slot_code !== undefined, {
    path: ['to_slot_id'],
    message: 'required (or to_slot_code)',
    ...onceFieldsFit('to_slot_id', 'to_slot_code'),
  })
  .openapi('NewMove')
export type NewMove = z.output<typeof NewMove>

export const RecordedMove = resource({
  // Not .nullable(): for a named schema the description would require object and null at once.
  removed: z.union([AppendedEvent, z.null()]).openapi({
    description: 'null: it was in no slot by the ledger, and no from_slot was sent',
  }),
  placed: AppendedEvent,
}).openapi('RecordedMove')
export type RecordedMove = z.infer<typeof RecordedMove>

export const NewCorrection = z
  .object({
    slot_id: optional(rowId()).openapi({ description: 'the slot in which it really happened; or slot_code' }),
    slot_code: optional(label(64)),
    asset_barcode: optional(barcode()).openapi({ description: 'the asset to which it really happened' }),
    none: optional(z.boolean()).openapi({ description: 'true: it did not happen at all' }),
    reason: lines(4000).openapi({ description: 'kept as verification_notes of what is appended' }),
    operator,
    photo_url: photo_url.openapi({ description: 'default: the photo of the event that is corrected' }),
    photo_sha256,
    photo_taken_at,
    scan,
    client_event_id,
  })
  .superRefine(
    (body, context) => {
      const says = body.slot_id !== undefined || body.slot_code !== undefined || body.asset_barcode !== undefined
      if (says === (body.none === true)) {
        const message = says
          ? 'says that it did not happen, but the body states another event'
          : 'required (or slot_id, slot_code, asset_barcode)'
        context.addIssue({ code: 'custom', path: ['none'], message })
      }
    },
    onceFieldsFit('slot_id', 'slot_code', 'asset_barcode', 'none'),
  )
  .openapi('NewCorrection')
export type NewCorrection = z.output<typeof NewCorrection>

export const RecordedCorrection = resource({
  corrected: PlacementEvent.openapi({ description: 'the event that was wrong, as it is now' }),
  events: z.array(AppendedEvent).openapi({ description: 'appended events, in order, each with its slot as it is now' }),
}).openapi('RecordedCorrection')
export type RecordedCorrection = z.infer<typeof RecordedCorrection>
