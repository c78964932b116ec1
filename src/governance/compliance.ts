import type { DetectionEventRow, IncidentChangeRow, ReadTx } from '../database/index.ts'
import { type EventPlace, isPending, type OpenedRow, slotStates, walk } from '../ledger/index.ts'
import { canonicalJson, type Json, MerkleFrontier } from '../log/index.ts'
import { isoTime } from '../world/index.ts'
import type { Counts, Discrepancy } from './schema.ts'

/** Everything that a report is made from besides the log: the same again gives the same bytes again. */
export type ReportSpec = {
  readonly type: 'compliance'
  readonly siteId: string
  readonly logId: string
  /** Leaves; what stands behind them is not there. */
  readonly logSize: number
  /** Inclusive. */
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  readonly warehouses: readonly number[]
}

/** What the file of a report says, version 1. People stand in it as commitments. */
export type ReportContent = {
  readonly counts: Counts
  readonly selfVerifications: readonly { readonly person: string; readonly count: number }[]
  readonly discrepancies: readonly Discrepancy[]
  readonly checkpoint: { readonly logId: string; readonly size: number; readonly root: string }
}

/** Beyond so many only their numbers are told. */
const listedDiscrepancies = 10_000
const batch = 1000

/** Warnings that say that ledger and floor contradict each other, that a rule of a slot is broken, or that a proof fits something else. */
const contradictions: ReadonlySet<string> = new Set([
  'SLOT_ALREADY_OCCUPIED',
  'SLOT_EMPTY',
  'ASSET_ELSEWHERE',
  'ASSET_MISMATCH',
  'TYPE_NOT_ALLOWED',
  'OVERWEIGHT',
  'OVERHEIGHT',
  'SLOT_RETIRED',
  'SCAN_MISMATCH',
  'PHOTO_REUSED',
])

/**
 * The bytes of a report's file: RFC 8785 JSON, made from the first `logSize` leaves and their rows alone. All that it
 * reads is append-only, so it needs no snapshot: it reads in short batches, and what is appended meanwhile stays out.
 * Takes seconds on a ledger of years; runs in the jobs thread.
 */
export function composeReport(tx: ReadTx, spec: ReportSpec): Buffer {
  const leaves = walkLeaves(tx, spec)
  const slots = slotsOf(tx, spec.warehouses)
  const lastId = lastEventId(tx, spec.logSize)
  const events = walkEvents(tx, spec, slots, lastId)
  const content: ReportContent = {
    counts: {
      events: events.counts,
      warnings: sorted(events.warnings),
      slots: slotsAtTheEnd(tx, spec, slots, lastId),
      detections: countDetections(tx, spec),
      incidents: countIncidents(tx, spec),
      units: leaves.units,
      discrepancies: { total: events.discrepancies, byCode: sorted(events.byCode) },
    },
    selfVerifications: Object.entries(sorted(events.selfVerified)).map(([person, count]) => ({ person, count })),
    discrepancies: events.listed,
    checkpoint: { logId: spec.logId, size: spec.logSize, root: leaves.root },
  }
  const { type, siteId, fromMs, toMs, warehouses } = spec
  const head = { v: 1, type, siteId, from: isoTime(fromMs), to: isoTime(toMs), warehouses }
  return Buffer.from(canonicalJson({ ...head, ...content } as unknown as Json), 'utf8')
}

/** The root, and what the leaves of transport units say: they are found here, wherever their rows are kept. */
function walkLeaves(tx: ReadTx, { logSize, fromMs, toMs, warehouses }: ReportSpec) {
  const tree = new MerkleFrontier()
  const elsewhere = new Set<unknown>()
  const byAction: Record<string, number> = {}
  for (let seq = 0; seq < logSize; seq += batch) {
    const rows = tx.allOf<{ hash: Buffer; bytes: Buffer | null }>(
      `SELECT hash, CASE kind WHEN 'unit-history' THEN bytes END AS bytes FROM main.log_leaf
       WHERE seq > +? AND seq <= +? ORDER BY seq`,
      [seq, Math.min(seq + batch, logSize)],
    )
    for (const { hash, bytes } of rows) {
      tree.append(hash)
      if (bytes === null) continue
      const leaf = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>
      if (leaf['action'] === 'created' && !warehouses.includes(leaf['warehouseId'] as number)) {
        elsewhere.add(leaf['unitId'])
      }
      if (elsewhere.has(leaf['unitId']) || !isWithin(Date.parse(String(leaf['timestamp'])), fromMs, toMs)) continue
      add(byAction, String(leaf['action']))
    }
  }
  return { root: tree.root().toString('hex'), units: { created: byAction['created'] ?? 0, byAction: sorted(byAction) } }
}

/** The slots of these warehouses; a slot never changes its warehouse. */
function slotsOf(tx: ReadTx, warehouses: readonly number[]): Set<number> {
  const rows = tx.allOf<{ id: number }>(
    'SELECT id FROM main.slot WHERE warehouse_id IN (SELECT value FROM json_each(?))',
    [JSON.stringify(warehouses)],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Events are numbered in the order of their leaves. */
function lastEventId(tx: ReadTx, logSize: number): number {
  const leaf = tx.oneOf<{ ref: string }>(
    `SELECT ref FROM main.log_leaf WHERE seq <= +? AND kind = 'placement' ORDER BY seq DESC LIMIT 1`,
    [logSize],
  )
  return Number(leaf?.ref ?? 0)
}

function walkEvents(tx: ReadTx, { fromMs, toMs }: ReportSpec, slots: ReadonlySet<number>, lastId: number) {
  const tally = new EventTally()
  let place: EventPlace | undefined
  do {
    const step = walk(tx, { fromMs, toMs, lastId }, place, batch)
    for (const row of step.rows) if (slots.has(row.slot_id)) tally.take(row)
    place = step.place
  } while (place)
  return tally.result()
}

class EventTally {
  readonly #byType: Record<string, number> = {}
  readonly #byQuality: Record<string, number> = {}
  readonly #photos: Record<string, number> = {}
  readonly #warnings: Record<string, number> = {}
  readonly #byCode: Record<string, number> = {}
  readonly #selfVerified: Record<string, number> = {}
  readonly #operators = new Set<string>()
  readonly #listed: Discrepancy[] = []
  #total = 0
  #corrections = 0
  #discrepancies = 0

  take(row: OpenedRow): void {
    this.#total += 1
    add(this.#byType, row.event_type)
    add(this.#byQuality, row.time_quality)
    if (row.photo_evidence !== null) add(this.#photos, row.photo_evidence)
    if (row.corrects_event_id !== null) this.#corrections += 1
    this.#operators.add(row.operator_commitment)
    const codes = JSON.parse(row.warnings) as string[]
    for (const code of codes) add(this.#warnings, code)
    if (codes.includes('SELF_VERIFIED')) add(this.#selfVerified, row.actor_commitment)
    for (const code of codes) if (contradictions.has(code)) this.#discrepancy(code, row)
    if (row.event_type === 'DISPUTED') this.#discrepancy('DISPUTED', row)
  }

  result() {
    const { held = 0, claimed = 0 } = this.#photos
    return {
      counts: {
        total: this.#total,
        byType: sorted(this.#byType),
        late: this.#warnings['LATE_EVENT'] ?? 0,
        unsynced: this.#byQuality['unsynced'] ?? 0,
        corrected: this.#byQuality['corrected'] ?? 0,
        corrections: this.#corrections,
        photos: { held, claimed },
        operators: this.#operators.size,
      },
      warnings: this.#warnings,
      byCode: this.#byCode,
      selfVerified: this.#selfVerified,
      discrepancies: this.#discrepancies,
      listed: this.#listed,
    }
  }

  #discrepancy(code: string, row: OpenedRow): void {
    add(this.#byCode, code)
    this.#discrepancies += 1
    if (this.#listed.length >= listedDiscrepancies) return
    this.#listed.push({
      code,
      eventId: row.id,
      slotId: row.slot_id,
      slot: row.slot_code,
      assetBarcode: row.asset_barcode,
      timestamp: isoTime(row.timestamp_ms),
    })
  }
}

/** What stood where when the period ended, as far as this log knows. */
function slotsAtTheEnd(tx: ReadTx, { toMs }: ReportSpec, slots: ReadonlySet<number>, lastId: number): Counts['slots'] {
  const states = { occupied: 0, verified: 0, disputed: 0, unverified: 0 }
  const highest = Math.max(0, ...slots)
  for (let firstId = 1; firstId <= highest; firstId += batch) {
    const found = slotStates(tx, { atMs: toMs - 1, lastId }, { firstId, lastId: firstId + batch - 1 })
    for (const [id, state] of found) {
      if (!slots.has(id)) continue
      states.occupied += 1
      if (isPending(state)) states.unverified += 1
      else states.verified += 1
      if (state.isDisputed) states.disputed += 1
    }
  }
  return states
}

/** Of all cameras together: no camera is named, so nobody learns of one that is not theirs. */
function countDetections(tx: ReadTx, { fromMs, toMs, logSize }: ReportSpec): Counts['detections'] {
  const rows = tx.allOf<{ status: DetectionEventRow['clip_status']; n: number }>(
    `SELECT clip_status AS status, count(*) AS n FROM main.detection_event
     WHERE timestamp_ms >= +? AND timestamp_ms < +? AND leaf_seq <= ? GROUP BY clip_status ORDER BY clip_status`,
    [fromMs, toMs, logSize],
  )
  return {
    total: rows.reduce((sum, { n }) => sum + n, 0),
    byClipStatus: Object.fromEntries(rows.map(({ status, n }) => [status, n])),
  }
}

function countIncidents(tx: ReadTx, { fromMs, toMs, logSize, warehouses }: ReportSpec): Counts['incidents'] {
  const changes = tx.allOf<IncidentChangeRow>(
    'SELECT * FROM main.incident_change WHERE leaf_seq <= +? AND timestamp_ms < ? ORDER BY id',
    [logSize, toMs],
  )
  const states = new Map<number, string>()
  const counts = { opened: 0, resolved: 0, byState: {}, bySeverity: {}, byCategory: {} }
  for (const change of changes) {
    const isCovered = change.warehouse_id === null || warehouses.includes(change.warehouse_id)
    if (change.status === 'open' ? !isCovered : !states.has(change.incident_id)) continue
    states.set(change.incident_id, change.status)
    if (!isWithin(change.timestamp_ms, fromMs, toMs)) continue
    if (change.status === 'resolved') counts.resolved += 1
    if (change.status !== 'open') continue
    counts.opened += 1
    add(counts.bySeverity, change.severity ?? '')
    add(counts.byCategory, change.category ?? '')
  }
  for (const state of states.values()) add(counts.byState, state)
  return counts
}

const isWithin = (ms: number, fromMs: number, toMs: number) => ms >= fromMs && ms < toMs

function add(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1
}

/** By key, so that the order does not depend on what came first; the canonical form sorts too. */
function sorted(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)))
}
