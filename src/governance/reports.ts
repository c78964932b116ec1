import { readFile, rm } from 'node:fs/promises'
import { lastingGaps } from '../cameras/index.ts'
import type { ClockBook } from '../clock/index.ts'
import { type DiskRoom, keysOfPage, type ReadTx, type Tx, type UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import {
  type Ask,
  type Caller,
  countLimit,
  type FileAnswer,
  type PageLanguage,
  type Reply,
  type RequestOrigin,
  timeCursor,
} from '../http/index.ts'
import type { AuditTrail, Idempotency, Outbox } from '../journal/index.ts'
import {
  type Checkpoint,
  type EvidenceStates,
  erased,
  erasedName,
  knownLogs,
  type Log,
  type Openings,
  type People,
  personIn,
  sha256,
  shownWithout,
} from '../log/index.ts'
import { isoTime, ownFile, writeFileDurablyAside } from '../platform/index.ts'
import type { WarehouseService } from '../warehouse/index.ts'
import type { ComposedReport, ReportContent, ReportContentV1, ReportSpec, Secured } from './compliance.ts'
import { reportGenerated } from './events.ts'
import { reportFacts, reportFile, type UnsealedReport } from './report-leaf.ts'
import { reportPage } from './report-page.ts'
import * as store from './report-store.ts'
import type { NewReport, Report, ReportEvidence, ReportItem } from './schema.ts'
import type { Sight } from './sight.ts'
import type { ReportRow } from './tables.ts'

export const reportsPath = '/api/governance/reports'

/** Discrepancies in an answer; the file lists more. */
const mostDiscrepancies = 100

export type ReportsOptions = {
  readonly work: UnitOfWork
  /** The time of the gateway's clock, in milliseconds. */
  readonly nowMs: () => number
  readonly log: Log
  readonly clockBook: Pick<ClockBook, 'span'>
  readonly openings: Openings
  readonly people: People
  readonly outbox: Outbox
  readonly audit: AuditTrail
  readonly idempotency: Idempotency
  readonly makeId: () => string
  readonly warehouse: WarehouseService
  readonly sight: Sight
  readonly room: Pick<DiskRoom, 'demand'>
  readonly dataDir: string
  readonly siteUrl: () => string
  readonly evidenceStates: Pick<EvidenceStates, 'of' | 'sizes' | 'hasWitnesses'>
  /** Signs the log as it is now. Rejects with NOT_READY when it may not be signed. */
  readonly signHead: () => Promise<Checkpoint>
  /** `composeReport`, in the jobs thread. */
  readonly compose: (spec: ReportSpec) => Promise<ComposedReport>
  /** Called in the transaction of a report's row. */
  readonly onReport: (tx: Tx, report: store.ReportFacts) => void
}

/** Makes reports: from the log at one size, stored as a file under its hash, stated by a leaf. */
export class Reports {
  readonly #needs: ReportsOptions

  constructor(options: ReportsOptions) {
    this.#needs = options
  }

  /** Composes a report on the part that the caller may see. The file is on disk before its row. Throws STORAGE_FULL. */
  async create(request: NewReport, { by, claim }: Ask): Promise<Reply<{ success: true } & Report>> {
    const { work, idempotency } = this.#needs
    const earlier = work.read((tx) => idempotency.replay(tx, claim))
    if (earlier) return earlier as Reply<{ success: true } & Report>
    // Checked first, because composing may take minutes.
    this.#needs.room.demand(0, 'a report')
    const spec = this.#specOf(request, by.caller, await this.#signedHead())
    const { file, people } = await this.#needs.compose(spec)
    const bytes = Buffer.from(file)
    const hash = sha256(bytes).toString('hex')
    await this.#keepFile(hash, bytes)
    const content = JSON.parse(bytes.toString('utf8')) as ReportContent
    const reply = await work.write((tx) =>
      idempotency.once(tx, claim, () => {
        const row = this.#append(tx, spec, { sha256: hash, sizeBytes: bytes.length, root: content.checkpoint.root }, by)
        store.keepPeople(tx, row.id, people)
        const report = this.#present(tx, row, content)
        this.#needs.outbox.publish(tx, reportGenerated(report))
        return { status: 201, body: { success: true as const, ...report }, location: `${reportsPath}/${row.id}` }
      }),
    )
    if (reply.replayed) await this.#dropUnused(hash)
    return reply
  }

  /** Returns a report. Throws NOT_FOUND, also for one that covers a hidden warehouse. */
  async report(id: number | undefined, caller: Caller): Promise<Report> {
    const row = this.#row(id, caller)
    const content = JSON.parse(await this.#read(row)) as ReportContent | ReportContentV1
    return this.#needs.work.read((tx) => this.#present(tx, row, content))
  }

  /** Returns a report as a page to read and print, with times of the first warehouse's zone. Throws NOT_FOUND as `report`. */
  async page(id: number | undefined, caller: Caller, language: PageLanguage): Promise<string> {
    const report = await this.report(id, caller)
    const { warehouse, log } = this.#needs
    const covered = warehouse.warehouses(caller).filter((one) => report.warehouses.includes(one.id))
    return reportPage(report, { siteId: log.identity.siteId, warehouses: covered }, language)
  }

  /** Newest first. Ends early when `signal` reports that the client has gone. */
  async reports(
    { limit, offset, beforeId }: { limit: number; offset: number; beforeId?: number | undefined },
    caller: Caller,
    signal?: AbortSignal,
  ) {
    const { work, warehouse } = this.#needs
    const page = { limit, offset, before: beforeId === undefined ? undefined : [beforeId] }
    const listing = store.reportsOf(warehouse.hiddenFrom(caller))
    const { keys, ...found } = await keysOfPage(work, listing, page, countLimit, signal)
    return work.read((tx) => {
      const rows = keys.flatMap(([id = 0]) => store.findReport(tx, id) ?? [])
      const last = rows.at(-1)
      const nextCursor = found.hasMore && last ? timeCursor({ timestampMs: last.created_at_ms, id: last.id }) : null
      return { ...found, nextCursor, data: rows.map((row) => this.#item(tx, row)) }
    })
  }

  /** Returns a report's file. Throws NOT_FOUND. */
  file(id: number | undefined, caller: Caller): FileAnswer {
    const { sha256: hash, size_bytes: sizeBytes } = this.#row(id, caller)
    return { path: reportFile(this.#needs.dataDir, hash), mediaType: 'application/json', sizeBytes, sha256: hash }
  }

  /** A log that may not be signed gets a report all the same, and the report states it. */
  async #signedHead(): Promise<Checkpoint | undefined> {
    try {
      return await this.#needs.signHead()
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_READY') return undefined
      throw error
    }
  }

  #specOf({ type = 'compliance', from, to }: NewReport, caller: Caller, head: Checkpoint | undefined): ReportSpec {
    const { log, work, warehouse, clockBook } = this.#needs
    const warehouses = warehouse
      .warehouses(caller)
      .map(({ id }) => id)
      .sort((a, b) => a - b)
    const { siteId, logId } = log.identity
    const { rows, untilMs } = clockBook.span(from, to)
    // The leaves of the checkpoint and no more, so that the signature covers all that the report counts.
    const logSize = head?.size ?? log.size
    return {
      type,
      siteId,
      logId,
      logSize,
      fromMs: from,
      toMs: to,
      warehouses,
      clock: { rows, untilMs },
      ...work.read((tx) => ({ secured: this.#secured(tx, logSize, head), lastingGaps: lastingGaps(tx) })),
    }
  }

  #secured(tx: ReadTx, logSize: number, head: Checkpoint | undefined): Secured {
    const { log, evidenceStates } = this.#needs
    const logs = knownLogs(tx).map(({ number, logId, size }) => {
      const leaves = number === log.identity.number ? logSize : size
      const { signed, witnessed, timestamped } = evidenceStates.sizes(tx, number)
      const upTo = (of: number) => Math.min(of, leaves)
      return { logId, leaves, signed: upTo(signed), witnessed: upTo(witnessed), timestamped: upTo(timestamped) }
    })
    const signed = head && {
      rootHash: head.root.toString('base64'),
      signedAt: isoTime(head.signed_at_ms),
      note: head.note,
    }
    return { logs, hasWitnesses: evidenceStates.hasWitnesses, head: signed ?? null }
  }

  async #keepFile(hash: string, bytes: Buffer): Promise<void> {
    this.#needs.room.demand(bytes.length, 'the report')
    try {
      await writeFileDurablyAside(reportFile(this.#needs.dataDir, hash), bytes, 0o640)
    } catch (error) {
      throw new AppError('STORAGE_FULL', 'The report cannot be written; nothing was stored', {
        cause: error,
        retryAfterSeconds: 30,
      })
    }
  }

  /** Deletes a file without a report: two requests with one key were composed at the same time. */
  async #dropUnused(hash: string): Promise<void> {
    if (this.#needs.work.read((tx) => store.isReportFile(tx, hash))) return
    await rm(reportFile(this.#needs.dataDir, hash), { force: true })
  }

  #append(
    tx: Tx,
    spec: ReportSpec,
    file: { sha256: string; sizeBytes: number; root: string },
    by: RequestOrigin,
  ): ReportRow {
    const { log, people, audit, makeId, nowMs } = this.#needs
    const end = store.endOfReports(tx)
    const actor = people.ofCaller(tx, by.caller)
    const unsealed: UnsealedReport = {
      id: end.id + 1,
      event_id: makeId(),
      type: spec.type,
      from_ms: spec.fromMs,
      to_ms: spec.toMs,
      warehouses: JSON.stringify(spec.warehouses),
      log_size: spec.logSize,
      log_root: file.root,
      sha256: file.sha256,
      size_bytes: file.sizeBytes,
      actor_commitment: actor.inLeaf(log.next(), 'actor'),
      created_at_ms: Math.max(nowMs(), end.createdAtMs),
    }
    const leaf = log.append(tx, 'report', String(unsealed.id), reportFacts(unsealed))
    const row = { ...unsealed, ...leaf }
    store.append(tx, row)
    this.#needs.onReport(tx, row)
    people.link(tx, actor, { subject: 'report', row: row.id, field: 'actor' })
    const changes = { type: row.type, from: isoTime(row.from_ms), to: isoTime(row.to_ms), sha256: row.sha256 }
    audit.write(tx, by, { action: 'report.generated', entity: 'report', entityId: row.id, changes })
    return row
  }

  #row(id: number | undefined, caller: Caller): ReportRow {
    return this.#needs.work.read((tx) => {
      const row = id === undefined ? undefined : store.findReport(tx, id)
      if (!row || !this.#needs.sight.mayKnow(tx, 'report', String(id), caller)) throw AppError.notFound('Report')
      return row
    })
  }

  async #read(row: ReportRow): Promise<string> {
    try {
      return await readFile(reportFile(this.#needs.dataDir, row.sha256), { encoding: 'utf8', flag: ownFile.read })
    } catch (error) {
      throw new AppError('INTERNAL_ERROR', 'The file of this report cannot be read', { cause: error })
    }
  }

  #present(tx: ReadTx, row: ReportRow, content: ReportContent | ReportContentV1): Report {
    return {
      ...this.#item(tx, row),
      ...(content.v === 1 ? this.#peopleOfV1(tx, content) : peopleOf(tx, row, content)),
      discrepancies: content.discrepancies.slice(0, mostDiscrepancies),
      clock: content.v === 1 ? null : (content.clock ?? null),
      evidence: content.v === 1 ? null : this.#evidence(tx, row, content),
      gaps: content.v === 1 ? null : (content.gaps ?? null),
    }
  }

  /** Adds who has countersigned the report's checkpoint since; the file cannot know that. */
  #evidence(tx: ReadTx, { log_id }: ReportRow, { evidence }: ReportContent): ReportEvidence | null {
    if (!evidence) return null
    const { checkpoint } = evidence
    if (!checkpoint) return { ...evidence, checkpoint }
    const { witnesses, timestampedAt } = this.#needs.evidenceStates.of(tx, { log_id, leaf_seq: checkpoint.size })
    return { ...evidence, checkpoint: { ...checkpoint, witnesses, timestampedAt } }
  }

  #peopleOfV1(
    tx: ReadTx,
    { counts, selfVerifications }: ReportContentV1,
  ): Pick<Report, 'counts' | 'selfVerifications'> {
    const nameOf = (person: string) => this.#needs.openings.reveal(tx, person) ?? erasedName(person)
    return {
      counts,
      selfVerifications: selfVerifications.map(({ person, count }) => ({ person: nameOf(person), count })),
    }
  }

  #item(tx: ReadTx, row: ReportRow): ReportItem {
    const { siteUrl } = this.#needs
    const actor = personIn(tx, { subject: 'report', row: row.id, field: 'actor' }, row.actor_commitment)
    return {
      id: row.id,
      eventId: row.event_id,
      seq: row.leaf_seq,
      type: row.type,
      from: isoTime(row.from_ms),
      to: isoTime(row.to_ms),
      warehouses: JSON.parse(row.warehouses) as number[],
      checkpoint: { logId: store.logIdOf(tx, row), size: row.log_size, root: row.log_root },
      file: {
        url: `${siteUrl().replace(/\/+$/, '')}${reportsPath}/${row.id}/file`,
        sha256: row.sha256,
        sizeBytes: row.size_bytes,
      },
      createdBy: actor?.name ?? shownWithout(row.leaf_version, row.actor_commitment),
      createdAt: isoTime(row.created_at_ms),
      evidenceHash: row.evidence_hash,
    }
  }
}

/** Returns the people who recorded in the period, without erased ones; the file itself does not name them. */
function peopleOf(
  tx: ReadTx,
  { id }: ReportRow,
  { counts }: ReportContent,
): Pick<Report, 'counts' | 'selfVerifications'> {
  const people = store.peopleOf(tx, id)
  const bySelf = new Map<string, number>()
  for (const { name, selfVerified } of people) {
    const person = name ?? erased
    if (selfVerified > 0) bySelf.set(person, (bySelf.get(person) ?? 0) + selfVerified)
  }
  return {
    counts: {
      ...counts,
      events: { ...counts.events, operators: people.filter(({ isOperator }) => isOperator).length },
    },
    selfVerifications: [...bySelf].map(([person, count]) => ({ person, count })),
  }
}
