import type { Client } from './client.ts'

/** A small hall: three zones side by side, each with two rows of four pallet slots, on a floor plan in meters. */
const zones = [
  { name: 'A', zone_type: 'storage', color: '#2f6fab' },
  { name: 'B', zone_type: 'storage', color: '#3c8d5a' },
  { name: 'C', zone_type: 'shipping', color: '#b7791f' },
] as const

const slotsPerRow = 4
const rowsPerZone = 2
const slotSize = { width: 1.4, depth: 1.0, gap: 0.3, aisle: 3.2 }
const zoneWidth = slotsPerRow * (slotSize.width + slotSize.gap) + 2
const palletCount = 24

/** The slot by its integer id and by its label on the rack. */
export type DemoSlot = { readonly id: number; readonly label: string; readonly zone: string }

export type Floor = {
  readonly warehouseId: number
  readonly slots: readonly DemoSlot[]
  /** Barcodes: 00 and an SSCC, as a scanner reads them. */
  readonly pallets: readonly string[]
  readonly zones: readonly string[]
}

export type Hall = {
  readonly name: string
  /** Serial numbers of its pallets begin behind this one. */
  readonly serialsBehind?: number
  /** Label data of the i-th pallet besides its number. */
  readonly goods?: (i: number) => object
}

/** Creates all of it through the API, as an admin would. */
export async function furnish(
  admin: Client,
  { name, serialsBehind = 0, goods = () => ({}) }: Hall = { name: 'Demo hall' },
): Promise<Floor> {
  const location = { lat: 52.52, lng: 13.405 }
  const warehouse = await admin.create('/api/whms/warehouses', {
    name,
    timezone: 'Europe/Berlin',
    location,
  })
  const slots: DemoSlot[] = []
  for (const [index, zone] of zones.entries()) {
    await admin.create('/api/whms/zones', { ...zone, warehouseId: warehouse.id })
    slots.push(...(await addSlots(admin, zone, index)))
  }
  const pallets = Array.from({ length: palletCount }, (_, i) => palletBarcode(serialsBehind + i + 1))
  for (const [i, asset_id] of pallets.entries()) {
    await admin.create('/api/whms/assets', { asset_id, ...measures(i), ...goods(i) })
  }
  return { warehouseId: warehouse.id, slots, pallets, zones: zones.map(({ name }) => name) }
}

async function addSlots(admin: Client, zone: (typeof zones)[number], zoneIndex: number): Promise<DemoSlot[]> {
  const added: DemoSlot[] = []
  for (let n = 0; n < slotsPerRow * rowsPerZone; n += 1) {
    const label = `${zone.name}-${String(n + 1).padStart(2, '0')}`
    const slot = await admin.create('/api/whms/slots', {
      slot_id: label,
      zone: zone.name,
      floor_plan_polygon: rectangle(zoneIndex, n),
      constraints: { max_weight: 1000, max_height: 200, allowed_types: ['pallet'] },
    })
    added.push({ id: slot.id, label, zone: zone.name })
  }
  return added
}

/** Corners of the n-th slot of a zone; the two rows face each other over an aisle. */
function rectangle(zoneIndex: number, n: number): { x: number; y: number }[] {
  const { width, depth, gap, aisle } = slotSize
  const left = zoneIndex * zoneWidth + (n % slotsPerRow) * (width + gap)
  const top = Math.floor(n / slotsPerRow) * (depth + aisle)
  const corner = (x: number, y: number) => ({ x: centimetres(x), y: centimetres(y) })
  return [corner(left, top), corner(left + width, top), corner(left + width, top + depth), corner(left, top + depth)]
}

const centimetres = (metres: number) => Math.round(metres * 100) / 100

function measures(i: number) {
  return { type: 'pallet', weight_kg: 240 + i * 25, dimensions: { length: 120, width: 80, height: 110 + (i % 6) * 15 } }
}

/** Extension digit and company prefix of the demo's SSCCs. */
const ssccPrefix = '34012345'

/** `00` and an SSCC of 18 digits, the last of them the check digit of GS1. */
function palletBarcode(serial: number): string {
  const digits = `${ssccPrefix}${String(serial).padStart(9, '0')}`
  const sum = [...digits].reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 3 : 1), 0)
  return `00${digits}${(10 - (sum % 10)) % 10}`
}
