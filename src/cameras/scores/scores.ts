import type { CameraConfig } from '../../config/index.ts'
import type { ReadTx, UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Caller } from '../../http/index.ts'
import { type Clock, isoTime } from '../../platform/index.ts'
import {
  type Comparison,
  columns,
  type DetectorSettings,
  detectorSettings,
  type FromCameras,
  intervalMs,
  matchLate,
  type RecordedMotion,
  type Replayed,
  type ReplaySpec,
  rows,
} from '../../video/index.ts'
import { demandControl } from '../access.ts'
import type { ConfiguredCameras } from '../configured.ts'
import type { CamerasLink } from '../detections/recorder.ts'
import type { MotionSettings } from '../schema.ts'
import type { Span } from '../span.ts'
import * as store from '../store.ts'
import type { WhatIf } from './schema.ts'

const hourMs = 3_600_000
/** Longest times that are answered. A day has 25 hours when the clocks go back. */
const longest = { scores: 6 * hourMs, cells: hourMs, whatIf: 25 * hourMs } as const
/** Replays that may wait behind the running one. */
const mostWaiting = 8
const mostEvents = 10_000
/** The cameras thread hands over what it has within this, or the answer does without. */
const handOverMs = 2000
/** Recorded motion this long before and after a span may be the same as motion inside. */
const around = { beforeMs: 720_000, afterMs: 30_000 } as const

/** Replays beside the main thread. */
export type Replays = {
  scores(spec: ReplaySpec): Promise<Replayed>
  whatIf(spec: ReplaySpec, recorded: readonly RecordedMotion[]): Promise<Comparison & Pick<Replayed, 'seen'>>
}

type ScoresNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly cameras: ConfiguredCameras
  readonly link: CamerasLink
  /** Whether the cameras thread runs, and so may hold cells that are not on the disk yet. */
  readonly isThreadRunning: () => boolean
  readonly settingsOf: (camera: CameraConfig) => MotionSettings
  readonly replays: Replays
  readonly folder: string
}

/**
 * Answers from the stored cells of motion detection: how much the pictures changed, and which motion other settings would have
 * found.
 */
export class Scores {
  readonly #needs: ScoresNeeds
  readonly #asks = new Map<number, () => void>()
  #lastAsk = 0
  #underWay = 0

  constructor(needs: ScoresNeeds) {
    this.#needs = needs
  }

  /**
   * Returns the score of each 200 ms, by the masks and zones of the config. Throws NOT_FOUND; VALIDATION_ERROR for a time
   * that is empty, too long or has not begun; REPLAYS_WAITING.
   */
  async of(
    id: number | undefined,
    asked: { from: number; to: number; cells?: 'true' | 'false' | undefined },
    caller: Caller,
  ) {
    const camera = this.#visible(id, caller)
    const wants = asked.cells === 'true' ? 'cells' : 'scores'
    const span = this.#span(asked, longest[wants])
    const spec = this.#spec(camera, span, {})
    const found = await this.#inTurn(camera.id, () => this.#needs.replays.scores({ ...spec, wants }))
    const bytes = found.cells && Buffer.from(found.cells.buffer).toString('base64')
    return {
      cctvId: camera.id,
      intervalMs,
      from: isoTime(span.fromMs),
      cells: { columns, rows, ...(bytes === undefined ? {} : { bytes }) },
      scores: Array.from(found.scores ?? [], (score) => (Number.isNaN(score) ? null : rounded(score))),
    }
  }

  /**
   * Returns the motion that other settings would have found, beside the recorded motion. Ends early when `signal` reports that the
   * client has gone. Throws as `of`, and PERMISSION_DENIED.
   */
  async whatIf(id: number | undefined, asked: WhatIf, caller: Caller, signal?: AbortSignal) {
    const camera = this.#visible(id, caller)
    demandControl(this.#needs.cameras.names, caller, camera)
    const span = this.#span(asked, longest.whatIf)
    const spec = this.#spec(camera, span, asked)
    const { recorded, found } = await this.#inTurn(camera.id, async () => {
      const before = await this.#recorded(camera.id, span, signal)
      const found = await this.#needs.replays.whatIf(spec, before)
      if (found.added === 0) return { recorded: before, found }
      // Motion that fires now is in the cells already, but not in the rows read before. It was recorded, not added.
      const recorded = await this.#recorded(camera.id, span, signal)
      return { recorded, found: { ...found, ...matchLate(found, before, recorded) } }
    })
    return {
      cctvId: camera.id,
      from: isoTime(span.fromMs),
      to: isoTime(span.toMs),
      sensitivity: spec.settings.sensitivity,
      events: found.events.slice(0, mostEvents).map(({ motionMs, score, hasClip, detectionId }) => ({
        timestamp: isoTime(motionMs),
        score: rounded(score),
        clip: hasClip,
        ...(detectionId === undefined ? {} : { detectionId }),
      })),
      recorded: recorded.filter(({ motionMs }) => motionMs >= span.fromMs && motionMs < span.toMs).length,
      lost: [...found.lost],
      merged: [...found.merged],
      undecided: [...found.undecided],
      added: found.added,
      unknown: unseen(span, found.seen).map(({ fromMs, toMs }) => ({ from: isoTime(fromMs), to: isoTime(toMs) })),
    }
  }

  heard(message: FromCameras): void {
    if (message.type === 'cellsWritten') this.#asks.get(message.ask)?.()
  }

  /** Ends the waits: the files are all that there is. */
  threadEnded(): void {
    for (const end of [...this.#asks.values()]) end()
  }

  #visible(id: number | undefined, caller: Caller): CameraConfig {
    if (id === undefined) throw AppError.notFound('Camera')
    return this.#needs.cameras.visible(id, caller)
  }

  #span({ from, to }: { from: number; to: number }, longestMs: number): Span {
    const nowMs = this.#needs.clock.now()
    if (to <= from) throw AppError.field('to', 'must be later than from')
    if (from >= nowMs) throw AppError.field('from', 'is not in the past')
    if (to - from > longestMs) throw AppError.field('to', `must be at most ${longestMs / hourMs} hours after from`)
    return { fromMs: from, toMs: Math.min(to, nowMs) }
  }

  #spec(camera: CameraConfig, span: Span, tried: Pick<Partial<WhatIf>, 'sensitivity' | 'masks' | 'zones'>): ReplaySpec {
    const live: DetectorSettings = detectorSettings(this.#needs.settingsOf(camera))
    const { sensitivity = live.sensitivity, masks = camera.motion.masks, zones = camera.motion.zones } = tried
    return {
      ...{ ...span, folder: this.#needs.folder, cameraId: camera.id, wants: 'events' },
      settings: { ...live, sensitivity },
      area: { masks, zones },
    }
  }

  async #inTurn<T>(cameraId: number, replay: () => Promise<T>): Promise<T> {
    if (this.#underWay > mostWaiting) {
      throw new AppError('REPLAYS_WAITING', `${mostWaiting} questions are waiting already`, { retryAfterSeconds: 5 })
    }
    this.#underWay += 1
    try {
      await this.#handOver(cameraId)
      return await replay()
    } finally {
      this.#underWay -= 1
    }
  }

  /** Resolves when the cameras thread has written what it had of a camera. */
  #handOver(cameraId: number): Promise<void> {
    if (!this.#needs.isThreadRunning()) return Promise.resolve()
    this.#lastAsk += 1
    const ask = this.#lastAsk
    return new Promise((resolve) => {
      const end = () => {
        cancel()
        this.#asks.delete(ask)
        resolve()
      }
      const cancel = this.#needs.clock.after(handOverMs, end)
      this.#asks.set(ask, end)
      this.#needs.link.send({ type: 'cellsWanted', cameraId, ask })
    })
  }

  /** Lists the recorded motion of a span, with reports that are still being written. */
  async #recorded(cctvId: number, { fromMs, toMs }: Span, signal?: AbortSignal): Promise<RecordedMotion[]> {
    const { work } = this.#needs
    // Writes are done in order. A database that takes none has nothing to wait for.
    await work.write(() => undefined).catch(() => undefined)
    const [beginMs, endMs] = [fromMs - around.beforeMs, toMs + around.afterMs]
    const found = work.read((tx) => store.pendingMotions(tx, cctvId, { fromMs: beginMs, toMs: endMs }))
    const slice = (tx: ReadTx, place: readonly [number, number]) => store.sliceOfMotions(tx, cctvId, beginMs, place)
    for await (const some of work.readInSlices<RecordedMotion[], readonly [number, number]>(
      [endMs, 0],
      slice,
      signal,
    )) {
      found.push(...some)
    }
    // A clip that ended in between was read twice: with its end the second time.
    const byId = new Map(found.map((one) => [one.id, one]))
    return [...byId.values()].sort((a, b) => a.motionMs - b.motionMs || a.id - b.id)
  }
}

const rounded = (score: number): number => Math.round(score * 10_000) / 10_000

/** Returns the parts of a span that were not seen, oldest first. `seen` is in order, without overlaps. */
function unseen(span: Span, seen: readonly Span[]): Span[] {
  const found: Span[] = []
  let reachedMs = span.fromMs
  for (const { fromMs, toMs } of seen) {
    if (fromMs > reachedMs) found.push({ fromMs: reachedMs, toMs: fromMs })
    reachedMs = Math.max(reachedMs, toMs)
  }
  return reachedMs < span.toMs ? [...found, { fromMs: reachedMs, toMs: span.toMs }] : found
}
