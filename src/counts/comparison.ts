/** A pallet as scanned or as the ledger names it, with the key for comparison. */
export type Pallet = { readonly barcode: string; readonly key: string }

/** A slot of a count: the pallets that were found, and the state in the ledger at that moment. */
export type Seen = {
  readonly slotId: number
  /** Undefined: not scanned yet. */
  readonly found: readonly Pallet[] | undefined
  /** The occupant that the slot shows, and all pallets that were put into it and not booked since, at the time of the scan. */
  readonly occupant: Pallet | undefined
  readonly standing: readonly Pallet[]
  /** The ledger knows a move of the slot, or of a pallet of either side, that came after the scan. */
  readonly movedSince: boolean
}

export type LineStatus = 'not_counted' | 'matched' | 'different' | 'moved' | 'conflict'

/** Returns the expected pallets: those that were put into the slot, and its occupant. */
export function expectedIn({ occupant, standing }: Pick<Seen, 'occupant' | 'standing'>): readonly Pallet[] {
  return occupant && !has(standing, occupant.key) ? [...standing, occupant] : standing
}

/**
 * Compares each slot of a count; returns a status by slot. One barcode found in two slots makes both conflicts, which
 * need a recount. Pure.
 */
export function compare(seen: readonly Seen[]): ReadonlyMap<number, LineStatus> {
  const slotsOf = new Map<string, number>()
  for (const { found = [], movedSince } of seen) {
    if (!movedSince) for (const { key } of found) slotsOf.set(key, (slotsOf.get(key) ?? 0) + 1)
  }
  return new Map(seen.map((line) => [line.slotId, statusOf(line, slotsOf)]))
}

function statusOf(line: Seen, slotsOf: ReadonlyMap<string, number>): LineStatus {
  const { found } = line
  if (!found) return 'not_counted'
  if (line.movedSince) return 'moved'
  if (found.some(({ key }) => (slotsOf.get(key) ?? 0) > 1)) return 'conflict'
  const expected = expectedIn(line)
  const isSame = found.length === expected.length && expected.every(({ key }) => has(found, key))
  // A slot that shows nothing though pallets were put into it was emptied by a removal of another pallet.
  const showsIt = found.length === 0 || line.occupant !== undefined
  const standsThere = found.every(({ key }) => has(line.standing, key))
  return isSame && showsIt && standsThere ? 'matched' : 'different'
}

export function has(pallets: readonly Pallet[], key: string): boolean {
  return pallets.some((pallet) => pallet.key === key)
}
