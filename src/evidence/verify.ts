import {
  databaseFile,
  executor,
  openReader,
  type ReadTx,
  type SchemaDifferences,
  schemaDifferences,
} from '../database/index.ts'
import { canonicalJson, commitmentOf, type Json, leafHash, leafV1, MerkleFrontier, sha256 } from '../log/index.ts'
import { Findings, type Mismatch } from './findings.ts'
import { checkFiles } from './held-files.ts'
import { type StatedKind, type StatedRow, statedKinds } from './stated-rows.ts'

export type Verification = {
  readonly ok: boolean
  readonly logId: string
  readonly siteId: string
  /** Leaves recomputed, and the RFC 6962 root over them (64 hex digits). */
  readonly size: number
  readonly root: string
  readonly events: number
  readonly detections: number
  readonly unitSteps: number
  readonly incidentChanges: number
  readonly reports: number
  readonly openings: number
  readonly media: number
  readonly mismatches: readonly Mismatch[]
  /** More were found than are listed. */
  readonly truncated: boolean
}

const batch = 2000
const listedGaps = 100

/**
 * Recomputes everything from the first leaf: bytes against hashes, rows against leaves, names against commitments,
 * files against their rows. After the look at the file it reads in short batches, so that a running gateway's WAL is
 * not held. It can not see a tail that was cut off together with its rows: for that, size and root must be known from
 * outside the box.
 * Throws ExitError when the file can't be opened at all.
 */
export function verifyLedger(dataDir: string): Verification {
  const db = openReader(databaseFile(dataDir))
  try {
    const tx = executor(db)
    const findings = new Findings()
    checkFile(tx, findings, schemaDifferences(db))
    const identity = tx.oneOf<{ log_id: string; site_id: string }>('SELECT log_id, site_id FROM log_identity')
    if (!identity) findings.add('log', 'has no identity')
    const logId = identity?.log_id ?? ''
    const siteId = identity?.site_id ?? ''
    const size = tx.oneOf<{ n: number }>('SELECT coalesce(max(seq), 0) AS n FROM log_leaf')?.n ?? 0
    const walked = walkLeaves(tx, findings, { logId, siteId }, size)
    for (const stated of statedKinds) checkRowsHaveLeaves(tx, findings, size, stated, walked.counts[stated.kind])
    checkAuditTrail(tx, findings)
    const openings = checkOpenings(tx, findings)
    const media = checkFiles(tx, findings, dataDir)
    const ok = findings.mismatches.length === 0
    const { mismatches, truncated } = findings
    return {
      ok,
      logId,
      siteId,
      size,
      root: walked.root,
      events: walked.counts.placement,
      detections: walked.counts.detection,
      unitSteps: walked.counts['unit-history'],
      incidentChanges: walked.counts['incident-change'],
      reports: walked.counts.report,
      openings,
      media,
      mismatches,
      truncated,
    }
  } finally {
    db.close()
  }
}

function checkFile(tx: ReadTx, findings: Findings, { lost, strange }: SchemaDifferences): void {
  for (const name of lost) findings.add('schema', `guard ${name} is missing or changed`)
  for (const name of strange) findings.add('schema', `${name} is not the gateway's`)
  // quick_check does not compare indexes with their tables, and a row that an index hides is one that nobody reads.
  for (const { integrity_check: problem } of tx.allOf<{ integrity_check: string }>('PRAGMA integrity_check(10)')) {
    if (problem !== 'ok') findings.add('file', problem)
  }
  for (const row of tx.allOf<{ table: string; rowid: number }>('PRAGMA foreign_key_check')) {
    findings.add(`${row.table} ${row.rowid}`, 'refers to a row that is not there')
  }
}

type PerKind = Record<StatedKind['kind'], number>
type LeafRow = { seq: number; kind: string; ref: string; bytes: Buffer; hash: Buffer }

function walkLeaves(tx: ReadTx, findings: Findings, identity: { logId: string; siteId: string }, size: number) {
  const tree = new MerkleFrontier()
  const counts: PerKind = { placement: 0, detection: 0, 'unit-history': 0, 'incident-change': 0, report: 0 }
  const newestMs: PerKind = { ...counts }
  let expected = 1
  while (expected <= size) {
    const leaves = tx.allOf<LeafRow>(
      'SELECT seq, kind, ref, bytes, hash FROM log_leaf WHERE seq >= +? AND seq <= +? ORDER BY seq LIMIT ?',
      [expected, size, batch],
    )
    const first = leaves[0]
    const last = leaves.at(-1)
    if (!first || !last) break
    const rows = new Map(statedKinds.map((stated) => [stated.kind as string, stated.rows(tx, first.seq, last.seq)]))
    for (const leaf of leaves) {
      if (leaf.seq !== expected) findings.add(`leaf ${expected}`, `is missing up to ${leaf.seq - 1}`)
      expected = leaf.seq + 1
      const hash = leafHash(leaf.bytes)
      if (!hash.equals(leaf.hash)) findings.add(`leaf ${leaf.seq}`, 'its bytes do not have its hash')
      tree.append(hash)
      const stated = statedKinds.find(({ kind }) => kind === leaf.kind)
      const isSameAsRow = stated !== undefined && isRowOf(leaf, rows.get(stated.kind)?.get(leaf.seq), stated, identity)
      // What was made anew from the row is canonical, and has the head that it must have.
      if (!isSameAsRow) checkBytes(leaf, identity, findings)
      if (!stated) continue
      counts[stated.kind] += 1
      const row = rows.get(stated.kind)?.get(leaf.seq)
      if (!row) {
        findings.add(`leaf ${leaf.seq}`, `states ${stated.noun} ${leaf.ref}, which is not there`)
        continue
      }
      if (row.receivedAtMs < newestMs[stated.kind]) findings.add(row.name, 'was received before the one in front of it')
      newestMs[stated.kind] = row.receivedAtMs
      row.check(tx, findings)
      checkRow(leaf, row, stated, isSameAsRow ? undefined : rebuilt(leaf, row, stated, identity), findings)
    }
  }
  return { root: tree.root().toString('hex'), counts }
}

type Identity = { logId: string; siteId: string }

function rebuilt(leaf: LeafRow, row: StatedRow, { kind }: StatedKind, identity: Identity): string {
  return canonicalJson(leafV1({ kind, seq: leaf.seq, ...identity }, row.facts))
}

function isRowOf(leaf: LeafRow, row: StatedRow | undefined, stated: StatedKind, identity: Identity): boolean {
  return row !== undefined && leaf.bytes.equals(Buffer.from(rebuilt(leaf, row, stated, identity), 'utf8'))
}

function checkBytes(leaf: LeafRow, identity: Identity, findings: Findings): void {
  const where = `leaf ${leaf.seq}`
  const stated = parse(leaf.bytes)
  if (stated === undefined) {
    findings.add(where, 'its bytes are not canonical JSON')
    return
  }
  const head = { v: 1, kind: leaf.kind, seq: leaf.seq, ...identity }
  for (const [key, value] of Object.entries(head)) {
    if (stated[key] !== value) findings.add(where, `says ${key} ${String(stated[key])}, expected ${value}`)
  }
}

function parse(bytes: Buffer): Record<string, Json> | undefined {
  try {
    const value = JSON.parse(bytes.toString('utf8')) as Json
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject && canonicalJson(value) === bytes.toString('utf8') ? (value as Record<string, Json>) : undefined
  } catch {
    return undefined
  }
}

/** @param other what the row would state, when the leaf says something else */
function checkRow(
  leaf: LeafRow,
  row: StatedRow,
  { noun }: StatedKind,
  other: string | undefined,
  findings: Findings,
): void {
  const where = `${row.name} (leaf ${leaf.seq})`
  if (row.ref !== leaf.ref) findings.add(where, `the leaf states ${noun} ${leaf.ref}`)
  if (sha256(leaf.bytes).toString('hex') !== row.evidenceHash) {
    findings.add(where, 'its evidence_hash is not that of the leaf')
  }
  if (other !== undefined) findings.add(where, `the row differs from its leaf${differences(other, leaf.bytes)}`)
}

/** Entries are numbered 1, 2, 3 …, and every event has one. What they say has no digest: triggers alone guard it. */
function checkAuditTrail(tx: ReadTx, findings: Findings): void {
  const gaps = tx.allOf<{ id: number }>(
    `SELECT id FROM main.audit_entry a
     WHERE id <> 1 AND NOT EXISTS (SELECT 1 FROM main.audit_entry b WHERE b.id = a.id - 1) ORDER BY id LIMIT ?`,
    [listedGaps],
  )
  for (const { id } of gaps) findings.add(`audit entry ${id}`, 'the one in front of it is missing')
  const untold = tx.oneOf<{ n: number }>(
    `SELECT count(*) AS n FROM main.placement_event e
     WHERE NOT EXISTS (SELECT 1 FROM main.audit_entry a WHERE a.entity = 'event' AND a.entity_id = CAST(e.id AS TEXT))`,
  )
  if (untold && untold.n > 0) findings.add('audit trail', `${untold.n} events without an entry`)
}

function differences(rebuilt: string, bytes: Buffer): string {
  const stated = parse(bytes)
  if (!stated) return ''
  const found = JSON.parse(rebuilt) as Record<string, Json>
  const keys = new Set([...Object.keys(stated), ...Object.keys(found)])
  return ` in ${[...keys].filter((key) => JSON.stringify(stated[key]) !== JSON.stringify(found[key])).join(', ')}`
}

/** Rows that no leaf states: somebody added them behind the program's back. Only as far as the walk went. */
function checkRowsHaveLeaves(
  tx: ReadTx,
  findings: Findings,
  size: number,
  { kind, noun, table }: StatedKind,
  leaves: number,
): void {
  const count = (where: string, value: string | number) =>
    tx.oneOf<{ n: number }>(`SELECT count(*) AS n FROM main.${table} e WHERE ${where}`, [value])?.n ?? 0
  const rows = count('e.leaf_seq <= +?', size)
  const homeless = count('NOT EXISTS (SELECT 1 FROM main.log_leaf l WHERE l.seq = e.leaf_seq AND l.kind = ?)', kind)
  if (rows !== leaves) findings.add('ledger', `${rows} ${noun}s, but ${leaves} leaves that state one`)
  if (homeless > 0) findings.add('ledger', `${homeless} ${noun}s without a leaf`)
}

function checkOpenings(tx: ReadTx, findings: Findings): number {
  let count = 0
  let after = ''
  for (;;) {
    const rows = tx.allOf<{ commitment: string; kind: string; salt: Buffer; value: string }>(
      'SELECT commitment, kind, salt, value FROM opening WHERE commitment > ? ORDER BY commitment LIMIT ?',
      [after, batch],
    )
    for (const row of rows) {
      if (commitmentOf(row.salt, row.value) !== row.commitment)
        findings.add(`opening ${row.commitment.slice(0, 16)}…`, 'does not open its commitment')
    }
    count += rows.length
    after = rows.at(-1)?.commitment ?? ''
    if (rows.length < batch) return count
  }
}
