import { has, type Pallet, type Seen } from './comparison.ts'

/** An event that corrects the ledger to what was found. */
export type Correction = {
  readonly type: 'PLACED' | 'REMOVED' | 'VERIFIED'
  readonly slotId: number
  readonly pallet: Pallet
  /** The slot whose scan proves it. */
  readonly scanOf: number
  /** Time of a REMOVED that must come before a later move; see `corrections`. */
  readonly atMs?: number
}

/** Where the ledger has a pallet now, and since when; slot null: in no slot. */
export type Whereabouts = { readonly slotId: number | null; readonly sinceMs: number }

export type Ledger = {
  readonly whereIs: (key: string) => Whereabouts
  /** Returns the pallet that a slot shows. */
  readonly shownIn: (slotId: number) => Pallet | undefined
}

type Line = Seen & { readonly found: readonly Pallet[]; readonly isMatched: boolean }

/**
 * Returns the events that correct the ledger to what was found, in three ranks that follow each other in time:
 * removals, placements, confirmations. Every pallet that was found gets exactly one event, so that its history shows
 * the count. Pure.
 *
 * A REMOVED of any barcode empties a slot, and takes its own pallet away wherever it is. So a slot that still shows a
 * pallet which was placed elsewhere later is emptied at the time just before that later move.
 */
export function corrections(lines: readonly Line[], ledger: Ledger): Correction[] {
  const removed = lines.filter((line) => !line.isMatched).flatMap((line) => takenOut(line, lines, ledger))
  const emptied = new Set(removed.map(({ slotId }) => slotId))
  const placed = lines.filter((line) => !line.isMatched).flatMap((line) => putIn(line, emptied, ledger))
  return [...once(removed), ...placed, ...lines.flatMap((line) => confirmed(line, placed))]
}

function takenOut(line: Line, lines: readonly Line[], ledger: Ledger): Correction[] {
  const { slotId, found, occupant, standing } = line
  const take = (pallet: Pallet, from: number, atMs?: number): Correction => ({
    type: 'REMOVED',
    slotId: from,
    pallet,
    scanOf: slotId,
    ...(atMs !== undefined && { atMs }),
  })
  const isFoundElsewhere = ({ key }: Pallet) => lines.some((other) => other.slotId !== slotId && has(other.found, key))
  // A pallet found elsewhere is removed by the line that found it, if its slot shows it.
  const missing = standing.filter((pallet) => !has(found, pallet.key) && !isFoundElsewhere(pallet))
  const brought = found.flatMap((pallet) => {
    const { slotId: from } = ledger.whereIs(pallet.key)
    const shows = from !== null && from !== slotId && ledger.shownIn(from)?.key === pallet.key
    return shows ? [take(pallet, from)] : []
  })
  const isGhost = occupant && !has(found, occupant.key) && !has(standing, occupant.key)
  const ghost = isGhost && found.length === 0 ? [takeGhost(occupant, slotId, ledger, take)] : []
  return [...missing.map((pallet) => take(pallet, slotId)), ...brought, ...ghost]
}

function takeGhost(
  ghost: Pallet,
  slotId: number,
  ledger: Ledger,
  take: (pallet: Pallet, from: number, atMs?: number) => Correction,
): Correction {
  const { slotId: elsewhere, sinceMs } = ledger.whereIs(ghost.key)
  return elsewhere === null ? take(ghost, slotId) : take(ghost, slotId, sinceMs - 1)
}

/**
 * Returns placements of pallets that the ledger has elsewhere; one more where the slot would show nothing, or another.
 */
function putIn({ slotId, found, occupant }: Line, emptied: ReadonlySet<number>, ledger: Ledger): Correction[] {
  const place = (pallet: Pallet): Correction => ({ type: 'PLACED', slotId, pallet, scanOf: slotId })
  const brought = found.filter(({ key }) => ledger.whereIs(key).slotId !== slotId)
  if (brought.length > 0 || found.length === 0) return brought.map(place)
  const shown = occupant && found.find(({ key }) => key === occupant.key)
  if (shown && !emptied.has(slotId)) return []
  const again = shown ?? found.at(-1)
  return again ? [place(again)] : []
}

/** Returns the confirmations; the pallet that the slot shows comes last. */
function confirmed({ slotId, found, occupant }: Line, placed: readonly Correction[]): Correction[] {
  const others = found.filter(({ key }) => !placed.some((p) => p.slotId === slotId && p.pallet.key === key))
  const inOrder = others.toSorted((a, b) => Number(a.key === occupant?.key) - Number(b.key === occupant?.key))
  return inOrder.map((pallet) => ({ type: 'VERIFIED', slotId, pallet, scanOf: slotId }))
}

/** Removes duplicates: two lines may both find that a pallet is gone from a third slot. */
function once(removed: readonly Correction[]): Correction[] {
  const bySlotAndAsset = new Map(removed.map((r) => [`${r.slotId} ${r.pallet.key}`, r]))
  return [...bySlotAndAsset.values()]
}
