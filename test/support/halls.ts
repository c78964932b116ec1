import { importer } from '../../src/app/control/import-command.ts'
import { record } from './browser.ts'
import { people, type TestGateway } from './gateway.ts'

export type Hall = {
  /** Metres. */
  readonly width: number
  readonly depth: number
  readonly columns: number
  readonly rows: number
}

/** The halls that the plan is looked at in; one slot a square metre, but for the large one. */
export const halls: readonly Hall[] = [
  { width: 12, depth: 10, columns: 12, rows: 10 },
  { width: 60, depth: 10, columns: 60, rows: 10 },
  { width: 170, depth: 52, columns: 100, rows: 20 },
  { width: 20, depth: 20, columns: 20, rows: 20 },
  { width: 45, depth: 45, columns: 45, rows: 45 },
]

/** Colors of the zones in the corners of a hall, each of one slot with a verified pallet: drawn without any mixing. */
export const cornerColors = { NW: '#c800c8', NE: '#00a03c', SE: '#0046ff', SW: '#ff8c00' } as const
export type Corner = keyof typeof cornerColors

const groundColors = ['#2f6fab', '#b7791f', '#6b4fa0', '#3d7f6e']

/** Label of the slot in this column and row, from 1. */
export const labelAt = (column: number, row: number): string =>
  `${String(column).padStart(3, '0')}-${String(row).padStart(2, '0')}`

/** A warehouse with a slot in every place of the hall, two of three with a pallet that no one scanned yet. */
export async function build(gateway: TestGateway, hall: Hall): Promise<void> {
  const by = people.ada
  const { width, depth, columns, rows } = hall
  const body = { name: `Hall of ${width} x ${depth} m`, timezone: 'Europe/Berlin' }
  await gateway.ask('POST', '/api/whms/warehouses', { by, body })
  const grounds = groundColors.map((color, n) => ({ name: `Aisles ${n + 1}`, color }))
  const corners = Object.entries(cornerColors).map(([name, color]) => ({ name, color }))
  for (const { name, color } of [...grounds, ...corners]) {
    const zone = { name, zone_type: 'storage', warehouseId: 1, color }
    const { status, text } = await gateway.ask('POST', '/api/whms/zones', { by, body: zone })
    if (status !== 201) throw new Error(text)
  }
  const slots: string[] = []
  const stock: string[] = []
  for (let row = 1; row <= rows; row += 1) {
    for (let column = 1; column <= columns; column += 1) {
      const label = labelAt(column, row)
      const [x, y] = [((column - 1) * width) / columns, ((row - 1) * depth) / rows]
      const ground = grounds[Math.floor(((column - 1) * grounds.length) / columns)]?.name
      const zone = cornerOf(hall, column, row) ?? ground
      slots.push([label, zone, x, y, ((width / columns) * 0.88).toFixed(4), ((depth / rows) * 0.84).toFixed(4)].join())
      if ((column * 7 + row * 3) % 3 > 0 || cornerOf(hall, column, row)) stock.push(`${label},P-${label}`)
    }
  }
  await take(gateway, 'slots', ['slot_id,zone,x,y,width,height', ...slots])
  await take(gateway, 'opening-stock', ['slot_id,asset_barcode', ...stock])
  for (const label of Object.keys(cornerColors).map((corner) => cornerLabel(hall, corner as Corner))) {
    await record(gateway, { event_type: 'VERIFIED', slot_code: label, asset_barcode: `P-${label}` }, people.sven)
  }
}

export const cornerLabel = ({ columns, rows }: Hall, corner: Corner): string =>
  labelAt(corner.endsWith('W') ? 1 : columns, corner.startsWith('N') ? 1 : rows)

function cornerOf(hall: Hall, column: number, row: number): Corner | undefined {
  const corners = Object.keys(cornerColors) as Corner[]
  return corners.find((corner) => cornerLabel(hall, corner) === labelAt(column, row))
}

async function take(gateway: TestGateway, kind: 'slots' | 'opening-stock', lines: readonly string[]): Promise<void> {
  const options = { kind, dryRun: false, createZones: false }
  const { ok, problems } = await importer(gateway)(Buffer.from(`${lines.join('\n')}\n`), options, 'ada')
  if (!ok) throw new Error(JSON.stringify(problems.slice(0, 3)))
}
