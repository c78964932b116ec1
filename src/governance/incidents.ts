import { keysOfPage, type ReadTx, type Tx, type UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type Ask, type Caller, countLimit, type Reply, type RequestOrigin, timeCursor } from '../http/index.ts'
import type { AuditTrail, Idempotency, Outbox } from '../journal/index.ts'
import {
  holdMedia,
  idOfLog,
  type Log,
  type Openings,
  openedLink,
  openedText,
  type People,
  type Provable,
  personIn,
  releaseMedia,
  shownWithout,
} from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { WarehouseService } from '../warehouse/index.ts'
import { incidentChanged } from './events.ts'
import { incidentFacts, type UnsealedIncidentChange } from './incident-leaf.ts'
import { actionsIn, type IncidentAction, type IncidentState, nextState } from './incident-states.ts'
import * as store from './incident-store.ts'
import type { Claimed, References, ReferenceType, Resolved } from './references.ts'
import type { Incident, NewIncident } from './schema.ts'
import type { Sight } from './sight.ts'
import type { IncidentChangeRow } from './tables.ts'

/** Why the media of an incident stay. */
const holdReason = 'incident'

/** A stored reference; one that could not be resolved is a text, stored as a commitment. */
type KeptReference = { readonly type: ReferenceType; readonly id: string } | { readonly type: 'external'; text: string }

export type IncidentsOptions = {
  readonly work: UnitOfWork
  /** The time of the gateway's clock, in milliseconds. */
  readonly nowMs: () => number
  readonly log: Log
  readonly openings: Openings
  readonly people: People
  readonly outbox: Outbox
  readonly audit: AuditTrail
  readonly idempotency: Idempotency
  readonly makeId: () => string
  readonly warehouse: WarehouseService
  /** Warehouse of an incident that names none. */
  readonly warehouseId: () => number
  readonly references: References
  readonly sight: Sight
  /** Called for each file that an incident needs, in its transaction; for a clip to come with the name of `clipToCome`. */
  readonly onHeld: (tx: Tx, sha256: string) => void
}

/** Records incidents: opened, investigated, resolved. An incident is the sequence of its changes. */
export class Incidents {
  readonly #needs: IncidentsOptions

  constructor(options: IncidentsOptions) {
    this.#needs = options
  }

  /** Opens an incident, and holds what it refers to. Throws REFERENCE_NOT_FOUND for an unknown warehouse. */
  create(request: NewIncident, { by, claim }: Ask): Promise<Reply<{ success: true } & Incident>> {
    const { work, idempotency } = this.#needs
    return work.write((tx) =>
      idempotency.once(tx, claim, () => {
        const incident = this.#open(tx, request, by)
        const body = { success: true as const, ...incident }
        return { status: 201, body, location: `/api/governance/incidents/${incident.id}` }
      }),
    )
  }

  /** Changes an incident. Throws NOT_FOUND, INVALID_TRANSITION. */
  act(
    id: number | undefined,
    action: IncidentAction,
    resolution: string | undefined,
    { by, claim }: Ask,
  ): Promise<Reply<{ success: true } & Incident>> {
    const { work, idempotency } = this.#needs
    return work.write((tx) =>
      idempotency.once(tx, claim, () => {
        const changes = this.#changes(tx, id, by.caller)
        const status = moved(changes, action)
        return { status: 200, body: { success: true as const, ...this.#move(tx, changes, status, resolution, by) } }
      }),
    )
  }

  /** Returns an incident. Throws NOT_FOUND, also for one of a hidden warehouse. */
  incident(id: number | undefined, caller: Caller): Incident {
    return this.#needs.work.read((tx) => this.#present(tx, this.#changes(tx, id, caller), caller))
  }

  /** Returns the provable row of every change of an incident, oldest first. Throws NOT_FOUND. */
  provable(id: number | undefined, caller: Caller): { change: number; provable: Provable }[] {
    return this.#needs.work.read((tx) =>
      this.#changes(tx, id, caller).map((row) => ({ change: row.id, provable: provableChange(tx, row) })),
    )
  }

  /** Returns one page of the incidents that the caller may see. Ends early when `signal` reports that the client has gone. */
  async incidents(
    {
      asset_barcode,
      ...query
    }: Omit<store.IncidentFilter, 'hiddenWarehouses' | 'references'> & { asset_barcode?: string | undefined },
    { limit, offset, before }: store.IncidentPage,
    caller: Caller,
    signal?: AbortSignal,
  ) {
    const references =
      asset_barcode === undefined
        ? undefined
        : this.#needs.work.read((tx) => this.#needs.references.ofAsset(tx, asset_barcode, caller))
    const hiddenWarehouses = this.#needs.warehouse.hiddenFrom(caller)
    const listing = store.openingsOf({ ...query, hiddenWarehouses, references })
    const page = { limit, offset, before: before && [before.timestampMs, before.id] }
    const { keys, hasMore, total } = await keysOfPage(this.#needs.work, listing, page, countLimit, signal)
    const data = this.#needs.work.read((tx) =>
      keys.map(([, id = 0]) => this.#present(tx, store.changesOf(tx, id), caller)),
    )
    const [timestampMs, id] = keys.at(-1) ?? []
    const last = timestampMs === undefined || id === undefined ? undefined : { timestampMs, id }
    return { data, hasMore, total, nextCursor: hasMore && last ? timeCursor(last) : null }
  }

  #changes(tx: ReadTx, id: number | undefined, caller: Caller): IncidentChangeRow[] {
    const changes = id === undefined ? [] : store.changesOf(tx, id)
    if (changes.length === 0 || !this.#needs.sight.mayKnow(tx, 'incident', String(id), caller)) {
      throw AppError.notFound('Incident')
    }
    return changes
  }

  #open(tx: Tx, request: NewIncident, by: RequestOrigin): Incident {
    const { openings, references, audit } = this.#needs
    const claimed = unlike((request.evidenceReferences ?? []).map(claimedOf))
    const found = claimed.map((claim) => ({ claim, resolved: references.find(tx, claim, by.caller) }))
    const resolved = found.flatMap((one) => one.resolved ?? [])
    const row = this.#append(tx, by, {
      incident_id: store.endOfChanges(tx).incidentId + 1,
      status: 'open',
      severity: request.severity,
      category: request.category,
      warehouse_id: this.#warehouseOf(tx, request, resolved, by.caller),
      title_commitment: request.title === undefined ? null : openings.text(tx, request.title),
      description_commitment: request.description === undefined ? null : openings.text(tx, request.description),
      evidence: JSON.stringify(unlike(found.map(({ claim, resolved: one }) => this.#kept(tx, claim, one)))),
      resolution_commitment: null,
    })
    for (const sha256 of new Set(resolved.flatMap(({ media }) => media))) {
      holdMedia(tx, { sha256, reason: holdReason, ref: String(row.incident_id) }, row.timestamp_ms)
      this.#needs.onHeld(tx, sha256)
    }
    const { severity, category } = request
    const changes = { severity, category, references: claimed.length }
    audit.write(tx, by, { action: 'incident.created', entity: 'incident', entityId: row.incident_id, changes })
    return this.#incidentFor(tx, [row], by.caller)
  }

  #move(
    tx: Tx,
    changes: readonly IncidentChangeRow[],
    status: IncidentState,
    resolution: string | undefined,
    by: RequestOrigin,
  ): Incident {
    const incidentId = changes[0]?.incident_id ?? 0
    const row = this.#append(tx, by, {
      incident_id: incidentId,
      status,
      severity: null,
      category: null,
      warehouse_id: null,
      title_commitment: null,
      description_commitment: null,
      evidence: null,
      resolution_commitment: resolution === undefined ? null : this.#needs.openings.text(tx, resolution),
    })
    if (status === 'resolved') releaseMedia(tx, holdReason, String(incidentId))
    const was = changes.at(-1)?.status
    const statusChange = { status: { from: was, to: status } }
    const action = status === 'resolved' ? 'incident.resolved' : 'incident.investigated'
    this.#needs.audit.write(tx, by, { action, entity: 'incident', entityId: incidentId, changes: statusChange })
    return this.#incidentFor(tx, [...changes, row], by.caller)
  }

  /** Appends leaf and row. */
  #append(
    tx: Tx,
    by: RequestOrigin,
    facts: Omit<UnsealedIncidentChange, 'id' | 'event_id' | 'actor_commitment' | 'timestamp_ms'>,
  ): IncidentChangeRow {
    const { log, people, makeId, nowMs } = this.#needs
    const end = store.endOfChanges(tx)
    const actor = people.ofCaller(tx, by.caller)
    const unsealed: UnsealedIncidentChange = {
      ...facts,
      id: end.id + 1,
      event_id: makeId(),
      actor_commitment: actor.inLeaf(log.next(), 'actor'),
      timestamp_ms: Math.max(nowMs(), end.timestampMs),
    }
    const leaf = log.append(tx, 'incident-change', String(unsealed.id), incidentFacts(unsealed))
    const row = { ...unsealed, ...leaf }
    store.append(tx, row)
    people.link(tx, actor, { subject: 'incident_change', row: row.id, field: 'actor' })
    return row
  }

  #incidentFor(tx: Tx, changes: readonly IncidentChangeRow[], caller: Caller): Incident {
    const incident = this.#present(tx, changes, caller)
    const newest = changes.at(-1)
    const event = newest && incidentChanged(incident, newest)
    if (event) this.#needs.outbox.publish(tx, event)
    return incident
  }

  #kept(tx: Tx, { type, id }: Claimed, resolved: Resolved | undefined): KeptReference {
    if (resolved) return { type: resolved.type, id: resolved.id }
    return { type: 'external', text: this.#needs.openings.text(tx, type === undefined ? id : `${type}:${id}`) }
  }

  #warehouseOf(tx: ReadTx, request: NewIncident, resolved: readonly Resolved[], caller: Caller): number | null {
    const isThere = (id: number) =>
      this.#needs.references.find(tx, { type: 'warehouse', id: String(id) }, caller) !== undefined
    if (request.warehouseId !== undefined) {
      if (isThere(request.warehouseId)) return request.warehouseId
      throw new AppError('REFERENCE_NOT_FOUND', 'There is no such warehouse', {
        fields: [{ path: 'warehouseId', message: `no warehouse ${request.warehouseId}` }],
      })
    }
    const own = this.#needs.warehouseId()
    // A person who may see a camera may not see its warehouse. The incident would then be hidden from its reporter.
    const referred = resolved.find(({ warehouseId }) => warehouseId !== undefined && isThere(warehouseId))?.warehouseId
    return referred ?? (isThere(own) ? own : null)
  }

  #present(tx: ReadTx, changes: readonly IncidentChangeRow[], caller: Caller): Incident {
    const { openings } = this.#needs
    const [opened] = changes
    const newest = changes.at(-1)
    if (!opened?.severity || opened.category === null || !newest) throw new Error('an incident without its opening')
    const text = (commitment: string | null) => (commitment === null ? null : (openings.reveal(tx, commitment) ?? null))
    const resolved = newest.status === 'resolved' ? newest : undefined
    return {
      id: opened.incident_id,
      eventId: opened.event_id,
      status: newest.status,
      severity: opened.severity,
      category: opened.category,
      title: text(opened.title_commitment),
      description: text(opened.description_commitment),
      warehouseId: opened.warehouse_id,
      evidenceReferences: (JSON.parse(opened.evidence ?? '[]') as KeptReference[]).map((kept) =>
        this.#shown(tx, kept, caller),
      ),
      reportedBy: actorOf(tx, opened),
      createdAt: isoTime(opened.timestamp_ms),
      updatedAt: isoTime(newest.timestamp_ms),
      resolvedAt: resolved ? isoTime(resolved.timestamp_ms) : null,
      resolvedBy: resolved ? actorOf(tx, resolved) : null,
      resolution: text(resolved?.resolution_commitment ?? null),
      history: changes.map((change) => ({
        status: change.status,
        actor: actorOf(tx, change),
        timestamp: isoTime(change.timestamp_ms),
        eventId: change.event_id,
        seq: change.leaf_seq,
        evidenceHash: change.evidence_hash,
      })),
    }
  }

  /** Returns a reference for this caller; one that the caller may not see is shown as external. */
  #shown(tx: ReadTx, kept: KeptReference, caller: Caller): Incident['evidenceReferences'][number] {
    if (kept.type === 'external') return { type: 'external', id: this.#needs.openings.reveal(tx, kept.text) ?? null }
    if (this.#needs.sight.mayKnow(tx, kept.type, kept.id, caller)) return { type: kept.type, id: kept.id }
    return { type: 'external', id: `${kept.type}:${kept.id}` }
  }
}

function provableChange(tx: ReadTx, row: IncidentChangeRow): Provable {
  const place = { logId: idOfLog(tx, row.log_id) ?? '', seq: row.leaf_seq }
  const text = (field: string, commitment: string | null) => openedText(tx, { field, commitment })
  const kept = JSON.parse(row.evidence ?? '[]') as KeptReference[]
  const openings = [
    openedLink(tx, { subject: 'incident_change', row: row.id, field: 'actor' }, place, row.actor_commitment),
    text('title', row.title_commitment),
    text('description', row.description_commitment),
    text('resolution', row.resolution_commitment),
    ...kept.map((one, n) => (one.type === 'external' ? text(`evidence.${n}.text`, one.text) : undefined)),
  ].filter((one) => one !== undefined)
  return { log: row.log_id, seq: row.leaf_seq, openings, files: [] }
}

function actorOf(tx: ReadTx, { id, leaf_version: version, actor_commitment: commitment }: IncidentChangeRow): string {
  const known = personIn(tx, { subject: 'incident_change', row: id, field: 'actor' }, commitment)
  return known?.name ?? shownWithout(version, commitment)
}

function claimedOf(reference: string | { type: string; id: string | number }): Claimed {
  return typeof reference === 'string'
    ? { type: undefined, id: reference }
    : { type: reference.type, id: String(reference.id) }
}

/** Removes duplicates. */
function unlike<T extends object>(references: readonly T[]): T[] {
  return [...new Map(references.map((one) => [JSON.stringify(one), one])).values()]
}

function moved(changes: readonly IncidentChangeRow[], action: IncidentAction): IncidentState {
  const status = changes.at(-1)?.status ?? 'open'
  const next = nextState(status, action)
  if (next !== undefined) return next
  const possible = actionsIn(status).join(', ') || 'nothing more can be done'
  throw new AppError('INVALID_TRANSITION', `The incident is ${status}`, {
    details: `${action} is not possible while it is ${status}: ${possible}`,
  })
}
