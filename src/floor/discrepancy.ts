import type { OpenDispute } from '../ledger/index.ts'
import type { Slot } from '../warehouse/index.ts'

/**
 * Kinds of contradictions, and the remedy of each for a floor lead. The list is closed: a new kind is a new line here and in this
 * room's README.
 */
export const discrepancyTexts = {
  asset_in_two_slots: {
    what: 'the slot shows a pallet that was placed in another one since, without having been taken out',
    todo:
      'Check in which of the two it is. Not in this one: record its removal, at a time before the newer placement. ' +
      'Not in the other one: correct that placement.',
  },
  removed_elsewhere: {
    what: 'the slot shows a pallet that was taken out of another slot',
    todo:
      'Check whether it is there. If not, record its removal here. If it is and was placed here last, correct the ' +
      'removal there; if it was placed elsewhere since, place it here again.',
  },
  two_in_one_slot: {
    what: 'a pallet was placed in a slot that holds another one, so that the first one is in no slot',
    todo:
      'Check which of the two is there. Record where the other one is: its new placement, or its removal at a time ' +
      'before the newer placement. Or correct that placement.',
  },
  left_behind: {
    what: 'the slot was emptied by taking another pallet than the one that was there',
    todo: 'Check which pallet is there; record its placement, or correct the removal.',
  },
  removed_not_there: {
    what: 'a pallet was taken out of a slot in which it was not',
    todo: 'Find out where it came from; record its placement late, or correct the removal.',
  },
  disputed: {
    what: 'a supervisor disputes the placement',
    todo: 'Look where the pallet is, and record that. Then a supervisor verifies the pallet, or resolves the dispute with a note.',
  },
  verified_mismatch: {
    what: 'a supervisor judged another pallet in the slot than the one that was placed there',
    todo: 'Check which pallet is there; correct the placement, or the judgement.',
  },
  judged_while_empty: {
    what: 'a supervisor judged a pallet in a slot that is empty',
    todo: 'Check which pallet is there; record its placement, or correct the judgement.',
  },
  unregistered_asset: {
    what: 'no one has registered the pallet in the slot, and this site registers its assets',
    todo: 'Register it with its type and weight, or correct the barcode.',
  },
  type_not_allowed: {
    what: 'this type of asset is not allowed in the slot',
    todo: 'Move it, or change the constraints of the slot.',
  },
  overweight: {
    what: 'the pallet is heavier than the slot may carry',
    todo: 'Move it at once, or change the constraints of the slot.',
  },
  overheight: {
    what: 'the pallet is higher than the slot allows',
    todo: 'Move it, or change the constraints of the slot.',
  },
  count_difference: {
    what: 'a count found something else in the slot than the ledger says',
    todo: 'Have it counted again, or approve the count: that sets the ledger right.',
  },
  scan_mismatch: {
    what: 'the pallet was placed with a scan of another slot or of another pallet',
    todo: 'Check which pallet is there; verify the placement, or correct it.',
  },
  photo_reused: {
    what: 'the photo of the placement proves another placement already',
    todo: 'Check which pallet is there; verify the placement, or correct it with another photo.',
  },
  retired_slot_occupied: {
    what: 'the slot is retired, and something is in it',
    todo: 'Move it, or take the slot into use again.',
  },
} as const satisfies Record<string, { what: string; todo: string }>

export type DiscrepancyKind = keyof typeof discrepancyTexts
export const discrepancyKinds = Object.keys(discrepancyTexts) as [DiscrepancyKind, ...DiscrepancyKind[]]

/** The fields of an event that a contradiction needs. */
type Fact = {
  readonly id: number
  readonly timestamp_ms: number
  readonly slot_id: number
  readonly asset_barcode: string
  readonly asset_key: string
}
export type MoveFact = Fact & { readonly event_type: 'PLACED' | 'REMOVED' }
type AssetMoveFact = Omit<MoveFact, 'asset_barcode'>
export type JudgementFact = Omit<Fact, 'slot_id'> & { readonly event_type: 'VERIFIED' | 'DISPUTED' }

/** Events around one slot. */
export type AroundSlot = {
  readonly newest: MoveFact | undefined
  /** The slot's move before the newest. */
  readonly before: MoveFact | undefined
  /** The newest move of that asset. */
  readonly ofAsset: AssetMoveFact | undefined
  /** The newest placement of that asset, where the slot shows it, and the event that ended the stay from it. */
  readonly placedLast: AssetMoveFact | undefined
  readonly endOfStay: AssetMoveFact | undefined
  /** Judgements after the newest move, newest first. */
  readonly judged: readonly JudgementFact[]
  /** Disputes that no supervisor has ended, whatever was booked since. */
  readonly disputes: readonly OpenDispute[]
}

export type Contradiction = {
  readonly kind: DiscrepancyKind
  readonly slotId: number
  readonly sinceMs: number
  /** Events that prove it, in the order of the ledger. */
  readonly eventIds: readonly number[]
  readonly assetBarcode: string | null
  readonly otherSlotId: number | null
  readonly otherAssetBarcode: string | null
  /** For `removed_elsewhere`: the newest placement of the asset is here, so its location is this slot. */
  readonly lastPlacedHere: boolean | null
}

/** Returns the contradictions of one slot, by the ledger alone. Pure. */
export function contradictionsOfSlot(slotId: number, around: AroundSlot): Contradiction[] {
  const { newest } = around
  const disputed = around.disputes.map((one) => contradictionOfDispute(slotId, one))
  if (newest?.event_type === 'PLACED') return [...ofOccupied(slotId, newest, around), ...disputed]
  const judged = around.judged.find(({ id }) => !around.disputes.some(({ dispute }) => dispute.id === id))
  return [
    ...disputed,
    ...(newest ? ofEmptied(slotId, newest, around) : []),
    ...(judged ? [contradiction('judged_while_empty', slotId, judged, newest ? [newest, judged] : [judged])] : []),
  ]
}

/** Returns the contradiction of a dispute. Pure. */
export function contradictionOfDispute(
  slotId: number,
  { placed, dispute }: { placed: { id: number }; dispute: Pick<Fact, 'id' | 'timestamp_ms' | 'asset_barcode'> },
): Contradiction {
  return contradiction('disputed', slotId, dispute, [placed, dispute])
}

function ofOccupied(slotId: number, placed: MoveFact, around: AroundSlot): Contradiction[] {
  const { judged } = around
  const found: Contradiction[] = shownThough(slotId, placed, around)
  const newest = judged[0]
  if (newest && newest.asset_key !== placed.asset_key) {
    const one = contradiction('verified_mismatch', slotId, newest, [placed, newest])
    found.push({ ...one, assetBarcode: placed.asset_barcode, otherAssetBarcode: newest.asset_barcode })
  }
  return found
}

/**
 * Returns contradictions against the asset that a slot shows. Its newest placement is in another slot, or a removal was booked in
 * another slot, which ends nothing here.
 */
function shownThough(
  slotId: number,
  placed: MoveFact,
  { ofAsset, placedLast, endOfStay }: AroundSlot,
): Contradiction[] {
  const by = (kind: DiscrepancyKind, other: AssetMoveFact, otherSlotId: number) => {
    const since = { ...other, asset_barcode: placed.asset_barcode }
    const one = contradiction(kind, slotId, since, [placed, other])
    const lastPlacedHere = kind === 'removed_elsewhere' ? placedLast?.id === placed.id : null
    return [{ ...one, otherSlotId, lastPlacedHere }]
  }
  if (placedLast && placedLast.id !== placed.id) {
    return endOfStay?.event_type === 'REMOVED'
      ? by('removed_elsewhere', endOfStay, placedLast.slot_id)
      : by('asset_in_two_slots', placedLast, placedLast.slot_id)
  }
  return ofAsset?.event_type === 'REMOVED' ? by('removed_elsewhere', ofAsset, ofAsset.slot_id) : []
}

/** Returns a misplaced removal while it is the last event of slot and asset; the next booking settles it. */
function ofEmptied(slotId: number, removed: MoveFact, { before, ofAsset }: AroundSlot): Contradiction[] {
  const stoodThere = before?.event_type === 'PLACED' && before.asset_key === removed.asset_key
  if (stoodThere || (ofAsset && ofAsset.id !== removed.id)) return []
  return [contradiction('removed_not_there', slotId, removed, before ? [before, removed] : [removed])]
}

/**
 * Returns the contradiction of an asset whose newest move is a placement that a move of another asset in that slot has ended.
 * Pure.
 */
export function contradictionsOfAsset(placed: MoveFact, end: MoveFact): Contradiction[] {
  const kind = end.event_type === 'PLACED' ? 'two_in_one_slot' : 'left_behind'
  const one = contradiction(kind, placed.slot_id, end, [placed, end])
  return [{ ...one, assetBarcode: placed.asset_barcode, otherAssetBarcode: end.asset_barcode }]
}

/** Returns how the asset in a slot breaks the master data, beside `faults`. Pure. */
export function misplacements(
  slot: Pick<Slot, 'id' | 'retiredAt'>,
  placed: MoveFact,
  faults: readonly DiscrepancyKind[],
): Contradiction[] {
  const retiredMs = slot.retiredAt === null ? undefined : Date.parse(slot.retiredAt)
  const kinds: DiscrepancyKind[] = [...faults, ...(retiredMs === undefined ? [] : (['retired_slot_occupied'] as const))]
  return kinds.map((kind) => {
    const one = contradiction(kind, slot.id, placed, [placed])
    const isRetired = kind === 'retired_slot_occupied' && retiredMs !== undefined
    return isRetired ? { ...one, sinceMs: Math.max(one.sinceMs, retiredMs) } : one
  })
}

/** Evidence of the placement in a slot. */
export type ProofFact = {
  readonly isScanMismatched: boolean
  /** Another placement that the photo already proves. */
  readonly photoOf: Omit<Fact, 'timestamp_ms' | 'asset_key'> | undefined
}

/** Returns what is wrong with the evidence of a placement, until a supervisor verifies it. Pure. */
export function doubtsOf(
  slotId: number,
  placed: MoveFact,
  judged: readonly JudgementFact[],
  { isScanMismatched, photoOf }: ProofFact,
): Contradiction[] {
  if (judged.find((one) => one.asset_key === placed.asset_key)?.event_type === 'VERIFIED') return []
  const reused = photoOf && {
    ...contradiction('photo_reused', slotId, placed, [photoOf, placed]),
    otherSlotId: photoOf.slot_id,
    otherAssetBarcode: photoOf.asset_barcode,
  }
  return [
    ...(isScanMismatched ? [contradiction('scan_mismatch', slotId, placed, [placed])] : []),
    ...(reused ? [reused] : []),
  ]
}

function contradiction(
  kind: DiscrepancyKind,
  slotId: number,
  since: { timestamp_ms: number; asset_barcode: string },
  proof: readonly { id: number }[],
): Contradiction {
  return {
    kind,
    slotId,
    sinceMs: since.timestamp_ms,
    eventIds: proof.map((event) => event.id),
    assetBarcode: since.asset_barcode,
    otherSlotId: null,
    otherAssetBarcode: null,
    lastPlacedHere: null,
  }
}
