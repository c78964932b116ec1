import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import {
  databaseFile,
  executor,
  openReader,
  type PlacementEventRow,
  type ReadTx,
  type SchemaDifferences,
  schemaDifferences,
} from '../database/index.ts'
import { photoFile, placementFacts } from '../ledger/index.ts'
import { canonicalJson, commitmentOf, type Json, leafHash, leafV1, MerkleFrontier, sha256 } from '../log/index.ts'

/** What does not match, and where: `leaf 7`, `event 12`, `photo ab…`. */
export type Mismatch = { readonly where: string; readonly what: string }

export type Verification = {
  readonly ok: boolean
  readonly logId: string
  readonly siteId: string
  /** Leaves recomputed, and the RFC 6962 root over them (64 hex digits). */
  readonly size: number
  readonly root: string
  readonly events: number
  readonly openings: number
  readonly media: number
  readonly mismatches: readonly Mismatch[]
  /** More were found than are listed. */
  readonly truncated: boolean
}

const listed = 100
const batch = 2000

class Findings {
  readonly mismatches: Mismatch[] = []
  truncated = false

  add(where: string, what: string): void {
    if (this.mismatches.some((m) => m.where === where && m.what === what)) return
    if (this.mismatches.length < listed) this.mismatches.push({ where, what })
    else this.truncated = true
  }
}

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
    checkRowsHaveLeaves(tx, findings, size, walked.placements)
    checkAuditTrail(tx, findings)
    const openings = checkOpenings(tx, findings)
    const media = checkMedia(tx, findings, dataDir)
    const ok = findings.mismatches.length === 0
    const { mismatches, truncated } = findings
    return {
      ok,
      logId,
      siteId,
      size,
      root: walked.root,
      events: walked.placements,
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

type LeafRow = { seq: number; kind: string; ref: string; bytes: Buffer; hash: Buffer }

function walkLeaves(tx: ReadTx, findings: Findings, identity: { logId: string; siteId: string }, size: number) {
  const tree = new MerkleFrontier()
  let expected = 1
  let placements = 0
  let receivedAtMs = 0
  while (expected <= size) {
    const leaves = tx.allOf<LeafRow>(
      'SELECT seq, kind, ref, bytes, hash FROM log_leaf WHERE seq >= +? AND seq <= +? ORDER BY seq LIMIT ?',
      [expected, size, batch],
    )
    const first = leaves[0]
    const last = leaves.at(-1)
    if (!first || !last) break
    const rows = placementRows(tx, first.seq, last.seq)
    for (const row of rows.values()) checkReferences(tx, row, findings)
    for (const leaf of leaves) {
      if (leaf.seq !== expected) findings.add(`leaf ${expected}`, `is missing up to ${leaf.seq - 1}`)
      expected = leaf.seq + 1
      checkLeaf(leaf, identity, findings)
      tree.append(leafHash(leaf.bytes))
      if (leaf.kind !== 'placement') continue
      placements += 1
      const row = rows.get(leaf.seq)
      if (row && row.received_at_ms < receivedAtMs)
        findings.add(`event ${row.id}`, 'was received before the one in front of it')
      receivedAtMs = row?.received_at_ms ?? receivedAtMs
      checkPlacement(leaf, row, identity, findings)
    }
  }
  return { root: tree.root().toString('hex'), placements }
}

function placementRows(tx: ReadTx, firstSeq: number, lastSeq: number): Map<number, PlacementEventRow> {
  const rows = tx.allOf<PlacementEventRow>(
    'SELECT * FROM main.placement_event WHERE leaf_seq >= +? AND leaf_seq <= +?',
    [firstSeq, lastSeq],
  )
  return new Map(rows.map((row) => [row.leaf_seq, row]))
}

function checkLeaf(leaf: LeafRow, identity: { logId: string; siteId: string }, findings: Findings): void {
  const where = `leaf ${leaf.seq}`
  if (!leafHash(leaf.bytes).equals(leaf.hash)) findings.add(where, 'its bytes do not have its hash')
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

function checkPlacement(
  leaf: LeafRow,
  row: PlacementEventRow | undefined,
  identity: { logId: string; siteId: string },
  findings: Findings,
): void {
  if (!row) {
    findings.add(`leaf ${leaf.seq}`, `states event ${leaf.ref}, which is not there`)
    return
  }
  const where = `event ${row.id} (leaf ${leaf.seq})`
  if (String(row.id) !== leaf.ref) findings.add(where, `the leaf states event ${leaf.ref}`)
  if (sha256(leaf.bytes).toString('hex') !== row.evidence_hash)
    findings.add(where, 'its evidence_hash is not that of the leaf')
  const rebuilt = canonicalJson(leafV1({ kind: 'placement', seq: leaf.seq, ...identity }, placementFacts(row)))
  if (rebuilt !== leaf.bytes.toString('utf8'))
    findings.add(where, `the row differs from its leaf${differences(rebuilt, leaf.bytes)}`)
}

/** What an event leans on outside of its leaf: the label of its slot, and the row of a photo that is held. */
function checkReferences(tx: ReadTx, row: PlacementEventRow, findings: Findings): void {
  const label = tx.oneOf<{ slot_id: string }>('SELECT slot_id FROM main.slot WHERE id = +?', [row.slot_id])?.slot_id
  if (label !== undefined && label !== row.slot_code) {
    findings.add(`slot ${row.slot_id}`, `is called ${label}, and was ${row.slot_code} when its events were recorded`)
  }
  if (row.photo_evidence !== 'held') return
  const kind = tx.oneOf<{ kind: string }>('SELECT kind FROM main.media WHERE sha256 = ?', [row.photo_sha256])?.kind
  if (kind !== 'photo') findings.add(`event ${row.id}`, 'its photo is held, but no such photo is written down')
}

/** Entries are numbered 1, 2, 3 …, and every event has one. What they say has no digest: triggers alone guard it. */
function checkAuditTrail(tx: ReadTx, findings: Findings): void {
  const gaps = tx.allOf<{ id: number }>(
    `SELECT id FROM main.audit_entry a
     WHERE id <> 1 AND NOT EXISTS (SELECT 1 FROM main.audit_entry b WHERE b.id = a.id - 1) ORDER BY id LIMIT ?`,
    [listed],
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
function checkRowsHaveLeaves(tx: ReadTx, findings: Findings, size: number, placements: number): void {
  const rows =
    tx.oneOf<{ n: number }>('SELECT count(*) AS n FROM main.placement_event WHERE leaf_seq <= +?', [size])?.n ?? 0
  const homeless = tx.oneOf<{ n: number }>(
    `SELECT count(*) AS n FROM main.placement_event e
     WHERE NOT EXISTS (SELECT 1 FROM log_leaf l WHERE l.seq = e.leaf_seq AND l.kind = 'placement')`,
  )
  if (rows !== placements) findings.add('ledger', `${rows} events, but ${placements} leaves that state one`)
  if (homeless && homeless.n > 0) findings.add('ledger', `${homeless.n} events without a leaf`)
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

function checkMedia(tx: ReadTx, findings: Findings, dataDir: string): number {
  const rows = tx.allOf<{ sha256: string; kind: string; media_type: string }>(
    `SELECT sha256, kind, media_type FROM media WHERE kind = 'photo'`,
  )
  for (const row of rows) {
    const found = hashOfFile(photoFile(dataDir, { sha256: row.sha256, mediaType: row.media_type }))
    if (found === undefined) findings.add(`photo ${row.sha256.slice(0, 16)}…`, 'its file is not there')
    else if (found !== row.sha256) findings.add(`photo ${row.sha256.slice(0, 16)}…`, 'its file has other bytes')
  }
  return rows.length
}

function hashOfFile(file: string): string | undefined {
  try {
    const fd = openSync(file, 'r')
    try {
      const hash = createHash('sha256')
      const part = Buffer.alloc(1 << 20)
      for (let read = readSync(fd, part); read > 0; read = readSync(fd, part)) hash.update(part.subarray(0, read))
      return hash.digest('hex')
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}
