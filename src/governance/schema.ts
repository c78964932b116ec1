import { z } from '@hono/zod-openapi'
import { ClockTrust } from '../clock/index.ts'
import {
  barcode,
  historyQuery,
  lines,
  listOf,
  nameText,
  onceFieldsFit,
  optional,
  queryInteger,
  resource,
  rowId,
  sha256Hex,
  text,
  time,
  timeOut,
} from '../http/index.ts'
import { incidentStates } from './incident-states.ts'
import { referenceTypes } from './references.ts'
import { auditEntities } from './sight.ts'

const cursor = z.string().max(64).optional()
const period = {
  from: time().optional().openapi({ description: 'at or after', format: 'date-time' }),
  to: time().optional().openapi({ description: 'before', format: 'date-time' }),
}

const auditFilter = {
  entity: z.enum(auditEntities).optional(),
  entity_id: text(128).optional(),
  operator: text(512).optional().openapi({
    description: 'as operator or as actor: a name, name@<instance URL>, or erased- and 8 digits',
    example: 'olga@https://cloud.example.com',
  }),
  action: text(64).optional().openapi({ example: 'placement.recorded' }),
  ...period,
  after_seq: queryInteger({ min: 0 })
    .optional()
    .openapi({ description: 'only entries with a higher id, in their order: for a client that must miss none' }),
}
export const AuditQuery = z.object({ ...auditFilter, cursor, ...historyQuery })
export const AuditExportQuery = z.object({
  ...auditFilter,
  bom: z.enum(['true', 'false']).optional().openapi({ description: 'a byte order mark, which Excel needs' }),
})

export const AuditEntry = z
  .object({
    id: rowId().openapi({ description: '1, 2, 3 … without a gap' }),
    timestamp: timeOut(),
    operator: z.string().nullable().openapi({ description: 'the operator; null: the gateway itself' }),
    actor: z.string().nullable().openapi({
      description:
        'the verified caller; null: the gateway itself, or a caller who is not signed in; erased with the person',
    }),
    instance: z.string().nullable().openapi({
      description:
        'the instance that verified the actor; null in entries of older versions, and after the person was erased',
      example: 'https://cloud.example.com',
    }),
    action: z.string(),
    entity: z.enum(auditEntities),
    entityId: z.string().nullable(),
    changes: z.record(z.string(), z.unknown()).nullable().openapi({ description: 'secrets redacted, no names' }),
    requestId: z.string().nullable(),
    address: z.string().nullable(),
    authMode: z.string().nullable().openapi({ description: 'how the caller was verified', example: 'local' }),
  })
  .openapi('AuditEntry')
export type AuditEntry = z.infer<typeof AuditEntry>
export const AuditList = listOf(AuditEntry).openapi('AuditList')

export const severities = ['low', 'medium', 'high', 'critical'] as const
const label = () =>
  nameText(64).openapi({ description: 'a category of your own; is in the log, so use no names', example: 'damage' })

const ReferenceIn = z.union([
  text(2048).openapi({ description: 'event:12, a photo’s SHA-256, an address of this gateway, or any other text' }),
  z.object({ type: text(64), id: z.union([text(2048), barcode(), rowId()]) }),
])

export const NewIncident = z
  .object({
    severity: z.enum(severities),
    category: label(),
    evidenceReferences: optional(z.array(ReferenceIn).max(100)).openapi({
      description: 'a reference that cannot be resolved is kept as external',
    }),
    title: optional(nameText(200)),
    description: optional(lines(4000)),
    warehouseId: optional(rowId()).openapi({
      description: 'default: the warehouse of the first reference that has one',
    }),
  })
  .openapi('NewIncident')
export type NewIncident = z.output<typeof NewIncident>

export const Resolution = z.object({ resolution: lines(4000) }).openapi('IncidentResolution')

const Reference = z
  .object({
    type: z.enum([...referenceTypes, 'external']),
    id: z.string().nullable().openapi({ description: 'null after the text was erased' }),
  })
  .openapi('EvidenceReference')

const incidentShape = {
  id: rowId(),
  eventId: z.string().openapi({ format: 'uuid', description: 'id of the first entry' }),
  status: z.enum(incidentStates),
  severity: z.enum(severities),
  category: z.string(),
  title: z.string().nullable(),
  description: z.string().nullable(),
  warehouseId: rowId().nullable(),
  evidenceReferences: z.array(Reference),
  reportedBy: z.string(),
  createdAt: timeOut(),
  updatedAt: timeOut(),
  resolvedAt: timeOut().nullable(),
  resolvedBy: z.string().nullable(),
  resolution: z.string().nullable(),
  history: z.array(
    z.object({
      status: z.enum(incidentStates),
      actor: z.string(),
      timestamp: timeOut(),
      eventId: z.string().openapi({ format: 'uuid' }),
      seq: z.int().openapi({ description: 'index of its leaf in the log' }),
      evidenceHash: z.string().openapi({ description: 'SHA-256 of the bytes of the leaf' }),
    }),
  ),
}
export const Incident = z.object(incidentShape).openapi('Incident')
export type Incident = z.infer<typeof Incident>
export const IncidentResource = resource(incidentShape).openapi('IncidentResource')
export const IncidentList = listOf(Incident).openapi('IncidentList')

export const IncidentQuery = z.object({
  status: z.enum(incidentStates).optional(),
  severity: z.enum(severities).optional(),
  category: text(64).optional(),
  asset_barcode: barcode().optional().openapi({
    description:
      'those that refer to this asset (any form of its barcode), to one of its events (the newest 2,000 moves and 2,000 judgements) that the caller may see, or to a photo of such an event',
  }),
  ...period,
  cursor,
  ...historyQuery,
})

export const NewReport = z
  .object({
    from: time().openapi({ description: 'inclusive', format: 'date-time' }),
    to: time().openapi({ description: 'exclusive', format: 'date-time' }),
    type: optional(z.enum(['compliance'])).openapi({ description: 'default: compliance' }),
  })
  .refine(({ from, to }) => from < to, {
    path: ['to'],
    message: 'must be later than from',
    ...onceFieldsFit('from', 'to'),
  })
  .openapi('NewReport')
export type NewReport = z.output<typeof NewReport>

const count = () => z.int().min(0)
const counted = () => z.record(z.string(), count())

/** Counts of a report. All but `operators` are in the file. */
export const Counts = z
  .object({
    events: z.object({
      total: count(),
      byType: counted(),
      late: count(),
      unsynced: count(),
      corrected: count().openapi({ description: 'times corrected by the device’s clock' }),
      corrections: count().openapi({ description: 'events that correct others' }),
      photos: z.object({ held: count(), claimed: count() }),
      operators: count().openapi({
        description: 'number of different people, as known when it was made; not in the file',
      }),
    }),
    warnings: counted(),
    slots: z
      .object({ occupied: count(), verified: count(), disputed: count(), unverified: count() })
      .openapi({ description: 'at the end of the period' }),
    detections: z.object({ total: count(), byClipStatus: counted() }),
    incidents: z.object({
      opened: count(),
      resolved: count(),
      byState: counted().openapi({ description: 'state of all, at the end of the period' }),
      bySeverity: counted().openapi({ description: 'counts only those opened in the period' }),
      byCategory: counted().openapi({ description: 'counts only those opened in the period' }),
    }),
    units: z.object({ created: count(), byAction: counted() }),
    discrepancies: z.object({ total: count(), byCode: counted() }),
  })
  .openapi('ReportCounts')
export type Counts = z.infer<typeof Counts>

export const Discrepancy = z
  .object({
    code: z.string(),
    eventId: rowId(),
    slotId: rowId(),
    slot: z.string(),
    assetBarcode: z.string(),
    timestamp: timeOut(),
  })
  .openapi('ReportDiscrepancy')
export type Discrepancy = z.infer<typeof Discrepancy>

const reportItemShape = {
  id: rowId(),
  eventId: z.string().openapi({ format: 'uuid' }),
  seq: z.int().openapi({ description: 'index of its leaf in the log' }),
  type: z.enum(['compliance']),
  from: timeOut(),
  to: timeOut(),
  warehouses: z.array(rowId()).openapi({ description: 'the warehouses that it covers: those that its author may see' }),
  checkpoint: z
    .object({ logId: z.string(), size: count(), root: sha256Hex() })
    .openapi({ description: 'the log that it was made from; the same log gives the same report' }),
  file: z.object({ url: z.string().openapi({ format: 'uri' }), sha256: sha256Hex(), sizeBytes: count() }),
  createdBy: z.string(),
  createdAt: timeOut(),
  evidenceHash: z.string().openapi({ description: 'SHA-256 of the bytes of the leaf' }),
}
export const ReportItem = z.object(reportItemShape).openapi('ReportItem')
export type ReportItem = z.infer<typeof ReportItem>
export const ReportList = listOf(ReportItem).openapi('ReportList')

const seconds = () => z.number().min(0)
const gapTotals = { count: count(), seconds: seconds() }

/** The camera gaps of a report's period. */
export const ReportGaps = z
  .object({
    ...gapTotals,
    byCause: z.record(z.string(), z.object(gapTotals)),
    longest: z
      .object({ from: timeOut(), to: timeOut().nullable(), cause: z.string(), seconds: seconds() })
      .nullable()
      .openapi({ description: 'with its own begin and end (null: it went on); seconds: within the period' }),
    lasting: z
      .array(z.object({ from: timeOut(), cause: z.string() }))
      .openapi({ description: 'gaps that had not ended when the report was made; they have no leaf yet' }),
  })
  .openapi('ReportGaps')
export type ReportGaps = z.infer<typeof ReportGaps>

/** Evidence states of a report's facts; the part that the file has. */
const secured = z.object({ recorded: count(), signed: count(), witnessed: count(), timestamped: count() })
const signedHead = {
  logId: z.string(),
  size: count(),
  rootHash: z.string().openapi({ format: 'byte' }),
  signedAt: timeOut(),
  matches: z.boolean().openapi({ description: 'whether the leaves that the report was made from give this root' }),
  note: z.string().openapi({ description: 'the checkpoint as a signed note' }),
}
const filedEvidence = {
  events: secured.openapi({ description: 'events of the period by the highest state that each had reached' }),
  oldestUnsigned: z
    .object({ eventId: rowId(), seq: z.int(), timestamp: timeOut() })
    .nullable()
    .openapi({ description: 'the event of the period with the earliest time that no signed checkpoint covers' }),
  logs: z
    .array(z.object({ logId: z.string(), leaves: count(), signed: count(), witnessed: count(), timestamped: count() }))
    .openapi({ description: 'leaves of every log of this box, and how many of them each step covered' }),
  asksWitnesses: z.boolean().openapi({ description: 'whether witnesses were configured' }),
  checkpoint: z
    .object(signedHead)
    .nullable()
    .openapi({ description: 'the checkpoint that was signed for this report; null: the log could not be signed' }),
}
export type FiledEvidence = z.infer<z.ZodObject<typeof filedEvidence>>

export const ReportEvidence = z
  .object({
    ...filedEvidence,
    checkpoint: z
      .object({
        ...signedHead,
        witnesses: z.array(z.object({ name: z.string(), at: timeOut() })).openapi({
          description: 'configured witnesses that have cosigned it, or a later one, by now; not in the file',
        }),
        timestampedAt: timeOut()
          .nullable()
          .openapi({ description: 'the first time stamp over it, or a later one, by now; not in the file' }),
      })
      .nullable()
      .openapi({ description: 'the checkpoint that was signed for this report; null: the log could not be signed' }),
  })
  .openapi('ReportEvidence')
export type ReportEvidence = z.infer<typeof ReportEvidence>

const reportShape = {
  ...reportItemShape,
  counts: Counts,
  selfVerifications: z
    .array(z.object({ person: z.string(), count: count() }))
    .openapi({ description: 'people who verified their own placements, and how many' }),
  discrepancies: z.array(Discrepancy).openapi({ description: 'the first hundred; all of them are in the file' }),
  clock: ClockTrust.extend({
    rows: z
      .object({ states: count(), steps: count() })
      .openapi({ description: 'the newest rows of the record of the clock that it was made from' }),
    until: timeOut().openapi({ description: 'nothing is said about later times' }),
  })
    .openapi('ReportClock')
    .nullable()
    .openapi({ description: "how far the gateway's clock can be trusted in the period; null: an older report" }),
  evidence: ReportEvidence.nullable().openapi({
    description: 'how far the facts were secured when it was made; null: an older report',
  }),
  gaps: ReportGaps.nullable().openapi({
    description: 'when cameras did not watch in the period, over all cameras together; null: an older report',
  }),
}
export const Report = z.object(reportShape).openapi('Report')
export type Report = z.infer<typeof Report>
export const ReportResource = resource(reportShape).openapi('ReportResource')
