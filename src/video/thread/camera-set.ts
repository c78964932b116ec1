import { rm } from 'node:fs/promises'
import { TaskLimit } from '../../flow/index.ts'
import type { Clock, Logger, RandomBytes } from '../../platform/index.ts'
import { forget } from '../clips/clip.ts'
import { type ClipTools, giveUp, notRemoved, removeFiles, waiting } from '../clips/clip-loss.ts'
import { makeClip, unreadable } from '../clips/clip-making.ts'
import { spoolPath } from '../clips/clip-paths.ts'
import { ClipRoom } from '../clips/clip-room.ts'
import { factsOf } from '../clips/facts.ts'
import { type Leftover, listLeftovers, readLeftover } from '../clips/leftovers.ts'
import { Patience } from '../clips/patience.ts'
import { PictureDecoder } from '../decoding/picture-decoder.ts'
import { CellStore } from '../history/cell-store.ts'
import { History } from '../history/history.ts'
import { IdPool } from '../live/id-pool.ts'
import type { CameraSettings, ClipLost, FromCameras, ToCameras } from '../messages.ts'
import { Films } from '../redaction/films.ts'
import { Redactor } from '../redaction/redaction.ts'
import type { StreamOptions } from '../stream/stream.ts'
import { VideoMemory } from '../video-memory.ts'
import { Camera } from './camera.ts'

export type CameraSetOptions = {
  readonly ffmpeg: StreamOptions['ffmpeg']
  /** Folder of the clips; made if it does not exist. */
  readonly clipsFolder: string
  /** Folder of continuous video; made with the first segment. */
  readonly historyFolder: string
  /** Folder of stored cells; made with the first file. */
  readonly cellsFolder: string
  /** Free bytes of the disk that holds them. Throws when the disk does not answer. */
  readonly freeBytes: () => number
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  readonly readSecret: (path: string) => string
  /** Posts a message; the buffers of `handOver` belong to the receiver afterwards. */
  readonly post: (message: FromCameras, handOver?: readonly ArrayBuffer[]) => void
}

/** Clips that are cut at once: cutting takes little processor time, but memory and disk. */
const cutsAtOnce = 2
/** Snapshots that are decoded at once. */
const decodesAtOnce = 2

/**
 * Runs all cameras of the gateway, controlled by messages: in the cameras thread, and in tests without a thread.
 * Messages are handled in order. Clips that an earlier run left are finished beside them.
 */
export class CameraSet {
  readonly #needs: CameraSetOptions
  readonly #tools: ClipTools
  readonly #decodes = new TaskLimit(decodesAtOnce)
  readonly #ids: IdPool
  readonly #history: History
  readonly #cells: CellStore
  readonly #films: Films
  readonly #redactor: Redactor
  readonly #memory = new VideoMemory()
  readonly #patience: Patience
  readonly #pictures: PictureDecoder
  readonly #cameras = new Map<number, Camera>()
  /** Clips in progress: of removed cameras, and of an earlier run. */
  readonly #settling = new Set<Promise<void>>()
  /** Clips that are given up, and why. */
  readonly #givenUp = new Map<number, string>()
  /** Clips of an earlier run of which nothing is known but their video, or that could not be removed. */
  readonly #unreadable = new Set<number>()
  /** Finished clips that the database does not have yet, and when each ends. */
  readonly #reported = new Map<number, number>()
  #work: Promise<void>
  #isStopping = false
  #reserveBytes = 0

  constructor(options: CameraSetOptions) {
    const { ffmpeg, clipsFolder, historyFolder, cellsFolder, freeBytes, clock, log } = options
    const turns = new TaskLimit(cutsAtOnce)
    const post: CameraSetOptions['post'] = (message, handOver) => {
      if (message.type === 'clipClosed') this.#reported.set(message.detectionId, message.endedAt)
      options.post(message, handOver)
    }
    this.#needs = { ...options, post }
    this.#patience = new Patience(clock)
    this.#pictures = new PictureDecoder({ ffmpeg, clock, log })
    this.#tools = {
      ...{ ffmpeg: ffmpeg.path, folder: clipsFolder, log, inTurn: (task) => turns.run(task) },
      pictures: this.#pictures,
      room: new ClipRoom({ freeBytes, reserveBytes: () => this.#reserveBytes }),
      again: (attempt, id) => this.#patience.again(attempt, id),
      givenUp: (id) => this.#givenUp.get(id),
      waits: post,
    }
    this.#history = new History({ folder: historyFolder, clock, log, freeBytes })
    this.#cells = new CellStore({ folder: cellsFolder, clock, log, freeBytes })
    this.#films = new Films({
      ...{ tools: this.#tools, clock, log, history: this.#history, emit: post, memory: this.#memory },
      camera: (cameraId) => this.#cameras.get(cameraId),
    })
    this.#ids = new IdPool((count) => post({ type: 'idsWanted', count }))
    this.#redactor = new Redactor({ tools: this.#tools, post })
    this.#work = this.#takeLeftovers()
  }

  /** Returns a camera; undefined when there is none. */
  camera(cameraId: number): Camera | undefined {
    return this.#cameras.get(cameraId)
  }

  receive(message: ToCameras): void {
    // Handled at once: the message in progress may wait for an id. While all ends, a confirmation comes too late for any film.
    if (message.type === 'ids') this.#ids.add(message.ids)
    else if (message.type === 'recorded' && this.#isStopping) void this.#forget(message.detectionId)
    else this.#work = this.#work.then(() => this.#obey(message)).catch((err: unknown) => this.#failed(err))
  }

  async #obey(message: Exclude<ToCameras, { type: 'ids' }>): Promise<void> {
    switch (message.type) {
      // After the orders before it: a film that is recorded by then must not be made again.
      case 'recorded':
        return this.#forget(message.detectionId)
      case 'camera':
        return this.#set(message.settings)
      case 'remove':
        await this.#remove(message.cameraId)
        this.#cells.know(message.cameraId, false)
        return this.#history.keep(message.cameraId, 0, undefined)
      case 'retry':
        return this.#cameras.get(message.cameraId)?.retry()
      case 'secrets':
        for (const camera of this.#cameras.values()) camera.recheckCredentials()
        return undefined
      case 'reserve':
        this.#reserveBytes = message.bytes
        this.#history.minFreeBytes = Math.max(message.bytes, message.minFreeBytes)
        this.#cells.minFreeBytes = Math.max(message.bytes, message.minFreeBytes)
        return undefined
      case 'clock':
        this.#history.clockIsTrusted = message.isTrusted
        this.#cells.clockIsTrusted = message.isTrusted
        return undefined
      case 'live':
        return this.#cameras.get(message.cameraId)?.live(message.format, message.feed)
      case 'snapshot':
        void this.#snapshot(message.cameraId, message.ask)
        return undefined
      case 'cells':
        this.#cells.limits = message
        return undefined
      case 'cellsWanted':
        void this.#writeCells(message.cameraId, message.ask)
        return undefined
      case 'film':
        return this.#films.order(message)
      case 'giveUpClip':
        return this.#giveUp(message)
      case 'removeClip':
        return this.#removeUnknown(message)
      case 'redact':
        return this.#redactor.take(message.job)
      case 'memory':
        this.#memory.limitBytes = message.bytes
        return undefined
      case 'stop':
        return this.#stop()
    }
  }

  async #writeCells(cameraId: number, ask: number): Promise<void> {
    this.#cameras.get(cameraId)?.flushCells()
    await this.#cells.written()
    this.#needs.post({ type: 'cellsWritten', ask })
  }

  async #snapshot(cameraId: number, ask: number): Promise<void> {
    const camera = this.#cameras.get(cameraId)
    if (camera) await camera.snapshot(ask)
    else this.#needs.post({ type: 'snapshotFailed', ask, why: 'no-picture' })
  }

  #set(settings: CameraSettings): void {
    const known = this.#cameras.get(settings.cameraId)
    if (known) known.update(settings)
    else this.#add(settings)
  }

  #add(settings: CameraSettings): void {
    const { ffmpeg, clock, random, readSecret, post } = this.#needs
    const camera = new Camera({
      ...{ settings, ffmpeg, clock, random, readSecret, emit: post, tools: this.#tools, history: this.#history },
      cells: this.#cells,
      memory: this.#memory,
      log: this.#needs.log.child({ cameraId: settings.cameraId }),
      reserveId: () => this.#ids.take(),
      decodeInTurn: (task) => this.#decodes.run(task),
    })
    this.#cameras.set(settings.cameraId, camera)
    this.#cells.know(settings.cameraId, true)
    camera.start()
  }

  /** Removes a camera. Waits for its streams, not for its clips, which may take long. */
  async #remove(cameraId: number): Promise<void> {
    const camera = this.#cameras.get(cameraId)
    if (!camera) return
    this.#cameras.delete(cameraId)
    // It reads its last video first, which belongs to the films too.
    const stopped = camera.stop()
    const filmed = this.#films.stop(cameraId)
    await stopped
    this.#settle(Promise.all([camera.settled(), filmed]).then(() => {}))
  }

  async #stop(): Promise<void> {
    this.#isStopping = true
    this.#patience.end()
    this.#redactor.stop()
    await Promise.all([...this.#cameras.keys()].map((cameraId) => this.#remove(cameraId)))
    await Promise.all(this.#settling)
    await Promise.all([this.#films.stop(), this.#history.stop(), this.#cells.stop()])
    this.#pictures.stop()
    this.#ids.end()
    this.#needs.post({ type: 'stopped' })
  }

  /**
   * Resolves when the leftovers of an earlier run are known. So no clip of this run is taken for one, and no recorded film is made
   * again. A leftover without video is reported by then.
   */
  async #takeLeftovers(): Promise<void> {
    try {
      const leftovers = await listLeftovers(this.#tools)
      for (const { id } of leftovers) this.#films.isRecorded(id)
      for (const leftover of leftovers.filter(({ hasVideo }) => !hasVideo)) await this.#isReported(leftover)
      this.#settle(this.#finishLeftovers(leftovers))
    } catch (err) {
      this.#needs.log.error({ err }, 'unfinished clips of an earlier run could not be listed')
      this.#needs.post({ type: 'leftoversDone', count: 0, kept: null })
    }
  }

  async #finishLeftovers(leftovers: readonly Leftover[]): Promise<void> {
    const kept: number[] = []
    for (const leftover of leftovers.filter(({ hasVideo }) => hasVideo)) {
      if (this.#isStopping) return
      if (!(await this.#isReported(leftover))) kept.push(leftover.id)
    }
    this.#needs.post({ type: 'leftoversDone', count: leftovers.length - kept.length, kept })
  }

  /** Resolves with true when the result of a leftover was reported; with false when that may come later. */
  async #isReported({ id, hasVideo }: Leftover): Promise<boolean> {
    try {
      const plan = await readLeftover(this.#tools, { id, hasVideo })
      if ('type' in plan) return await this.#isRemoved(plan)
      return await new Promise<boolean>((resolve) => {
        const made = makeClip(this.#tools, plan, { onKept: () => resolve(false) }).then((result) => {
          if (result) this.#needs.post(result)
          resolve(result !== undefined)
        })
        this.#settle(made)
      })
    } catch (err) {
      this.#needs.log.error({ err, detectionId: id }, 'the note of an unfinished clip could not be read')
      if (hasVideo) {
        this.#unreadable.add(id)
        this.#needs.post(await unreadable(this.#tools, id))
        return false
      }
      // Nothing is left of it. A film can be ordered again.
      await this.#forget(id)
      return true
    }
  }

  /** Reports a loss, after it has removed the rest of a clip that was given up. Resolves with false when the disk refuses that. */
  async #isRemoved(loss: ClipLost): Promise<boolean> {
    const { detectionId: id } = loss
    const facts = factsOf(loss)
    try {
      this.#needs.post(loss.reason === 'given-up' ? await giveUp(this.#tools, facts, loss) : loss)
      return true
    } catch (err) {
      this.#needs.log.error({ err, ...facts }, notRemoved)
      this.#unreadable.add(id)
      this.#needs.post({ ...(await waiting(this.#tools, id, 'The disk refused to remove it.')), facts })
      return false
    }
  }

  /** The end of the thread waits for this. */
  #settle(work: Promise<void>): void {
    const settled = work.catch((err: unknown) => this.#failed(err)).finally(() => this.#settling.delete(settled))
    this.#settling.add(settled)
  }

  async #giveUp({ facts, words, isRefused }: Extract<ToCameras, { type: 'giveUpClip' }>): Promise<void> {
    const { detectionId } = facts
    // One that was reported since the order is being recorded.
    const endedAt = isRefused ? this.#reported.get(detectionId) : undefined
    if (this.#unreadable.has(detectionId) || endedAt !== undefined) {
      const loss = await giveUp(this.#tools, facts, endedAt === undefined ? { words } : { words, endedAt })
      // Not before: while a file could not be removed, it is to be given up again.
      this.#unreadable.delete(detectionId)
      this.#reported.delete(detectionId)
      this.#needs.post(loss)
    } else {
      this.#givenUp.set(detectionId, words)
      // A clip that is being made now is requested again when that has failed.
      if (!this.#patience.hurry(detectionId)) this.#givenUp.delete(detectionId)
    }
  }

  async #removeUnknown({ detectionId, words }: Extract<ToCameras, { type: 'removeClip' }>): Promise<void> {
    if (!this.#unreadable.has(detectionId)) return
    await removeFiles(this.#tools, detectionId)
    await forget(this.#tools.folder, detectionId)
    this.#unreadable.delete(detectionId)
    this.#needs.log.error({ detectionId, words }, 'the video of an unknown clip was removed')
    this.#needs.post({ type: 'clipRemoved', detectionId, words })
  }

  async #forget(detectionId: number): Promise<void> {
    this.#films.recorded(detectionId)
    this.#givenUp.delete(detectionId)
    this.#reported.delete(detectionId)
    try {
      // The spool of a recorded clip may still exist.
      if (this.#unreadable.delete(detectionId)) await rm(spoolPath(this.#tools, detectionId), { force: true })
      await forget(this.#tools.folder, detectionId)
    } catch (err) {
      this.#failed(err)
    }
  }

  #failed(err: unknown): void {
    this.#needs.log.error({ err }, 'the cameras thread could not handle a message')
  }
}
