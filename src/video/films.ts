import type { Clock, Logger } from '../platform/index.ts'
import { Recording } from './clip.ts'
import { type ClipResult, type ClipTools, lostBecause } from './clip-making.ts'
import { filmSource } from './film-source.ts'
import type { History } from './history.ts'
import type { ClipClosed, DetectionFacts, FilmOrder, FromCameras } from './messages.ts'
import { filmFromHistory } from './replay.ts'
import type { Ring } from './ring.ts'
import type { VideoMemory } from './video-memory.ts'

/** What a film needs of its camera. */
export type FilmCamera = {
  readonly ring: Ring
  /** Reads into the ring what has come, and waits. */
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
type Film = { order: FilmOrder; stopped: boolean; readonly wake: Set<() => void> }

/** Pictures come late by this much at most: ffmpeg holds some back, and the last one is complete with its successor. */
const latenessMs = 5000
const lookEveryMs = 250
/** History of a moment is complete this long after it. */
const historyDelayMs = 3000

/** Makes the films of events: of what a camera shows now, or of its continuous video. */
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
   * Makes a film, or lets one in progress end later. Its result is emitted under its detection id. Of one that was recorded
   * before, `clipWaits` is emitted at once: it takes no place of another film.
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
    const film: Film = { order, stopped: false, wake: new Set() }
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
   * Ends the films of a camera, or all: what has been recorded becomes the film; one that waits for history is left to the
   * next order. Resolves when they are finished.
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
    const { clock } = this.#needs
    // A device's clock may be ahead of ours.
    await this.#wait(film, film.order.momentAt - clock.now())
    if (film.stopped) return
    const { cameraId, fromAt, momentAt, toAt } = film.order
    const camera = this.#needs.camera(cameraId)
    const found = await this.#needs.history.find(cameraId, { fromMs: fromAt, atMs: momentAt, toMs: toAt })
    const source = filmSource(
      { fromMs: fromAt, atMs: momentAt, toMs: toAt },
      {
        nowMs: clock.now(),
        ringFromMs: camera?.ring.oldestMs === undefined ? undefined : camera.ring.oldestMs + this.#wallOffsetMs(),
        hasHistory: found.length > 0,
      },
    )
    if (source === 'live' && camera) await this.#live(film, camera)
    else if (source === 'history') await this.#past(film)
    else {
      this.#ended.add(film.order.detectionId)
      this.#needs.emit(lostBecause(factsOf(film.order), 'nothing-kept'))
    }
  }

  async #live(film: Film, camera: FilmCamera): Promise<void> {
    const { tools, clock, emit } = this.#needs
    const wallOffsetMs = this.#wallOffsetMs()
    const { fromAt, momentAt } = film.order
    const fromMs = fromAt - wallOffsetMs
    camera.readVideo()
    const recording = new Recording(tools, {
      ...{ facts: factsOf(film.order), ring: camera.ring, fromMs, notBeforeMs: -Infinity, wallOffsetMs },
      askedPreRollMs: momentAt - fromAt,
    })
    // What waits for the disk is the newest part of the ring, which is counted, or goes back further than it.
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

  async #past(film: Film): Promise<void> {
    const { tools, history, clock } = this.#needs
    do await this.#wait(film, film.order.toAt + historyDelayMs - clock.now())
    while (!film.stopped && film.order.toAt + historyDelayMs > clock.now())
    if (film.stopped) return
    const { cameraId, fromAt, momentAt, toAt } = film.order
    this.#ended.add(film.order.detectionId)
    const span = { fromMs: fromAt, atMs: momentAt, toMs: toAt }
    this.#report(await filmFromHistory(tools, factsOf(film.order), span, await history.find(cameraId, span)))
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

  #wallOffsetMs(): number {
    return this.#needs.clock.now() - this.#needs.clock.monotonic()
  }
}

/** Pictures of a clip begin and end within this of what was asked for. */
const exactMs = 250

function covers({ startedAt, endedAt }: ClipClosed, fromAt: number, toAt: number): boolean {
  return startedAt <= fromAt + exactMs && endedAt >= toAt - exactMs
}

function factsOf({ detectionId, cameraId, momentAt }: FilmOrder): DetectionFacts {
  return { detectionId, cameraId, motionAt: momentAt, score: 0, sceneChange: false }
}
