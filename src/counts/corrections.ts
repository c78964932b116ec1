import { has, type Pallet, type Seen } from './comparison.ts'

/** An event that corrects the ledger to the count. */
export type Correction = {
  readonly type: 'PLACED' | 'REMOVED' | 'VERIFIED'
  readonly slotId: number
  readonly pallet: Pallet
  /** The slot whose scan proves it. */
  readonly scanOf: number
  /** Time of a REMOVED that must come before a later move; see `corrections`. */
  readonly atMs?: number
}

/**
 * Returns where the ledger has a pallet now (slot null: in no slot), and its newest PLACED. They differ where another pallet was
 * put in front of it.
 */
export type WhereIs = (key: string) => {
  readonly slotId: number | null
  readonly placed: { readonly slotId: number; readonly atMs: number } | undefined
}

type Line = Seen & { readonly found: readonly Pallet[]; readonly isMatched: boolean }

/**
 * Returns the events that correct the ledger to the count, in three ranks that follow each other in time: removals, placements,
 * confirmations. Every found pallet gets exactly one event, so that its history shows the count. Pure.
 *
 * A REMOVED of a pallet from a slot in which it is not contradicts its location. So a slot that still shows a pallet which was
 * placed elsewhere later is emptied at the time just before that later move.
 */
export function corrections(lines: readonly Line[], whereIs: WhereIs): Correction[] {
  const removed = lines.filter((line) => !line.isMatched).flatMap((line) => takenOut(line, lines, whereIs))
  const emptied = new Set(removed.map(({ slotId }) => slotId))
  const placed = lines.filter((line) => !line.isMatched).flatMap((line) => putIn(line, emptied))
  return [...once(removed), ...placed, ...lines.flatMap((line) => confirmed(line, placed))]
}

function takenOut(line: Line, lines: readonly Line[], whereIs: WhereIs): Correction[] {
  const { slotId, found, occupant, standing } = line
  const take = (pallet: Pallet, from: number, atMs?: number): Correction => ({
    type: 'REMOVED',
    slotId: from,
    pallet,
    scanOf: slotId,
    ...(atMs !== undefined && { atMs }),
  })
  const isFoundElsewhere = ({ key }: Pallet) => lines.some((other) => other.slotId !== slotId && has(other.found, key))
  // A pallet found elsewhere is removed by the line that found it, if it has a location.
  const missing = standing.filter((pallet) => !has(found, pallet.key) && !isFoundElsewhere(pallet))
  const brought = found.flatMap((pallet) => {
    const { slotId: from } = whereIs(pallet.key)
    return from !== null && from !== slotId ? [take(pallet, from)] : []
  })
  const isGhost = occupant && !has(found, occupant.key) && !has(standing, occupant.key)
  const ghost = isGhost && found.length === 0 ? [takeGhost(occupant, slotId, whereIs, take)] : []
  return [...missing.map((pallet) => take(pallet, slotId)), ...brought, ...ghost]
}

function takeGhost(
  ghost: Pallet,
  slotId: number,
  whereIs: WhereIs,
  take: (pallet: Pallet, from: number, atMs?: number) => Correction,
): Correction {
  const { placed } = whereIs(ghost.key)
  return placed === undefined || placed.slotId === slotId ? take(ghost, slotId) : take(ghost, slotId, placed.atMs - 1)
}

/** Returns placements of pallets that were not put into this slot; one more where the slot would show nothing, or another. */
function putIn({ slotId, found, occupant, standing }: Line, emptied: ReadonlySet<number>): Correction[] {
  const place = (pallet: Pallet): Correction => ({ type: 'PLACED', slotId, pallet, scanOf: slotId })
  const brought = found.filter(({ key }) => !has(standing, key))
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
