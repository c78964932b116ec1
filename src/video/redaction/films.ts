import type { Clock, Logger } from '../../platform/index.ts'
import { Recording } from '../clips/clip.ts'
import { type ClipTools, lostBecause } from '../clips/clip-loss.ts'
import type { ClipResult } from '../clips/clip-making.ts'
import { filmFromHistory } from '../clips/replay.ts'
import type { History } from '../history/history.ts'
import type { FilmSpan } from '../history/history-index.ts'
import type { ClipClosed, DetectionFacts, FilmOrder, FromCameras } from '../messages.ts'
import type { Ring } from '../stream/ring.ts'
import type { VideoMemory } from '../video-memory.ts'

/** Footage of a camera, in the same clock as the span. */
type Footage = {
  readonly nowMs: number
  /** The oldest picture that a film could begin with; undefined while the ring is empty. */
  readonly ringFromMs: number | undefined
  /** Whether history has the moment, or will have it because it is being written. */
  readonly hasHistory: boolean
}

/** `live`: from the ring, and the video that follows. `history`: from segments, once the span is over. */
type FilmSource = 'live' | 'history' | 'none'

/** A ring that begins this much later still counts as complete. */
const toleranceMs = 250

/**
 * Chooses the source of a film: the ring if it has the whole film, else history. Without history, takes the part that the ring has
 * or that is still to come.
 */
export function filmSource({ fromMs, atMs, toMs }: FilmSpan, { nowMs, ringFromMs, hasHistory }: Footage): FilmSource {
  if (ringFromMs !== undefined && ringFromMs <= fromMs + toleranceMs) return 'live'
  if (hasHistory) return 'history'
  const hasMoment = ringFromMs !== undefined && ringFromMs <= atMs
  return hasMoment || toMs > nowMs ? 'live' : 'none'
}

/** Parts of a camera that a film needs. */
export type FilmCamera = {
  readonly ring: Ring
  /** Reads into the ring the video that waits. */
  readonly readVideo: () => void
  /** Resolves with the clip of motion that is open and began by this time (monotonic); undefined when there is none. */
  readonly openClip: (fromMs: number) => Promise<ClipResult | undefined> | undefined
}

type FilmsNeeds = {
  readonly tools: ClipTools
  readonly clock: Clock
  readonly log: Logger
  readonly history: History
  readonly camera: (cameraId: number) => FilmCamera | undefined
  /** Shared by all cameras. */
  readonly memory: Pick<VideoMemory, 'add'>
  readonly emit: (message: FromCameras) => void
}

/** A film in progress. Its end may be moved until it has ended. */
type Film = {
  order: FilmOrder
  stopped: boolean
  readonly wake: Set<() => void>
  /** The wall clock of the event's time, minus the monotonic clock. It stays, whatever the clock is set to meanwhile. */
  readonly wallOffsetMs: number
}

/** Pictures come late by this much at most: ffmpeg holds some back, and the last one is complete with its successor. */
const latenessMs = 5000
const lookEveryMs = 250
/** History of a moment is complete this long after it. */
const historyDelayMs = 3000
/**
 * The ledger takes events of devices whose clocks are ahead by up to five minutes. If the event is further ahead, the clock was set
 * back by an unknown time.
 */
const mostAheadMs = 5 * 60_000 + latenessMs

/** Makes the films of events, from the live or the continuous video of a camera. */
export class Films {
  readonly #needs: FilmsNeeds
  readonly #films = new Map<number, Film>()
  /** Films whose results wait for the database. An order of one comes too late to change it. */
  readonly #ended = new Set<number>()
  readonly #running = new Set<Promise<void>>()

  constructor(needs: FilmsNeeds) {
    this.#needs = needs
  }

  /**
   * Makes a film, or lets one in progress end later. Its result is emitted under its detection id. For a film that was recorded
   * before, emits `clipWaits` at once: it takes no place of another film.
   */
  order(order: FilmOrder): void {
    const { detectionId } = order
    if (this.#ended.has(detectionId)) {
      this.#needs.emit({ type: 'clipWaits', detectionId, words: null, sizeBytes: 0, facts: null })
      return
    }
    const known = this.#films.get(order.detectionId)
    if (known) {
      known.order = { ...known.order, toAt: Math.max(known.order.toAt, order.toAt) }
      return
    }
    const { clock } = this.#needs
    const wallOffsetMs = clock.now() - clock.monotonic() - (order.clockSetMs ?? 0)
    const film: Film = { order, stopped: false, wake: new Set(), wallOffsetMs }
    this.#films.set(order.detectionId, film)
    const done = this.#make(film)
      .catch((err: unknown) => this.#needs.log.error({ err, ...order }, 'the film of an event failed'))
      .finally(() => {
        this.#films.delete(order.detectionId)
        this.#running.delete(done)
      })
    this.#running.add(done)
  }

  /** Notes that a film was recorded in an earlier run: an order of it comes too late to change it. */
  isRecorded(detectionId: number): void {
    this.#ended.add(detectionId)
  }

  /** Forgets a film whose result is in the database. */
  recorded(detectionId: number): void {
    this.#ended.delete(detectionId)
  }

  /**
   * Ends the films of a camera, or all. The recorded video becomes the film. A film that waits for history is left to the next
   * order. Resolves when they are finished.
   */
  async stop(cameraId?: number): Promise<void> {
    for (const film of this.#films.values()) {
      if (cameraId !== undefined && film.order.cameraId !== cameraId) continue
      film.stopped = true
      for (const wake of film.wake) wake()
    }
    await Promise.all(this.#running)
  }

  async #make(film: Film): Promise<void> {
    const { history, camera: cameraOf, emit } = this.#needs
    const { cameraId, fromAt, momentAt, toAt } = film.order
    const span = { fromMs: fromAt, atMs: momentAt, toMs: toAt }
    const isLeftBehind = momentAt - this.#nowFor(film) > mostAheadMs
    // A device's clock may be ahead of ours.
    if (!isLeftBehind) await this.#wait(film, momentAt - this.#nowFor(film))
    if (film.stopped) return
    const camera = cameraOf(cameraId)
    const runMs = await history.runOf(cameraId, span)
    const oldestMs = camera?.ring.oldestMs
    const source = filmSource(span, {
      nowMs: this.#nowFor(film),
      ringFromMs: oldestMs === undefined || isLeftBehind ? undefined : oldestMs + film.wallOffsetMs,
      hasHistory: runMs !== undefined,
    })
    if (runMs !== undefined && source === 'history') await this.#past(film, runMs, isLeftBehind)
    else if (source === 'live' && camera && !isLeftBehind) await this.#live(film, camera)
    else {
      this.#ended.add(film.order.detectionId)
      emit(lostBecause(factsOf(film.order), isLeftBehind ? 'clock-set-back' : 'nothing-kept'))
    }
  }

  async #live(film: Film, camera: FilmCamera): Promise<void> {
    const { tools, clock, emit } = this.#needs
    const { wallOffsetMs } = film
    const { fromAt, momentAt } = film.order
    const fromMs = fromAt - wallOffsetMs
    camera.readVideo()
    const recording = new Recording(tools, {
      ...{ facts: factsOf(film.order), ring: camera.ring, fromMs, notBeforeMs: -Infinity, wallOffsetMs },
      askedPreRollMs: momentAt - fromAt,
    })
    // Video that waits for the disk is the newest part of the ring, which is counted, or reaches further back.
    const leaveMemory = this.#needs.memory.add({
      bytes: () => Math.max(recording.pendingBytes - camera.ring.sizeBytes, 0),
      shed: () => {
        if (recording.pendingBytes === 0) return false
        recording.giveUp()
        return true
      },
    })
    const endMs = () => film.order.toAt - wallOffsetMs
    const isOver = () => (camera.ring.newestMs ?? -Infinity) > endMs() || clock.monotonic() > endMs() + latenessMs
    while (!film.stopped && !isOver()) await this.#wait(film, Math.max(endMs() - clock.monotonic(), lookEveryMs))
    const toMs = film.stopped ? Math.min(endMs(), clock.monotonic()) : endMs()
    const openClip = film.stopped ? undefined : camera.openClip(fromMs)
    this.#ended.add(film.order.detectionId)
    const finish = await recording.end(toMs).finally(leaveMemory)
    const clip = await openClip
    if (clip?.type === 'clipClosed' && covers(clip, fromAt, film.order.toAt)) {
      await recording.drop()
      emit({ type: 'filmCovered', detectionId: film.order.detectionId, by: clip.detectionId })
    } else this.#report(await finish({ closedBy: film.stopped ? 'stopped' : 'post-roll', peakScore: null }))
  }

  /** Makes a film of the run that was found for its moment. A later run repeats its times after a step of the clock. */
  async #past(film: Film, runMs: number, isLeftBehind: boolean): Promise<void> {
    const { tools, history, clock } = this.#needs
    // If the clock was set back, the moment of the film is over, and the run has ended.
    const dueMs = () => (isLeftBehind ? -Infinity : film.order.toAt - film.wallOffsetMs + historyDelayMs)
    do await this.#wait(film, dueMs() - clock.monotonic())
    while (!film.stopped && dueMs() > clock.monotonic())
    if (film.stopped) return
    const { cameraId, fromAt, momentAt, toAt } = film.order
    this.#ended.add(film.order.detectionId)
    const span = { fromMs: fromAt, atMs: momentAt, toMs: toAt }
    this.#report(await filmFromHistory(tools, factsOf(film.order), span, await history.find(cameraId, span, runMs)))
  }

  /** Undefined: the film could not be made yet, and is reported by a later run. */
  #report(result: ClipResult | undefined): void {
    if (result) this.#needs.emit(result)
  }

  /** Waits so long, or until the film is stopped. */
  async #wait(film: Film, ms: number): Promise<void> {
    if (ms <= 0 || film.stopped) return
    await new Promise<void>((resolve) => {
      const wake = () => {
        cancel()
        film.wake.delete(wake)
        resolve()
      }
      const cancel = this.#needs.clock.after(ms, wake)
      film.wake.add(wake)
    })
  }

  /** Now, by the clock that the event has its time from. */
  #nowFor({ wallOffsetMs }: Film): number {
    return this.#needs.clock.monotonic() + wallOffsetMs
  }
}

/** Pictures of a clip begin and end within this of the ordered span. */
const exactMs = 250

function covers({ startedAt, endedAt }: ClipClosed, fromAt: number, toAt: number): boolean {
  return startedAt <= fromAt + exactMs && endedAt >= toAt - exactMs
}

function factsOf({ detectionId, cameraId, momentAt }: FilmOrder): DetectionFacts {
  return { detectionId, cameraId, motionAt: momentAt, score: 0, sceneChange: false }
}
