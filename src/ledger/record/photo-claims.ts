import type { ReadTx } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Caller } from '../../http/index.ts'
import { type Photos, takenAtMs } from '../../photos/index.ts'
import type { Slot, WarehouseService } from '../../warehouse/index.ts'
import { otherProof } from '../derive/photo-reuse.ts'
import type { Moved } from '../judge.ts'
import type { NewPlacementEvent } from '../schema.ts'

/** Photo that an event names, and whether the gateway has it. */
export type PhotoClaim = { readonly sha256: string | null; readonly evidence: 'held' | 'claimed' | null }

type PhotoClaimsNeeds = {
  readonly photos: Pick<Photos, 'hashOf' | 'isHeldFor' | 'timeOf'>
  readonly warehouse: Pick<WarehouseService, 'timezoneOf'>
}

/** Finds out what the photo of a new event is worth. */
export class PhotoClaims {
  readonly #needs: PhotoClaimsNeeds

  constructor(needs: PhotoClaimsNeeds) {
    this.#needs = needs
  }

  /**
   * Returns the event's claim about its photo. `hasGrounds`: it has other grounds. Throws EVIDENCE_REQUIRED where a placement has
   * neither, VALIDATION_ERROR when hash and address name two photos.
   */
  of(tx: ReadTx, request: NewPlacementEvent, hasGrounds: boolean, caller: Caller): PhotoClaim {
    if (request.event_type === 'PLACED' && request.photo_url === undefined && !hasGrounds) {
      throw new AppError('EVIDENCE_REQUIRED', 'A placement needs a photo', {
        fields: [{ path: 'photo_url', message: 'required' }],
      })
    }
    if (request.photo_url === undefined && request.photo_sha256 === undefined) return { sha256: null, evidence: null }
    const own = request.photo_url === undefined ? undefined : this.#needs.photos.hashOf(request.photo_url)
    if (own && request.photo_sha256 !== undefined && request.photo_sha256 !== own) {
      throw AppError.field('photo_sha256', 'is not the hash of the photo at photo_url')
    }
    const hash = own ?? request.photo_sha256 ?? null
    return {
      sha256: hash,
      evidence: hash !== null && this.#needs.photos.isHeldFor(tx, hash, caller) ? 'held' : 'claimed',
    }
  }

  /** Returns the times of the photo: the client's, and the one in the photo. The first one is stored in the row. */
  takenAt(tx: ReadTx, request: NewPlacementEvent, photo: PhotoClaim, slot: Slot, nearMs: number): number[] {
    const said = request.photo_taken_at
    const isHeld = photo.sha256 !== null && photo.evidence === 'held'
    const own = isHeld ? this.#needs.photos.timeOf(tx, photo.sha256 ?? '') : undefined
    const byPhoto = own && takenAtMs(own, this.#needs.warehouse.timezoneOf(tx, slot.warehouseId), nearMs)
    return [said, byPhoto].filter((ms) => ms !== undefined)
  }
}

/** Returns whether the photo proves another placement already; a placement hidden from the caller is not mentioned. */
export function isPhotoReused(
  tx: ReadTx,
  request: NewPlacementEvent,
  photo: PhotoClaim,
  moved: Moved & { readonly id: number },
  isSeen: (slotId: number) => boolean,
): boolean {
  const shown = {
    id: moved.id,
    event_type: request.event_type,
    slot_id: moved.slotId,
    asset_key: moved.assetKey,
    timestamp_ms: moved.timestampMs,
    photo_url: request.photo_url ?? null,
    photo_sha256: photo.sha256,
    corrects_event_id: request.corrects_event_id ?? null,
  }
  return otherProof(tx, shown, isSeen) !== undefined
}
