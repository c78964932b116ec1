import { hash } from 'node:crypto'
import { join } from 'node:path'
import { type Cell, emptyTable, executor, openWriterAt, rowAdder, tableShapes } from '../../database/index.ts'
import { readTilePath } from '../../evidence/index.ts'
import { endOfTrail, hashesOfSpan } from '../../journal/index.ts'
import { knownLogs, leafHash, leafOfLog, storeTiles, tileHashes, tileWidth } from '../../log/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import { writeFileDurably } from '../../platform/index.ts'
import { BackupFault } from '../unpack.ts'
import type { OpenedSegment } from './chain.ts'
import { inventory } from './inventory.ts'
import { leavesOfBundle } from './leaves.ts'
import { readRowsLines } from './payload.ts'

type Writer = ReturnType<typeof openWriterAt>
type TileSeen = {
  readonly logId: string
  readonly level: number
  readonly n: number
  readonly width: number
  readonly hash: string
}

const tilesAtOnce = 256
const entriesAtOnce = 2000
const leafColumns = ['row', 'log_id', 'seq', 'kind', 'ref', 'bytes', 'hash']
const identityColumns = ['id', 'log_id', 'site_id', 'parent_log_id', 'parent_size', 'created_at_ms']

/**
 * Builds a ledger from segments, in a separate folder. The guards of the tables check every row. The verification of the whole
 * compares rows with their leaves, and the tree with the signed one.
 */
export class Rebuild {
  /** The newest checkpoint of each log, a signed note. */
  readonly checkpoints = new Map<string, string>()
  readonly #folder: string
  readonly #schema: number
  readonly #writer: Writer
  readonly #numbers = new Map<string, number>()
  /** Leaves that are there, by log. */
  readonly #sizes = new Map<string, number>()
  readonly #adders = new Map<string, (row: readonly Cell[]) => void>()
  /** Newest rows of each chunk, by table that changes. */
  readonly #chunks = new Map<
    string,
    { columns: readonly string[]; chunks: Map<string, readonly (readonly Cell[])[]> }
  >()
  readonly #tiles: TileSeen[] = []
  #leaves = 0

  /** Begins an empty ledger of a schema. */
  constructor(folder: string, schema: number, nowMs: number) {
    this.#folder = folder
    this.#schema = schema
    this.#writer = openWriterAt(schema, { dataDir: folder, nowMs })
  }

  /** Takes the next segment of the series. Throws BackupFault that names it. */
  take({ header, members }: OpenedSegment, name: string): void {
    if (header.schema !== this.#schema) {
      throw new BackupFault(`${name} has schema ${header.schema}, and those before it have ${this.#schema}`)
    }
    try {
      const { db } = this.#writer
      db.transaction(() => {
        for (const [member, bytes] of members) this.#member(member, bytes, members, header.columns)
      })()
    } catch (error) {
      if (error instanceof BackupFault) throw new BackupFault(`${name}: ${error.message}`)
      if ((error as { code?: string }).code?.startsWith('SQLITE')) {
        throw new BackupFault(`${name} does not go on from the segments before it: ${errorMessage(error)}`)
      }
      throw error
    }
  }

  /** Adds the rows of tables that change, computes what is computed, and closes the ledger. Throws BackupFault. */
  finish(): void {
    const { db } = this.#writer
    const tx = executor(db)
    db.transaction(() => {
      for (const table of Object.keys(inventory)) this.#addChunks(table)
      const end = endOfTrail(tx)
      for (let from = 1; from <= end; from += entriesAtOnce)
        hashesOfSpan(tx, from, Math.min(from + entriesAtOnce - 1, end))
      for (const { number, size } of knownLogs(tx)) while (storeTiles(tx, number, size, tilesAtOnce));
    })()
    for (const seen of this.#tiles) this.#compare(seen)
  }

  close(): void {
    this.#writer.close()
  }

  #member(
    name: string,
    bytes: Buffer,
    members: ReadonlyMap<string, Buffer>,
    columns: Readonly<Record<string, readonly string[]>>,
  ): void {
    const [logId = '', kind, part, ...rest] = name.split('/')
    if (name === 'rows') this.#rows(bytes, columns)
    else if (logId === 'files') this.#file(name.slice('files/'.length), bytes)
    else if (kind === 'identity') this.#identity(bytes)
    else if (kind === 'checkpoint') this.checkpoints.set(logId, bytes.toString('utf8'))
    else if (kind === 'tail') this.#bundle(logId, Number(part), bytes, members)
    else if (kind === 'tile') this.#tile(logId, part, rest.join('/'), bytes, members)
    else if (kind !== 'refs')
      throw new BackupFault(`it has a part ${JSON.stringify(name)} that this gatehouse does not know`)
  }

  #identity(bytes: Buffer): void {
    const row = JSON.parse(bytes.toString('utf8')) as Record<string, Cell>
    this.#add(
      'log_identity',
      identityColumns,
      identityColumns.map((column) => row[column] ?? null),
    )
    this.#numbers.set(String(row['log_id']), Number(row['id']))
  }

  #tile(logId: string, level: string | undefined, place: string, bytes: Buffer, members: ReadonlyMap<string, Buffer>) {
    const tile = readTilePath(place)
    if (!tile) throw new BackupFault(`it has a tile ${JSON.stringify(place)}, which is none`)
    if (level === 'entries') this.#bundle(logId, tile.n * tileWidth, bytes, members)
    else this.#tiles.push({ logId, level: Number(level), ...tile, hash: hash('sha256', bytes) })
  }

  /** Adds the leaves that are not there yet, and compares the others. */
  #bundle(logId: string, first: number, bytes: Buffer, members: ReadonlyMap<string, Buffer>): void {
    const leaves = leavesOfBundle(bytes)
    const refs = JSON.parse(members.get(`${logId}/refs/${first}`)?.toString('utf8') ?? '[]') as string[]
    const number = this.#numbers.get(logId)
    if (!leaves || refs.length !== leaves.length || number === undefined) {
      throw new BackupFault(`its leaves of log ${logId} from ${first} on are not whole`)
    }
    const size = this.#sizes.get(logId) ?? 0
    if (first > size) throw new BackupFault(`leaves ${size + 1} to ${first} of log ${logId} are missing before it`)
    for (const [i, leaf] of leaves.entries()) {
      const seq = first + i + 1
      if (seq <= size) this.#sameLeaf(logId, number, seq, leaf)
      else {
        this.#leaves += 1
        const { kind } = JSON.parse(leaf.toString('utf8')) as { kind: string }
        this.#add('log_leaf', leafColumns, [this.#leaves, number, seq, kind, refs[i] ?? '', leaf, leafHash(leaf)])
      }
    }
    this.#sizes.set(logId, Math.max(size, first + leaves.length))
  }

  #sameLeaf(logId: string, number: number, seq: number, leaf: Buffer): void {
    const known = leafOfLog(executor(this.#writer.db), number, seq)
    if (known?.bytes.equals(leaf)) return
    throw new BackupFault(`leaf ${seq} of log ${logId} has other bytes than in a segment before it`)
  }

  #rows(bytes: Buffer, columns: Readonly<Record<string, readonly string[]>>): void {
    for (const { table, chunk, rows } of readRowsLines(bytes)) {
      const own = columns[table] ?? []
      if (!inventory[table]) throw new BackupFault(`it has rows of a table ${table}, which is not one of this version`)
      if (chunk === undefined) for (const row of rows) this.#add(table, own, row)
      else {
        const kept = this.#chunks.get(table) ?? { columns: own, chunks: new Map() }
        this.#chunks.set(table, { columns: own.length > 0 ? own : kept.columns, chunks: kept.chunks.set(chunk, rows) })
      }
    }
  }

  #addChunks(table: string): void {
    const kept = this.#chunks.get(table)
    if (!kept) return
    emptyTable(this.#writer.db, table)
    for (const rows of kept.chunks.values()) for (const row of rows) this.#add(table, kept.columns, row)
  }

  #add(table: string, columns: readonly string[], row: readonly Cell[]): void {
    let add = this.#adders.get(table)
    if (!add) {
      if (!tableShapes(this.#writer.db).has(table)) throw new BackupFault(`its schema has no table ${table}`)
      add = rowAdder(this.#writer.db, table, columns)
      this.#adders.set(table, add)
    }
    add(row)
  }

  #file(path: string, bytes: Buffer): void {
    if (!/^(reports|lists)(\/[\w-][\w.-]*){1,4}$/.test(path)) {
      throw new BackupFault(`${JSON.stringify(path)} has no place in a data folder`)
    }
    writeFileDurably(join(this.#folder, path), bytes, 0o600)
  }

  /** The hash tiles that were written are those of the leaves that came back. */
  #compare({ logId, level, n, width, hash: expected }: TileSeen): void {
    const number = this.#numbers.get(logId) ?? 0
    const found = tileHashes(executor(this.#writer.db), number, level, n, width)
    if (hash('sha256', found) === expected) return
    throw new BackupFault(`hash tile ${level}/${n} of log ${logId} is not that of its leaves`)
  }
}
