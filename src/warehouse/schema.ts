import { z } from '@hono/zod-openapi'
import { barcode, closedObject, label, optional, resource, rowId, text, timeOut } from '../http/index.ts'
import { gtin14, isDay } from './assets/goods.ts'
import { barcodeWarnings } from './barcodes/barcode.ts'
import { hasCheckDigit } from './barcodes/check-digit.ts'
import { polygonFault, withoutClosing } from './plans/polygon.ts'

export const zoneTypes = ['storage', 'staging', 'receiving', 'shipping', 'cold', 'hazmat'] as const
export const assetTypes = ['pallet', 'container', 'box', 'drum', 'equipment'] as const

const ZoneType = z.enum(zoneTypes)
const AssetType = z.enum(assetTypes)
const Point = z.object({ x: z.number(), y: z.number() })
const mostPoints = 256
function refuseFault(points: z.infer<typeof Point>[], context: z.RefinementCtx): void {
  // Refused already; comparing thousands of edges would block the event loop.
  if (points.length > mostPoints) return
  const message = polygonFault(points)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
}
const Polygon = z.array(Point).overwrite(withoutClosing).min(3).max(mostPoints).superRefine(refuseFault)
/** Outline of a zone, which need not have one. */
const Outline = z
  .array(Point)
  .overwrite(withoutClosing)
  .max(mostPoints)
  .superRefine((points, context) => {
    if (points.length === 1 || points.length === 2)
      context.addIssue({ code: 'custom', message: 'expected at least 3 items, or none for no outline' })
    else if (points.length > 0) refuseFault(points, context)
  })
  .openapi({ description: 'the outline on the plan; an empty list removes it' })

const isTimezone = (name: string) => {
  if (/^[+-]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const timezone = () => text(64).refine(isTimezone, 'expected an IANA time zone such as Europe/Berlin')
const color = () => z.string().regex(/^#[0-9a-fA-F]{6}$/, 'expected #rrggbb')

/** A field of a change that names what cannot change. */
const fixed = <T extends z.ZodType>(schema: T) =>
  schema.optional().openapi({ description: 'must be the present value; it cannot change' })

export const Location = z
  .object({ lat: z.number().min(-90).max(90), lng: z.number().min(-180).max(180) })
  .openapi('Location')

const imagePlace = {
  x: z.number().min(-1e6).max(1e6).openapi({ description: 'left edge before turning, in the units of the plan' }),
  y: z.number().min(-1e6).max(1e6).openapi({ description: 'upper edge before turning' }),
  width: z.number().min(0.1).max(1e6).openapi({ description: 'in the units of the plan; the height follows' }),
  rotation: z.number().min(0).max(360).openapi({ description: 'degrees clockwise around its middle' }),
  opacity: z.number().min(0.05).max(1),
}
const PlanImagePlace = z.object(imagePlace)
const PlanImagePlaceChange = closedObject({
  x: imagePlace.x.optional(),
  y: imagePlace.y.optional(),
  width: imagePlace.width.optional(),
  rotation: imagePlace.rotation.optional(),
  opacity: imagePlace.opacity.optional(),
})
export const FloorPlanImage = z
  .object({
    sha256: z.string().openapi({ description: 'names the file at /api/whms/warehouses/ID/floor-plan-image/SHA256' }),
    mediaType: z.string(),
    sizeBytes: z.int(),
    widthPx: z.number(),
    heightPx: z.number(),
    place: PlanImagePlace,
  })
  .openapi('FloorPlanImage', { description: 'A picture of the hall that the plan shows below the slots' })

export const NewWarehouse = z
  .object({
    name: label(200),
    timezone: timezone(),
    location: optional(Location),
  })
  .openapi('NewWarehouse')

export const warehouseShape = {
  id: rowId(),
  name: z.string(),
  location: Location.nullable(),
  timezone: z.string(),
  floorPlanImage: FloorPlanImage.nullable(),
  version: z.int(),
  createdAt: timeOut(),
  updatedAt: timeOut(),
}
export const Warehouse = z.object(warehouseShape).openapi('Warehouse')
export const WarehouseResource = resource(warehouseShape)

export const NewZone = z
  .object({
    name: label(200),
    zone_type: ZoneType,
    warehouseId: rowId(),
    color: optional(color()),
    floor_plan_polygon: optional(Outline),
  })
  .openapi('NewZone')

// In a change null clears a field that may be absent. A field that always has a value is `.optional()`, and refuses null.

export const WarehouseChange = z
  .object({
    name: label(200).optional(),
    timezone: timezone().optional(),
    location: Location.nullish(),
    floorPlanImage: z
      .object({ place: PlanImagePlaceChange.optional() })
      .nullish()
      .openapi({ description: '`place` moves, scales, turns or fades the picture of the hall; null removes it' }),
  })
  .openapi('WarehouseChange')

export const ZoneChange = z
  .object({
    name: label(200).optional().openapi({ description: 'its slots get the new name too' }),
    zone_type: ZoneType.optional(),
    color: color().nullish().openapi({ description: 'null: the default' }),
    floor_plan_polygon: Outline.nullish(),
    warehouseId: fixed(rowId()),
  })
  .openapi('ZoneChange')

export const zoneShape = {
  id: rowId(),
  name: z.string(),
  zone_type: ZoneType,
  color: z.string(),
  floor_plan_polygon: z.array(Point).nullable().openapi({
    description: 'the outline as it was drawn; null: none was, and the zone is where its slots are',
  }),
  warehouseId: rowId(),
  version: z.int(),
  createdAt: timeOut(),
  updatedAt: timeOut(),
}

const Constraints = closedObject({
  max_weight: optional(z.number().min(0).max(1_000_000)).openapi({ description: 'kg' }),
  max_height: optional(z.number().min(0).max(100_000)).openapi({ description: 'cm' }),
  allowed_types: optional(z.array(AssetType).max(assetTypes.length)),
}).openapi('Constraints', { description: 'Goods that the slot may take. Unknown keys are refused.' })

export const NewSlot = z
  .object({
    slot_id: label(64),
    zone: label(200),
    floor_plan_polygon: Polygon,
    zone_type: optional(ZoneType),
    constraints: optional(Constraints),
    zoneId: optional(rowId()),
    warehouseId: optional(rowId()),
  })
  .openapi('NewSlot')

export const SlotChange = z
  .object({
    zone: label(200).optional().openapi({
      description:
        'a zone of the same warehouse by its name, or a text that waits for one. If `zone` and `zoneId` are sent, the one that differs counts.',
    }),
    floor_plan_polygon: Polygon.optional(),
    zone_type: ZoneType.nullish().openapi({ description: 'null: the type of its zone' }),
    constraints: Constraints.nullish(),
    zoneId: rowId().nullish().openapi({ description: 'null: the zone that `zone` names' }),
    retired: z.boolean().optional(),
    slot_id: fixed(label(64)),
    warehouseId: fixed(rowId()),
  })
  .openapi('SlotChange')

export const slotShape = {
  id: rowId(),
  slot_id: z.string(),
  warehouseId: rowId(),
  zone: z.string(),
  zoneId: rowId().nullable(),
  zone_type: ZoneType.nullable(),
  floor_plan_polygon: z.array(Point),
  constraints: z
    .object({
      max_weight: z.number().optional(),
      max_height: z.number().optional(),
      allowed_types: z.array(AssetType).optional(),
    })
    .nullable(),
  retiredAt: timeOut().nullable(),
  version: z.int(),
  createdAt: timeOut(),
  updatedAt: timeOut(),
}

const Dimensions = closedObject({
  length: z.number().min(0).max(100_000),
  width: z.number().min(0).max(100_000),
  height: z.number().min(0).max(100_000),
}).openapi('Dimensions', { description: 'cm' })

/** 18 digits with their check digit. */
export const sscc = () =>
  z
    .string()
    .regex(/^\d{18}$/, 'expected 18 digits')
    .refine((digits) => !/^\d{18}$/.test(digits) || hasCheckDigit(digits), 'has a wrong check digit')

/** 8, 12, 13 or 14 digits in; 14 out. */
export const gtin = () =>
  z
    .string()
    .transform((digits, context) => {
      const found = gtin14(digits)
      if (found !== undefined) return found
      const isNumber = /^(\d{8}|\d{12,14})$/.test(digits)
      context.addIssue({
        code: 'custom',
        message: isNumber ? 'has a wrong check digit' : 'expected 8, 12, 13 or 14 digits',
      })
      return z.NEVER
    })
    .openapi({ type: 'string', pattern: '^([0-9]{8}|[0-9]{12,14})$' })

/** A day of the calendar. */
export const day = () => z.string().refine(isDay, 'expected a day as YYYY-MM-DD').openapi({ format: 'date' })

/** Lots and serial numbers are at most as long as the barcode that may contain them. */
export const goodsTextLimit = 256
const fromBarcode = { description: 'null and default: from the barcode' }
const gtinForm = {
  type: ['string', 'null'] as ['string', 'null'],
  pattern: '^([0-9]{8}|[0-9]{12,14})$',
  description: 'null and default: from the barcode; answered with 14 digits',
}

export const NewAsset = z
  .object({
    asset_id: barcode(),
    type: AssetType,
    weight_kg: optional(z.number().min(0).max(100_000)),
    dimensions: optional(Dimensions),
    sscc: optional(sscc()).openapi(fromBarcode),
    gtin: optional(gtin()).openapi(gtinForm),
    lot: optional(text(goodsTextLimit)).openapi(fromBarcode),
    bestBefore: optional(day()).openapi({ ...fromBarcode, format: 'date' }),
    serial: optional(text(goodsTextLimit)).openapi(fromBarcode),
  })
  .openapi('NewAsset')

export const AssetChange = z
  .object({
    type: AssetType.nullish().openapi({ description: 'null: only of a provisional asset' }),
    weight_kg: z.number().min(0).max(100_000).nullish(),
    dimensions: Dimensions.nullish(),
    sscc: sscc().nullish().openapi(fromBarcode),
    gtin: gtin().nullish().openapi(gtinForm),
    lot: text(goodsTextLimit).nullish().openapi(fromBarcode),
    bestBefore: day()
      .nullish()
      .openapi({ ...fromBarcode, format: 'date' }),
    serial: text(goodsTextLimit).nullish().openapi(fromBarcode),
    asset_id: barcode().optional().openapi({ description: 'must be a form of the present barcode; it cannot change' }),
  })
  .openapi('AssetChange')

export const assetShape = {
  id: rowId(),
  asset_id: z.string(),
  type: AssetType.nullable(),
  weight_kg: z.number().nullable(),
  dimensions: Dimensions.nullable(),
  sscc: z.string().nullable().openapi({ description: '18 digits' }),
  gtin: z.string().nullable().openapi({ description: '14 digits, with leading zeros' }),
  lot: z.string().nullable(),
  bestBefore: z.string().nullable().openapi({ format: 'date' }),
  serial: z.string().nullable(),
  provisional: z.boolean().openapi({ description: 'true: known from events only' }),
  sameAs: rowId().nullable().openapi({
    description: 'id of the asset that is the same thing under another form of the barcode; null: none',
  }),
  version: z.int(),
  createdAt: timeOut(),
  updatedAt: timeOut(),
}
export const AssetResource = resource({
  ...assetShape,
  warnings: z
    .array(z.object({ code: z.enum(barcodeWarnings), message: z.string() }))
    .openapi({ description: 'faults of the barcode as written' }),
})

export type PlanImagePlace = z.infer<typeof PlanImagePlace>
export type NewWarehouse = z.output<typeof NewWarehouse>
export type NewZone = z.output<typeof NewZone>
export type NewSlot = z.output<typeof NewSlot>
export type SlotChange = z.output<typeof SlotChange>
export type WarehouseChange = Partial<z.output<typeof WarehouseChange>>
export type ZoneChange = Partial<z.output<typeof ZoneChange>>
export type NewAsset = Pick<z.output<typeof NewAsset>, 'asset_id' | 'type'> & Partial<z.output<typeof NewAsset>>
export type AssetChange = Partial<z.output<typeof AssetChange>>
export type ZoneType = (typeof zoneTypes)[number]
export type AssetType = (typeof assetTypes)[number]
