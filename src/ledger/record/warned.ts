import type { ReadTx } from '../../database/index.ts'
import { type Identity, mayBeSame, type Person } from '../../log/index.ts'
import type { Asset, Slot } from '../../warehouse/index.ts'
import type { Placement } from '../derive/state.ts'
import { misfits } from '../judge.ts'
import type { NewPlacementEvent } from '../schema.ts'
import * as store from '../store.ts'
import type { WarningCode } from '../warnings.ts'
import type { DecidedTime } from './when.ts'

const photoToleranceMs = 15 * 60 * 1000

/** The person who did it by the client's word, and the person who vouches for it. */
export type Acting = { readonly operator: Person; readonly actor: Person }

export const isUnregistered = (asset: Asset | undefined): boolean => !asset || asset.provisional

export function misfitWarnings(request: NewPlacementEvent, slot: Slot, asset: Asset | undefined): WarningCode[] {
  if (request.event_type !== 'PLACED') return []
  const { constraints } = slot
  const weightKg = request.scale_weight_kg ?? asset?.weight_kg
  return misfits({ constraints, type: asset?.type, weightKg, heightCm: asset?.dimensions?.height })
}

/** Returns whether an asset is put into a slot that was out of use by then; taking it out again is allowed. */
export function isRetiredBy({ event_type }: NewPlacementEvent, { retiredAt }: Slot, timestampMs: number): boolean {
  return event_type === 'PLACED' && retiredAt !== null && timestampMs >= Date.parse(retiredAt)
}

export function timeWarnings(
  taken: readonly number[],
  when: DecidedTime,
  around: { laterKnown: boolean },
): WarningCode[] {
  const warnings: WarningCode[] = []
  if (when.isLate || around.laterKnown) warnings.push('LATE_EVENT')
  if (when.isAhead) warnings.push('CLOCK_AHEAD')
  if (taken.some((takenMs) => Math.abs(takenMs - when.timestampMs) > photoToleranceMs))
    warnings.push('PHOTO_TIME_MISMATCH')
  return warnings
}

export function madeBy(tx: ReadTx, placement: Placement | undefined, { operator, actor }: Acting): boolean {
  const placers: readonly Identity[] = placement ? store.placersOf(tx, placement.id) : []
  return placers.some((placer) => mayBeSame(placer, operator) || mayBeSame(placer, actor))
}
