import { scanSha256 } from '../counts/index.ts'
import type { CountScanRow, DetectionEventRow, PlacementEventRow, ReadTx } from '../database/index.ts'
import { placementFacts } from '../ledger/index.ts'
import type { LeafFacts } from '../log/index.ts'
import { detectionFacts } from '../motion/index.ts'
import type { Findings } from './findings.ts'

/** A row that a leaf states, as far as verification is concerned. */
export type StatedRow = {
  /** What the leaf calls it. */
  readonly ref: string
  readonly name: string
  readonly evidenceHash: string
  /** Made from the row alone; the leaf must say the same. */
  readonly facts: LeafFacts
  /** When the gateway had it; never decreases among the rows of a kind. */
  readonly receivedAtMs: number
  /** What it leans on outside of its leaf. */
  readonly check: (tx: ReadTx, findings: Findings) => void
}

/** A kind of leaf whose rows stand in a table. */
export type StatedKind = {
  readonly kind: 'placement' | 'detection'
  readonly noun: string
  readonly table: string
  /** By the leaf's number, from `firstSeq` to `lastSeq`. */
  readonly rows: (tx: ReadTx, firstSeq: number, lastSeq: number) => ReadonlyMap<number, StatedRow>
}

const between = (table: string) => `SELECT * FROM main.${table} WHERE leaf_seq >= +? AND leaf_seq <= +?`

export const statedKinds: readonly StatedKind[] = [
  {
    kind: 'placement',
    noun: 'event',
    table: 'placement_event',
    rows: (tx, firstSeq, lastSeq) =>
      new Map(
        tx
          .allOf<PlacementEventRow>(between('placement_event'), [firstSeq, lastSeq])
          .map((row) => [row.leaf_seq, statedPlacement(row)]),
      ),
  },
  {
    kind: 'detection',
    noun: 'detection',
    table: 'detection_event',
    rows: (tx, firstSeq, lastSeq) =>
      new Map(
        tx
          .allOf<DetectionEventRow>(between('detection_event'), [firstSeq, lastSeq])
          .map((row) => [row.leaf_seq, statedDetection(row)]),
      ),
  },
]

function statedPlacement(row: PlacementEventRow): StatedRow {
  return {
    ref: String(row.id),
    name: `event ${row.id}`,
    evidenceHash: row.evidence_hash,
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

/** The label of an event's slot, and the row of a photo that is held. */
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

/** The scan that an event rests on must still state what the event's leaf holds the hash of. */
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
