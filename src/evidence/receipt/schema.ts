import { z } from '@hono/zod-openapi'
import { rowId, timeOut } from '../../http/index.ts'
import { EvidenceState } from '../../log/index.ts'
import { Bundle } from '../bundle/schema.ts'

const photos = z
  .array(z.object({ sha256: z.string(), url: z.string() }))
  .openapi({ description: 'photos that the gateway holds, by an address that works without headers for an hour' })
const weightKg = z.number().nullable()

const ReceiptUnit = z
  .object({
    id: z.string().openapi({ format: 'uuid' }),
    reference: z.string(),
    sscc: z.string().nullable(),
    direction: z.enum(['inbound', 'outbound']),
    carrier: z.string().nullable(),
    vehicle: z.string().nullable(),
    stage: z.string(),
    status: z.string(),
    siteId: z.string(),
    warehouse: z.string(),
    timezone: z.string(),
    createdAt: timeOut(),
    completedAt: timeOut().nullable(),
    weightKg,
    steps: z.array(
      z.object({
        eventId: z.string().openapi({ format: 'uuid' }),
        action: z.string(),
        stage: z.string(),
        timestamp: timeOut(),
        weightKg,
        photos,
        evidence: EvidenceState,
      }),
    ),
  })
  .openapi('ReceiptUnit', { description: 'without names of people, notes and reasons' })
export type ReceiptUnit = z.infer<typeof ReceiptUnit>

const ReceiptPlacement = z
  .object({
    id: rowId(),
    event_type: z.enum(['PLACED', 'REMOVED']),
    asset_barcode: z.string(),
    slot_code: z.string(),
    timestamp: timeOut(),
    weightKg,
    photos,
    evidence: EvidenceState,
  })
  .openapi('ReceiptPlacement')
export type ReceiptPlacement = z.infer<typeof ReceiptPlacement>

export const receiptShape = {
  unit: ReceiptUnit,
  placements: z.array(ReceiptPlacement).openapi({
    description:
      'moves whose work_order_ref is the id of the unit, or its reference while no other unit has the same; oldest first',
  }),
  complete: z.boolean().openapi({ description: 'false: only the first 200 steps or placements are here' }),
  proofs: z
    .array(
      z.object({
        kind: z.enum(['unit-step', 'event']),
        id: z.string().openapi({ description: 'eventId of the step, or id of the placement' }),
        bundle: Bundle,
      }),
    )
    .openapi({ description: 'a proof bundle for each step and each placement; names of people stay closed' }),
  checkpoint: z
    .object({
      logId: z.string(),
      size: z.int(),
      rootHash: z.string().openapi({ format: 'byte' }),
      signedAt: timeOut(),
      note: z.string().openapi({ description: 'the newest checkpoint as a signed note, with cosignatures' }),
      key: z.string().openapi({ description: 'Ed25519 verifier key of the log' }),
    })
    .openapi('ReceiptCheckpoint'),
  links: z
    .object({
      consistency: z.string().openapi({
        description: 'signed address of GET /api/log/consistency: put from= and to= in front of signed=',
      }),
      zip: z.string().openapi({ description: 'signed address of this receipt as one file to keep' }),
    })
    .openapi({ description: 'addresses that work without headers for an hour' }),
}
const Receipt = z.object(receiptShape)
export type Receipt = z.infer<typeof Receipt>

export const receiptLinkShape = {
  url: z.string().openapi({ format: 'uri', description: 'page of the receipt; works without sign-in' }),
  expiresAt: timeOut(),
  qr: z.string().openapi({ description: 'the address as a QR code, SVG' }),
}
