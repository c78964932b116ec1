import { isoTime } from '../platform/index.ts'
import type { EvidenceItem, TransportUnit, TransportUnitItem } from './schema.ts'
import type { OpenedRow, UnitRow } from './store.ts'
import type { UnitHistoryRow } from './tables.ts'
import { nextStage, type UnitState } from './workflow.ts'

/** A photo in a history row. `held`: the gateway has its bytes. */
export type UnitPhoto = { readonly url: string; readonly sha256?: string; readonly evidence: 'held' | 'claimed' }

export function photosIn(row: Pick<UnitHistoryRow, 'photos'>): readonly UnitPhoto[] {
  return row.photos === null ? [] : (JSON.parse(row.photos) as UnitPhoto[])
}

/** Returns stage and status from the history, the only place that has them. Throws without a row. */
export function stateOf(history: readonly Pick<UnitHistoryRow, 'stage' | 'status'>[]): UnitState {
  const newest = history.at(-1)
  if (!newest) throw new Error('a unit without a history')
  return { status: newest.status, visited: history.map(({ stage }) => stage) }
}

/** Returns the weight of the unit in kg: the newest by timestamp that no scale called unstable; null without one. */
export function scaleReadingOf(
  history: readonly Pick<UnitHistoryRow, 'timestamp_ms' | 'scale_weight_kg' | 'scale_stable'>[],
): number | null {
  let newest: { timestamp_ms: number; scale_weight_kg: number | null } | undefined
  for (const row of history) {
    if (row.scale_weight_kg === null || row.scale_stable === 0) continue
    if (!newest || row.timestamp_ms >= newest.timestamp_ms) newest = row
  }
  return newest?.scale_weight_kg ?? null
}

/** Returns a unit as it is in the list. */
export function unitItem(row: UnitRow, state: UnitState, stages: readonly string[]): TransportUnitItem {
  return {
    id: row.unit_id,
    reference: row.reference,
    sscc: row.sscc,
    direction: row.direction,
    warehouseId: row.warehouse_id,
    carrier: row.carrier,
    vehicle: row.vehicle,
    stage: row.stage,
    status: row.status,
    nextStage: nextStage(state, stages),
    createdAt: isoTime(row.created_at_ms),
    updatedAt: isoTime(row.updated_at_ms),
    completedAt: row.completed_at_ms === null ? null : isoTime(row.completed_at_ms),
  }
}

/** Returns the full record of a unit, computed from its history. */
export function unitRecord(history: readonly OpenedRow[], stages: readonly string[]): TransportUnit {
  const items = history.flatMap(evidenceItems)
  return {
    ...unitItem(glance(history), stateOf(history), stages),
    history: history.map(historyEntry),
    evidence: {
      photos: items.filter(({ kind }) => kind === 'photo').length,
      scaleReading: scaleReadingOf(history),
      items,
    },
  }
}

function glance(history: readonly OpenedRow[]): UnitRow {
  const first = history[0]
  const newest = history.at(-1)
  if (!first || !newest || first.reference === null || first.direction === null || first.warehouse_id === null) {
    throw new Error('a unit whose history does not begin with its creation')
  }
  const { reference, direction, warehouse_id, sscc, carrier, vehicle, unit_id, row } = first
  return {
    row,
    unit_id,
    reference,
    direction,
    warehouse_id,
    sscc,
    carrier,
    vehicle,
    stage: newest.stage,
    status: newest.status,
    created_at_ms: first.timestamp_ms,
    updated_at_ms: newest.received_at_ms,
    completed_at_ms: history.find(({ status }) => status === 'completed')?.timestamp_ms ?? null,
  }
}

function historyEntry(row: OpenedRow): TransportUnit['history'][number] {
  return {
    eventId: row.event_id,
    seq: row.leaf_seq,
    action: row.action,
    fromStage: row.from_stage,
    toStage: row.stage,
    status: row.status,
    operator: row.operator,
    actor: row.actor,
    timestamp: isoTime(row.timestamp_ms),
    receivedAt: isoTime(row.received_at_ms),
    timeQuality: row.time_quality,
    reason: row.reason,
    note: row.note,
    photos: photosIn(row).length,
    scaleReading: row.scale_weight_kg,
    client_event_id: row.client_event_id,
    evidenceHash: row.evidence_hash,
  }
}

function evidenceItems(row: OpenedRow): EvidenceItem[] {
  const common = {
    eventId: row.event_id,
    stage: row.stage,
    timestamp: isoTime(row.timestamp_ms),
    operator: row.operator,
  }
  const noPhoto = { url: null, sha256: null, photoEvidence: null }
  const noWeight = { weightKg: null, scaleId: null, scaleReadingId: null, stable: null }
  const photos = photosIn(row).map(({ url, sha256, evidence }) => ({
    ...common,
    kind: 'photo' as const,
    ...noWeight,
    url,
    sha256: sha256 ?? null,
    photoEvidence: evidence,
  }))
  if (row.scale_weight_kg === null) return photos
  const weight = {
    ...common,
    kind: 'weight' as const,
    ...noPhoto,
    weightKg: row.scale_weight_kg,
    scaleId: row.scale_id,
    scaleReadingId: row.scale_reading_id,
    stable: row.scale_stable === null ? null : row.scale_stable === 1,
  }
  return [...photos, weight]
}
