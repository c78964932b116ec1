import type { Tx } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { RequestOrigin } from '../http/index.ts'
import { matchedName, NewSlot, NewZone, type Slot, SlotChange, type WarehouseService } from '../warehouse/index.ts'
import { readFlag, readNumber, readPolygon, readWords } from './cells.ts'
import { Cells, type Form, partsOf, type RowOutcome } from './form.ts'
import { type Grid, readShelf } from './grid.ts'
import type { Row, Sheet } from './sheet.ts'

type Options = {
  readonly warehouse: WarehouseService
  /** Warehouse of a slot that names none. */
  readonly warehouseId: number
  readonly sheet: Sheet
  /** The command named this warehouse: a slot in another one is not meant. */
  readonly isAsked: boolean
  /** Places for slots that the list gives none; undefined without --grid. */
  readonly grid: Grid | undefined
  /** Makes the zones that are not there yet. */
  readonly createZones: boolean
  readonly onZone: (name: string) => void
}

export const slotColumns = {
  columns: [
    'slot_id',
    'zone',
    'zone_type',
    'zoneId',
    'warehouseId',
    'floor_plan_polygon',
    'x',
    'y',
    'width',
    'height',
    'max_weight',
    'max_height',
    'allowed_types',
    'retired',
  ],
  aliases: { slot_code: 'slot_id', polygon: 'floor_plan_polygon' },
  required: ['slot_id'],
} as const

/** Returns the form of a list of slots, by label: missing ones are made, existing ones are changed. */
export function slotsForm({ warehouse, warehouseId, isAsked, sheet, grid, createZones, onZone }: Options): Form {
  const typeOfZone = new Map(
    sheet.rows
      .flatMap(({ cells }) => {
        const [zone, type] = [cells.get('zone'), cells.get('zone_type')]
        return zone && type ? [[zone, type] as const] : []
      })
      .toReversed(),
  )

  function store(tx: Tx, row: Row, by: RequestOrigin): RowOutcome {
    const cells = new Cells(row, sheet)
    const label = cells.code('slot_id')
    const old = label === undefined ? undefined : slotOf(warehouse, tx, label, by)
    const given = tellSlot(cells, label, old)
    if (!old && label !== undefined) Object.assign(given, placed(cells, label, given, grid))
    if (old && isAsked && given.warehouseId === undefined && old.warehouseId !== warehouseId) {
      throw AppError.field(
        'slot_id',
        `${old.slot_id} is a slot of warehouse ${old.warehouseId}; a label names one slot in all`,
      )
    }
    const inWarehouse = given.warehouseId ?? old?.warehouseId ?? warehouseId
    if (old && inWarehouse !== old.warehouseId) throw AppError.field('warehouseId', 'cannot be changed')
    if (old) {
      const change = cells.as(SlotChange, given)
      ensureZone(tx, change, inWarehouse, by)
      const { version } = warehouse.changeSlot(tx, old.id, change, undefined, by)
      return { what: version === old.version ? 'unchanged' : 'updated' }
    }
    const { retired, ...rest } = given
    const slot = cells.as(NewSlot, { ...rest, ...(rest.zoneId === undefined && { warehouseId: inWarehouse }) })
    ensureZone(tx, slot, inWarehouse, by)
    const made = warehouse.createSlot(tx, slot, by)
    if (retired) warehouse.changeSlot(tx, made.id, cells.as(SlotChange, { retired }), undefined, by)
    return { what: 'created' }
  }

  /** Through the API a zone name without a zone waits for one; in a list it is more often a typo, so it is refused. */
  function ensureZone(
    tx: Tx,
    { zone, zoneId }: { zone?: string | undefined; zoneId?: number | null | undefined },
    inWarehouse: number,
    by: RequestOrigin,
  ): void {
    if (zone === undefined || zoneId !== undefined || warehouse.findZone(tx, inWarehouse, zone)) return
    if (!createZones) {
      throw AppError.field('zone', `there is no zone ${zone} in warehouse ${inWarehouse}; --create-zones makes it`)
    }
    const zone_type = typeOfZone.get(zone) ?? (grid ? 'storage' : undefined)
    if (zone_type === undefined) throw AppError.field('zone_type', `is needed to make the zone ${zone}`)
    const parsed = NewZone.safeParse({ name: zone, zone_type, warehouseId: inWarehouse })
    // A wrong type is already a problem of the slot's own field.
    if (!parsed.success) throw AppError.field('zone', `cannot be made: its zone_type is ${zone_type}`)
    warehouse.addZone(tx, parsed.data, by)
    onZone(zone)
  }

  return { ...slotColumns, key: { column: 'slot_id', of: ({ cells }) => sameLabel(cells.get('slot_id')) }, store }
}

/** A new slot that the list gives no place gets one by its label, and the zone of its aisle if it names none. */
function placed(
  cells: Cells,
  label: string,
  given: ReturnType<typeof tellSlot>,
  grid: Options['grid'],
): Partial<typeof given> {
  const zone = given.zone ?? (given.zoneId === undefined && grid ? readShelf(label)?.aisle : undefined)
  if (given.floor_plan_polygon !== undefined) return { zone }
  if (cells.faults.some(({ path }) => path === 'floor_plan_polygon')) return { zone }
  const found = grid?.cornersOf(label) ?? {
    fault: 'is needed: corners, or x, y, width and height; --grid makes them of labels such as A-01-02',
  }
  if ('corners' in found) return { zone, floor_plan_polygon: found.corners }
  cells.faults.push({ path: grid ? 'slot_id' : 'floor_plan_polygon', message: found.fault })
  return { zone, floor_plan_polygon: refusedAlready }
}

function slotOf(warehouse: Options['warehouse'], tx: Tx, label: string, by: RequestOrigin): Slot | undefined {
  try {
    return warehouse.slotByPath(tx, label, true, by.caller)
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

const sameLabel = (label: string | undefined): string | undefined =>
  label === undefined ? undefined : matchedName(label)

/** Replaces corners that are missing or wrong, when the line already has a better message than that of the schema. */
const refusedAlready = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: 1, y: 1 },
]

/** Returns the line as the body of a POST or PUT. */
function tellSlot(cells: Cells, label: string | undefined, old: Slot | undefined) {
  const constraints = partsOf({
    max_weight: cells.read('max_weight', readNumber),
    max_height: cells.read('max_height', readNumber),
    allowed_types: cells.read('allowed_types', (text) => ({ value: readWords(text) })),
  })
  const given = constraints && Object.fromEntries(Object.entries(constraints).filter(([, v]) => v !== undefined))
  return {
    slot_id: label,
    zone: cells.text('zone'),
    zone_type: cells.text('zone_type'),
    zoneId: cells.read('zoneId', readNumber),
    warehouseId: cells.read('warehouseId', readNumber),
    floor_plan_polygon: corners(cells),
    constraints: given && { ...old?.constraints, ...given },
    retired: cells.read('retired', readFlag),
  }
}

/** Returns the polygon, or the rectangle of x, y, width and height. */
function corners(cells: Cells) {
  const polygon = cells.read('floor_plan_polygon', readPolygon)
  const sides = ['x', 'y', 'width', 'height'] as const
  const given = sides.filter((side) => cells.text(side) !== undefined)
  if (given.length === 0) return polygon
  if (cells.text('floor_plan_polygon') !== undefined) {
    cells.faults.push({ path: 'floor_plan_polygon', message: 'is given beside x, y, width, height; give one of them' })
    return undefined
  }
  const [x, y, width, height] = sides.map((side) => cells.read(side, readNumber))
  for (const side of sides)
    if (!given.includes(side)) cells.faults.push({ path: side, message: 'required beside the others' })
  if (x === undefined || y === undefined || width === undefined || height === undefined) {
    return refusedAlready
  }
  for (const [side, length] of [
    ['width', width],
    ['height', height],
  ] as const)
    if (length <= 0) cells.faults.push({ path: side, message: 'expected more than 0' })
  return [
    { x, y },
    { x: x + width, y },
    { x: x + width, y: y + height },
    { x, y: y + height },
  ]
}
