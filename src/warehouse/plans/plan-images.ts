import { createHash } from 'node:crypto'
import type { UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Caller, IdempotencyClaim, RequestOrigin } from '../../http/index.ts'
import type { AuditTrail } from '../../journal/index.ts'
import type { Clock } from '../../platform/index.ts'
import { demandVersion } from '../change.ts'
import type { WarehouseService } from '../service.ts'
import type { SingleWrites } from '../single-writes.ts'
import { bumpWarehouse } from '../store.ts'
import {
  dropPlanImage,
  findPlanImage,
  keepPlanImage,
  keepPlanImageFile,
  placeAroundSlots,
  planImageBytes,
} from './store.ts'
import { readSvg } from './svg-picture.ts'

export const planImageLimitBytes = 8 * 1024 * 1024
/** It is parsed in one go. */
const svgLimitBytes = 1024 * 1024
/** A tablet holds four bytes for each. */
const mostPixels = 24_000_000

/** The claim gets its hash from the bytes. */
type ImageAsk = {
  readonly by: RequestOrigin
  readonly claim: Omit<IdempotencyClaim, 'requestSha256'> | undefined
}

type Size = { readonly width: number; readonly height: number }

/** Returns the type of a picture by its bytes; `damaged`: they only begin like it. */
export type PictureReader = (
  bytes: Buffer,
) => { readonly mediaType: string; readonly size: Size | undefined } | { readonly damaged: string } | undefined

type Needs = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  readonly audit: AuditTrail
  readonly writes: SingleWrites
  readonly warehouse: WarehouseService
  readonly readPicture: PictureReader
}

/** The picture of a hall that its plan shows below the slots. */
export class PlanImages {
  readonly #needs: Needs

  constructor(needs: Needs) {
    this.#needs = needs
  }

  /** Stores a picture in place of the previous one. Throws NOT_FOUND, VERSION_MISMATCH, UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE. */
  store(id: number | undefined, bytes: Buffer, version: number | undefined, { by, claim }: ImageAsk) {
    const picture = this.#look(bytes)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return this.#needs.writes.change(claim && { ...claim, requestSha256: sha256 }, (tx) => {
      const { warehouse, clock, audit } = this.#needs
      const old = warehouse.warehouse(tx, id, by.caller)
      demandVersion('warehouse', old, version)
      const before = findPlanImage(tx, old.id)
      if (before?.sha256 === sha256) return old
      const place = before?.place ?? placeAroundSlots(tx, old.id, picture.widthPx / picture.heightPx)
      keepPlanImage(tx, old.id, { sha256, sizeBytes: bytes.length, ...picture, place })
      keepPlanImageFile(tx, old.id, bytes)
      bumpWarehouse(tx, old.id, clock.now())
      const changes = { sha256, mediaType: picture.mediaType, sizeBytes: bytes.length }
      audit.write(tx, by, { action: 'warehouse.plan_image_stored', entity: 'warehouse', entityId: old.id, changes })
      warehouse.tellPlanChange(old.id)
      return warehouse.warehouse(tx, old.id, by.caller)
    })
  }

  /** Removes the picture. Throws NOT_FOUND, VERSION_MISMATCH. */
  remove(id: number | undefined, version: number | undefined, { by }: Pick<ImageAsk, 'by'>): Promise<void> {
    return this.#needs.work.write((tx) => {
      const { warehouse, clock, audit } = this.#needs
      const old = warehouse.warehouse(tx, id, by.caller)
      demandVersion('warehouse', old, version)
      const before = findPlanImage(tx, old.id)
      if (!before) throw AppError.notFound('Picture')
      dropPlanImage(tx, old.id)
      bumpWarehouse(tx, old.id, clock.now())
      const changes = { sha256: before.sha256 }
      audit.write(tx, by, { action: 'warehouse.plan_image_removed', entity: 'warehouse', entityId: old.id, changes })
      warehouse.tellPlanChange(old.id)
    })
  }

  /** Returns the file with this hash. Throws NOT_FOUND, also when the plan has another by now. */
  file(id: number | undefined, sha256: string, caller: Caller): { mediaType: string; bytes: Buffer } {
    return this.#needs.work.read((tx) => {
      const warehouse = this.#needs.warehouse.warehouse(tx, id, caller)
      const image = findPlanImage(tx, warehouse.id)
      const bytes = image?.sha256 === sha256 ? planImageBytes(tx, warehouse.id) : undefined
      if (!image || !bytes) throw AppError.notFound('Picture')
      return { mediaType: image.mediaType, bytes }
    })
  }

  #look(bytes: Buffer): { mediaType: string; widthPx: number; heightPx: number } {
    const { mediaType, size } = this.#known(bytes)
    if (size.width * size.height > mostPixels)
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The picture has too many pixels', {
        details: `${size.width} × ${size.height}; at most ${mostPixels / 1e6} million. Store it smaller.`,
      })
    return { mediaType, widthPx: size.width, heightPx: size.height }
  }

  #known(bytes: Buffer): { mediaType: string; size: Size } {
    const read = this.#needs.readPicture(bytes)
    if (read && 'damaged' in read) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The picture is not whole')
    if (read?.mediaType === 'image/png' || read?.mediaType === 'image/jpeg') {
      if (read.size && read.size.width > 0 && read.size.height > 0) return { ...read, size: read.size }
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The picture does not say how large it is')
    }
    if (bytes.length > svgLimitBytes && bytes.subarray(0, 1024).includes('<'))
      throw new AppError('BODY_TOO_LARGE', `An SVG may have at most ${svgLimitBytes} bytes`)
    const svg = read ? 'is none' : readSvg(bytes)
    if (typeof svg !== 'string') return { mediaType: 'image/svg+xml', size: svg }
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'A picture of a hall is a PNG, JPEG or SVG file', {
      details: svg === 'is none' ? '' : `The SVG ${svg}`,
    })
  }
}
