import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadTx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { addMedia, findMedia, type Media, type Openings, sha256 } from '../log/index.ts'
import { type Clock, writeFileDurably } from '../world/index.ts'

export const photoLimitBytes = 12 * 1024 * 1024
export const photosPath = '/api/whms/evidence/photos'

/** What the bytes themselves say they are; a header is not believed. */
const magics: readonly { mediaType: string; extension: string; matches: (bytes: Buffer) => boolean }[] = [
  { mediaType: 'image/jpeg', extension: 'jpg', matches: (b) => b.length > 3 && b.readUIntBE(0, 3) === 0xffd8ff },
  {
    mediaType: 'image/png',
    extension: 'png',
    matches: (b) => b.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex')),
  },
  {
    mediaType: 'image/webp',
    extension: 'webp',
    matches: (b) => b.subarray(0, 4).toString('latin1') === 'RIFF' && b.subarray(8, 12).toString('latin1') === 'WEBP',
  },
]

/** Where a photo's bytes are: named by their hash, spread over 256 folders. */
export function photoFile(dataDir: string, photo: { sha256: string; mediaType: string }): string {
  const extension = magics.find((m) => m.mediaType === photo.mediaType)?.extension ?? 'bin'
  return join(dataDir, 'photos', photo.sha256.slice(0, 2), `${photo.sha256}.${extension}`)
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

  /**
   * Keeps a photo. The file is on disk before its row is: a row without a file would be lost evidence, a file without
   * a row is only waste. The same bytes again change nothing. Throws UNSUPPORTED_MEDIA_TYPE, STORAGE_FULL.
   */
  async store(bytes: Buffer, by: RequestOrigin): Promise<Media & { url: string }> {
    const type = magics.find((m) => m.matches(bytes))
    if (!type) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'A photo is a JPEG, PNG or WebP file')
    const hash = sha256(bytes).toString('hex')
    const media: Media = {
      sha256: hash,
      kind: 'photo',
      mediaType: type.mediaType,
      sizeBytes: bytes.length,
      receivedAtMs: this.#clock.now(),
    }
    writePhoto(photoFile(this.#dataDir, media), bytes)
    await this.#work.write((tx) => {
      if (!addMedia(tx, media, this.#openings.person(tx, by.caller.username))) return
      this.#audit.write(tx, by, { action: 'photo.stored', entity: 'photo', entityId: hash })
    })
    return { ...media, url: this.urlOf(hash) }
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

  /** Throws NOT_FOUND. */
  open(hash: string): { media: Media; stream: ReadableStream } {
    const media = /^[0-9a-f]{64}$/.test(hash) ? this.#work.read((tx) => findMedia(tx, hash)) : undefined
    if (media?.kind !== 'photo') throw AppError.notFound('Photo')
    return { media, stream: Readable.toWeb(createReadStream(photoFile(this.#dataDir, media))) as ReadableStream }
  }
}

function writePhoto(file: string, bytes: Buffer): void {
  try {
    writeFileDurably(file, bytes, 0o640)
  } catch (error) {
    throw new AppError('STORAGE_FULL', 'The photo can not be written; nothing was stored', {
      cause: error,
      retryAfterSeconds: 30,
    })
  }
}
