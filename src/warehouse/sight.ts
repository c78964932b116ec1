declare const decided: unique symbol

/**
 * What somebody may see of the ledger. For a reader, the events of a warehouse that is hidden from that reader do not
 * exist: where an asset stands, its history, what contradicts it and what an event does are computed from the others.
 * Only `WarehouseService.sightOf` and `wholeSight` make one, so a read of an asset cannot forget to ask.
 */
export type Sight = { readonly hiddenWarehouses: readonly number[]; readonly [decided]: true }

export function sightWithout(hiddenWarehouses: readonly number[]): Sight {
  return { hiddenWarehouses } as Sight
}

/** Of the gateway itself, for what is told to nobody in particular: reports of the log, imports at the box. */
export const wholeSight: Sight = sightWithout([])

/**
 * SQL that leaves the rows whose slot stands in a warehouse that is not hidden; with what it binds. `slot` names the
 * column with its table: alone, `slot_id` would be the label in the table of slots.
 */
export function seenOnly(sight: Sight, slot: string): { readonly sql: string; readonly parameters: readonly number[] } {
  const hidden = sight.hiddenWarehouses
  if (hidden.length === 0) return { sql: '', parameters: [] }
  const holes = hidden.map(() => '?').join(', ')
  return {
    sql: ` AND (SELECT warehouse_id FROM main.slot WHERE id = ${slot}) NOT IN (${holes})`,
    parameters: hidden,
  }
}
