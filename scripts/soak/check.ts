import { databaseFile, openReader } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { type ReplayedEvent, replayLocation, replaySlot, type SlotState } from '../../test/support/replay.ts'
import type { Acknowledged } from './acknowledged.ts'
import { numberIn, type Plan, plannedEvent } from './plan.ts'

/** State of the simulated floor in the gateway's answers. */
export type Said = {
  readonly slots: ReadonlyMap<number, SlotState>
  /** Slot of each requested pallet; null when it is nowhere. */
  readonly pallets: ReadonlyMap<string, number | null>
}

export type Findings = {
  /** Acknowledged, and not in the ledger under that id with that hash. */
  readonly lost: number
  /** In the ledger more than once. */
  readonly twice: number
  /** Events in the ledger with another content than the scanner's. */
  readonly changed: number
  /** In the ledger, and no scanner sent it. */
  readonly strange: number
  /** Slots and pallets of which the gateway says something else than a replay of the ledger. */
  readonly misread: number
  readonly verified: boolean
  readonly events: number
}

type Row = {
  id: number
  event_type: ReplayedEvent['eventType']
  slot_id: number
  asset_barcode: string
  asset_key: string
  timestamp_ms: number
  device_timestamp_ms: number | null
  received_at_ms: number
  client_event_id: string | null
  evidence_hash: string
}

const rowsAtOnce = 10_000

/**
 * Compares the ledger of an ended gateway with the sent events, the answers, and the state that it reported.
 */
export function check(dataDir: string, plan: Plan, answers: Acknowledged, said: Said): Findings {
  const found = { lost: 0, twice: 0, changed: 0, strange: 0, misread: 0 }
  const seen = new Uint8Array(plan.events)
  const acknowledged = new Uint8Array(plan.events)
  const bySlot = new Map<number, ReplayedEvent[]>()
  const byPallet = new Map<string, ReplayedEvent[]>()
  let events = 0
  for (const row of rowsOf(dataDir)) {
    events += 1
    const event = replayed(row)
    put(bySlot, row.slot_id, event)
    put(byPallet, row.asset_barcode, event)
    const n = numberIn(row.client_event_id)
    if (n === undefined || n >= plan.events) {
      found.strange += 1
      continue
    }
    if (seen[n]) found.twice += 1
    seen[n] = 1
    if (!isSame(row, plan, n)) found.changed += 1
    const answer = answers.of(n)
    if (answer?.id === row.id && answer.evidenceHash === row.evidence_hash) acknowledged[n] = 1
  }
  for (let n = 0; n < plan.events; n += 1) if (!acknowledged[n]) found.lost += 1
  for (const [slot, state] of said.slots) {
    if (!same(state, replaySlot(bySlot.get(slot) ?? [], slot))) found.misread += 1
  }
  for (const [pallet, slotId] of said.pallets) {
    const ofIt = byPallet.get(pallet) ?? []
    // Another pallet ends a stay too.
    const around = new Set(ofIt.flatMap((event) => bySlot.get(event.slotId) ?? []))
    const events = [...new Set([...ofIt, ...around])]
    if ((replayLocation(events, ofIt[0]?.assetKey ?? pallet)?.slotId ?? null) !== slotId) found.misread += 1
  }
  return { ...found, verified: verifyLedger(dataDir).ok, events }
}

function* rowsOf(dataDir: string): Generator<Row> {
  const db = openReader(databaseFile(dataDir))
  try {
    const read = db.prepare<[number, number], Row>('SELECT * FROM placement_event WHERE id > ? ORDER BY id LIMIT ?')
    for (let after = 0; ; ) {
      const rows = read.all(after, rowsAtOnce)
      yield* rows
      const last = rows.at(-1)
      if (!last) return
      after = last.id
    }
  } finally {
    db.close()
  }
}

function replayed(row: Row): ReplayedEvent {
  return {
    id: row.id,
    eventType: row.event_type,
    slotId: row.slot_id,
    assetBarcode: row.asset_barcode,
    assetKey: row.asset_key,
    timestampMs: row.timestamp_ms,
    receivedAtMs: row.received_at_ms,
  }
}

function isSame(row: Row, plan: Plan, n: number): boolean {
  const sent = plannedEvent(plan, n)
  return (
    row.event_type === sent.event_type &&
    row.slot_id === sent.slot_id &&
    row.asset_barcode === sent.asset_barcode &&
    row.device_timestamp_ms === (sent.timestamp === undefined ? null : Date.parse(sent.timestamp))
  )
}

function put<Key>(groups: Map<Key, ReplayedEvent[]>, key: Key, event: ReplayedEvent): void {
  const group = groups.get(key)
  if (group) group.push(event)
  else groups.set(key, [event])
}

function same(a: SlotState, b: SlotState): boolean {
  return (
    a.isOccupied === b.isOccupied &&
    a.assetBarcode === b.assetBarcode &&
    a.isVerified === b.isVerified &&
    a.isDisputed === b.isDisputed
  )
}
