import { webcrypto } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { FileAnswer, RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { addMedia, findMedia, type Media, type Openings } from '../log/index.ts'
import { type Clock, writeFileDurablyAside } from '../world/index.ts'
import { extensionOf, readPicture } from './picture.ts'
import type { StoredPhoto } from './schema.ts'

export const photoLimitBytes = 12 * 1024 * 1024
export const photosPath = '/api/whms/evidence/photos'

/** Where a photo's bytes are: named by their hash, spread over 256 folders. */
export function photoFile(dataDir: string, photo: { sha256: string; mediaType: string }): string {
  return join(dataDir, 'photos', photo.sha256.slice(0, 2), `${photo.sha256}.${extensionOf(photo.mediaType)}`)
}

/** Photo evidence that the gateway itself holds: files named by their hash under `photos/`, one media row each. */
export class Photos {
  readonly #work: UnitOfWork
  readonly #clock: Pick<Clock, 'now'>
  readonly #openings: Openings
  readonly #audit: AuditTrail
  readonly #dataDir: string
  readonly #siteUrl: () => string

  constructor(options: {
    work: UnitOfWork
    clock: Pick<Clock, 'now'>
    openings: Openings
    audit: AuditTrail
    dataDir: string
    siteUrl: () => string
  }) {
    this.#work = options.work
    this.#clock = options.clock
    this.#openings = options.openings
    this.#audit = options.audit
    this.#dataDir = options.dataDir
    this.#siteUrl = options.siteUrl
  }

  /** Keeps a photo: the file, then its row. Throws UNSUPPORTED_MEDIA_TYPE, STORAGE_FULL. */
  async store(bytes: Buffer, by: RequestOrigin): Promise<StoredPhoto> {
    const media = await this.keepFile(bytes)
    return this.#work.write((tx) => this.note(tx, media, by))
  }

  /**
   * The first half: the file, on disk before its row is. A row without a file would be lost evidence, a file without a
   * row is only waste. What is there already is not written again. Throws UNSUPPORTED_MEDIA_TYPE, STORAGE_FULL.
   */
  async keepFile(bytes: Buffer): Promise<Media> {
    const type = readPicture(bytes)
    if (!type) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'A photo is a JPEG, PNG or WebP file')
    if ('damaged' in type) {
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The photo is not whole', {
        details: `it begins as ${type.damaged}, and the rest does not fit or is missing`,
      })
    }
    const hash = Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex')
    const known = this.#work.read((tx) => findMedia(tx, hash))
    const media: Media = known ?? {
      sha256: hash,
      kind: 'photo',
      mediaType: type.mediaType,
      sizeBytes: bytes.length,
      receivedAtMs: this.#clock.now(),
    }
    const file = photoFile(this.#dataDir, media)
    if (!known || !existsSync(file)) await writePhoto(file, bytes)
    return media
  }

  /** The second half: the row, and who brought it. The same bytes again change nothing. */
  note(tx: Tx, media: Media, by: RequestOrigin): StoredPhoto {
    const { sha256, mediaType, sizeBytes } = media
    if (addMedia(tx, media, this.#openings.person(tx, by.caller.username))) {
      this.#audit.write(tx, by, { action: 'photo.stored', entity: 'photo', entityId: sha256 })
    }
    return { success: true, sha256, url: this.urlOf(sha256), mediaType, sizeBytes }
  }

  urlOf(hash: string): string {
    return `${this.#siteUrl().replace(/\/+$/, '')}${photosPath}/${hash}`
  }

  /** The hash that an address of this gateway's own photos names; undefined for any other address. */
  hashOf(url: string): string | undefined {
    const hash = url.split('/').at(-1) ?? ''
    return /^[0-9a-f]{64}$/.test(hash) && url === this.urlOf(hash) ? hash : undefined
  }

  isHeld(tx: ReadTx, hash: string): boolean {
    return findMedia(tx, hash)?.kind === 'photo'
  }

  /** The file of a photo. Throws NOT_FOUND. */
  file(hash: string): FileAnswer {
    const media = /^[0-9a-f]{64}$/.test(hash) ? this.#work.read((tx) => findMedia(tx, hash)) : undefined
    if (media?.kind !== 'photo') throw AppError.notFound('Photo')
    const { sha256, mediaType, sizeBytes } = media
    return { path: photoFile(this.#dataDir, media), sha256, mediaType, sizeBytes }
  }
}

async function writePhoto(file: string, bytes: Buffer): Promise<void> {
  try {
    await writeFileDurablyAside(file, bytes, 0o640)
  } catch (error) {
    throw new AppError('STORAGE_FULL', 'The photo can not be written; nothing was stored', {
      cause: error,
      retryAfterSeconds: 30,
    })
  }
}
