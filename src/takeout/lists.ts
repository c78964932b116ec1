import type { Database } from 'better-sqlite3'
import { type Cell, executor, readRows, type TableShape } from '../database/index.ts'
import { exactCsv } from '../exchange/index.ts'
import { boundsOf, findEvent, newestPlacementOf, nextInSlot } from '../ledger/index.ts'
import { isoTime } from '../platform/index.ts'
import { wholeSight } from '../warehouse/index.ts'

/** Lines of one list; an import takes 200,000. */
const linesOfList = 100_000
/** Characters of one list; an import takes 32 MiB. */
const charactersOfList = 16 << 20

/** A list for `gatehouse import`. */
export type ImportList = {
  readonly kind: 'slots' | 'assets' | 'opening-stock'
  /** Of slots. */
  readonly warehouse?: { readonly id: number; readonly name: string; readonly timezone: string }
  readonly columns: readonly string[]
  readonly rows: () => Iterable<readonly (string | number | null)[]>
}

type Row = ReadonlyMap<string, Cell>
type Tables = { readonly db: Database; readonly shapes: ReadonlyMap<string, TableShape> }

/** Yields the lists that make the floor of this box on an empty one, in the order in which to import them. */
export function* importLists(tables: Tables): Generator<ImportList> {
  const zones = new Map([...read(tables, 'zone')].map((zone) => [number(zone, 'id'), zone] as const))
  for (const warehouse of read(tables, 'warehouse')) {
    const [id, name, timezone] = [number(warehouse, 'id'), text(warehouse, 'name'), text(warehouse, 'timezone')]
    yield {
      kind: 'slots',
      warehouse: { id, name, timezone },
      columns: slotColumns,
      rows: () => slotLines(tables, id, zones),
    }
  }
  yield { kind: 'assets', columns: assetColumns, rows: () => assetLines(tables) }
  yield { kind: 'opening-stock', columns: stockColumns, rows: () => stockLines(tables) }
}

/** Yields the texts of the files of a list: each within the limits of an import. */
export function* listFiles({ columns, rows }: ImportList): Generator<{ rows: number; text: string }> {
  const head = exactCsv([[...columns]])
  let lines: string[] = []
  let characters = 0
  for (const row of rows()) {
    const line = exactCsv([row])
    if (lines.length === linesOfList || characters + line.length > charactersOfList) {
      yield { rows: lines.length, text: [head, ...lines].join('') }
      lines = []
      characters = 0
    }
    lines.push(line)
    characters += line.length
  }
  if (lines.length > 0) yield { rows: lines.length, text: [head, ...lines].join('') }
}

const slotColumns = [
  ...['slot_id', 'zone', 'zone_type', 'floor_plan_polygon', 'max_weight', 'max_height', 'allowed_types', 'retired'],
]

/** Slots with the type of their zone come first: the first line of a zone gives the new zone its type. */
function* slotLines(tables: Tables, warehouseId: number, zones: ReadonlyMap<number, Row>) {
  const asked = { where: 'warehouse_id = ?', values: [warehouseId], orderBy: 'zone_type IS NOT NULL, id' }
  for (const slot of read(tables, 'slot', asked)) {
    const zone = zones.get(number(slot, 'zone_id'))
    const { max_weight, max_height, allowed_types } = parsed(slot.get('constraints'))
    yield [
      text(slot, 'slot_id'),
      text(slot, 'zone'),
      // An import makes no zone without a type.
      cell(slot, 'zone_type') ?? (zone ? cell(zone, 'zone_type') : 'storage'),
      text(slot, 'floor_plan_polygon'),
      numberOrNull(max_weight),
      numberOrNull(max_height),
      Array.isArray(allowed_types) ? allowed_types.join(' ') : null,
      slot.get('retired_at_ms') === null ? null : 'true',
    ]
  }
}

/** Names of the columns of an import, each with that of the table. */
const goods = { sscc: 'sscc', gtin: 'gtin', lot: 'lot', bestBefore: 'best_before', serial: 'serial' } as const
const assetColumns = ['asset_id', 'type', 'weight_kg', 'length', 'width', 'height', ...Object.keys(goods)]

/** Registered assets. One that was only scanned is in the list of opening stock while it is in a slot. */
function* assetLines(tables: Tables) {
  for (const asset of read(tables, 'asset', { where: 'provisional = 0', orderBy: 'id' })) {
    const { length, width, height } = parsed(asset.get('dimensions'))
    yield [
      ...[cell(asset, 'asset_id'), cell(asset, 'type'), cell(asset, 'weight_kg')],
      ...[length, width, height].map(numberOrNull),
      ...Object.values(goods).map((column) => cell(asset, column)),
    ]
  }
}

const stockColumns = ['slot_id', 'asset_barcode', 'scale_weight_kg', 'work_order_ref', 'timestamp']

/** The pallets that stand in a slot now, each with the event that put it there. */
function* stockLines(tables: Tables) {
  const tx = executor(tables.db)
  for (const asset of read(tables, 'asset', { where: 'same_as IS NULL', orderBy: 'id' })) {
    const bounds = boundsOf(tx)
    const placed = newestPlacementOf(tx, text(asset, 'asset_key'), wholeSight, bounds)
    const event = placed && !nextInSlot(tx, placed, bounds) ? findEvent(tx, placed.id) : undefined
    if (!event) continue
    const { slot_code, asset_barcode, scale_weight_kg, work_order_ref, timestamp_ms } = event
    yield [slot_code, asset_barcode, scale_weight_kg, work_order_ref, isoTime(timestamp_ms)]
  }
}

function* read(
  { db, shapes }: Tables,
  table: string,
  asked: Parameters<typeof readRows>[2] = { orderBy: '1' },
): Generator<Row> {
  const shape = shapes.get(table)
  if (!shape) return
  for (const cells of readRows(db, shape, asked)) {
    yield new Map(shape.columns.map((name, i) => [name, cells[i] ?? null]))
  }
}

const text = (row: Row, column: string): string => String(row.get(column) ?? '')
const number = (row: Row, column: string): number => Number(row.get(column) ?? 0)
const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null)

function cell(row: Row, column: string): string | number | null {
  const value = row.get(column) ?? null
  return Buffer.isBuffer(value) ? null : value
}

function parsed(json: Cell | undefined): Record<string, unknown> {
  return typeof json === 'string' ? JSON.parse(json) : {}
}
