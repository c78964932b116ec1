import { createHash } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DiskRoom } from '../database/index.ts'
import { AppError, diskFault } from '../errors/index.ts'
import { PartFile } from '../platform/index.ts'
import { beginsAsPicture, signatureBytes } from './picture.ts'

/** The bytes of a photo in the order in which they come. */
export type Parts = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

type Room = Pick<DiskRoom, 'demand'>

const partName = /^upload-.*\.part$/
let uploads = 0

export const notAPicture = () => new AppError('UNSUPPORTED_MEDIA_TYPE', 'A photo is a JPEG, PNG or WebP file')

const notWritten = (error: unknown) => diskFault(error, 'The photo cannot be written; nothing was stored')

/**
 * A photo on its way in. Its bytes go to a file `upload-….part` as they come, and are counted and hashed on the way; none
 * stays in memory. Without room for them they are still hashed: the gateway may hold the photo already.
 */
export class PhotoUpload {
  readonly #folder: string
  readonly #room: Room
  readonly #hash = createHash('sha256')
  #size = 0
  #head = Buffer.alloc(0)
  #part: PartFile | undefined
  #refusal: AppError | undefined
  #sha256 = ''

  private constructor(folder: string, room: Room) {
    this.#folder = folder
    this.#room = room
  }

  /**
   * Takes all parts. A file that does not begin as a picture is refused at its first bytes. Throws UNSUPPORTED_MEDIA_TYPE, and the
   * errors of the parts; nothing is left of the file then.
   */
  static async receive(parts: Parts, folder: string, room: Room): Promise<PhotoUpload> {
    const upload = new PhotoUpload(folder, room)
    try {
      for await (const bytes of parts) await upload.#take(bytes)
      if (!beginsAsPicture(upload.#head)) throw notAPicture()
      upload.#sha256 = upload.#hash.digest('hex')
      return upload
    } catch (error) {
      await upload.discard()
      throw error
    }
  }

  get sha256(): string {
    return this.#sha256
  }

  get sizeBytes(): number {
    return this.#size
  }

  /** Returns the file with the bytes. Throws STORAGE_FULL when there was no room for it. */
  file(): string {
    return this.#whole().path
  }

  /** Gives the file its name, durably. Throws STORAGE_FULL. */
  async keepAs(path: string): Promise<void> {
    const part = this.#whole()
    try {
      await part.keepAs(path)
    } catch (error) {
      throw notWritten(error)
    }
  }

  /** Removes what was not kept. */
  async discard(): Promise<void> {
    await this.#part?.discard()
  }

  #whole(): PartFile {
    if (this.#part && !this.#refusal) return this.#part
    throw this.#refusal ?? new AppError('STORAGE_FULL', 'The photo has no file', { retryAfterSeconds: 30 })
  }

  async #take(bytes: Uint8Array): Promise<void> {
    if (this.#head.length < signatureBytes) {
      this.#head = Buffer.concat([this.#head, bytes.subarray(0, signatureBytes - this.#head.length)])
      if (this.#head.length === signatureBytes && !beginsAsPicture(this.#head)) throw notAPicture()
    }
    this.#size += bytes.length
    this.#hash.update(bytes)
    if (!this.#refusal) await this.#write(bytes)
  }

  async #write(bytes: Uint8Array): Promise<void> {
    try {
      this.#room.demand(bytes.length, 'the photo')
      this.#part ??= await PartFile.begin(join(this.#folder, `upload-${process.pid}-${uploads++}.part`), 0o640)
      await this.#part.write(bytes)
    } catch (error) {
      this.#refusal = notWritten(error)
      await this.#part?.discard()
    }
  }
}

/** Removes what uploads left behind that a crash ended. For the start: no upload is under way. */
export function clearUploads(folder: string): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) if (partName.test(name)) rmSync(join(folder, name), { force: true })
}
