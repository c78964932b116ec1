import type { Tx } from '../database/index.ts'
import type { RequestOrigin } from '../http/index.ts'
import { AssetChange, type AssetService, NewAsset, readBarcode } from '../warehouse/index.ts'
import { readNumber } from './cells.ts'
import { Cells, type Form, partsOf, type RowOutcome } from './form.ts'
import type { Row, Sheet } from './sheet.ts'

const sides = ['length', 'width', 'height'] as const
const numbers = ['weight_kg'] as const

/** The other fields of an asset in the API are text. */
const texts = Object.keys(NewAsset.shape).filter(
  (name) => name !== 'dimensions' && !numbers.some((number) => number === name),
)

export const assetColumns = {
  columns: [...texts, ...numbers, ...sides],
  aliases: { asset_barcode: 'asset_id', barcode: 'asset_id', weight: 'weight_kg' },
  required: ['asset_id'],
} as const

/** Returns the form of a list of assets, by barcode in any spelling: unregistered ones are registered, others are changed. */
export function assetsForm(assets: AssetService, sheet: Sheet): Form {
  const keyOf = ({ cells }: Row) => {
    const barcode = cells.get('asset_id')
    return barcode === undefined ? undefined : readBarcode(barcode).key
  }

  function store(tx: Tx, row: Row, by: RequestOrigin): RowOutcome {
    const cells = new Cells(row, sheet)
    const barcode = row.cells.get('asset_id')
    const known = barcode === undefined ? undefined : assets.find(tx, assets.readBarcode(tx, barcode).key)
    const given = {
      ...Object.fromEntries(texts.map((name) => [name, cells.code(name)])),
      ...Object.fromEntries(numbers.map((name) => [name, cells.read(name, readNumber)])),
      dimensions: partsOf(Object.fromEntries(sides.map((side) => [side, cells.read(side, readNumber)]))),
    }
    if (!known || known.provisional) {
      assets.register(tx, cells.as(NewAsset, given), by)
      return { what: 'created' }
    }
    const { version } = assets.amend(tx, known, cells.as(AssetChange, given), by)
    return { what: version === known.version ? 'unchanged' : 'updated' }
  }

  return { ...assetColumns, key: { column: 'asset_id', of: keyOf }, store }
}
