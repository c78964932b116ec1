import { type ConfiguredCameras, type Detections, filmsAround, namesOfClipsToCome } from '../cameras/index.ts'
import type { ReadTx } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type Caller, numericPath } from '../http/index.ts'
import { eventsOfAsset, findEvent } from '../ledger/index.ts'
import { clipToCome, findMedia } from '../log/index.ts'
import type { Photos } from '../photos/index.ts'
import { redactedFilesOf } from '../privacy/index.ts'
import type { AssetService, WarehouseService } from '../warehouse/index.ts'

/** Types of things that an incident can refer to, by the API's names. */
export const referenceTypes = [
  'event',
  'detection_event',
  'photo',
  'asset',
  'slot',
  'zone',
  'warehouse',
  'camera',
  'transport_unit',
] as const
export type ReferenceType = (typeof referenceTypes)[number]

/** A reference as the client sent it; a plain text has no type. */
export type Claimed = { readonly type: string | undefined; readonly id: string }

export type Resolved = {
  readonly type: ReferenceType
  /** Its id in the API. */
  readonly id: string
  readonly warehouseId: number | undefined
  /** Files that must stay on disk: hashes, and names of clips that are still being recorded or to come. */
  readonly media: readonly string[]
}

/** Finds a thing of a room that this one does not import; undefined also for hidden things. */
export type FindElsewhere = (
  tx: ReadTx,
  id: string,
  caller: Caller,
) => { readonly warehouseId: number | undefined; readonly photos: readonly string[] } | undefined

export type ReferencesOptions = {
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly cameras: ConfiguredCameras
  readonly detections: Detections
  readonly photos: Photos
  readonly siteUrl: () => string
  readonly transportUnit?: FindElsewhere | undefined
}

const textForm = /^([a-z_]+):(.+)$/s
const hashForm = /^[0-9a-fA-F]{64}$/

/** Finds what an incident refers to. */
export class References {
  readonly #needs: ReferencesOptions

  constructor(options: ReferencesOptions) {
    this.#needs = options
  }

  /**
   * Returns the thing if it exists and the caller may see it; otherwise undefined, without saying which. Texts are
   * understood too: `event:12`, a photo's hash, and this gateway's addresses of photos, events, clips and snapshots.
   */
  find(tx: ReadTx, claimed: Claimed, caller: Caller): Resolved | undefined {
    const { type, id } = claimed.type === undefined ? this.#read(claimed.id) : { type: claimed.type, id: claimed.id }
    switch (type as ReferenceType) {
      case 'event':
        return this.#event(tx, id, caller)
      case 'detection_event':
        return this.#detection(tx, id, caller)
      case 'photo':
        return this.#photo(tx, id, caller)
      case 'asset':
        return this.#asset(tx, id, caller)
      case 'slot':
        return this.#slot(tx, id, caller)
      case 'zone':
        return this.#zone(tx, id, caller)
      case 'warehouse':
        return this.#warehouse(tx, id, caller)
      case 'camera':
        return this.#camera(tx, id, caller)
      case 'transport_unit':
        return this.#transportUnit(tx, id, caller)
      default:
        return undefined
    }
  }

  /**
   * Returns all references, as `type:id`, that are about an asset: itself, its newest events that the caller may see, and their photos.
   * None for an asset that the caller may not see.
   */
  ofAsset(tx: ReadTx, barcode: string, caller: Caller): string[] {
    const { assets, warehouse } = this.#needs
    const keys = assets.keysOf(tx, barcode)
    const own = keys.flatMap((key) => assets.visible(tx, key, caller) ?? [])
    const slots = new Map<number, boolean>()
    const isSeen = (slotId: number) => {
      const known = slots.get(slotId) ?? warehouse.visibleSlot(tx, slotId, caller) !== undefined
      slots.set(slotId, known)
      return known
    }
    const events = keys.flatMap((key) => eventsOfAsset(tx, key)).filter(({ slot_id }) => isSeen(slot_id))
    const photos = new Set(events.flatMap(({ photo_sha256 }) => photo_sha256 ?? []))
    return [
      ...own.map(({ asset_id }) => `asset:${asset_id}`),
      ...events.map(({ id }) => `event:${id}`),
      ...[...photos].map((sha256) => `photo:${sha256}`),
    ]
  }

  #read(text: string): Claimed {
    const address = this.#ownPath(text)
    const detection = address?.match(/^\/api\/iot\/detection-events\/(\d+)(?:\/(?:clip|snapshot))?$/)?.[1]
    if (detection !== undefined) return { type: 'detection_event', id: detection }
    const event = address?.match(/^\/api\/whms\/events\/(\d+)$/)?.[1]
    if (event !== undefined) return { type: 'event', id: event }
    const photo = this.#needs.photos.hashOf(text) ?? (hashForm.test(text) ? text : undefined)
    if (photo !== undefined) return { type: 'photo', id: photo }
    const [, type, id = ''] = textForm.exec(text) ?? []
    return { type, id }
  }

  #ownPath(text: string): string | undefined {
    const siteUrl = this.#needs.siteUrl().replace(/\/+$/, '')
    if (text.startsWith('/api/')) return text
    return text.startsWith(`${siteUrl}/`) ? text.slice(siteUrl.length) : undefined
  }

  #event(tx: ReadTx, id: string, caller: Caller): Resolved | undefined {
    const number = numericPath(id)
    const row = number === undefined ? undefined : findEvent(tx, number)
    const slot = row && this.#needs.warehouse.visibleSlot(tx, row.slot_id, caller)
    if (!slot) return undefined
    const photos = [row.photo_sha256].filter((sha256) => sha256 !== null && findMedia(tx, sha256) !== undefined)
    const clip = row.cctv_clip_url === null ? undefined : this.#read(row.cctv_clip_url)
    const footage = clip?.type === 'detection_event' ? this.#detection(tx, clip.id, caller) : undefined
    // Films of all cameras: an incident holds them also for somebody who may not see the camera.
    const moment = { slotCode: row.slot_code, timestampMs: row.timestamp_ms, clipUrl: null }
    const films = filmsAround(tx, this.#needs.cameras.site, moment)
    const media = [...(photos as string[]), ...(footage?.media ?? []), ...films]
    return { type: 'event', id, warehouseId: slot.warehouseId, media }
  }

  #detection(tx: ReadTx, id: string, caller: Caller): Resolved | undefined {
    const number = numericPath(id)
    const evidence = number === undefined ? undefined : this.#needs.detections.evidenceOf(tx, number, caller)
    if (number === undefined || !evidence) return undefined
    const copies = redactedFilesOf(tx, number).map(({ sha256 }) => sha256)
    const media = evidence.isClosed ? [...evidence.files, ...copies] : [clipToCome(number)]
    return { type: 'detection_event', id, warehouseId: evidence.warehouseId, media }
  }

  #photo(tx: ReadTx, id: string, caller: Caller): Resolved | undefined {
    const sha256 = this.#needs.photos.hashOf(id) ?? id.toLowerCase()
    if (!hashForm.test(sha256) || !this.#needs.photos.isHeldFor(tx, sha256, caller)) return undefined
    return { type: 'photo', id: sha256, warehouseId: undefined, media: [sha256] }
  }

  #asset(tx: ReadTx, id: string, caller: Caller): Resolved | undefined {
    const { assets } = this.#needs
    const asset = assets.visible(tx, assets.readBarcode(tx, id).key, caller)
    return asset && { type: 'asset', id: asset.asset_id, warehouseId: undefined, media: [] }
  }

  #slot(tx: ReadTx, id: string, caller: Caller): Resolved | undefined {
    const slot = found(() => this.#needs.warehouse.slotByPath(tx, id, false, caller))
    return slot && { type: 'slot', id: String(slot.id), warehouseId: slot.warehouseId, media: [] }
  }

  #zone(tx: ReadTx, id: string, caller: Caller): Resolved | undefined {
    const zone = found(() => this.#needs.warehouse.zone(tx, numericPath(id), caller))
    return zone && { type: 'zone', id, warehouseId: zone.warehouseId, media: [] }
  }

  #warehouse(tx: ReadTx, id: string, caller: Caller): Resolved | undefined {
    const warehouse = found(() => this.#needs.warehouse.warehouse(tx, numericPath(id), caller))
    return warehouse && { type: 'warehouse', id, warehouseId: warehouse.id, media: [] }
  }

  /** For a camera it holds the clip under way, and every clip of motion until it is resolved. */
  #camera(tx: ReadTx, id: string, caller: Caller): Resolved | undefined {
    const number = numericPath(id)
    const { cameras } = this.#needs
    if (number === undefined || !cameras.isVisible(number, caller)) return undefined
    return { type: 'camera', id, warehouseId: cameras.warehouseOf(number), media: namesOfClipsToCome(tx, number) }
  }

  #transportUnit(tx: ReadTx, id: string, caller: Caller): Resolved | undefined {
    const unit = this.#needs.transportUnit?.(tx, id, caller)
    if (!unit) return undefined
    const media = unit.photos.filter((sha256) => findMedia(tx, sha256) !== undefined)
    return { type: 'transport_unit', id, warehouseId: unit.warehouseId, media }
  }
}

/** Returns what `get` finds; undefined when it throws NOT_FOUND. */
function found<T>(get: () => T): T | undefined {
  try {
    return get()
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}
