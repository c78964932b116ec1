import type { WarningCode } from './warnings.ts'

export type EventType = 'PLACED' | 'REMOVED' | 'VERIFIED' | 'DISPUTED'
export type Effect = 'applied' | 'superseded' | 'none'

/** The facts of an event that change the floor. */
export type Moved = {
  readonly eventType: EventType
  readonly slotId: number
  readonly assetKey: string
  readonly timestampMs: number
}

/** The ledger around the event's place in the order (timestamp, id): before it and after it. */
export type Surroundings = {
  /** The pallet in the slot just before the event. */
  readonly occupant: { readonly assetKey: string; readonly placedAtMs: number } | undefined
  /** Slot of the asset just before the event; undefined when it was in none. */
  readonly assetSlotId: number | undefined
  /** Whether a later PLACED or REMOVED of the slot is known. */
  readonly slotMovedLater: boolean
  /** Whether a later PLACED of the occupant is known, so that its stay here is not its newest. */
  readonly occupantPlacedLater: boolean
  /** Whether a later VERIFIED or DISPUTED of slot and asset is known. */
  readonly judgedLater: boolean
}

export type Judgement = { readonly effect: Effect; readonly warnings: readonly WarningCode[] }

/** Returns the effect of an event and its warnings. Warnings concern the time before it, the effect concerns today. Pure. */
export function judge(event: Moved, around: Surroundings): Judgement {
  const warnings = contradictions(event, around)
  const effect = effectOf(event, around)
  return { effect, warnings: effect === 'none' ? [...warnings, 'NO_EFFECT'] : warnings }
}

function contradictions(event: Moved, { occupant, assetSlotId }: Surroundings): WarningCode[] {
  const warnings: WarningCode[] = []
  const elsewhere = assetSlotId !== undefined && assetSlotId !== event.slotId
  if (event.eventType === 'PLACED') {
    if (occupant) warnings.push('SLOT_ALREADY_OCCUPIED')
    if (elsewhere) warnings.push('ASSET_ELSEWHERE')
    return warnings
  }
  if (!occupant) warnings.push('SLOT_EMPTY')
  else if (occupant.assetKey !== event.assetKey) warnings.push('ASSET_MISMATCH')
  if (event.eventType === 'REMOVED' && elsewhere) warnings.push('ASSET_ELSEWHERE')
  return warnings
}

function effectOf(event: Moved, around: Surroundings): Effect {
  const { occupant, slotMovedLater, judgedLater } = around
  switch (event.eventType) {
    case 'PLACED':
      return decides(event, around) ? 'applied' : 'superseded'
    case 'REMOVED':
      if (!occupant) return 'none'
      return decides(event, around) ? 'applied' : 'superseded'
    case 'VERIFIED':
    case 'DISPUTED':
      if (occupant?.assetKey !== event.assetKey || event.timestampMs <= occupant.placedAtMs) return 'none'
      return slotMovedLater || judgedLater ? 'superseded' : 'applied'
  }
}

/** Returns whether a move decides the slot now, or ends the newest stay of the asset that was in it. */
function decides(event: Moved, { occupant, slotMovedLater, occupantPlacedLater }: Surroundings): boolean {
  if (!slotMovedLater) return true
  const ends = occupant && (event.eventType === 'REMOVED' || occupant.assetKey !== event.assetKey)
  return ends === true && !occupantPlacedLater
}

/** Constraints of the slot, and facts of the asset that is put there. `undefined` means unknown and gives no warning. */
export type Fit = {
  readonly constraints: {
    max_weight?: number | undefined
    max_height?: number | undefined
    allowed_types?: readonly string[] | undefined
  } | null
  readonly type: string | null | undefined
  /** The scale's weight, else the asset's. */
  readonly weightKg: number | null | undefined
  readonly heightCm: number | null | undefined
}

export function misfits({ constraints, type, weightKg, heightCm }: Fit): WarningCode[] {
  const warnings: WarningCode[] = []
  if (type && constraints?.allowed_types && !constraints.allowed_types.includes(type)) warnings.push('TYPE_NOT_ALLOWED')
  if (exceeds(weightKg, constraints?.max_weight)) warnings.push('OVERWEIGHT')
  if (exceeds(heightCm, constraints?.max_height)) warnings.push('OVERHEIGHT')
  return warnings
}

function exceeds(value: number | null | undefined, limit: number | undefined): boolean {
  return typeof value === 'number' && limit !== undefined && value > limit
}
