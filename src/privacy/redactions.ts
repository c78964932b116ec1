import { join } from 'node:path'
import { type ConfiguredCameras, type DetectionEvent, type Detections, demandExport } from '../cameras/index.ts'
import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller, FileAnswer, RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import {
  addMedia,
  canonicalJson,
  findMedia,
  holdLike,
  holdMedia,
  type People,
  personIn,
  releaseMedia,
  removalOf,
  shownWithout,
} from '../log/index.ts'
import { type Clock, isoTime, type Logger } from '../platform/index.ts'
import type { FromCameras, RedactionJob, ToCameras } from '../video/index.ts'
import { redactedFile } from '../video/index.ts'
import type { NewRedaction, Redaction } from './redaction-schema.ts'
import * as store from './redaction-store.ts'

type RedactionsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly logger: Logger
  readonly people: People
  readonly audit: AuditTrail
  readonly cameras: ConfiguredCameras
  readonly detections: Detections
  readonly clipsDir: string
  readonly link: { send(message: ToCameras): void; readonly isRunning: boolean }
}

type Result = Extract<FromCameras, { type: 'redacted' | 'redactionFailed' }>

/** Why the original stays while a copy of it is made. */
const holdReason = 'redaction'
/** A request waits this long for its copy; after that it answers `pending`. */
const waitMs = 20_000
const writeAgainMs = 10_000
/** Copies that may wait at once, and copies of one clip. */
const mostWaiting = 10
const mostOfOneClip = 20
/** Pictures whose area the regions of one request may cover together: each region is held in memory. */
const mostArea = 4
/** As of the clip's own snapshot. */
const snapshotDelaySeconds = 0.4

/** Orders redacted copies from the cameras thread and keeps what became of them. */
export class Redactions {
  readonly #needs: RedactionsNeeds
  readonly #waiting = new Map<number, Set<() => void>>()

  constructor(needs: RedactionsNeeds) {
    this.#needs = needs
  }

  /** Sends a new thread what waits: it knows of nothing. */
  threadStarted(): void {
    for (const row of this.#needs.work.read(store.openRedactions)) this.#send(row)
  }

  heard(message: FromCameras): void {
    if (message.type === 'redacted' || message.type === 'redactionFailed') void this.#untilWritten(message)
  }

  /**
   * Orders a copy and waits some seconds for it. The same regions again give the same copy, unless it failed. Throws
   * NOT_FOUND, PERMISSION_DENIED, CLIP_PENDING, REDACTIONS_WAITING, VALIDATION_ERROR.
   */
  async create(detectionId: number | undefined, { regions }: NewRedaction, by: RequestOrigin): Promise<Redaction> {
    const { work, cameras, detections } = this.#needs
    const detection = detections.one(detectionId, by.caller)
    demandExport(cameras.names, by.caller, cameras.visible(detection.cctvId, by.caller))
    const { sha256 } = detections.clip(detectionId, by.caller)
    checkRegions(regions, detection.duration ?? 0)
    const asked = regions.map(({ polygon, from, to }) => ({ polygon, from: from ?? null, to: to ?? null }))
    const text = canonicalJson(asked)
    const row = await work.write((tx) => {
      const known = store.redactionsOf(tx, detection.id)
      const same = known.find((one) => one.asked.regions === text && isUsable(tx, one))
      if (same) return { ...same.asked, isNew: false }
      return {
        ...this.#append(tx, { detection, originalSha256: sha256, regions: text, known: known.length }, by),
        isNew: true,
      }
    })
    if (row.isNew) this.#send(row)
    await this.#settled(row.id)
    return this.one(row.id, by.caller)
  }

  /** Returns the copies of a detection. Throws NOT_FOUND, CLIP_PENDING. */
  list(detectionId: number | undefined, caller: Caller): Redaction[] {
    const { id } = this.#needs.detections.one(detectionId, caller)
    return this.#needs.work.read((tx) => store.redactionsOf(tx, id).map((one) => this.#present(tx, one)))
  }

  /** Returns a copy's row. Throws NOT_FOUND, also when the caller may not see the camera. */
  one(id: number | undefined, caller: Caller): Redaction {
    return this.#needs.work.read((tx) => this.#present(tx, this.#found(tx, id, caller)))
  }

  /** Returns the video as `file`. Throws SECOND_PERSON_NEEDED like the clip itself. */
  clip(id: number | undefined, caller: Caller): FileAnswer {
    const { cameras, detections, work } = this.#needs
    const { asked } = work.read((tx) => this.#found(tx, id, caller))
    cameras.demandPlay(detections.one(asked.detection_id, caller).cctvId, caller)
    return this.file(id, 'clip', caller)
  }

  /** Returns a redacted file. Throws NOT_FOUND; CLIP_PENDING until it is made. */
  file(id: number | undefined, kind: 'clip' | 'snapshot', caller: Caller): FileAnswer {
    return this.#needs.work.read((tx) => {
      const { asked, end } = this.#found(tx, id, caller)
      if (!end) throw new AppError('CLIP_PENDING', 'The copy is still being made', { retryAfterSeconds: 5 })
      const sha256 = kind === 'clip' ? end.sha256 : end.snapshot_sha256
      const media = sha256 === null || removalOf(tx, sha256) ? undefined : findMedia(tx, sha256)
      if (!media)
        throw new AppError('NOT_FOUND', 'There is no such copy', { details: end.problem ?? 'It was removed.' })
      const path = join(
        this.#needs.clipsDir,
        redactedFile({ detectionId: asked.detection_id, redactionId: asked.id }, kind),
      )
      return { path, mediaType: media.mediaType, sizeBytes: media.sizeBytes, sha256: media.sha256 }
    })
  }

  #found(tx: ReadTx, id: number | undefined, caller: Caller): store.Redaction {
    const found = id === undefined ? undefined : store.findRedaction(tx, id)
    const { detections } = this.#needs
    if (!found || !detections.evidenceOf(tx, found.asked.detection_id, caller)) throw AppError.notFound('Redaction')
    return found
  }

  #append(
    tx: Tx,
    {
      detection,
      originalSha256,
      regions,
      known,
    }: { detection: DetectionEvent; originalSha256: string; regions: string; known: number },
    by: RequestOrigin,
  ) {
    const { people, audit, clock } = this.#needs
    if (store.openRedactions(tx).length >= mostWaiting) {
      throw new AppError('REDACTIONS_WAITING', `${mostWaiting} copies are waiting already`, { retryAfterSeconds: 30 })
    }
    if (known >= mostOfOneClip)
      throw AppError.field('regions', `this clip has ${mostOfOneClip} copies, which is the most`)
    const id = store.nextRedactionId(tx)
    const place = { subject: 'clip_redaction', row: id, field: 'actor' }
    const row = {
      id,
      detection_id: detection.id,
      original_sha256: originalSha256,
      regions,
      actor_commitment: people.inRow(tx, people.ofCaller(tx, by.caller), place),
      requested_at_ms: clock.now(),
    }
    store.appendRedaction(tx, row)
    holdMedia(tx, { sha256: originalSha256, reason: holdReason, ref: String(id) }, row.requested_at_ms)
    const changes = { redactionId: id, originalSha256, regions: JSON.parse(regions) as unknown }
    audit.write(tx, by, {
      action: 'clip.redaction_requested',
      entity: 'detection_event',
      entityId: detection.id,
      changes,
    })
    return row
  }

  #send(row: { id: number; detection_id: number; original_sha256: string; regions: string }): void {
    const { work, detections, link } = this.#needs
    const job: RedactionJob = {
      redactionId: row.id,
      detectionId: row.detection_id,
      originalSha256: row.original_sha256,
      regions: JSON.parse(row.regions) as RedactionJob['regions'],
      snapshotMs: work.read((tx) => detections.preRollSeconds(tx, row.detection_id) + snapshotDelaySeconds) * 1000,
    }
    link.send({ type: 'redact', job })
  }

  /** Resolves when the copy has an end, when it has waited long enough, or at once when it is not being made now. */
  #settled(id: number): Promise<void> {
    const { work, clock, link } = this.#needs
    if (!link.isRunning || work.read((tx) => store.findRedaction(tx, id)?.end)) return Promise.resolve()
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set()
      this.#waiting.set(id, waiting)
      const end = () => {
        cancel()
        waiting.delete(end)
        if (waiting.size === 0) this.#waiting.delete(id)
        resolve()
      }
      const cancel = clock.after(waitMs, end)
      waiting.add(end)
    })
  }

  /** Repeats the write until the disk takes it. After a crash the copy is made again, under the same name. */
  async #untilWritten(result: Result): Promise<void> {
    try {
      await this.#needs.work.write((tx) => this.#end(tx, result))
      for (const end of [...(this.#waiting.get(result.redactionId) ?? [])]) end()
    } catch (err) {
      this.#needs.logger.error({ err }, 'a redacted copy could not be written down; it is tried again')
      if (err instanceof AppError && err.code === 'NOT_READY') return
      this.#needs.clock.after(writeAgainMs, () => void this.#untilWritten(result))
    }
  }

  #end(tx: Tx, result: Result): void {
    const { audit, clock } = this.#needs
    const found = store.findRedaction(tx, result.redactionId)
    if (!found || found.end) return
    const nowMs = clock.now()
    const { id, detection_id: detectionId, original_sha256: originalSha256 } = found.asked
    releaseMedia(tx, holdReason, String(id))
    if (result.type === 'redactionFailed') {
      const none = { sha256: null, size_bytes: null, snapshot_sha256: null }
      store.appendEnd(tx, { redaction_id: id, ...none, problem: result.words, ended_at_ms: nowMs })
    } else {
      const { clip, snapshot } = result
      const files = [
        { ...clip, kind: 'clip' as const, mediaType: 'video/mp4' },
        { ...snapshot, kind: 'snapshot' as const, mediaType: 'image/png' },
      ]
      for (const { sha256, sizeBytes, kind, mediaType } of files) {
        addMedia(tx, { sha256, kind, mediaType, sizeBytes, receivedAtMs: nowMs })
        holdLike(tx, sha256, originalSha256)
      }
      const made = { sha256: clip.sha256, size_bytes: clip.sizeBytes, snapshot_sha256: snapshot.sha256, problem: null }
      store.appendEnd(tx, { redaction_id: id, ...made, ended_at_ms: nowMs })
    }
    const changes =
      result.type === 'redacted'
        ? { redactionId: id, originalSha256, sha256: result.clip.sha256 }
        : { redactionId: id, originalSha256, problem: result.words }
    const action = result.type === 'redacted' ? 'clip.redacted' : 'clip.redaction_failed'
    audit.write(tx, undefined, { action, entity: 'detection_event', entityId: detectionId, changes })
  }

  #present(tx: ReadTx, { asked, end }: store.Redaction): Redaction {
    const { siteUrl } = this.#needs.cameras.site
    const who = personIn(tx, { subject: 'clip_redaction', row: asked.id, field: 'actor' }, asked.actor_commitment)
    const url = (what: string) => (end?.sha256 ? `${siteUrl}/api/iot/redactions/${asked.id}/${what}` : null)
    return {
      id: asked.id,
      detectionId: asked.detection_id,
      state: end ? (end.sha256 === null ? 'failed' : 'done') : 'pending',
      problem: end?.problem ?? null,
      sha256: end?.sha256 ?? null,
      originalSha256: asked.original_sha256,
      sizeBytes: end?.size_bytes ?? null,
      snapshotSha256: end?.snapshot_sha256 ?? null,
      url: url('clip'),
      snapshotUrl: url('snapshot'),
      regions: JSON.parse(asked.regions) as Redaction['regions'],
      requestedBy: who?.name ?? shownWithout(2, asked.actor_commitment),
      requestedAt: isoTime(asked.requested_at_ms),
      finishedAt: end ? isoTime(end.ended_at_ms) : null,
    }
  }
}

/** Returns whether an earlier requested copy serves again: it waits, or its file is there. */
function isUsable(tx: ReadTx, { end }: store.Redaction): boolean {
  return !end || (end.sha256 !== null && removalOf(tx, end.sha256) === undefined)
}

function checkRegions(regions: NewRedaction['regions'], duration: number): void {
  regions.forEach(({ from = 0, to }, i) => {
    if (from >= duration) throw AppError.field(`regions.${i}.from`, `the clip ends at ${duration} s`)
    if (to !== undefined && to <= from) throw AppError.field(`regions.${i}.to`, 'must be after from')
  })
  const area = regions.reduce((sum, { polygon }) => {
    const side = (axis: 'x' | 'y') =>
      Math.max(...polygon.map((p) => p[axis])) - Math.min(...polygon.map((p) => p[axis]))
    return sum + side('x') * side('y')
  }, 0)
  if (area > mostArea) throw AppError.field('regions', `cover together more than ${mostArea} pictures; merge some`)
}
