import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault } from '../errors/index.ts'
import { type Clock, PartFile } from '../platform/index.ts'

const retryMs = 5000

/** Notes that the disk refuses photos. It then writes a small file every 5 s, so that the alert ends without a photo. */
export class PhotoDisk {
  readonly #folder: string
  readonly #clock: Pick<Clock, 'after'>
  readonly #isClosed: () => boolean
  #fault: string | undefined
  #isWaiting = false

  /** @param isClosed the gateway stops: nothing may be written any more */
  constructor(folder: string, clock: Pick<Clock, 'after'>, isClosed: () => boolean) {
    this.#folder = folder
    this.#clock = clock
    this.#isClosed = isClosed
  }

  /** Errno of the last refusal, such as EROFS; undefined while photos can be stored. */
  get fault(): string | undefined {
    return this.#fault
  }

  /** A new photo was stored. */
  stored(): void {
    this.#fault = undefined
  }

  /** Runs the storing of a photo. Throws its AppError; a refusal by the disk is STORAGE_FULL or NOT_READY. */
  async notes<Result>(sha256: string, store: () => Promise<Result>): Promise<Result> {
    try {
      return await store()
    } catch (error) {
      const refusal = diskFault(error, 'The photo cannot be read or written; nothing was stored')
      // Without a cause it is the reserve of the ledger, which the disk's own trouble states.
      if (refusal.status === 503 && refusal.cause !== undefined) {
        this.#fault = refusal.details
        this.#retryLater(sha256.slice(0, 2))
      }
      throw refusal
    }
  }

  #retryLater(place: string): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#clock.after(retryMs, () => {
      if (this.#isClosed()) return
      void this.#write(place).then(
        () => {
          this.#isWaiting = false
          this.stored()
        },
        () => {
          this.#isWaiting = false
          this.#retryLater(place)
        },
      )
    })
  }

  /** Takes all steps of a photo: a part, its name in the folder of the refused photo, and reading it. */
  async #write(place: string): Promise<void> {
    const path = join(this.#folder, place, 'upload-retry.part')
    const part = await PartFile.begin(join(this.#folder, 'upload-retry.part'), 0o640)
    try {
      await part.write(Buffer.from('retry'))
      await part.keepAs(path)
      await readFile(path)
    } finally {
      await part.discard()
    }
    await rm(path)
  }
}
