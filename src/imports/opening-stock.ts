import type { Tx } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { RequestOrigin } from '../http/index.ts'
import {
  boundsOf,
  eventOfOpeningLine,
  NewPlacementEvent,
  newestMoveOfAsset,
  occupantOf,
  type Recorder,
} from '../ledger/index.ts'
import {
  type AssetService,
  matchedName,
  readBarcode,
  type Slot,
  type WarehouseService,
  wholeSight,
} from '../warehouse/index.ts'
import { readNumber } from './cells.ts'
import { Cells, type Form, type RowOutcome } from './form.ts'
import type { Row, Sheet } from './sheet.ts'

type Options = {
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly recorder: Recorder
  readonly sheet: Sheet
  /** SHA-256 of the list, hex. */
  readonly list: string
}

export const openingColumns = {
  columns: ['slot_id', 'asset_barcode', 'scale_weight_kg', 'work_order_ref', 'timestamp'],
  aliases: {
    slot_code: 'slot_id',
    asset_id: 'asset_barcode',
    barcode: 'asset_barcode',
    weight: 'scale_weight_kg',
    weight_kg: 'scale_weight_kg',
  },
  required: ['slot_id', 'asset_barcode'],
} as const

/**
 * Returns the form of a list of opening stock: a PLACED for each line, with the list as its evidence. It adds only what was not
 * scanned yet: a pallet that the ledger has elsewhere, and a slot with another scanned pallet, are refused.
 */
export function openingForm({ warehouse, assets, recorder, sheet, list }: Options): Form {
  const linesOfSlot = new Map<string, number>()
  for (const { line, cells } of sheet.rows) {
    const label = matchedName(cells.get('slot_id') ?? '')
    if (!linesOfSlot.has(label)) linesOfSlot.set(label, line)
  }
  const keyOf = ({ cells }: Row) => {
    const barcode = cells.get('asset_barcode')
    return barcode === undefined ? undefined : readBarcode(barcode).key
  }

  function store(tx: Tx, row: Row, by: RequestOrigin): RowOutcome {
    if (eventOfOpeningLine(tx, list, row.line) !== undefined) return { what: 'unchanged' }
    const cells = new Cells(row, sheet)
    const request = cells.as(NewPlacementEvent, {
      event_type: 'PLACED',
      slot_code: cells.code('slot_id'),
      asset_barcode: cells.code('asset_barcode'),
      scale_weight_kg: cells.read('scale_weight_kg', readNumber),
      work_order_ref: cells.text('work_order_ref'),
      timestamp: cells.text('timestamp'),
      client_event_id: `opening:${list}:${row.line}`,
    })
    const slot = warehouse.slotReference(tx, { code: request.slot_code }, by.caller)
    const { key } = assets.readBarcode(tx, request.asset_barcode)
    if (standsThere(tx, slot, key, by)) return { what: 'unchanged' }
    refuseOccupied(tx, slot)
    const grounds = { kind: 'opening' as const, list, line: row.line }
    const { event } = recorder.appendIn(tx, request, { by, deviceTimeMs: undefined }, { grounds })
    return { what: 'created', warnings: event.warnings.map(({ code }) => code), notice: shared(row, slot) }
  }

  /**
   * Returns whether the pallet was put into this slot and not booked since. Throws VALIDATION_ERROR when it was booked elsewhere.
   */
  function standsThere(tx: Tx, slot: Slot, key: string, by: RequestOrigin): boolean {
    const newest = newestMoveOfAsset(tx, key, wholeSight, boundsOf(tx))
    if (!newest) return false
    const isPlaced = newest.event_type === 'PLACED'
    if (isPlaced && newest.slot_id === slot.id) return true
    const where = warehouse.visibleSlot(tx, newest.slot_id, by.caller)?.slot_id ?? 'a slot'
    const seen = isPlaced ? `has it in ${where}` : `saw it leave ${where}`
    throw AppError.field('asset_barcode', `the ledger ${seen}; opening stock is for unscanned pallets`)
  }

  function shared(row: Row, slot: Slot): RowOutcome['notice'] {
    const first = linesOfSlot.get(matchedName(slot.slot_id))
    if (first === undefined || first === row.line) return undefined
    return {
      column: 'slot_id',
      message: `${slot.slot_id} holds the pallet of line ${first} too; the slot shows the last`,
    }
  }

  // A second pallet in a slot can be judged only together with the first one.
  const together = ({ cells }: Row) => cells.get('slot_id')
  return { ...openingColumns, key: { column: 'asset_barcode', of: keyOf }, together, store }
}

function refuseOccupied(tx: Tx, slot: Slot): void {
  const occupant = occupantOf(tx, slot.id)
  if (!occupant || occupant.isOpening) return
  throw AppError.field(
    'slot_id',
    `the ledger has ${occupant.assetBarcode} in it; opening stock is for unscanned pallets`,
  )
}
