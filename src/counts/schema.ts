import { z } from '@hono/zod-openapi'
import {
  barcode,
  label,
  lines,
  nameText,
  onceFieldsFit,
  optional,
  optionalTime,
  rowId,
  text,
  timeOut,
} from '../http/index.ts'
import { barcodeWarnings } from '../warehouse/index.ts'

/** Most slots of one count: approving is one commit, which takes half a millisecond for each slot. */
export const mostSlots = 1000

const slotIds = () => z.array(rowId()).max(mostSlots)
const slotCodes = () => z.array(label(64)).max(mostSlots)

export const NewCount = z
  .object({
    warehouseId: optional(rowId()).openapi({ description: 'default: the warehouse of the zone, else of the site' }),
    zoneId: optional(rowId()),
    slot_ids: optional(slotIds()),
    slot_codes: optional(slotCodes()).openapi({ description: 'slots by their labels' }),
    notCountedSince: optionalTime().openapi({
      description: 'only slots without an approved count since then; 1970-01-01T00:00:00Z: never counted',
    }),
    openingOnly: optional(z.boolean()).openapi({
      description: 'only slots whose stock is known from an opening list alone',
    }),
    sample: optional(z.int().min(1).max(mostSlots)).openapi({ description: 'number of slots to draw at random' }),
    reference: optional(nameText(128)).openapi({ description: 'a number or code of your own' }),
  })
  .openapi('NewCount')
export type NewCount = z.output<typeof NewCount>

const states = ['open', 'counting', 'review', 'approved', 'cancelled'] as const
const outcomes = ['matched', 'corrected', 'moved', 'conflict', 'not_counted'] as const

export const countShape = {
  id: rowId(),
  state: z.enum(states),
  warehouseId: rowId(),
  reference: z.string().nullable(),
  selection: z.record(z.string(), z.unknown()).openapi({ description: 'which slots were asked for' }),
  slots: z.object({ total: z.int(), counted: z.int() }),
  outcomes: z
    .object(
      Object.fromEntries(outcomes.map((outcome) => [outcome, z.int()])) as Record<(typeof outcomes)[number], z.ZodInt>,
    )
    .nullable()
    .openapi({ description: 'number of slots by result; null until it is approved' }),
  createdBy: z.string().nullable().openapi({ description: 'null after the person was erased' }),
  closedBy: z.string().nullable().openapi({ description: 'person who approved or cancelled it' }),
  closedAt: timeOut().nullable(),
  reason: z.string().nullable().openapi({ description: 'why it was cancelled' }),
  version: z.int(),
  createdAt: timeOut(),
  updatedAt: timeOut(),
}
export const Count = z.object(countShape).openapi('Count')
export type Count = z.infer<typeof Count>

export const CountSlot = z
  .object({
    slot_id: rowId(),
    slot_code: z.string(),
    zone: z.string(),
    state: z.enum(['to_count', 'counted', 'to_recount']),
  })
  .openapi('CountSlot')
export type CountSlot = z.infer<typeof CountSlot>

export const NewCountScan = z
  .object({
    slot_id: optional(rowId()).openapi({ description: 'integer id of the slot; or send slot_code' }),
    slot_code: optional(label(64)).openapi({ description: 'label of the slot' }),
    barcodes: optional(z.array(barcode()).max(64)).openapi({ description: 'everything that is in the slot' }),
    empty: optional(z.boolean()).openapi({ description: 'true: the slot is empty' }),
    timestamp: optionalTime().openapi({ description: "default: the gateway's time" }),
    client_scan_id: optional(text(128)).openapi({
      description: 'a repeat gets the same answer and is not recorded again',
    }),
  })
  .refine((scan) => scan.slot_id !== undefined || scan.slot_code !== undefined, {
    path: ['slot_id'],
    message: 'required (or slot_code)',
    ...onceFieldsFit('slot_id', 'slot_code'),
  })
  .refine((scan) => (scan.barcodes ?? []).length > 0 !== (scan.empty === true), {
    path: ['barcodes'],
    message: 'expected what stands in the slot, or empty: true',
    ...onceFieldsFit('barcodes', 'empty'),
  })
  .openapi('NewCountScan')
export type NewCountScan = z.output<typeof NewCountScan>

const scanWarnings = [...barcodeWarnings, 'SAME_COUNTER'] as const
export type ScanWarning = (typeof scanWarnings)[number]

export const scanShape = {
  id: rowId(),
  countId: rowId(),
  slot_id: rowId(),
  slot_code: z.string(),
  found: z.array(z.string()).openapi({ description: 'the barcodes as scanned' }),
  empty: z.boolean(),
  counter: z.string().nullable().openapi({ description: 'null after the person was erased' }),
  timestamp: timeOut(),
  received_at: timeOut(),
  time_quality: z.enum(['synced', 'corrected', 'unsynced']),
  client_scan_id: z.string().nullable(),
  sha256: z.string().openapi({ description: 'hash of the content of the scan' }),
  decides: z.boolean().openapi({ description: 'false: a later scan of the slot, or a recount, takes its place' }),
  warnings: z.array(z.object({ code: z.enum(scanWarnings), message: z.string() })),
}
export const CountScan = z.object(scanShape).openapi('CountScan')
export type CountScan = z.infer<typeof CountScan>

export const ReviewLine = z
  .object({
    slot_id: rowId(),
    slot_code: z.string(),
    status: z
      .enum(['not_counted', 'matched', 'different', 'moved', 'conflict'])
      .openapi({ description: 'by the ledger of now; after an approval its own corrections count as moves too' }),
    outcome: z
      .enum(outcomes)
      .nullable()
      .openapi({ description: 'effect of the approval on the slot; null before it, and for a cancelled count' }),
    expected: z
      .array(z.string())
      .openapi({ description: 'entry of the ledger there at the time of the scan, as known now' }),
    found: z.array(z.string()).nullable().openapi({ description: 'null: not counted' }),
    missing: z.array(z.string()),
    extra: z
      .array(z.object({ asset_barcode: z.string(), ledgerSlot: z.string().nullable() }))
      .openapi({ description: 'found but not expected; with the label of the slot where the ledger has it' }),
    scanId: rowId().nullable(),
    counter: z.string().nullable(),
    scannedAt: timeOut().nullable(),
    scans: z.int().openapi({ description: 'number of scans of the slot, including recounts' }),
  })
  .openapi('CountReviewLine')
export type ReviewLine = z.infer<typeof ReviewLine>

export const reviewShape = { ...countShape, lines: z.array(ReviewLine) }

export const Recount = z
  .object({
    slot_ids: optional(slotIds()),
    slot_codes: optional(slotCodes()),
    reason: optional(lines(4000)),
  })
  .refine((asked) => [...(asked.slot_ids ?? []), ...(asked.slot_codes ?? [])].length > 0, {
    path: ['slot_ids'],
    message: 'required (or slot_codes)',
    ...onceFieldsFit('slot_ids', 'slot_codes'),
  })
  .openapi('Recount')
export type Recount = z.output<typeof Recount>

export const Cancel = z.object({ reason: optional(lines(4000)) }).openapi('CancelCount')

const approvalWarnings = ['COUNTED_BY_APPROVER', 'SLOTS_LEFT_OUT'] as const
export type ApprovalWarning = (typeof approvalWarnings)[number]

export const approvalShape = {
  ...countShape,
  eventIds: z.array(rowId()).openapi({ description: 'the recorded events, in order' }),
  leftOut: z
    .array(z.object({ slot_id: rowId(), slot_code: z.string(), outcome: z.enum(outcomes) }))
    .openapi({ description: 'slots that the approval left out' }),
  warnings: z.array(z.object({ code: z.enum(approvalWarnings), message: z.string() })),
}
const approval = z.object({
  eventIds: approvalShape.eventIds,
  leftOut: approvalShape.leftOut,
  warnings: approvalShape.warnings,
})
export type Approval = z.infer<typeof approval>
