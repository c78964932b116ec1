import { z } from '@hono/zod-openapi'
import {
  allQuery,
  barcode,
  httpUrl,
  lines,
  nameText,
  onceFieldsFit,
  optional,
  optionalTime,
  queryInteger,
  resource,
  rowId,
  text,
  time,
  timeOut,
} from '../http/index.ts'
import { readSscc } from './sscc.ts'
import { unitStatuses } from './workflow.ts'

export const unitsPath = '/api/whms/transport-units'

const Direction = z.enum(['inbound', 'outbound'])
const Status = z.enum(unitStatuses)
const stage = () => text(64)
const mostPhotos = 50

const sscc = () =>
  barcode()
    .transform((raw, context) => {
      const read = readSscc(raw)
      if ('sscc' in read) return read.sscc
      context.addIssue({ code: 'custom', message: read.wrong })
      return z.NEVER
    })
    .openapi({ type: 'string', description: '18 digits with a valid check digit, in any scanned form' })

const evidenceFields = {
  photo_urls: optional(z.array(httpUrl()).max(mostPhotos)).openapi({
    description:
      'photos of this gateway (held) or of another place (claimed); never fetched. With all else that a step states, at most 65,535 bytes',
  }),
  scale_weight_kg: optional(z.number().min(0).max(100_000)),
}

/** Optional fields of every action. */
const wordsFields = {
  operator: optional(text(128)).openapi({ description: 'default: the caller' }),
  timestamp: optionalTime().openapi({ description: "when it happened; default: the gateway's time" }),
  note: optional(lines(4000)),
  client_event_id: optional(text(128)).openapi({
    description: 'unique per caller for ever, over all units: a repeat gets the same answer and changes nothing',
  }),
}
const evidence = optional(z.object(evidenceFields).openapi('NewUnitEvidence'))

export const NewTransportUnit = z
  .object({
    reference: nameText(128).openapi({ description: 'order, delivery note or shipment; need not be unique' }),
    // The description of the text alone would hide that null is allowed.
    sscc: optional(sscc()).openapi({ type: ['string', 'null'] }),
    direction: Direction,
    warehouseId: optional(rowId()).openapi({ description: "default: the site's" }),
    carrier: optional(nameText(128)),
    vehicle: optional(nameText(128)),
    evidence,
    ...wordsFields,
  })
  .openapi('NewTransportUnit')
export type NewTransportUnit = z.output<typeof NewTransportUnit>

const reason = optional(lines(4000))

export const UnitAdvance = z
  .object({
    toStage: optional(stage()).openapi({
      description: 'default: the next stage; when two scanners send the same stage, the unit moves once',
    }),
    reason: reason.openapi({ description: 'required to skip a stage, unless there is a note' }),
    evidence,
    ...wordsFields,
  })
  .openapi('UnitAdvance')
export type UnitAdvance = z.output<typeof UnitAdvance>

export const UnitAction = z.object({ reason, evidence, ...wordsFields }).openapi('UnitAction')
export type UnitAction = z.output<typeof UnitAction>

export const UnitEvidence = z
  .object({ evidence, ...evidenceFields, ...wordsFields })
  .refine((sent) => isEvidence(sent.evidence) || isEvidence(sent), {
    path: ['evidence'],
    message: 'required: photo_urls or scale_weight_kg',
    ...onceFieldsFit('evidence', 'photo_urls', 'scale_weight_kg'),
  })
  .openapi('UnitEvidence', { description: 'photo_urls and scale_weight_kg may be sent inside evidence or beside it' })
export type UnitEvidence = z.output<typeof UnitEvidence>

export type Evidence = { readonly photo_urls?: string[] | undefined; readonly scale_weight_kg?: number | undefined }

function isEvidence(sent: Evidence | undefined): boolean {
  return (sent?.photo_urls?.length ?? 0) > 0 || sent?.scale_weight_kg !== undefined
}

export const unitsQuery = z.object({
  status: Status.optional(),
  stage: stage().optional(),
  direction: Direction.optional(),
  reference: text(128).optional(),
  sscc: sscc().optional(),
  warehouseId: queryInteger({ min: 1 }).optional(),
  carrier: text(128).optional(),
  from: time().optional().openapi({ format: 'date-time', description: 'createdAt at or after' }),
  to: time().optional().openapi({ format: 'date-time', description: 'createdAt before' }),
  ...allQuery,
})
export type UnitsQuery = z.output<typeof unitsQuery>

const erasable = (of: string) =>
  z
    .string()
    .nullable()
    .openapi({ description: `${of}; null after it was erased` })

const unitShape = {
  id: z.string().openapi({ format: 'uuid' }),
  reference: z.string(),
  sscc: z.string().nullable().openapi({ description: '18 digits' }),
  direction: Direction,
  warehouseId: rowId(),
  carrier: z.string().nullable(),
  vehicle: z.string().nullable(),
  stage: z.string(),
  status: Status,
  nextStage: z.string().nullable().openapi({
    description: 'the next stage; null: none, because the unit is at the last one, completed or cancelled',
  }),
  createdAt: timeOut(),
  updatedAt: timeOut().openapi({ description: 'time of the last record of this unit' }),
  completedAt: timeOut().nullable(),
}
export const TransportUnitItem = z.object(unitShape).openapi('TransportUnitItem')
export type TransportUnitItem = z.infer<typeof TransportUnitItem>

const HistoryEntry = z
  .object({
    eventId: z.string().openapi({ format: 'uuid' }),
    seq: z.int().openapi({ description: 'index of its leaf in the log' }),
    action: z.enum([
      'created',
      'advanced',
      'skipped',
      'completed',
      'held',
      'resumed',
      'cancelled',
      'evidence',
      'weighed',
    ]),
    fromStage: z.string().nullable(),
    toStage: z.string(),
    status: Status.openapi({ description: 'status after it' }),
    operator: erasable('the operator'),
    actor: erasable('the verified caller'),
    timestamp: timeOut().openapi({ description: 'when it happened; the history is in the order of arrival' }),
    receivedAt: timeOut(),
    timeQuality: z.enum(['synced', 'corrected', 'unsynced']),
    reason: z.string().nullable(),
    note: z.string().nullable(),
    photos: z.int(),
    scaleReading: z.number().nullable(),
    client_event_id: z.string().nullable(),
    evidenceHash: z.string().openapi({ description: 'SHA-256 of the bytes of the leaf' }),
  })
  .openapi('UnitHistoryEntry')

const EvidenceItem = z
  .object({
    eventId: z.string().openapi({ format: 'uuid', description: 'id of the history entry that added it' }),
    kind: z.enum(['photo', 'weight']),
    stage: z.string(),
    timestamp: timeOut(),
    operator: erasable('the operator'),
    url: z.string().nullable(),
    sha256: z.string().nullable(),
    photoEvidence: z.enum(['held', 'claimed']).nullable(),
    weightKg: z.number().nullable(),
    scaleId: z.string().nullable(),
    scaleReadingId: rowId().nullable(),
    stable: z.boolean().nullable(),
  })
  .openapi('UnitEvidenceItem')
export type EvidenceItem = z.infer<typeof EvidenceItem>

const unitRecordShape = {
  ...unitShape,
  history: z.array(HistoryEntry),
  evidence: z
    .object({
      photos: z.int(),
      scaleReading: z
        .number()
        .nullable()
        .openapi({ description: 'kg; the latest weight that was not reported as unstable' }),
      items: z.array(EvidenceItem),
    })
    .openapi('UnitEvidenceSummary'),
}
export const TransportUnit = z.object(unitRecordShape).openapi('TransportUnit')
export type TransportUnit = z.infer<typeof TransportUnit>
export const TransportUnitResource = resource(unitRecordShape).openapi('TransportUnitResource')
export type TransportUnitResource = z.infer<typeof TransportUnitResource>

export const WorkflowResource = resource({
  stages: z.array(z.string()).openapi({ description: 'in order' }),
  initialStage: z.string(),
  finalStage: z.string().openapi({ description: 'a unit that reaches it is completed' }),
  statuses: z.array(Status),
}).openapi('UnitWorkflow')
export type WorkflowResource = z.infer<typeof WorkflowResource>
