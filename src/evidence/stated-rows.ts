import { detectionFacts } from '../cameras/index.ts'
import { scanSha256 } from '../counts/index.ts'
import type {
  CountScanRow,
  DetectionEventRow,
  IncidentChangeRow,
  PlacementEventRow,
  ReadTx,
  ReportRow,
  UnitHistoryRow,
} from '../database/index.ts'
import { placementFacts } from '../ledger/index.ts'
import type { LeafFacts, LeafVersion } from '../log/index.ts'
import { photosIn, unitHistoryFacts } from '../units/index.ts'
import type { Findings } from './findings.ts'
import { incidentFacts } from './incident-leaf.ts'
import { reportFacts } from './report-leaf.ts'

/** A row that a leaf states, for verification. */
export type StatedRow = {
  /** Its name in the leaf. */
  readonly ref: string
  readonly name: string
  readonly evidenceHash: string
  readonly leafVersion: LeafVersion
  /** Made from the row alone; the leaf must say the same. */
  readonly facts: LeafFacts
  /** When the gateway received it; never decreases among the rows of a kind. */
  readonly receivedAtMs: number
  /** Checks what it relies on outside its leaf. */
  readonly check: (tx: ReadTx, findings: Findings) => void
}

/** A kind of leaf whose rows are in a table. */
export type StatedKind = {
  readonly kind: 'placement' | 'detection' | 'unit-history' | 'incident-change' | 'report'
  readonly noun: string
  readonly table: string
  /** Returns a log's rows by the leaf's number, from `firstSeq` to `lastSeq`. */
  readonly rows: (tx: ReadTx, log: number, firstSeq: number, lastSeq: number) => ReadonlyMap<number, StatedRow>
}

const between = (table: string) => `SELECT * FROM main.${table} WHERE log_id = +? AND leaf_seq >= +? AND leaf_seq <= +?`

export const statedKinds: readonly StatedKind[] = [
  {
    kind: 'placement',
    noun: 'event',
    table: 'placement_event',
    rows: (tx, log, firstSeq, lastSeq) =>
      new Map(
        tx
          .allOf<PlacementEventRow>(
            // By the ids in the leaves: the ledger has no index by leaf.
            `SELECT e.* FROM main.log_leaf l CROSS JOIN main.placement_event e ON e.id = CAST(l.ref AS INTEGER)
             WHERE l.log_id = +? AND l.seq >= +? AND l.seq <= +? AND l.kind = 'placement'`,
            [log, firstSeq, lastSeq],
          )
          .filter((row) => row.log_id === log)
          .map((row) => [row.leaf_seq, statedPlacement(row)]),
      ),
  },
  {
    kind: 'detection',
    noun: 'detection',
    table: 'detection_event',
    rows: (tx, log, firstSeq, lastSeq) =>
      new Map(
        tx
          .allOf<DetectionEventRow>(between('detection_event'), [log, firstSeq, lastSeq])
          .map((row) => [row.leaf_seq, statedDetection(row)]),
      ),
  },
  {
    kind: 'unit-history',
    noun: 'step of a transport unit',
    table: 'unit_history',
    rows: (tx, log, firstSeq, lastSeq) =>
      new Map(
        tx
          .allOf<UnitHistoryRow>(between('unit_history'), [log, firstSeq, lastSeq])
          .map((row) => [row.leaf_seq, statedUnitStep(row)]),
      ),
  },
  {
    kind: 'incident-change',
    noun: 'change of an incident',
    table: 'incident_change',
    rows: (tx, log, firstSeq, lastSeq) =>
      new Map(
        tx
          .allOf<IncidentChangeRow>(between('incident_change'), [log, firstSeq, lastSeq])
          .map((row) => [row.leaf_seq, statedIncidentChange(row)]),
      ),
  },
  {
    kind: 'report',
    noun: 'report',
    table: 'report',
    rows: (tx, log, firstSeq, lastSeq) =>
      new Map(
        tx
          .allOf<ReportRow>(between('report'), [log, firstSeq, lastSeq])
          .map((row) => [row.leaf_seq, statedReport(row)]),
      ),
  },
]

function statedUnitStep(row: UnitHistoryRow): StatedRow {
  const name = `step ${row.row} (unit ${row.unit_id})`
  return {
    ref: String(row.row),
    name,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: unitHistoryFacts(row),
    receivedAtMs: row.received_at_ms,
    check: (tx, findings) => {
      for (const { sha256, evidence } of photosIn(row)) {
        if (evidence !== 'held' || mediaKind(tx, sha256 ?? '') === 'photo') continue
        findings.add(name, 'its photo is held, but no such photo is written down')
      }
    },
  }
}

function statedPlacement(row: PlacementEventRow): StatedRow {
  return {
    ref: String(row.id),
    name: `event ${row.id}`,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: placementFacts(row),
    receivedAtMs: row.received_at_ms,
    check: (tx, findings) => checkPlacement(tx, row, findings),
  }
}

function statedDetection(row: DetectionEventRow): StatedRow {
  return {
    ref: String(row.row),
    name: `detection ${row.id}`,
    evidenceHash: row.evidence_hash,
    leafVersion: row.leaf_version,
    facts: detectionFacts(row),
    receivedAtMs: row.recorded_at_ms,
    check: (tx, findings) => {
      const files = [
        { kind: 'clip', sha256: row.clip_sha256 },
        { kind: 'snapshot', sha256: row.snapshot_sha256 },
      ]
      for (const { kind, sha256 } of files) {
        if (sha256 === null || mediaKind(tx, sha256) === kind) continue
        findings.add(`detection ${row.id}`, `its ${kind} is stated, but no such ${kind} is written down`)
      }
    },
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

/** Checks the label of an event's slot, and the row of a held photo. */
function checkPlacement(tx: ReadTx, row: PlacementEventRow, findings: Findings): void {
  const label = tx.oneOf<{ slot_id: string }>('SELECT slot_id FROM main.slot WHERE id = +?', [row.slot_id])?.slot_id
  if (label !== undefined && label !== row.slot_code) {
    findings.add(`slot ${row.slot_id}`, `is called ${label}, and was ${row.slot_code} when its events were recorded`)
  }
  checkScan(tx, row, findings)
  if (row.opening_list !== null && !listIsHeld(tx, row.opening_list)) {
    findings.add(`event ${row.id}`, 'rests on a list of opening stock, but no such list is written down')
  }
  if (row.photo_evidence !== 'held' || mediaKind(tx, row.photo_sha256 ?? '') === 'photo') return
  findings.add(`event ${row.id}`, 'its photo is held, but no such photo is written down')
}

/** Checks that an event's scan still has the hash in the event's leaf. */
function checkScan(tx: ReadTx, row: PlacementEventRow, findings: Findings): void {
  if (row.count_scan_id === null) return
  const scan = tx.oneOf<CountScanRow>('SELECT * FROM main.count_scan WHERE id = ?', [row.count_scan_id])
  if (!scan) findings.add(`event ${row.id}`, `rests on scan ${row.count_scan_id}, which is not there`)
  else if (scanSha256(scan) !== row.count_scan_sha256) {
    findings.add(`scan ${scan.id}`, `does not state what event ${row.id} says`)
  }
}

function listIsHeld(tx: ReadTx, sha256: string): boolean {
  return tx.oneOf('SELECT 1 FROM main.opening_list WHERE sha256 = ?', [sha256]) !== undefined
}

function mediaKind(tx: ReadTx, sha256: string): string | undefined {
  return tx.oneOf<{ kind: string }>('SELECT kind FROM main.media WHERE sha256 = ?', [sha256])?.kind
}
