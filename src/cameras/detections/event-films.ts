import type { CameraConfig } from '../../config/index.ts'
import type { Tx, UnitOfWork } from '../../database/index.ts'
import type { Clock, Logger } from '../../platform/index.ts'
import type { ConfiguredCameras } from '../configured.ts'
import { CameraDuties } from '../duties.ts'
import { filmSpan, joined, type Span } from '../films/plan.ts'
import * as films from '../films/store.ts'
import { reserve, takeIds } from '../store.ts'
import type { WantedCameras } from '../wanted.ts'
import type { CamerasLink } from './recorder.ts'
import { lookingAt } from './watched-slots.ts'

/** An event of the ledger, as its film needs it. */
export type FilmedEvent = { readonly id: number; readonly slotCode: string; readonly timestampMs: number }

type EventFilmsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly logger: Logger
  readonly cameras: ConfiguredCameras
  readonly link: CamerasLink
  readonly makeId: () => string
  readonly wanted: WantedCameras
  /** Time zone of a warehouse. */
  readonly zoneOf: (warehouseId: number) => string
}

/** The ring of a camera reaches back this far behind the end of a film; later ones are made of continuous video. */
const liveMs = 15_000
/** Films of the past that are made at once. The rest waits in the table, the oldest first. */
const mostPast = 2
/** A clock that moved by this much against the time that passed was set. */
const setByMs = 500
const hourMs = 3_600_000

/**
 * Gives each event in a watched slot its film: chooses the id in the event's transaction, and has the cameras thread make
 * the film afterwards. Films that were wanted when the gateway ended are ordered again.
 */
export class EventFilms {
  readonly #needs: EventFilmsNeeds
  readonly #duties: CameraDuties
  /** Films that the thread has, with the end that it knows. */
  readonly #sent = new Map<number, { toMs: number; isPast: boolean }>()
  /** Wall clock minus monotonic clock when a film was chosen, for those of this run that are not made yet. */
  readonly #offsets = new Map<number, number>()
  #isReady = false
  #isAwaited = false

  constructor(needs: EventFilmsNeeds) {
    this.#needs = needs
    this.#duties = new CameraDuties({ ...needs, configured: needs.cameras })
    needs.work.onCommit(() => {
      if (this.#isAwaited) this.#pass()
    })
  }

  /** Chooses the films of a new event, in the event's transaction. Its cameras are those of the config as of now. */
  reserve(tx: Tx, event: FilmedEvent): void {
    for (const camera of lookingAt(this.#needs.cameras.site.cameras, event.slotCode)) {
      if (camera.enabled) this.#reserveAt(tx, camera, event)
    }
  }

  /** Begins to order films once a thread runs and earlier reports are written. */
  threadReady(): void {
    this.#isReady = true
    this.#pass()
  }

  /** Forgets what the thread had. */
  threadEnded(): void {
    this.#isReady = false
    this.#sent.clear()
  }

  /** Orders the next film of the past. */
  done(filmId: number): void {
    this.#offsets.delete(filmId)
    if (this.#sent.delete(filmId)) this.#pass()
  }

  /** The video of a film is there, and its result comes later: the next one of the past has its turn. */
  waits(filmId: number): void {
    const sent = this.#sent.get(filmId)
    if (!sent?.isPast) return
    sent.isPast = false
    this.#pass()
  }

  #reserveAt(tx: Tx, camera: CameraConfig, event: FilmedEvent): void {
    const nowMs = this.#needs.clock.now()
    const span = filmSpan(event.timestampMs)
    if (!this.#mayHave(camera, { span, atMs: event.timestampMs, nowMs })) return
    if (span.toMs < nowMs && films.isShown(tx, camera.id, span)) return
    this.#isAwaited = true
    for (const film of films.wantedAround(tx, camera.id, span)) {
      const wanted = { fromMs: film.from_ms, toMs: film.to_ms, events: film.events, isBegun: this.#sent.has(film.id) }
      // Another event of the same time, by a clock that was set meanwhile, is another moment.
      const both = this.#clockSetMs(film.id) === 0 ? joined(wanted, span, nowMs) : undefined
      if (both) {
        films.joinFilm(tx, film.id, both, event.id)
        return
      }
    }
    this.#add(tx, camera.id, span, event)
  }

  /**
   * Returns whether video of the span can exist. The span must be recent, or within the hours of history. The camera must be on, or
   * have been within its recording hours at that moment. A handheld may send in the evening what it scanned at noon.
   */
  #mayHave(camera: CameraConfig, { span, atMs, nowMs }: { span: Span; atMs: number; nowMs: number }): boolean {
    const ageMs = nowMs - span.toMs
    if (ageMs > Math.max(liveMs, camera.history.hours * hourMs)) return false
    return this.#needs.wanted.isOn(camera.id) || this.#duties.keepsHistory(camera, atMs)
  }

  #add(tx: Tx, cctvId: number, { fromMs, toMs }: Span, { id: eventId, timestampMs }: FilmedEvent): void {
    const [id = 0] = takeIds(tx, 1)
    reserve(tx, {
      id,
      event_id: this.#needs.makeId(),
      cctv_id: cctvId,
      fired_at_ms: timestampMs,
      score: 0,
      scene_change: 0,
      triggered_by: null,
      kinds: null,
    })
    const row = { id, cctv_id: cctvId, moment_ms: timestampMs, from_ms: fromMs, to_ms: toMs, events: 1 }
    films.addFilm(tx, { ...row, state: 'wanted', covered_by: null }, eventId)
    this.#offsets.set(id, this.#wallOffsetMs())
  }

  #wallOffsetMs(): number {
    return this.#needs.clock.now() - this.#needs.clock.monotonic()
  }

  /** Returns by how much the clock was set since the film was chosen; 0 when that was in an earlier run. */
  #clockSetMs(filmId: number): number {
    const nowMs = this.#wallOffsetMs()
    const setMs = nowMs - (this.#offsets.get(filmId) ?? nowMs)
    return Math.abs(setMs) < setByMs ? 0 : Math.round(setMs)
  }

  #pass(): void {
    if (!this.#isReady) return
    this.#isAwaited = false
    try {
      const fromMs = this.#needs.clock.now() - liveMs
      // Those that the thread has already are among the oldest.
      const few = this.#sent.size + mostPast
      const { later, earlier } = this.#needs.work.read((tx) => films.wantedFilms(tx, fromMs, few))
      for (const film of later) this.#order(film, false)
      for (const film of earlier) {
        if ([...this.#sent.values()].filter(({ isPast }) => isPast).length < mostPast) this.#order(film, true)
      }
    } catch (err) {
      this.#isAwaited = true
      this.#needs.logger.error({ err }, 'films of events could not be ordered; the next event tries again')
    }
  }

  #order(film: films.FilmRow, isPast: boolean): void {
    if (this.#sent.get(film.id)?.toMs === film.to_ms) return
    this.#sent.set(film.id, { toMs: film.to_ms, isPast })
    this.#needs.link.send({
      type: 'film',
      detectionId: film.id,
      cameraId: film.cctv_id,
      momentAt: film.moment_ms,
      fromAt: film.from_ms,
      toAt: film.to_ms,
      clockSetMs: this.#clockSetMs(film.id),
    })
  }
}
