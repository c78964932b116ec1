import { z } from '@hono/zod-openapi'
import { barcode, label, onceFieldsFit, optional, queryInteger, resource, rowId, text, timeOut } from '../http/index.ts'
import { assetTypes, day, gtin } from '../warehouse/index.ts'
import { symbologies } from './symbol.ts'

/** Width and height of the paper in millimetres. */
const sizeForm = /^([1-9]\d{1,2})x([1-9]\d{1,2})$/
export function readSize(size: string): { widthMm: number; heightMm: number } | undefined {
  const [, width, height] = size.match(sizeForm)?.map(Number) ?? []
  if (!width || !height || width < 20 || width > 219 || height > 300) return undefined
  return { widthMm: width, heightMm: height }
}

const size = () =>
  z
    .string()
    .refine((value) => readSize(value) !== undefined, 'expected width x height in mm, 20x10 to 219x300')
    .openapi({ example: '100x50', pattern: sizeForm.source })
const symbology = () => z.enum(symbologies)
const mostCopies = 100

export const labelQuery = {
  format: z.enum(['svg', 'zpl']).optional().openapi({ description: 'default: svg' }),
  size: size().optional().openapi({ description: 'width x height in mm; default: labels.size of the config' }),
  dpi: z
    .enum(['152', '203', '300', '600'])
    .transform(Number)
    .optional()
    .openapi({ type: 'string', enum: ['152', '203', '300', '600'], description: 'default: 203' }),
  symbology: symbology()
    .optional()
    .openapi({ description: 'default: the first symbology that can encode the code and fits' }),
  copies: queryInteger({ min: 1, max: mostCopies }).optional().openapi({ description: 'number of copies, in ZPL' }),
}

export const PrintOrder = z
  .object({
    printer: optional(text(64)).openapi({ description: 'its name in the config; default: the first one' }),
    slot_id: optional(rowId()).openapi({ description: 'integer id of the slot' }),
    slot_code: optional(label(64)).openapi({ description: 'label of the slot' }),
    asset_barcode: optional(barcode()).openapi({ description: 'a known asset, by any form of its barcode' }),
    copies: optional(z.int().min(1).max(mostCopies)),
    symbology: optional(symbology()),
  })
  .refine(
    (order) => (order.asset_barcode === undefined) !== (order.slot_id === undefined && order.slot_code === undefined),
    {
      path: ['slot_id'],
      message: 'expected either a slot (slot_id or slot_code) or an asset_barcode',
      ...onceFieldsFit('slot_id', 'slot_code', 'asset_barcode'),
    },
  )
  .openapi('PrintOrder')
export type PrintOrder = z.output<typeof PrintOrder>

export const jobStates = ['queued', 'printing', 'printed', 'unconfirmed', 'failed', 'cancelled'] as const
export type JobState = (typeof jobStates)[number]

const printJobShape = {
  id: rowId(),
  printer: z.string(),
  state: z.enum(jobStates).openapi({
    description:
      'unconfirmed: everything was sent, but the printer did not close the connection; check before printing again',
  }),
  entity: z.enum(['slot', 'asset']),
  label: z.string().openapi({ description: 'slot_id or asset_id' }),
  copies: z.int(),
  attempts: z.int(),
  nextAttemptAt: timeOut().nullable(),
  lastError: z.string().nullable(),
  requestedBy: z.string().nullable().openapi({ description: 'null after the person was erased' }),
  reprintOf: rowId().nullable(),
  createdAt: timeOut(),
  finishedAt: timeOut().nullable(),
}
export const PrintJob = z.object(printJobShape).openapi('PrintJob')
export type PrintJob = z.infer<typeof PrintJob>
export const PrintJobResource = resource(printJobShape)

export const Printer = z
  .object({
    name: z.string(),
    dpi: z.int(),
    size: z.string(),
    waiting: z.int().openapi({ description: 'number of jobs in its queue' }),
    lastError: z.string().nullable().openapi({ description: 'why the first job is still waiting' }),
  })
  .openapi('Printer')
export type Printer = z.infer<typeof Printer>

export const NewSsccs = z
  .object({
    count: optional(z.int().min(1).max(100)).openapi({ description: 'default: 1' }),
    type: optional(z.enum(assetTypes)).openapi({ description: 'type of the assets; default: pallet' }),
    gtin: optional(gtin()).openapi({ type: ['string', 'null'], pattern: '^([0-9]{8}|[0-9]{12,14})$' }),
    lot: optional(text(90)),
    bestBefore: optional(day()).openapi({ format: 'date' }),
  })
  .openapi('NewSsccs')
export type NewSsccs = z.output<typeof NewSsccs>

export const Ssccs = resource({
  data: z.array(
    z.object({
      sscc: z.string().openapi({ description: '18 digits' }),
      asset_id: z.string().openapi({ description: 'the barcode of the registered asset, as on its label' }),
    }),
  ),
})
