import { type ConfiguredCameras, type DetectionEvent, type Detections, demandExport } from '../cameras/index.ts'
import { keysOfPage, type ReadTx, type Tx, type UnitOfWork } from '../database/index.ts'
import type { SignedUrls } from '../devices/index.ts'
import { AppError } from '../errors/index.ts'
import { type Caller, countLimit, demand, type FileAnswer, identityOf, type RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import {
  holdMedia,
  holdsOn,
  identityText,
  type Openings,
  type People,
  personIn,
  refsHeldFor,
  releaseMedia,
  shownWithout,
} from '../log/index.ts'
import { type Clock, isoTime, type Logger } from '../platform/index.ts'
import type { ClipExport, NewExport } from './export-schema.ts'
import * as store from './export-store.ts'
import type { Redactions } from './redactions.ts'
import type { DecisionRow, ExportRow } from './tables.ts'

/** Time in which a granted export can be downloaded. */
const openMs = 24 * 60 * 60 * 1000
/** Longest wait of an export for a second person. */
const waitsMs = 7 * 24 * 60 * 60 * 1000

type ExportState = 'waiting' | 'granted' | 'refused' | 'ended'

/**
 * Returns the state of an export at a time, from its row, the decision of the second person, and the hold on its file. The hold goes
 * when the export ends, so the export stays ended when the clock goes back.
 */
function exportState(tx: ReadTx, { row, decision }: store.Export, nowMs: number): ExportState {
  if (decision?.decision === 'refused') return 'refused'
  const ref = String(row.id)
  if (!holdsOn(tx, row.sha256).some((hold) => hold.reason === holdReason && hold.ref === ref)) return 'ended'
  const endsMs = exportEndsAt(row, decision)
  if (endsMs === undefined) return nowMs < row.requested_at_ms + waitsMs ? 'waiting' : 'ended'
  return nowMs < endsMs ? 'granted' : 'ended'
}

/** Returns the time until when the file can be downloaded; undefined while nothing is granted. */
function exportEndsAt(row: ExportRow, decision: DecisionRow | undefined): number | undefined {
  if (decision) return decision.decision === 'approved' ? decision.decided_at_ms + openMs : undefined
  return row.needs_approval === 1 ? undefined : row.requested_at_ms + openMs
}

type ExportsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly logger: Logger
  readonly people: People
  readonly openings: Openings
  readonly audit: AuditTrail
  readonly cameras: ConfiguredCameras
  readonly detections: Detections
  readonly redactions: Redactions
  readonly signedUrls: Pick<SignedUrls, 'sign'>
  readonly clockIsTrusted: () => boolean
  readonly fourEyes: () => boolean
}

/** Why a file stays while an export of it waits or can be downloaded. */
const holdReason = 'export'
const lookEveryMs = 60_000
const urlSeconds = 3600
const clockNote =
  "Times are the gateway's, taken when a picture arrived. cameraOffsetMs is the camera's own clock, as it may stand in the picture, minus the gateway's: as the caller stated it, else as the gateway measured it."

type Found = store.Export & { readonly caller: Caller }

/** Hands clips out. Each time a row states clip, recipient, reason and person; with four eyes after a second person agrees. */
export class Exports {
  readonly #needs: ExportsNeeds
  #cancel: (() => void) | undefined

  constructor(needs: ExportsNeeds) {
    this.#needs = needs
  }

  /** Ends the holds of exports that are over, now and every minute. */
  start(): void {
    const round = () => {
      void this.endHolds().catch((err: unknown) =>
        this.#needs.logger.error({ err }, 'holds of exports could not be ended'),
      )
      this.#cancel = this.#needs.clock.after(lookEveryMs, round)
    }
    this.#cancel ??= this.#needs.clock.after(0, round)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  async endHolds(): Promise<void> {
    const { work, clock } = this.#needs
    const isOver = (tx: ReadTx, ref: string) => {
      const found = store.findExport(tx, Number(ref))
      return !found || ['refused', 'ended'].includes(exportState(tx, found, clock.now()))
    }
    const over = work.read((tx) => refsHeldFor(tx, holdReason).filter((ref) => isOver(tx, ref)))
    if (over.length === 0) return
    await work.write((tx) => {
      for (const ref of over) releaseMedia(tx, holdReason, ref)
    })
  }

  /** Asks for a clip or a redacted copy. Throws NOT_FOUND, PERMISSION_DENIED, CLIP_PENDING, REFERENCE_NOT_FOUND. */
  async create(detectionId: number | undefined, request: NewExport, by: RequestOrigin): Promise<ClipExport> {
    const { work, cameras, detections, people, openings, clock, audit } = this.#needs
    const detection = detections.one(detectionId, by.caller)
    demandExport(cameras.names, by.caller, cameras.visible(detection.cctvId, by.caller))
    const { sha256 } = this.#fileOf(detection.id, request.redactionId ?? null, by.caller)
    const id = await work.write((tx) => {
      const place = { subject: 'clip_export', row: store.nextExportId(tx), field: 'actor' }
      const nowMs = clock.now()
      const row = {
        id: place.row,
        detection_id: detection.id,
        cctv_id: detection.cctvId,
        redaction_id: request.redactionId ?? null,
        sha256,
        reason_commitment: openings.text(tx, request.reason),
        recipient_commitment: request.recipient === undefined ? null : openings.text(tx, request.recipient),
        needs_approval: this.#needs.fourEyes() ? 1 : 0,
        clock_trusted: this.#needs.clockIsTrusted() ? 1 : 0,
        ...cameraOffset(request.cameraClockOffsetMs, detection.cameraClock),
        actor_commitment: people.inRow(tx, people.ofCaller(tx, by.caller), place),
        requested_at_ms: nowMs,
      }
      store.appendExport(tx, row)
      holdMedia(tx, { sha256, reason: holdReason, ref: String(row.id) }, nowMs)
      const changes = {
        exportId: row.id,
        sha256,
        redactionId: row.redaction_id,
        needsApproval: row.needs_approval === 1,
      }
      audit.write(tx, by, {
        action: 'clip.export_requested',
        entity: 'detection_event',
        entityId: detection.id,
        changes,
      })
      return row.id
    })
    return this.one(id, by.caller)
  }

  /** Returns an export for its requester, and for callers with audit:read who see the camera. Throws NOT_FOUND. */
  one(id: number | undefined, caller: Caller): ClipExport {
    return this.#needs.work.read((tx) => this.#present(tx, this.#found(tx, id, caller)))
  }

  /** Newest first, of cameras that the caller sees. Ends early when `signal` reports that the client has gone. */
  async list({ limit, offset }: { limit: number; offset: number }, caller: Caller, signal?: AbortSignal) {
    const listing = store.newestExports(this.#needs.cameras.visibleIds(caller))
    const page = { limit, offset, before: undefined }
    const { keys, hasMore, total } = await keysOfPage(this.#needs.work, listing, page, countLimit, signal)
    const data = this.#needs.work.read((tx) =>
      keys.flatMap(([id = 0]) => {
        const found = store.findExport(tx, id)
        return found ? [this.#present(tx, { ...found, caller })] : []
      }),
    )
    return { data, hasMore, total, nextCursor: null }
  }

  /** Approves or refuses an export that waits. Throws NOT_FOUND, PERMISSION_DENIED, SECOND_PERSON_NEEDED, INVALID_TRANSITION. */
  async decide(
    id: number | undefined,
    decision: 'approved' | 'refused',
    note: string | undefined,
    by: RequestOrigin,
  ): Promise<ClipExport> {
    const { work, people, openings, clock, audit } = this.#needs
    await work.write((tx) => {
      const found = this.#found(tx, id, by.caller)
      demand(by.caller, 'cameras:export')
      const state = exportState(tx, found, clock.now())
      if (state !== 'waiting')
        throw new AppError('INVALID_TRANSITION', `The export is ${state}`, {
          details: 'Only one that waits is decided on.',
        })
      // Withdrawing one's own request needs no second person.
      if (decision === 'approved') demandSecondPerson(tx, found)
      const place = { subject: 'clip_export_decision', row: store.nextDecisionId(tx), field: 'actor' }
      store.appendDecision(tx, {
        id: place.row,
        export_id: found.row.id,
        decision,
        note_commitment: note === undefined ? null : openings.text(tx, note),
        actor_commitment: people.inRow(tx, people.ofCaller(tx, by.caller), place),
        decided_at_ms: clock.now(),
      })
      if (decision === 'refused') releaseMedia(tx, holdReason, String(found.row.id))
      const changes = { exportId: found.row.id, sha256: found.row.sha256 }
      audit.write(tx, by, {
        action: `clip.export_${decision}`,
        entity: 'detection_event',
        entityId: found.row.detection_id,
        changes,
      })
    })
    return this.one(id, by.caller)
  }

  /**
   * Returns the file for the requester, and notes the download if the answer to `hasBytes` of its hash is yes. Throws NOT_FOUND, also when the export is over;
   * SECOND_PERSON_NEEDED while it waits.
   */
  async file(id: number | undefined, hasBytes: (sha256: string) => boolean, by: RequestOrigin): Promise<FileAnswer> {
    const { work, clock, audit } = this.#needs
    const { row, state } = work.read((tx) => {
      const found = this.#found(tx, id, by.caller)
      if (!isAsker(tx, found)) throw AppError.notFound('Export')
      return { row: found.row, state: exportState(tx, found, clock.now()) }
    })
    if (state === 'waiting') {
      throw new AppError('SECOND_PERSON_NEEDED', 'The export waits for a second person', {
        details: `POST /api/iot/exports/${row.id}/approve`,
      })
    }
    if (state !== 'granted')
      throw new AppError('NOT_FOUND', `The export is ${state}`, { details: 'Ask for a new one.' })
    const file = this.#fileOf(row.detection_id, row.redaction_id, by.caller)
    if (file.sha256 !== row.sha256) throw AppError.notFound('File')
    if (hasBytes(row.sha256)) {
      const changes = { exportId: row.id, sha256: row.sha256 }
      await work.write((tx) =>
        audit.write(tx, by, {
          action: 'clip.export_downloaded',
          entity: 'detection_event',
          entityId: row.detection_id,
          changes,
        }),
      )
    }
    return file
  }

  #fileOf(detectionId: number, redactionId: number | null, caller: Caller): FileAnswer {
    if (redactionId === null) return this.#needs.detections.clip(detectionId, caller)
    try {
      if (this.#needs.redactions.one(redactionId, caller).detectionId === detectionId) {
        return this.#needs.redactions.file(redactionId, 'clip', caller)
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
    }
    const fields = [{ path: 'redactionId', message: `detection ${detectionId} has no redacted copy ${redactionId}` }]
    throw new AppError('REFERENCE_NOT_FOUND', 'There is no such copy', { fields })
  }

  #found(tx: ReadTx, id: number | undefined, caller: Caller): Found {
    const found = id === undefined ? undefined : store.findExport(tx, id)
    if (!found || !this.#needs.cameras.isVisible(found.row.cctv_id, caller)) throw AppError.notFound('Export')
    if (!caller.permissions.has('audit:read') && !isAsker(tx, { ...found, caller })) throw AppError.notFound('Export')
    return { ...found, caller }
  }

  #present(tx: ReadTx, { row, decision, caller }: Found): ClipExport {
    const { openings, clock, signedUrls, cameras } = this.#needs
    const text = (commitment: string | null | undefined) =>
      commitment ? (openings.reveal(tx, commitment) ?? null) : null
    const state = exportState(tx, { row, decision }, clock.now())
    const endsAt = exportEndsAt(row, decision)
    const isOwn = isAsker(tx, { row, decision, caller })
    const mayDownload = state === 'granted' && isOwn
    const signed = mayDownload ? signedUrls.sign(`/api/iot/exports/${row.id}/file`, urlSeconds, caller) : undefined
    return {
      id: row.id,
      detectionId: row.detection_id,
      cctvId: row.cctv_id,
      redactionId: row.redaction_id,
      sha256: row.sha256,
      state,
      who: nameIn(tx, 'clip_export', row),
      isOwn,
      why: text(row.reason_commitment),
      recipient: text(row.recipient_commitment),
      decidedBy: decision ? nameIn(tx, 'clip_export_decision', decision) : null,
      decisionNote: text(decision?.note_commitment),
      decidedAt: decision ? isoTime(decision.decided_at_ms) : null,
      clock: {
        trusted: row.clock_trusted === 1,
        cameraOffsetMs: row.camera_offset_ms,
        cameraOffsetBy: row.camera_offset_by,
        cameraOffsetMeasuredAt:
          row.camera_offset_measured_at_ms === null ? null : isoTime(row.camera_offset_measured_at_ms),
        note: clockNote,
      },
      createdAt: isoTime(row.requested_at_ms),
      endsAt: endsAt === undefined ? null : isoTime(endsAt),
      url: signed ? `${cameras.site.siteUrl}${signed.url}` : null,
      urlExpiresAt: signed?.expiresAt ?? null,
    }
  }
}

/** Returns the columns of the camera's offset: as the requester has read it, else as it was measured; nothing is assumed. */
function cameraOffset(statedMs: number | undefined, measured: DetectionEvent['cameraClock']) {
  if (statedMs !== undefined)
    return { camera_offset_ms: statedMs, camera_offset_by: 'stated' as const, camera_offset_measured_at_ms: null }
  return {
    camera_offset_ms: measured?.offsetMs ?? null,
    camera_offset_by: measured?.by ?? null,
    camera_offset_measured_at_ms: measured ? Date.parse(measured.measuredAt) : null,
  }
}

type Named = { readonly id: number; readonly actor_commitment: string }

const identityIn = (tx: ReadTx, subject: string, { id, actor_commitment }: Named) =>
  personIn(tx, { subject, row: id, field: 'actor' }, actor_commitment)

const nameIn = (tx: ReadTx, subject: string, row: Named): string =>
  identityIn(tx, subject, row)?.name ?? shownWithout(2, row.actor_commitment)

/** Returns whether the caller is the requester; false once that person is erased. */
function isAsker(tx: ReadTx, { row, caller }: Found): boolean {
  const asked = identityIn(tx, 'clip_export', row)
  return asked !== undefined && identityText(asked) === identityOf(caller)
}

/** Throws SECOND_PERSON_NEEDED unless the caller is known to be another person than the requester. */
function demandSecondPerson(tx: Tx, found: Found): void {
  const isKnown = identityIn(tx, 'clip_export', found.row) !== undefined
  if (isKnown && !isAsker(tx, found)) return
  throw new AppError('SECOND_PERSON_NEEDED', 'Another person has to approve this export', {
    details: isKnown
      ? 'The person who asked for an export cannot approve it.'
      : 'The name of the person who asked is erased. Ask for a new export.',
  })
}
