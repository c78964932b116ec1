import { countByClipStatus, type LastingGap, tallyGaps } from '../cameras/index.ts'
import { type ClockTrust, type TrustSpan, trustBetween } from '../clock/index.ts'
import type { ReadTx } from '../database/index.ts'
import { type EventPlace, isPending, lastIdUpToSeq, slotStates, walk } from '../ledger/index.ts'
import {
  canonicalJson,
  hashesBetween,
  type Json,
  lastLeafRow,
  MerkleFrontier,
  numberOfLog,
  personById,
  type SecuredSizes,
  stateAt,
} from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import { slotIdsIn } from '../warehouse/index.ts'
import { add, EventTally, type Met, noCounts, type StateOf, sorted } from './event-tally.ts'
import { changesWithin } from './incident-store.ts'
import type { ReportPerson } from './report-store.ts'
import type { Counts, Discrepancy, FiledEvidence, ReportGaps } from './schema.ts'

/** Everything that a report is made from besides the log. The same values give the same bytes. */
export type ReportSpec = {
  readonly type: 'compliance'
  readonly siteId: string
  readonly logId: string
  /** Number of leaves; later ones are ignored. */
  readonly logSize: number
  /** Inclusive. */
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  readonly warehouses: readonly number[]
  /** The newest rows of the clock's record that count, and the time up to which they are complete. */
  readonly clock: Pick<TrustSpan, 'rows' | 'untilMs'>
  readonly secured: Secured
  /** Gaps of cameras that had not ended at `clock.untilMs`. */
  readonly lastingGaps: readonly LastingGap[]
}

/** Sizes of the logs of the box that were secured when the report was made. */
export type Secured = {
  readonly logs: readonly (SecuredSizes & { readonly logId: string; readonly leaves: number })[]
  readonly hasWitnesses: boolean
  /** The head that was signed for this report, over `logSize` leaves; null when the log could not be signed. */
  readonly head: { readonly rootHash: string; readonly signedAt: string; readonly note: string } | null
}

/**
 * Content of a report's file, version 2. It holds people as the commitments of their rows. These cannot be linked to each other, so
 * it cannot state the number of people: `ReportPerson` does.
 */
export type ReportContent = {
  readonly v: 2
  readonly counts: Omit<Counts, 'events'> & { readonly events: Omit<Counts['events'], 'operators'> }
  /** Events, each with the person who verified it. */
  readonly selfVerifications: readonly { readonly eventId: number; readonly person: string }[]
  readonly discrepancies: readonly Discrepancy[]
  /** Trust in the gateway's clock in the period, and the rows that prove it. */
  readonly clock: ClockTrust & { readonly rows: TrustSpan['rows']; readonly until: string }
  readonly checkpoint: { readonly logId: string; readonly size: number; readonly root: string }
  /** Absent in reports of earlier gateways, like `clock` and `gaps`. */
  readonly evidence: FiledEvidence
  readonly gaps: ReportGaps
}

/** The same for reports made before each row had separate commitments. */
export type ReportContentV1 = Omit<
  ReportContent,
  'v' | 'counts' | 'selfVerifications' | 'clock' | 'evidence' | 'gaps'
> & {
  readonly v: 1
  readonly counts: Counts
  readonly selfVerifications: readonly { readonly person: string; readonly count: number }[]
}

export type ComposedReport = { readonly file: Uint8Array; readonly people: readonly ReportPerson[] }
const batch = 1000

/**
 * Composes a report: the bytes of its file, and separately its people, who can be erased. The file is RFC 8785 JSON, made from the
 * first `logSize` leaves and their rows alone. Its sources are append-only, so it needs no snapshot: it reads in short batches, and
 * later rows are ignored. Takes seconds on a ledger of years, so it runs in the jobs thread.
 */
export function composeReport(tx: ReadTx, spec: ReportSpec): ComposedReport {
  const log = logNumberOf(tx, spec)
  const leaves = walkLeaves(tx, spec, log)
  const slots = new Set(slotIdsIn(tx, spec.warehouses))
  const lastId = lastIdUpToSeq(tx, spec.logSize, log)
  const events = walkEvents(tx, spec, slots, lastId, stateFinder(tx, spec))
  const content: ReportContent = {
    v: 2,
    counts: {
      events: events.counts,
      warnings: sorted(events.warnings),
      slots: slotsAtTheEnd(tx, spec, slots, lastId),
      detections: countDetections(tx, spec, log),
      incidents: countIncidents(tx, spec, log),
      units: leaves.units,
      discrepancies: { total: events.discrepancies, byCode: sorted(events.byCode) },
    },
    selfVerifications: events.selfVerifications,
    discrepancies: events.listed,
    clock: clockOf(tx, spec),
    checkpoint: { logId: spec.logId, size: spec.logSize, root: leaves.root },
    evidence: evidenceOf(spec, events, leaves.root),
    gaps: gapsOf(tx, spec, log),
  }
  const { type, siteId, fromMs, toMs, warehouses } = spec
  const head = { type, siteId, from: isoTime(fromMs), to: isoTime(toMs), warehouses }
  // Its optional keys are left out or null, which canonicalJson takes; the type Json has no optional keys.
  const file = Buffer.from(canonicalJson({ ...head, ...content } as unknown as Json), 'utf8')
  return { file, people: peopleOf(tx, events.people) }
}

function clockOf(tx: ReadTx, { fromMs, toMs, clock }: ReportSpec): ReportContent['clock'] {
  const { rows, untilMs } = clock
  return { ...trustBetween(tx, { fromMs, toMs, rows, untilMs }), rows, until: isoTime(untilMs) }
}

/** Returns a function that gives the evidence state of an event when the report was made. */
function stateFinder(tx: ReadTx, { secured: { logs, hasWitnesses } }: ReportSpec): StateOf {
  const sizes = new Map(logs.map((log) => [numberOfLog(tx, log.logId), log]))
  const none = { signed: 0, witnessed: 0, timestamped: 0 }
  return ({ log_id, leaf_seq }) => stateAt(sizes.get(log_id) ?? none, hasWitnesses, leaf_seq)
}

function evidenceOf({ logId, logSize, secured }: ReportSpec, events: WalkedEvents, root: string): FiledEvidence {
  const { logs, hasWitnesses, head } = secured
  return {
    events: { recorded: 0, signed: 0, witnessed: 0, timestamped: 0, ...events.states },
    oldestUnsigned: events.oldestUnsigned,
    logs: logs.map(({ logId: id, leaves, signed, witnessed, timestamped }) => ({
      logId: id,
      leaves,
      signed,
      witnessed,
      timestamped,
    })),
    asksWitnesses: hasWitnesses,
    checkpoint: head && {
      logId,
      size: logSize,
      ...head,
      matches: Buffer.from(head.rootHash, 'base64').toString('hex') === root,
    },
  }
}

/** Counts the gaps of all cameras together, so that a hidden camera is not revealed. */
function gapsOf(tx: ReadTx, { fromMs, toMs, logSize, lastingGaps, clock }: ReportSpec, log: number): ReportGaps {
  const span = { fromMs, toMs }
  const known = { log, logSize, lasting: lastingGaps, untilMs: clock.untilMs }
  const { count, millis, byCause, longest } = tallyGaps(tx, span, known)
  const causes = Object.entries(byCause).map(([cause, one]) => [
    cause,
    { count: one.count, seconds: one.millis / 1000 },
  ])
  const lasting = lastingGaps.filter((gap) => gap.fromMs < toMs)
  return {
    count,
    seconds: millis / 1000,
    byCause: Object.fromEntries(causes),
    longest: longest && {
      from: isoTime(longest.fromMs),
      to: longest.toMs === null ? null : isoTime(longest.toMs),
      cause: longest.cause,
      seconds: longest.millis / 1000,
    },
    lasting: lasting.map((gap) => ({ from: isoTime(gap.fromMs), cause: gap.cause })),
  }
}

function logNumberOf(tx: ReadTx, { logId }: ReportSpec): number {
  const log = numberOfLog(tx, logId)
  if (log === undefined) throw new Error(`there is no log ${logId}`)
  return log
}

/** Returns the root and counts of transport units, which are read from their leaves. */
function walkLeaves(tx: ReadTx, { logSize, fromMs, toMs, warehouses }: ReportSpec, log: number) {
  const tree = new MerkleFrontier()
  const elsewhere = new Set<unknown>()
  const byAction = noCounts()
  const last = lastLeafRow(tx, log, logSize)
  for (let row = 0; row < last; row += batch) {
    const rows = hashesBetween(tx, 'unit-history', row, Math.min(row + batch, last))
    for (const { log_id, hash, bytes } of rows) {
      if (log_id === log) tree.append(hash)
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

type WalkedEvents = ReturnType<typeof walkEvents>

function walkEvents(
  tx: ReadTx,
  { fromMs, toMs }: ReportSpec,
  slots: ReadonlySet<number>,
  lastId: number,
  stateOf: StateOf,
) {
  const tally = new EventTally(stateOf)
  let place: EventPlace | undefined
  do {
    const step = walk(tx, { fromMs, toMs, lastId }, place, batch)
    for (const row of step.rows) if (slots.has(row.slot_id)) tally.take(row)
    place = step.place
  } while (place)
  return tally.result()
}

/** Returns the people; a name without an instance counts as the first person of that name. */
function peopleOf(tx: ReadTx, met: readonly Met[]): ReportPerson[] {
  const found = met.map(({ id, name, ...rest }) => ({ ...identityOf(tx, id, name), ...rest }))
  const vouchedFirst = [
    ...found.filter(({ instance }) => instance !== null),
    ...found.filter(({ instance }) => instance === null),
  ]
  const people: { name: string | null; instance: string | null; selfVerified: number; isOperator: boolean }[] = []
  for (const one of vouchedFirst) {
    const same = people.find(
      ({ name, instance }) => name === one.name && (one.instance === null || instance === one.instance),
    )
    if (same) {
      same.selfVerified += one.selfVerified
      same.isOperator ||= one.isOperator
    } else people.push(one)
  }
  return people
}

function identityOf(tx: ReadTx, id: number | null, name: string | null): Pick<ReportPerson, 'name' | 'instance'> {
  return (id === null ? undefined : personById(tx, id)) ?? { name, instance: null }
}

/** Counts the slots as they were at the end of the period, as far as this log knows. */
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

/** Counts detections of all cameras together, so that a hidden camera is not revealed. */
function countDetections(tx: ReadTx, { fromMs, toMs, logSize }: ReportSpec, log: number): Counts['detections'] {
  const rows = countByClipStatus(tx, { fromMs, toMs, log, logSize })
  return {
    total: rows.reduce((sum, { n }) => sum + n, 0),
    byClipStatus: Object.fromEntries(rows.map(({ status, n }) => [status, n])),
  }
}

function countIncidents(
  tx: ReadTx,
  { fromMs, toMs, logSize, warehouses }: ReportSpec,
  log: number,
): Counts['incidents'] {
  const changes = changesWithin(tx, log, logSize, toMs)
  const states = new Map<number, string>()
  const counts = { opened: 0, resolved: 0 }
  const [byState, bySeverity, byCategory] = [noCounts(), noCounts(), noCounts()]
  for (const change of changes) {
    const isCovered = change.warehouse_id === null || warehouses.includes(change.warehouse_id)
    if (change.status === 'open' ? !isCovered : !states.has(change.incident_id)) continue
    states.set(change.incident_id, change.status)
    if (!isWithin(change.timestamp_ms, fromMs, toMs)) continue
    if (change.status === 'resolved') counts.resolved += 1
    if (change.status !== 'open') continue
    counts.opened += 1
    add(bySeverity, change.severity ?? '')
    add(byCategory, change.category ?? '')
  }
  for (const state of states.values()) add(byState, state)
  return { ...counts, byState: sorted(byState), bySeverity: sorted(bySeverity), byCategory: sorted(byCategory) }
}

const isWithin = (ms: number, fromMs: number, toMs: number) => ms >= fromMs && ms < toMs
