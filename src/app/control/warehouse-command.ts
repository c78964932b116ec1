import type { Gateway } from '../compose.ts'
import { atTheBox } from './import-command.ts'

export type NamedWarehouse = { readonly name: string; readonly timezone: string }
/** `created`: false when a warehouse of that name existed; it is unchanged. */
export type AddedWarehouse = NamedWarehouse & { readonly id: number; readonly created: boolean }
/** `by`: name of the person at the box; file permissions of the socket admitted them. */
export type AddWarehouse = (wanted: NamedWarehouse, by: string) => Promise<AddedWarehouse>

/** Returns a function that makes a warehouse in the name of the person at the box, with an admin's permissions. */
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
