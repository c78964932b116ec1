import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { ByteRate } from '../auth/index.ts'
import type { DiskRoom, ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import { AppError, diskFault } from '../errors/index.ts'
import type { Caller, FileAnswer, IdempotencyClaim, Reply, RequestOrigin } from '../http/index.ts'
import type { AuditTrail, Idempotency } from '../journal/index.ts'
import {
  addMedia,
  findMedia,
  type Media,
  type MediaRemovalRow,
  mediaRemoval,
  type People,
  type PhotoFile,
  removalOf,
  returnMedia,
} from '../log/index.ts'
import { type Clock, isoTime } from '../platform/index.ts'
import type { Sight } from '../warehouse/index.ts'
import { FileBytes } from './file-bytes.ts'
import { PhotoDisk } from './photo-disk.ts'
import { type PhotoTime, readPhotoTime } from './photo-time.ts'
import { exifOf, extensionOf, type PictureSize, readPicture } from './picture.ts'
import type { StoredPhoto } from './schema.ts'
import { hasBrought, keepBringer, keepFacts, type PhotoFacts, photoTimeIn, type UseOf } from './store.ts'
import { notAPicture, type Parts, PhotoUpload } from './upload.ts'

export const photoLimitBytes = 12 * 1024 * 1024
/** More would only be a burden to the person who opens it: a file of a few kilobytes can unfold to gigabytes. */
const longestSidePx = 16_384
const mostPixels = 100_000_000
export const photosPath = '/api/whms/evidence/photos'

export const photosFolder = (dataDir: string) => join(dataDir, 'photos')

/** Returns the path of a photo's bytes below the data folder: named by their hash, spread over 256 folders. */
export function photoPath({ sha256, mediaType }: PhotoFile): string {
  return join('photos', sha256.slice(0, 2), `${sha256}.${extensionOf(mediaType)}`)
}

export const photoFile = (dataDir: string, photo: PhotoFile): string => join(dataDir, photoPath(photo))

/** A photo whose file is on disk, with its own facts. */
export type KeptPhoto = { readonly media: Media; readonly facts: PhotoFacts }

/** Sender of a photo. The claim gets its hash when the bytes have come. */
export type PhotoAsk = {
  readonly by: RequestOrigin
  readonly claim: Omit<IdempotencyClaim, 'requestSha256'> | undefined
}

type PhotosNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly people: People
  readonly audit: AuditTrail
  readonly idempotency: Idempotency
  readonly room: Pick<DiskRoom, 'demand'>
  /** Bytes that a user may send. */
  readonly rate: Pick<ByteRate, 'take'>
  readonly dataDir: string
  readonly sightOf: (caller: Caller) => Sight
  readonly siteUrl: () => string
  readonly useOf: UseOf
  /** Called in the transaction of a new photo's row. */
  readonly onKept: (tx: Tx, photo: Media) => void
}

/** Photo evidence that the gateway itself holds: files named by their hash under `photos/`, one media row each. */
export class Photos {
  readonly #needs: PhotosNeeds
  readonly #disk: PhotoDisk

  constructor(needs: PhotosNeeds) {
    this.#needs = needs
    this.#disk = new PhotoDisk(photosFolder(needs.dataDir), needs.clock, () => needs.work.isClosed)
  }

  /** Errno with which the disk refuses photos; undefined while it takes them. */
  get diskFault(): string | undefined {
    return this.#disk.fault
  }

  /**
   * Keeps a photo: the file, then its row. Throws UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE, RATE_LIMITED, STORAGE_FULL, and the
   * errors of the parts.
   */
  async store(parts: Parts, { by, claim }: PhotoAsk): Promise<Reply<StoredPhoto>> {
    const photo = await this.#keepFile(parts, by.caller)
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim && { ...claim, requestSha256: photo.media.sha256 }, () => {
        const body = this.#note(tx, photo, by)
        return { status: 201 as const, body, location: `${photosPath}/${body.sha256}` }
      }),
    )
  }

  /**
   * Stores the file, the first half: it is on disk before its row is. A row without a file would be lost evidence, a file without a
   * row is only waste. A photo that is on disk already is not stored again, and needs no room.
   */
  async #keepFile(parts: Parts, { username, instance }: Pick<Caller, 'username' | 'instance'>): Promise<KeptPhoto> {
    const upload = await PhotoUpload.receive(parts, photosFolder(this.#needs.dataDir), this.#needs.room)
    try {
      const { sha256, sizeBytes } = upload
      this.#needs.rate.take(`${username}@${instance}`, sizeBytes)
      const known = this.#needs.work.read((tx) => findMedia(tx, sha256))
      return await this.#disk.notes(sha256, () => this.#keepBytes(upload, known))
    } finally {
      await upload.discard()
    }
  }

  async #keepBytes(upload: PhotoUpload, known: Media | undefined): Promise<KeptPhoto> {
    const { sha256, sizeBytes } = upload
    const heldFile = known && photoFile(this.#needs.dataDir, known)
    const isHeld = heldFile !== undefined && isFile(heldFile)
    const { type, facts } = await look(isHeld ? heldFile : upload.file())
    const receivedAtMs = this.#needs.clock.now()
    const media: Media = known ?? { sha256, kind: 'photo', mediaType: type, sizeBytes, receivedAtMs }
    if (!isHeld) {
      await upload.keepAs(photoFile(this.#needs.dataDir, media))
      this.#disk.stored()
    }
    return { media, facts }
  }

  /** Stores the second half: the row, and the person who brought it. The same bytes again change only that. */
  #note(tx: Tx, { media, facts }: KeptPhoto, by: RequestOrigin): StoredPhoto {
    const { sha256, mediaType, sizeBytes } = media
    const person = this.#needs.people.ofCaller(tx, by.caller)
    if (addMedia(tx, media, { people: this.#needs.people, person })) {
      this.#needs.audit.write(tx, by, { action: 'photo.stored', entity: 'photo', entityId: sha256 })
      this.#needs.onKept(tx, media)
    }
    const removal = removalOf(tx, sha256)
    if (removal) this.#takeBack(tx, media, removal)
    keepBringer(tx, sha256, person)
    keepFacts(tx, sha256, facts)
    const { size, time } = facts
    return {
      success: true,
      sha256,
      url: this.urlOf(sha256),
      mediaType,
      sizeBytes,
      width: size?.width ?? null,
      height: size?.height ?? null,
      takenAt: time ? `${time.local}${time.offsetMinutes === null ? '' : offsetText(time.offsetMinutes)}` : null,
    }
  }

  /** Holds a removed photo again. Throws NOT_READY when its file was being unlinked while it came. */
  #takeBack(tx: Tx, media: Media, removal: MediaRemovalRow): void {
    if (!isFile(photoFile(this.#needs.dataDir, media))) {
      throw new AppError('NOT_READY', 'The photo was just being removed; send it again', { retryAfterSeconds: 1 })
    }
    returnMedia(tx, removal)
  }

  urlOf(hash: string): string {
    return `${this.#needs.siteUrl().replace(/\/+$/, '')}${photosPath}/${hash}`
  }

  /** Returns the hash that an address of this gateway's own photos names; undefined for any other address. */
  hashOf(url: string): string | undefined {
    const [, before = '', digits = ''] = url.match(/^(.*\/)([0-9a-fA-F]{64})$/s) ?? []
    const hash = digits.toLowerCase()
    return digits !== '' && before + hash === this.urlOf(hash) ? hash : undefined
  }

  /**
   * Returns whether the gateway holds the photo, as far as the caller may know. Naming the hash of a hidden photo proves nothing,
   * and must not make it the caller's own. For a caller with hidden warehouses such a photo counts as not sent.
   */
  isHeldFor(tx: ReadTx, hash: string, caller: Caller): boolean {
    if (findMedia(tx, hash)?.kind !== 'photo' || removalOf(tx, hash)) return false
    return this.#needs.sightOf(caller).hiddenWarehouses.length === 0 || this.isVisible(tx, hash, caller)
  }

  /** Returns the time in the photo itself. */
  timeOf(tx: ReadTx, hash: string): PhotoTime | undefined {
    return photoTimeIn(tx, hash)
  }

  /** Returns the file of a photo. Throws NOT_FOUND, also when the caller may not see it. */
  file(hash: string, caller: Caller): FileAnswer {
    const { media, removal } = this.#needs.work.read((tx) =>
      /^[0-9a-f]{64}$/.test(hash) && this.isVisible(tx, hash, caller)
        ? { media: findMedia(tx, hash), removal: removalOf(tx, hash) }
        : { media: undefined, removal: undefined },
    )
    if (media?.kind !== 'photo') throw AppError.notFound('Photo')
    if (removal) {
      const details = `removed from this box at ${isoTime(removal.removed_at_ms)}, after it was uploaded (${removal.policy})`
      throw new AppError('NOT_FOUND', 'The photo was removed', { details, removal: mediaRemoval(removal) })
    }
    const { sha256, mediaType, sizeBytes } = media
    return { path: photoFile(this.#needs.dataDir, media), sha256, mediaType, sizeBytes }
  }

  /**
   * Returns whether the caller may see the photo. The person who brought it may, and those who may see an event or a unit that
   * holds it. Before that, those who judge placements may too, unless a warehouse is hidden from them: the photo may have been
   * taken there.
   */
  isVisible(tx: ReadTx, hash: string, caller: Caller): boolean {
    const { hiddenWarehouses } = this.#needs.sightOf(caller)
    const { isUsed, isShown } = this.#needs.useOf(tx, hash, hiddenWarehouses)
    const judges = caller.permissions.has('events:verify') && hiddenWarehouses.length === 0
    if (isShown || (!isUsed && judges)) return true
    const person = this.#needs.people.findCaller(tx, caller)
    return person !== undefined && hasBrought(tx, hash, person)
  }
}

/** A symbolic link in its place does not count. Throws STORAGE_FULL. */
function isFile(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
  } catch (error) {
    throw diskFault(error, 'The photo cannot be read; nothing was stored')
  }
}

function refuseStrange(size: PictureSize | undefined): void {
  if (!size) return
  const { width, height } = size
  if (width === 0 || height === 0) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The photo has no pixels', { details: `${width} x ${height}` })
  }
  if (width <= longestSidePx && height <= longestSidePx && width * height <= mostPixels) return
  throw new AppError('BODY_TOO_LARGE', 'The photo has too many pixels', {
    details: `${width} x ${height}; at most ${longestSidePx} on a side and ${mostPixels} in all`,
  })
}

/** `+01:00`. */
function offsetText(minutes: number): string {
  const two = (n: number) => String(n).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`
}

/** Reads the type and the facts of a photo from its file. Throws UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE. */
async function look(path: string): Promise<{ type: string; facts: PhotoFacts }> {
  const bytes = new FileBytes(path)
  try {
    const picture = readPicture(bytes)
    if (!picture) throw notAPicture()
    if ('damaged' in picture) {
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The photo is not whole', {
        details: `it begins as ${picture.damaged}, and the rest does not fit or is missing`,
      })
    }
    const { mediaType, size } = picture
    refuseStrange(size)
    return { type: mediaType, facts: { size, time: await readPhotoTime(exifOf(bytes, mediaType)) } }
  } finally {
    bytes.close()
  }
}
