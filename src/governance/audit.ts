import type { ReadTx, UnitOfWork } from '../database/index.ts'
import { type Caller, countLimit, type TimePlace, timeCursor } from '../http/index.ts'
import { type AuditEntity, type AuditFilter, type AuditRow, auditStep, endOfTrail, redacted } from '../journal/index.ts'
import { type Identity, meantBy, type Openings, personById, shownWithout } from '../log/index.ts'
import { isoTime, ownTurn } from '../platform/index.ts'
import type { AuditEntry } from './schema.ts'
import type { Sight } from './sight.ts'

/** Rows that one step reads: about 2 ms, so that handhelds do not wait for an auditor. */
const lookedAtOnce = 200

export type AuditQuery = Omit<AuditFilter, 'person'> & { readonly operator?: string | undefined }

export type AuditPage = { readonly limit: number; readonly offset: number; readonly before?: TimePlace | undefined }

type AuditReaderNeeds = { work: Pick<UnitOfWork, 'read'>; openings: Openings; sight: Sight }

/** Reads the audit trail in steps, with a turn for other requests in between. */
export class AuditReader {
  readonly #needs: AuditReaderNeeds

  constructor(needs: AuditReaderNeeds) {
    this.#needs = needs
  }

  /**
   * Yields all entries, newest first, or with `afterId` in the order of the trail; entries that are written meanwhile may be among
   * them.
   */
  async *all({ operator, ...query }: AuditQuery, caller: Caller): AsyncGenerator<readonly AuditEntry[]> {
    const person = operator === undefined ? undefined : this.#needs.work.read((tx) => meantBy(tx, operator))
    if (person && person.commitment === undefined && person.ids.length === 0) return
    for await (const rows of this.#steps({ ...query, person }, undefined, caller))
      yield this.#needs.work.read((tx) => rows.map((row) => this.#shown(tx, row)))
  }

  /** Returns one page, newest first, or with `afterId` in the order of the trail. `total` is exact or null. */
  async entries({ operator, ...query }: AuditQuery, page: AuditPage, caller: Caller) {
    const person = operator === undefined ? undefined : this.#needs.work.read((tx) => meantBy(tx, operator))
    if (person && person.commitment === undefined && person.ids.length === 0) {
      return { data: [], hasMore: false, total: 0, nextCursor: null }
    }
    const filter: AuditFilter = { ...query, person }
    const rows = await this.#page(filter, page, caller)
    const total = await this.#total(filter, caller)
    const shown = rows.slice(0, page.limit)
    const last = shown.at(-1)
    const hasMore = rows.length > page.limit
    const nextCursor =
      hasMore && last && filter.afterId === undefined
        ? timeCursor({ timestampMs: last.timestamp_ms, id: last.id })
        : null
    return { data: this.#needs.work.read((tx) => shown.map((row) => this.#shown(tx, row))), hasMore, total, nextCursor }
  }

  /** Returns the rows of a page, and one more if there is one. */
  async #page(filter: AuditFilter, { limit, offset, before }: AuditPage, caller: Caller): Promise<AuditRow[]> {
    const rows: AuditRow[] = []
    let passed = 0
    for await (const step of this.#steps(filter, before, caller)) {
      const wanted = step.slice(Math.max(0, offset - passed))
      passed += step.length
      rows.push(...wanted.slice(0, limit + 1 - rows.length))
      if (rows.length > limit) break
    }
    return rows
  }

  /** Counts matching rows; null when that would take more rows than the limit. */
  async #total(filter: AuditFilter, caller: Caller): Promise<number | null> {
    const everything = Object.values(filter).every((value) => value === undefined)
    if (everything && caller.role === 'admin') return this.#needs.work.read(endOfTrail)
    let total = 0
    let looked = 0
    for await (const step of this.#steps(filter, undefined, caller)) {
      total += step.length
      looked += lookedAtOnce
      if (looked > countLimit) return null
    }
    return total
  }

  async *#steps(filter: AuditFilter, before: TimePlace | undefined, caller: Caller): AsyncGenerator<AuditRow[]> {
    let place = before
    do {
      await ownTurn()
      const step = this.#needs.work.read((tx) => {
        const { rows, place: next } = auditStep(tx, filter, place, lookedAtOnce)
        return {
          rows: rows.filter((row) => this.#needs.sight.mayKnow(tx, row.entity, row.entity_id, caller)),
          place: next,
        }
      })
      yield step.rows
      place = step.place
    } while (place)
  }

  #shown(tx: ReadTx, row: AuditRow): AuditEntry {
    const actor = this.#personOf(tx, row.log_id, row.actor_id, row.actor_commitment)
    const operator = this.#personOf(tx, row.log_id, row.operator_id, row.operator_commitment)
    return {
      id: row.id,
      timestamp: isoTime(row.timestamp_ms),
      operator: (operator ?? actor)?.name ?? null,
      actor: actor?.name ?? null,
      instance: actor?.instance ?? null,
      action: row.action,
      entity: row.entity satisfies AuditEntity,
      entityId: row.entity_id,
      changes: row.changes === null ? null : redacted(JSON.parse(row.changes) as Record<string, unknown>),
      requestId: row.request_id,
      address: row.address,
      authMode: row.auth_mode,
    }
  }

  /** Returns the person of a row; undefined without one. Rows of version 1 have no instance. */
  #personOf(tx: ReadTx, logId: number | null, id: number | null, commitment: string | null): Identity | undefined {
    if (commitment === null) return undefined
    const known = id === null ? undefined : personById(tx, id)
    if (known) return known
    const name = logId === null ? this.#needs.openings.reveal(tx, commitment) : undefined
    return { name: name ?? shownWithout(logId === null ? 1 : 2, commitment), instance: null }
  }
}
