import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, type Logger, makeFolder, ownFile } from '../../platform/index.ts'
import { type CellFile, cellFileMs, cellFileName, listCellFiles } from './cell-files.ts'
import type { CellShelf, FiledBlock } from './cell-recorder.ts'

/** How long cells are stored, and their maximum in bytes. 0 days: cells are not stored. */
export type CellLimits = { readonly days: number; readonly mostBytes: number }

type CellStoreNeeds = {
  /** Made with the first file. */
  readonly folder: string
  readonly clock: Clock
  readonly log: Logger
  /** Free bytes of the disk. Throws when the disk does not answer. */
  readonly freeBytes: () => number
}

type Known = CellFile & { bytes: number }
type Open = { readonly file: Known; readonly handle: FileHandle }

const tidyEveryMs = 60_000
/** Files that one tidying removes. */
const mostRemoved = 64
const dayMs = 24 * 3_600_000
/** Bytes that wait for a slow disk; more are not kept. */
const mostPendingBytes = 4 * 1024 * 1024
/** Cells are removed after continuous video and before clips. */
const beforeClips = 1.0625

/**
 * Keeps the cells of all cameras in files, at most so many bytes and days. It reads the names in its folder at the start and needs
 * no database. Appending never waits for the disk. Cells that it cannot take are missing, and show as not known.
 */
export class CellStore implements CellShelf {
  readonly #needs: CellStoreNeeds
  readonly #files = new Map<string, Known>()
  readonly #open = new Map<number, Open>()
  readonly #cameras = new Set<number>()
  /** Unknown at first: until the settings have come, nothing is removed. */
  #limits: CellLimits | undefined
  #minFreeBytes = 0
  /** Unknown at first: until it is, nothing is removed for its age. */
  #clockIsTrusted = false
  #bytes = 0
  #pendingBytes = 0
  #isRefused = false
  #cancelTidying = () => {}
  /** All work on the disk, in order. */
  #work: Promise<void>

  constructor(needs: CellStoreNeeds) {
    this.#needs = needs
    this.#work = this.#load().catch((err: unknown) => needs.log.error({ err }, 'stored scores could not be listed'))
    this.#tidyLater()
  }

  get isOn(): boolean {
    return this.#limits !== undefined && this.#limits.days > 0
  }

  /** Free disk space that cells leave for everything else. */
  set minFreeBytes(bytes: number) {
    this.#minFreeBytes = bytes
  }

  /** Whether the wall clock is right as far as is known. By a wrong one nothing is old. */
  set clockIsTrusted(isTrusted: boolean) {
    this.#clockIsTrusted = isTrusted
  }

  set limits(limits: CellLimits) {
    this.#limits = limits
  }

  /** Cells of a camera are kept only while it is known. */
  know(cameraId: number, isKnown: boolean): void {
    if (isKnown) this.#cameras.add(cameraId)
    else this.#cameras.delete(cameraId)
  }

  append(cameraId: number, block: FiledBlock): void {
    const { length } = block.bytes
    if (this.#pendingBytes + length > mostPendingBytes) {
      this.#refuse('the disk is slower than the cameras')
      return
    }
    this.#pendingBytes += length
    this.#then(async () => {
      try {
        await this.#write(cameraId, block)
        this.#isRefused = false
      } catch (err) {
        // A block that was written in part ends its file. The next block begins another one.
        await this.#close(cameraId).catch(() => {})
        this.#refuse('the disk refused them', err)
      } finally {
        this.#pendingBytes -= length
      }
    })
  }

  /** Resolves when all that was handed over is in the files. */
  async written(): Promise<void> {
    await this.#work
  }

  /** Ends all files. */
  async stop(): Promise<void> {
    this.#cancelTidying()
    this.#then(async () => {
      for (const cameraId of [...this.#open.keys()]) await this.#close(cameraId)
    })
    await this.#work
  }

  /** Removes the oldest files that are over age or for which the disk has no room, a bounded number each time. */
  async tidy(): Promise<void> {
    this.#then(() => this.#removeSome())
    await this.#work
  }

  #then(task: () => Promise<void>): void {
    this.#work = this.#work.then(task).catch((err: unknown) => {
      this.#needs.log.error({ err }, 'stored scores could not be kept in order')
    })
  }

  async #load(): Promise<void> {
    const { folder } = this.#needs
    for (const file of await listCellFiles(folder)) {
      const name = cellFileName(file)
      const found = await stat(join(folder, name)).catch(() => undefined)
      if (!found) continue
      this.#files.set(name, { ...file, bytes: found.size })
      this.#bytes += found.size
    }
  }

  async #write(cameraId: number, { runMs, fromMs, bytes }: FiledBlock): Promise<void> {
    if (this.#needs.freeBytes() < this.#minFreeBytes)
      throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' })
    await this.#makeRoom(bytes.length)
    const { file, handle } = await this.#fileFor(cameraId, runMs, fromMs)
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await handle.write(bytes, at)
      at += bytesWritten
      file.bytes += bytesWritten
      this.#bytes += bytesWritten
    }
  }

  async #makeRoom(bytes: number): Promise<void> {
    const mostBytes = this.#limits?.mostBytes ?? 0
    for (const file of this.#oldest()) {
      if (this.#bytes + bytes <= mostBytes) return
      await this.#remove(file)
    }
  }

  async #fileFor(cameraId: number, runMs: number, fromMs: number): Promise<Open> {
    const known = this.#open.get(cameraId)
    const hour = (ms: number) => Math.floor(ms / cellFileMs)
    if (known && known.file.runMs === runMs && hour(known.file.startMs) === hour(fromMs)) return known
    await this.#close(cameraId)
    const { folder } = this.#needs
    await makeFolder(folder, 0o750)
    const file = { cameraId, runMs, startMs: fromMs, bytes: 0 }
    const name = cellFileName(file)
    // One of the same name is of the same millisecond and is replaced.
    this.#bytes -= this.#files.get(name)?.bytes ?? 0
    const opened = { file, handle: await open(join(folder, name), ownFile.write, 0o640) }
    this.#files.set(name, file)
    this.#open.set(cameraId, opened)
    return opened
  }

  async #close(cameraId: number): Promise<void> {
    const known = this.#open.get(cameraId)
    this.#open.delete(cameraId)
    await known?.handle.close()
  }

  #refuse(why: string, err?: unknown): void {
    if (!this.#isRefused) this.#needs.log.warn({ err, why }, 'scores of cameras are not kept')
    this.#isRefused = true
  }

  #tidyLater(): void {
    this.#cancelTidying = this.#needs.clock.after(tidyEveryMs, () => {
      void this.tidy().finally(() => this.#tidyLater())
    })
  }

  async #removeSome(): Promise<void> {
    const limits = this.#limits
    if (!limits) return
    const beforeMs = this.#needs.clock.now() - limits.days * dayMs
    const isOld = ({ cameraId, startMs }: Known) =>
      !this.isOn || !this.#cameras.has(cameraId) || (this.#clockIsTrusted && startMs + cellFileMs <= beforeMs)
    const old = this.#oldest().filter(isOld).slice(0, mostRemoved)
    for (const file of old) await this.#remove(file)
    for (const file of this.#oldest().slice(0, mostRemoved - old.length)) {
      if (this.#bytes <= limits.mostBytes && !this.#isShort()) return
      await this.#remove(file)
    }
  }

  #isShort(): boolean {
    return this.#needs.freeBytes() < this.#minFreeBytes * beforeClips
  }

  async #remove(file: Known): Promise<void> {
    if (this.#open.get(file.cameraId)?.file === file) await this.#close(file.cameraId)
    const name = cellFileName(file)
    await rm(join(this.#needs.folder, name), { force: true })
    if (this.#files.delete(name)) this.#bytes -= file.bytes
  }

  #oldest(): Known[] {
    return [...this.#files.values()].sort((a, b) => a.startMs - b.startMs)
  }
}
