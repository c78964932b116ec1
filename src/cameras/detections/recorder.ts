import type { Tx, UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Outbox } from '../../journal/index.ts'
import { addMedia, clipsToComeOf, clipToCome, holdClosedClip, holdLike, type Log, type Media } from '../../log/index.ts'
import type { Clock, Logger } from '../../platform/index.ts'
import {
  type ClipClosed,
  type ClipLost,
  type ClipWaits,
  type DetectionFacts,
  type FilmCovered,
  factsOf,
  type MotionFired,
  type SceneChanged,
  type StoredFile,
  type ToCameras,
} from '../../video/index.ts'
import type { ConfiguredCameras } from '../configured.ts'
import type { DetectionCopies } from '../copies.ts'
import * as films from '../films/store.ts'
import { causeOfLoss } from '../gaps/causes.ts'
import type { GapLedger } from '../gaps/ledger.ts'
import * as store from '../store.ts'
import type { DetectionEventRow } from '../tables.ts'
import { type ClipFile, keepClipFile } from './clip-files.ts'
import { clipReason } from './clip-words.ts'
import { presentDetection } from './detections.ts'
import { detectionRecorded, motionDetected } from './events.ts'
import { storedKinds } from './kinds.ts'
import { detectionFacts } from './leaf.ts'

/** Sends messages to the cameras thread. */
export type CamerasLink = { send(message: ToCameras): void }

/** Time until a detection that could not be written is tried again. */
const writeAgainMs = 10_000
/** A detection that was refused so often is left to the next start. */
const mostRefusals = 5

/** A detection that the database refuses, though the disk takes writes. Its files stay as they are. */
export type RefusedDetection = {
  readonly detectionId: number
  /** Name of its clip in the folder of the clips; null: it has none. */
  readonly file: string | null
  /** Bytes of the clip and its picture. */
  readonly sizeBytes: number
  /** As the thread reported it; null: the database has it. */
  readonly facts: DetectionFacts | null
}

/** `mayGo`: the running thread has reported its clip, and no write of it is under way, so that its files may be removed. */
export type KnownRefused = RefusedDetection & { readonly mayGo: boolean }

const noFile = { file: null, sizeBytes: 0 }

type DetectionRecorderNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly logger: Logger
  readonly log: Log
  readonly outbox: Outbox
  readonly makeId: () => string
  readonly link: CamerasLink
  readonly cameras: ConfiguredCameras
  readonly gaps: GapLedger
  readonly copies: DetectionCopies
}

/** Turns what the cameras thread reports of motion and clips into rows of the ledger, each exactly once. */
export class DetectionRecorder {
  readonly #needs: DetectionRecorderNeeds
  /** Writes that the disk has not taken yet. */
  readonly #writing = new Set<Promise<boolean>>()
  readonly #refused = new Map<number, RefusedDetection>()
  /** Those of them that the running thread has reported since it started. */
  readonly #mayGo = new Set<number>()
  #thread = 0
  /** The first id that the running thread got; undefined before. Older ones belong to earlier threads. */
  #firstId: number | undefined

  constructor(needs: DetectionRecorderNeeds) {
    this.#needs = needs
  }

  /** A new thread has got no ids yet. */
  threadStarted(): void {
    this.#firstId = undefined
    this.#thread += 1
    // It reports them again, and then they are tried again.
    this.#mayGo.clear()
  }

  /** Sends the thread unused detection ids. */
  async giveIds(count: number): Promise<void> {
    await this.#untilWritten(async () => {
      const ids = await this.#needs.work.write((tx) => store.takeIds(tx, count))
      this.#firstId ??= ids[0]
      this.#needs.link.send({ type: 'ids', ids })
    })
  }

  /** Records motion that fired, with its notification; a repeat changes nothing. */
  async fired(message: MotionFired): Promise<void> {
    const { detectionId } = message
    await this.#untilWritten(() => this.#fire(message), { detectionId, ...noFile, facts: factsOf(message) })
  }

  /** Records a scene change that the open clip of another detection shows, with its notification; a repeat changes nothing. */
  async sceneChanged(message: SceneChanged): Promise<void> {
    const { detectionId } = message
    await this.#untilWritten(() => this.#change(message), { detectionId, ...noFile, facts: factsOf(message) })
  }

  /**
   * Records motion that fired, when its clip waits and the database does not know it. Either the gateway was killed in between, or
   * an older backup was restored. So it can be held, and given up.
   */
  async waits({ detectionId, facts }: ClipWaits): Promise<void> {
    if (facts === null) return
    await this.#untilWritten(
      async () => {
        if (this.#needs.work.read((tx) => store.findReservation(tx, detectionId))) return
        await this.#needs.work.write((tx) => void this.#reserve(tx, facts, true))
      },
      { detectionId, ...noFile, facts },
    )
  }

  /** Records what became of a clip; a repeat changes nothing. Resolves with false when it is left to the next start. */
  async closed(message: ClipClosed | ClipLost): Promise<boolean> {
    const { detectionId } = message
    const row = { detectionId, ...fileOf(message), facts: factsOf(message) }
    const thread = this.#thread
    this.#mayGo.delete(detectionId)
    const isWritten = await this.#untilWritten(() => this.#close(message), row)
    if (!isWritten && thread === this.#thread) this.#mayGo.add(detectionId)
    return isWritten
  }

  /**
   * Notes that no film of an event is made, because the clip of motion shows the same; holds on the film pass to it. Resolves with
   * false when that is left to the next start.
   */
  covered({ detectionId, by }: FilmCovered): Promise<boolean> {
    return this.#untilWritten(() => this.#cover(detectionId, by), { detectionId, ...noFile, facts: null })
  }

  /**
   * Records detections of an earlier thread without a result as lost, except `kept`: their video exists and their results follow.
   * Called when a new thread has reported the clips that the last one left. Earlier reports are written first.
   */
  async giveUp(kept: readonly number[]): Promise<void> {
    await this.written()
    let lost: store.Reservation[] = []
    await this.#untilWritten(async () => {
      lost = this.#needs.work.read(store.openReservations).filter(({ id }) => this.#isLost(id, kept))
    })
    // Each by itself, in one commit: one that is refused keeps no other one from being recorded.
    await Promise.all(
      lost.map((fired) => {
        return this.#untilWritten(() => this.#writeLost(fired), { detectionId: fired.id, ...noFile, facts: null })
      }),
    )
  }

  /** Lists what the database refuses. The thread has it at each start, and then it is tried again. */
  get refused(): readonly KnownRefused[] {
    return [...this.#refused.values()].map((row) => ({ ...row, mayGo: this.#mayGo.has(row.detectionId) }))
  }

  /** Resolves when all earlier reports are written, or left to the next start. */
  async written(): Promise<void> {
    await Promise.all(this.#writing)
  }

  async #fire(message: MotionFired): Promise<void> {
    await this.#needs.work.write((tx) => {
      const fired = this.#reserve(tx, message, message.clip)
      if (message.clip || store.findDetection(tx, fired.id)) return
      this.#append(
        tx,
        fired,
        { clip_status: 'cooldown', reason: 'the camera’s cooldown since its last clip was not over' },
        null,
      )
    })
    if (!message.clip) this.#needs.link.send({ type: 'recorded', detectionId: message.detectionId })
  }

  async #change(message: SceneChanged): Promise<void> {
    await this.#needs.work.write((tx) => {
      const { id: shownIn } = this.#reserve(tx, message.shownIn, true)
      const fired = this.#reserve(tx, message, false, shownIn)
      if (store.findDetection(tx, fired.id)) return
      this.#append(tx, fired, { clip_status: 'cooldown', reason: `the clip of detection ${shownIn} shows it` }, null)
    })
  }

  async #close(message: ClipClosed | ClipLost): Promise<void> {
    await this.#needs.work.write((tx) => {
      const fired = this.#reserve(tx, message, true)
      if (store.findDetection(tx, fired.id)) return
      const film = films.findFilm(tx, fired.id)
      if (film) films.noteMade(tx, fired.id)
      if (message.type === 'clipLost') {
        this.#append(tx, { ...fired, ...namedBy(message) }, { clip_status: 'lost', reason: message.words }, null)
        if (!film) this.#noteLoss(tx, message)
        return
      }
      this.#keep(tx, message, 'clip', 'video/mp4')
      if (message.snapshot) this.#keep(tx, message.snapshot, 'snapshot', 'image/png')
      this.#append(
        tx,
        { ...fired, ...namedBy(message) },
        { clip_status: 'recorded', reason: clipReason(message, film ? 'event' : 'motion') },
        message,
      )
    })
    this.#needs.link.send({ type: 'recorded', detectionId: message.detectionId })
  }

  async #cover(detectionId: number, by: number): Promise<void> {
    await this.#needs.work.write((tx) => {
      const clip = store.findDetection(tx, by)
      if (!clip) throw new Error(`detection ${by}, whose clip is the film ${detectionId}, is not recorded yet`)
      films.noteCovered(tx, detectionId, by)
      this.#needs.copies.covered(tx, detectionId, by)
      holdClosedClip(tx, detectionId, [clip.clip_sha256, clip.snapshot_sha256])
    })
    this.#needs.link.send({ type: 'recorded', detectionId })
  }

  #isLost(id: number, kept: readonly number[]): boolean {
    return !kept.includes(id) && !this.#refused.has(id) && id < (this.#firstId ?? Infinity)
  }

  async #writeLost(fired: store.Reservation): Promise<void> {
    const reason = 'the gateway ended before anything of the clip was on disk'
    await this.#needs.work.write((tx) => {
      if (store.findDetection(tx, fired.id)) return
      this.#append(tx, fired, { clip_status: 'lost', reason }, null)
      this.#needs.gaps.appendUntilNextGap(tx, fired.cctv_id, fired.fired_at_ms, reason)
    })
  }

  /** Nothing was recorded from the motion to the end of the clip; or to the end of the run, when that came first. */
  #noteLoss(tx: Tx, { cameraId, motionAt, endedAt, reason, words }: ClipLost): void {
    const { gaps } = this.#needs
    if (endedAt === undefined) gaps.appendUntilNextGap(tx, cameraId, motionAt, words)
    else
      gaps.append(tx, { cctvId: cameraId, fromMs: motionAt, toMs: endedAt, cause: causeOfLoss(reason), detail: words })
  }

  /**
   * Returns the reservation; writes and publishes it now if the gateway died between firing and writing. `shownIn` names the
   * detection whose clip shows it: the same one, or one that is open.
   */
  #reserve(
    tx: Tx,
    facts: DetectionFacts,
    clip: boolean,
    shownIn: number | undefined = clip ? facts.detectionId : undefined,
  ): store.Reservation {
    const known = store.findReservation(tx, facts.detectionId)
    if (known) return known
    const fired: store.Reservation = {
      id: facts.detectionId,
      event_id: this.#needs.makeId(),
      cctv_id: facts.cameraId,
      fired_at_ms: facts.motionAt,
      score: facts.score,
      scene_change: facts.sceneChange ? 1 : 0,
      triggered_by: facts.trigger ?? null,
      kinds: storedKinds(facts.kinds),
    }
    store.skipIdsUpTo(tx, fired.id)
    store.reserve(tx, fired)
    if (clip) this.#begin(tx, fired)
    this.#announce(tx, fired, shownIn)
    return fired
  }

  #announce(tx: Tx, fired: store.Reservation, shownIn: number | undefined): void {
    const { cameras, clock, outbox } = this.#needs
    const url = shownIn === undefined ? null : `${cameras.site.siteUrl}${store.clipPath(shownIn)}`
    outbox.announce(tx, motionDetected(fired, url, clock.now(), cameras.warehouseOf(fired.cctv_id)))
  }

  /** Holds on all clips of the camera, such as by an incident, hold this clip too from now on. */
  #begin(tx: Tx, { id, cctv_id: cctvId, fired_at_ms: atMs }: store.Reservation): void {
    holdLike(tx, clipToCome(id), clipsToComeOf(cctvId))
    this.#needs.copies.begun(tx, { id, cctvId, atMs })
  }

  #keep(tx: Tx, file: StoredFile, kind: Media['kind'], mediaType: string): void {
    const media = {
      sha256: file.sha256,
      kind,
      mediaType,
      sizeBytes: file.sizeBytes,
      receivedAtMs: this.#needs.clock.now(),
    }
    addMedia(tx, media)
  }

  #append(
    tx: Tx,
    fired: store.Reservation,
    outcome: { clip_status: DetectionEventRow['clip_status']; reason: string | null },
    clip: ClipClosed | null,
  ): void {
    const eventIds = films.eventsOf(tx, fired.id)
    const unsealed = {
      row: store.nextRow(tx),
      id: fired.id,
      event_id: fired.event_id,
      cctv_id: fired.cctv_id,
      timestamp_ms: fired.fired_at_ms,
      score: clip?.peakScore ?? fired.score,
      scene_change: fired.scene_change,
      ...outcome,
      clip_sha256: clip?.sha256 ?? null,
      snapshot_sha256: clip?.snapshot?.sha256 ?? null,
      clip_start_ms: clip?.startedAt ?? null,
      clip_end_ms: clip?.endedAt ?? null,
      pre_roll_seconds: clip?.preRollSeconds ?? null,
      duration_seconds: clip?.durationSeconds ?? null,
      asked_pre_roll_seconds: clip?.askedPreRollSeconds ?? null,
      clip_pictures: clip?.pictures ?? null,
      longest_gap_seconds: clip?.longestGapSeconds ?? null,
      clip_original: clip ? Number(clip.original) : null,
      closed_by: clip?.closedBy ?? null,
      triggered_by: fired.triggered_by,
      kinds: fired.kinds,
      event_ids: eventIds.length === 0 ? null : JSON.stringify(eventIds),
      recorded_at_ms: this.#needs.clock.now(),
    }
    const leaf = this.#needs.log.append(tx, 'detection', String(unsealed.row), detectionFacts(unsealed))
    const row = { ...unsealed, ...leaf }
    store.append(tx, row)
    if (clip) keepClipFile(tx, clipFileOf(row, clip))
    holdClosedClip(tx, row.id, [row.clip_sha256, row.snapshot_sha256])
    this.#needs.copies.recorded(tx, row)
    // A film is no motion; its event was announced when it was recorded.
    if (row.event_ids !== null) return
    this.#needs.outbox.created(
      tx,
      detectionRecorded(
        presentDetection(tx, row, this.#needs.cameras.site.siteUrl, this.#needs.copies.stateOf(tx, row)),
        this.#needs.clock.now(),
        this.#needs.cameras.warehouseOf(row.cctv_id),
      ),
    )
  }

  /**
   * Repeats a write until the disk takes it. When the database refuses `row`, it is left to the next start: the thread reports
   * unconfirmed detections at each start. Without a row it is repeated for ever. Resolves with whether it was written.
   */
  #untilWritten(write: () => Promise<void>, row?: RefusedDetection): Promise<boolean> {
    const writing = this.#tryUntilWritten(write, row).finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
    return writing
  }

  async #tryUntilWritten(write: () => Promise<void>, row: RefusedDetection | undefined): Promise<boolean> {
    for (let refusals = 0; ; ) {
      try {
        await write()
        if (row) this.#refused.delete(row.detectionId)
        return true
      } catch (err) {
        if (this.#needs.work.isClosed) return false
        if (!this.#mayPass(err)) refusals += 1
        if (row && refusals >= mostRefusals) {
          this.#refused.set(row.detectionId, row)
          this.#needs.logger.error({ err, ...row }, 'the database refuses a detection; the next start tries it again')
          return false
        }
        this.#needs.logger.error({ err }, 'a detection could not be written; it is tried again')
        await new Promise<void>((resolve) => this.#needs.clock.after(writeAgainMs, resolve))
      }
    }
  }

  /** Says whether an error may end by itself. While the disk takes no writes, each may follow from one that was not written. */
  #mayPass(err: unknown): boolean {
    if (this.#needs.work.diskFault) return true
    return err instanceof AppError && (err.code === 'STORAGE_FULL' || err.code === 'NOT_READY')
  }
}

/** Returns the kinds that the analytics named until the end of a clip. A clip of an older gateway has none. */
function namedBy({ kinds }: DetectionFacts): Partial<Pick<store.Reservation, 'kinds'>> {
  return kinds === undefined ? {} : { kinds: storedKinds(kinds) }
}

function fileOf(message: ClipClosed | ClipLost): Pick<RefusedDetection, 'file' | 'sizeBytes'> {
  if (message.type === 'clipLost') return noFile
  return { file: message.file, sizeBytes: message.sizeBytes + (message.snapshot?.sizeBytes ?? 0) }
}

function clipFileOf({ id, cctv_id, timestamp_ms }: DetectionEventRow, { sizeBytes, snapshot }: ClipClosed): ClipFile {
  return { detection_id: id, cctv_id, timestamp_ms, size_bytes: sizeBytes + (snapshot?.sizeBytes ?? 0) }
}
