import {
  type CameraGapRow,
  type DetectionEventRow,
  detectionFacts,
  gapFacts,
  statedDetections,
  statedGaps,
} from '../cameras/index.ts'
import { scanRow, scanSha256 } from '../counts/index.ts'
import type { ReadTx, Statement } from '../database/index.ts'
import {
  type IncidentChangeRow,
  incidentFacts,
  type ReportRow,
  reportFacts,
  statedIncidentChanges,
  statedReports,
} from '../governance/index.ts'
import { findOpeningList } from '../imports/index.ts'
import { type AuditDigestRow, digestFacts, statedDigests } from '../journal/index.ts'
import {
  type PlacementEventRow,
  placementFacts,
  type ResolutionRow,
  resolutionFacts,
  statedPlacements,
  statedResolutions,
} from '../ledger/index.ts'
import {
  kindsOfMedia,
  type LeafFacts,
  type LeafVersion,
  type MediaRemovalRow,
  removalFacts,
  type Stated,
  statedRemovals,
} from '../log/index.ts'
import { photosIn, statedSteps, type UnitHistoryRow, unitHistoryFacts } from '../units/index.ts'
import { labelOf } from '../warehouse/index.ts'
import type { Findings } from './findings.ts'
import { type HandOverRow, handOverFacts, statedHandOvers } from './transparency/hand-over.ts'

/** A row that a leaf states, for verification. */
export type StatedRow = {
  /** Its name in the leaf. */
  readonly ref: string
  readonly name: string
  readonly evidenceHash: string
  readonly leafVersion: LeafVersion
  /** Made from the row alone; the leaf must be equal. */
  readonly facts: LeafFacts
  /** When the gateway received it; never decreases among the rows of a kind. */
  readonly receivedAtMs: number
  /** Checks what it relies on outside its leaf. */
  readonly check: (tx: ReadTx, findings: Findings) => void
}

/** A row with a value that the gateway never writes, such as a time out of range or a text that is no JSON. */
export type UnreadableRow = { readonly isUnreadable: true; readonly leafVersion: LeafVersion }

/** A kind of leaf whose rows are in a table. */
export type StatedKind = {
  readonly kind:
    | 'placement'
    | 'detection'
    | 'camera-gap'
    | 'unit-history'
    | 'incident-change'
    | 'report'
    | 'media-removed'
    | 'audit-digest'
    | 'log-key'
    | 'dispute-resolution'
  readonly noun: string
  /** Returns a log's rows by the leaf's number, from `firstSeq` to `lastSeq`. */
  readonly rows: (
    tx: ReadTx,
    log: number,
    firstSeq: number,
    lastSeq: number,
  ) => ReadonlyMap<number, StatedRow | UnreadableRow>
  /** How many rows of a log there are up to a leaf's number. */
  readonly upTo: (tx: ReadTx, log: number, seq: number) => number
  /** How many rows no leaf states. */
  readonly withoutLeaf: (tx: ReadTx) => number
}

/** The kinds of the stored files that rows name, by their hashes. */
type Files = ReturnType<typeof kindsOfMedia>
/** Way to read a row, and the files that it names. */
type Reading<Row> = {
  readonly files?: (row: Row) => readonly (string | null | undefined)[]
  readonly toStated: (row: Row, files: Files) => StatedRow
}

type Counted = Statement<{ n: number }>
type Asked<Row> = { readonly between: Statement<Row>; readonly upTo: Counted; readonly withoutLeaf: Counted }

function statedKind<Row extends Stated>(
  { kind, noun }: Pick<StatedKind, 'kind' | 'noun'>,
  asked: Asked<Row>,
  { files: filesOf, toStated }: Reading<Row>,
): StatedKind {
  return {
    kind,
    noun,
    rows: (tx, log, firstSeq, lastSeq) => {
      const rows = tx.all(asked.between, [log, firstSeq, lastSeq]).filter((row) => row.log_id === log)
      const files = filesOf ? kindsOfMedia(tx, namedIn(rows, filesOf)) : new Map()
      return new Map(rows.map((row) => [row.leaf_seq, readable(row, (one) => toStated(one, files))]))
    },
    upTo: (tx, log, seq) => tx.get(asked.upTo, [log, seq])?.n ?? 0,
    withoutLeaf: (tx) => tx.get(asked.withoutLeaf)?.n ?? 0,
  }
}

/**
 * Returns the files that a batch of rows names. They are queried at once, because one by one takes as long as everything else of a
 * row.
 */
function namedIn<Row>(rows: readonly Row[], filesOf: Required<Reading<Row>>['files']): Set<string> {
  const named = new Set<string>()
  for (const row of rows) {
    // A value that cannot be read is reported with its row.
    for (const hash of readOr([], () => filesOf(row))) if (hash) named.add(hash)
  }
  return named
}

function readable<Row extends Stated>(row: Row, toStated: (row: Row) => StatedRow): StatedRow | UnreadableRow {
  return readOr({ isUnreadable: true, leafVersion: row.leaf_version }, () => toStated(row))
}

function readOr<Value, Other>(other: Other, read: () => Value): Value | Other {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError)) throw error
    return other
  }
}

export const statedKinds: readonly StatedKind[] = [
  statedKind({ kind: 'placement', noun: 'event' }, statedPlacements, {
    files: (row) => [row.photo_evidence === 'held' ? row.photo_sha256 : null],
    toStated: statedPlacement,
  }),
  statedKind({ kind: 'detection', noun: 'detection' }, statedDetections, {
    files: (row) => [row.clip_sha256, row.snapshot_sha256],
    toStated: statedDetection,
  }),
  statedKind({ kind: 'camera-gap', noun: 'gap of a camera' }, statedGaps, { toStated: statedGap }),
  statedKind({ kind: 'unit-history', noun: 'step of a transport unit' }, statedSteps, {
    files: (row) => photosIn(row).map(({ sha256 }) => sha256),
    toStated: statedUnitStep,
  }),
  statedKind({ kind: 'incident-change', noun: 'change of an incident' }, statedIncidentChanges, {
    toStated: statedIncidentChange,
  }),
  statedKind({ kind: 'report', noun: 'report' }, statedReports, { toStated: statedReport }),
  statedKind({ kind: 'media-removed', noun: 'removal' }, statedRemovals, {
    files: (row) => [row.sha256],
    toStated: statedRemoval,
  }),
  statedKind({ kind: 'audit-digest', noun: 'digest of the audit trail' }, statedDigests, { toStated: statedDigest }),
  statedKind({ kind: 'log-key', noun: 'change of keys' }, statedHandOvers, { toStated: statedHandOver }),
  statedKind({ kind: 'dispute-resolution', noun: 'resolution of a dispute' }, statedResolutions, {
    toStated: statedResolution,
  }),
]

function statedUnitStep(row: UnitHistoryRow, files: Files): StatedRow {
  const name = `step ${row.row} (unit ${row.unit_id})`
  return {
    ref: String(row.row),
    name,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: unitHistoryFacts(row),
    receivedAtMs: row.received_at_ms,
    check: (_, findings) => {
      for (const { sha256, evidence } of photosIn(row)) {
        if (evidence !== 'held' || files.get(sha256 ?? '') === 'photo') continue
        findings.add(name, 'its photo is held, but no such photo is written down')
      }
    },
  }
}

function statedPlacement(row: PlacementEventRow, files: Files): StatedRow {
  return {
    ref: String(row.id),
    name: `event ${row.id}`,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: placementFacts(row),
    receivedAtMs: row.received_at_ms,
    check: (tx, findings) => checkPlacement(tx, row, files, findings),
  }
}

function statedDetection(row: DetectionEventRow, known: Files): StatedRow {
  return {
    ref: String(row.row),
    name: `detection ${row.id}`,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: detectionFacts(row),
    receivedAtMs: row.recorded_at_ms,
    check: (_, findings) => {
      const files = [
        { kind: 'clip', sha256: row.clip_sha256 },
        { kind: 'snapshot', sha256: row.snapshot_sha256 },
      ]
      for (const { kind, sha256 } of files) {
        if (sha256 === null || known.get(sha256) === kind) continue
        findings.add(`detection ${row.id}`, `its ${kind} is stated, but no such ${kind} is written down`)
      }
    },
  }
}

function statedGap(row: CameraGapRow): StatedRow {
  return {
    ref: String(row.id),
    name: `gap ${row.id} of camera ${row.cctv_id}`,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: gapFacts(row),
    receivedAtMs: row.recorded_at_ms,
    check: () => {},
  }
}

function statedIncidentChange(row: IncidentChangeRow): StatedRow {
  return {
    ref: String(row.id),
    name: `change ${row.id} of incident ${row.incident_id}`,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: incidentFacts(row),
    receivedAtMs: row.timestamp_ms,
    check: () => {},
  }
}

function statedReport(row: ReportRow): StatedRow {
  return {
    ref: String(row.id),
    name: `report ${row.id}`,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: reportFacts(row),
    receivedAtMs: row.created_at_ms,
    check: (_, findings) => {
      // A report can only be made from leaves before its own.
      if (row.log_size >= row.leaf_seq) findings.add(`report ${row.id}`, 'was made from leaves that come behind it')
    },
  }
}

function statedRemoval(row: MediaRemovalRow, files: Files): StatedRow {
  const name = `removal ${row.id}`
  return {
    ref: String(row.id),
    name,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: removalFacts(row),
    receivedAtMs: row.removed_at_ms,
    check: (_, findings) => {
      if (files.get(row.sha256) === row.media_kind) return
      findings.add(name, `states that a ${row.media_kind} was removed, but no such ${row.media_kind} is written down`)
    },
  }
}

function statedDigest(row: AuditDigestRow): StatedRow {
  return {
    ref: String(row.id),
    name: `audit digest ${row.id}`,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: digestFacts(row),
    receivedAtMs: row.made_at_ms,
    // `audit-trail.ts` compares it with the entries.
    check: () => {},
  }
}

function statedHandOver(row: HandOverRow): StatedRow {
  return {
    ref: String(row.id),
    name: `change of keys ${row.id}`,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: handOverFacts(row),
    receivedAtMs: row.handed_over_at_ms,
    // `transparency/check-signatures.ts` compares it with the checkpoints.
    check: () => {},
  }
}

function statedResolution(row: ResolutionRow): StatedRow {
  return {
    ref: String(row.id),
    name: `resolution ${row.id} (dispute ${row.dispute_event_id})`,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: resolutionFacts(row),
    receivedAtMs: row.timestamp_ms,
    check: () => {},
  }
}

/** Labels never change, and each is needed as often as its slot has events: cached for one verification. */
const labels = new WeakMap<ReadTx, Map<number, string | undefined>>()

function knownLabel(tx: ReadTx, slotId: number): string | undefined {
  const known = labels.get(tx) ?? new Map<number, string | undefined>()
  labels.set(tx, known)
  if (!known.has(slotId)) known.set(slotId, labelOf(tx, slotId))
  return known.get(slotId)
}

/** Checks the label of an event's slot, and the row of a held photo. */
function checkPlacement(tx: ReadTx, row: PlacementEventRow, known: Files, findings: Findings): void {
  const label = knownLabel(tx, row.slot_id)
  if (label !== undefined && label !== row.slot_code) {
    findings.add(`slot ${row.slot_id}`, `is called ${label}, and was ${row.slot_code} when its events were recorded`)
  }
  checkScan(tx, row, findings)
  if (row.opening_list !== null && !findOpeningList(tx, row.opening_list)) {
    findings.add(`event ${row.id}`, 'rests on a list of opening stock, but no such list is written down')
  }
  if (row.photo_evidence !== 'held' || known.get(row.photo_sha256 ?? '') === 'photo') return
  findings.add(`event ${row.id}`, 'its photo is held, but no such photo is written down')
}

/** Checks that an event's scan still has the hash in the event's leaf. */
function checkScan(tx: ReadTx, row: PlacementEventRow, findings: Findings): void {
  if (row.count_scan_id === null) return
  const scan = scanRow(tx, row.count_scan_id)
  if (!scan) findings.add(`event ${row.id}`, `rests on scan ${row.count_scan_id}, which is not there`)
  else if (scanSha256(scan) !== row.count_scan_sha256) {
    findings.add(`scan ${scan.id}`, `does not state what event ${row.id} says`)
  }
}
