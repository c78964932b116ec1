import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { UnitOfWork } from '../../database/index.ts'
import { makeFolder } from '../../platform/index.ts'
import {
  copyOf,
  countOpenSegments,
  type DavFolderAccess,
  forgetUploadedSegments,
  type UploadQueue,
} from '../../upload/index.ts'
import { segmentsFolder } from './state.ts'
import type { WrittenFile } from './write.ts'

export type SegmentUploadsNeeds = {
  readonly work: UnitOfWork
  readonly queue: Pick<UploadQueue, 'enqueue'>
  readonly dataDir: string
  /** Asks the server for the way to the folder of the uploads. Rejects in words. */
  readonly access: () => Promise<DavFolderAccess>
}

/** Rows of segments that were uploaded stay as long. */
const rowsStayMs = 7 * 24 * 3_600_000

/** The way of segments to the storage server: they wait in a folder of the data folder, in the queue of the room upload. */
export class SegmentUploads {
  readonly #needs: SegmentUploadsNeeds

  constructor(needs: SegmentUploadsNeeds) {
    this.#needs = needs
  }

  /** The folder under which segments are written; it is there when the promise resolves. */
  async folder(): Promise<string> {
    await makeFolder(this.#folder, 0o700)
    return this.#folder
  }

  /** Queues files. Files of a continued series go before clips; the first ones of a new series are large. */
  async put(files: readonly WrittenFile[], isNewSeries: boolean): Promise<void> {
    const { work, queue, dataDir } = this.#needs
    const below = relative(dataDir, this.#folder)
    await work.write((tx) => {
      for (const { kind, path, sha256, sizeBytes } of files) {
        queue.enqueue(tx, { kind, ref: path, path, file: join(below, path), sha256, sizeBytes, urgent: !isNewSeries })
      }
    })
  }

  /** Removes the files that are on the server, and those that were never queued. Returns how many wait. */
  async sweep(nowMs: number): Promise<number> {
    const { work } = this.#needs
    for (const path of await filesBelow(this.#folder)) {
      const kind = path.endsWith('.seg') ? 'segment' : 'snapshot'
      const status = work.read((tx) => copyOf(tx, kind, path)?.status)
      if (status === undefined || status === 'uploaded') await rm(join(this.#folder, path), { force: true })
    }
    await work.write((tx) => forgetUploadedSegments(tx, nowMs - rowsStayMs))
    return work.read(countOpenSegments)
  }

  /** Asks the server for the way to the folder of the uploads, to list, read and remove there. Rejects in words. */
  access(): Promise<DavFolderAccess> {
    return this.#needs.access()
  }

  get #folder(): string {
    return join(segmentsFolder(this.#needs.dataDir), 'out')
  }
}

async function filesBelow(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return []
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}
