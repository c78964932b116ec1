import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { databaseFile, executor, openWriter } from '../../src/database/index.ts'
import { inclusionPath, leafOfLog, nodesOf, storeTiles } from '../../src/log/index.ts'
import { type Figure, millis, rounded, thousands } from './figure.ts'
import { median, quantile } from './statistics.ts'

const bigTree = 10_000_000
const proofs = 300
const tilesAtOnce = 512
const pageBytes = 4096
/** Bytes of a leaf: shorter than a real one, with as many levels in the B-tree of leaves. */
const leafBytes = 100

/** A file that later runs use again: about 2.5 GB, made in some minutes. Removed by hand, with the folder `.cache`. */
function cachedTree(leaves: number): string {
  const folder = resolve(import.meta.dirname, '../../.cache/bench', `tree-${leaves}-${leafBytes}`)
  if (existsSync(databaseFile(folder))) return folder
  const making = `${folder}.making`
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { recursive: true })
  const { db, close } = openWriter({ dataDir: making, nowMs: Date.now() })
  grow(db, leaves)
  close()
  renameSync(making, folder)
  return folder
}

/** Random leaves: a proof reads hashes and never looks whether they are those of the bytes. */
function grow(db: Database, leaves: number): void {
  db.pragma('synchronous = OFF')
  db.pragma('journal_mode = MEMORY')
  const guards = db
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'log_leaf'`,
    )
    .all()
  for (const { name } of guards) db.exec(`DROP TRIGGER ${name}`)
  db.exec(`INSERT INTO log_identity (id, log_id, site_id, created_at_ms) VALUES (1, 'bench-tree', 'bench', 1)`)
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO log_leaf (row, log_id, seq, kind, ref, bytes, hash)
     SELECT i, 1, i, 'placement', CAST(i AS TEXT), zeroblob(${leafBytes}), randomblob(32) FROM n`,
  ).run(leaves)
  for (const { sql } of guards) db.exec(sql)
  const tx = executor(db)
  for (let isMore = true; isMore; ) isMore = db.transaction(() => storeTiles(tx, 1, leaves, tilesAtOnce))()
}

/** Bytes that this process has read since its start. SQLite has no memory map here, so each of its page reads counts. */
const readBytes = () => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])

/**
 * Measures inclusion proofs of single leaves all over a log of ten million. Takes their time, and the pages that one proof
 * reads from an empty SQLite cache.
 */
export function measureProofs(): Figure[] {
  const db = new BetterSqlite3(join(databaseFile(cachedTree(bigTree))), { readonly: true })
  try {
    db.pragma('mmap_size = 0')
    const tx = executor(db)
    const prove = (seq: number) => {
      if (!leafOfLog(tx, 1, seq)) throw new Error(`leaf ${seq} is missing`)
      return inclusionPath(seq - 1, bigTree, nodesOf(tx, 1, bigTree)).length
    }
    const length = prove(1)
    const overhead = measured(db, () => {})
    const taken = Array.from({ length: proofs }, (_, i) => 1 + Math.floor(((i + 0.37) * bigTree) / proofs)).map((seq) =>
      measured(db, () => prove(seq)),
    )
    const pages = taken.map(({ bytes }) => (bytes - overhead.bytes) / pageBytes)
    const ms = median(taken.map((one) => one.ms))
    const p99Ms = quantile(
      taken.map((one) => one.ms),
      0.99,
    )
    const size = `${thousands(bigTree)} leaves`
    return [
      {
        id: 'proof-time',
        what: `Inclusion proof in a log of ${size}`,
        value: ms,
        unit: 'ms',
        target: { limit: 3, sense: 'at most' },
        raw: `p50 ${millis(ms)}, p99 ${millis(p99Ms)}, with an empty page cache; ${length} hashes`,
        numbers: { ms, p99Ms, leaves: bigTree },
      },
      {
        id: 'proof-pages',
        what: `Pages of 4 KiB that it reads, of ${size}`,
        value: median(pages),
        unit: 'pages',
        target: { limit: 60, sense: 'at most' },
        raw: `median ${rounded(median(pages))}, most ${rounded(Math.max(...pages))}; bytes read by the process (/proc/self/io) after PRAGMA shrink_memory`,
        numbers: { pages: median(pages), mostPages: Math.max(...pages) },
      },
    ]
  } finally {
    db.close()
  }
}

function measured(db: Database, work: () => unknown): { ms: number; bytes: number } {
  db.pragma('shrink_memory')
  const before = readBytes()
  const startedMs = performance.now()
  work()
  const ms = performance.now() - startedMs
  return { ms, bytes: readBytes() - before }
}
