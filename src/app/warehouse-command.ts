import type { Gateway } from './compose.ts'
import { atTheBox } from './import-command.ts'

export type NamedWarehouse = { readonly name: string; readonly timezone: string }
/** `created`: false when a warehouse of that name was there already; it is as it was. */
export type AddedWarehouse = NamedWarehouse & { readonly id: number; readonly created: boolean }
/** `by`: who is signed in at the box; the file system has let that one in. */
export type AddWarehouse = (wanted: NamedWarehouse, by: string) => Promise<AddedWarehouse>

/** Makes a warehouse in the name of somebody at the box, who may do all that an admin may. */
export function warehouseAdder(gateway: Pick<Gateway, 'warehouse' | 'live' | 'makeId'>): AddWarehouse {
  return async (wanted, by) => {
    const { warehouse, isNew } = await gateway.warehouse.addWarehouse(
      { ...wanted, location: undefined },
      atTheBox(gateway, by, 'command'),
    )
    const { id, name, timezone } = warehouse
    return { id, name, timezone, created: isNew }
  }
}
