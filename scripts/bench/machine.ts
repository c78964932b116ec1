import { closeSync, fdatasyncSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { arch, availableParallelism, cpus, release } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { millis } from './figure.ts'
import { quantile, timed } from './statistics.ts'

/** Under this an fdatasync has not reached any medium: the disk lies, or it is memory. */
export const honestFdatasyncMs = 0.05

const blockBytes = 4096
const blocks = 256

/** A file whose blocks are there already, so that an fdatasync of it writes data and nothing else. */
export class SyncProbe {
  readonly #file: string
  readonly #fd: number
  readonly #block = Buffer.alloc(blockBytes, 0x5a)
  #next = 0

  constructor(folder: string) {
    this.#file = join(folder, 'fdatasync.probe')
    this.#fd = openSync(this.#file, 'w')
    for (let n = 0; n < blocks; n += 1) this.#write()
    fsyncSync(this.#fd)
  }

  /** Milliseconds of one block written and on disk. */
  measure(): number {
    return timed(() => {
      this.#write()
      fdatasyncSync(this.#fd)
    })
  }

  close(): void {
    closeSync(this.#fd)
    rmSync(this.#file)
  }

  #write(): void {
    writeSync(this.#fd, this.#block, 0, blockBytes, this.#next * blockBytes)
    this.#next = (this.#next + 1) % blocks
  }
}

/** A database of one table, written as ours is: the least that a durable commit takes. */
export class CommitProbe {
  readonly #db: BetterSqlite3.Database
  readonly #insert: BetterSqlite3.Statement
  readonly #files: readonly string[]

  constructor(folder: string) {
    const file = join(folder, 'commit.probe')
    this.#files = ['', '-wal', '-shm'].map((end) => `${file}${end}`)
    this.#db = new BetterSqlite3(file)
    this.#db.pragma('journal_mode = WAL')
    this.#db.pragma('synchronous = FULL')
    this.#db.pragma('wal_autocheckpoint = 4000')
    this.#db.exec('CREATE TABLE event (id INTEGER PRIMARY KEY, text TEXT) STRICT')
    this.#insert = this.#db.prepare('INSERT INTO event (text) VALUES (?)')
  }

  /** Milliseconds of one row committed. */
  measure(): number {
    return timed(() => this.#insert.run('x'.repeat(100)))
  }

  close(): void {
    this.#db.close()
    for (const file of this.#files) rmSync(file, { force: true })
  }
}

/** Where the run took place; the raw numbers mean nothing without it. */
export type Machine = {
  readonly cores: number
  readonly cpu: string
  readonly arch: string
  readonly kernel: string
  readonly node: string
  readonly sqlite: string
  readonly fdatasyncP50Ms: number
  readonly fdatasyncP99Ms: number
}

export function describeMachine(folder: string): Machine {
  const probe = new SyncProbe(folder)
  const syncs = Array.from({ length: 300 }, () => probe.measure())
  probe.close()
  const memory = new BetterSqlite3(':memory:')
  const sqlite = memory.prepare('SELECT sqlite_version()').pluck().get() as string
  memory.close()
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() || modelOfBoard() || 'unknown',
    arch: arch(),
    kernel: release(),
    node: process.version,
    sqlite,
    fdatasyncP50Ms: quantile(syncs, 0.5),
    fdatasyncP99Ms: quantile(syncs, 0.99),
  }
}

/** ARM processors have no model name; their board has one. */
function modelOfBoard(): string | undefined {
  try {
    return readFileSync('/proc/device-tree/model', 'utf8').replaceAll('\0', '')
  } catch {
    return undefined
  }
}

export function machineLine(machine: Machine): string {
  const { cores, cpu, kernel, node, sqlite, fdatasyncP50Ms, fdatasyncP99Ms } = machine
  const disk = `fdatasync of 4 KiB ${millis(fdatasyncP50Ms)} (p50), ${millis(fdatasyncP99Ms)} (p99)`
  return `${cores} cores of ${cpu} (${machine.arch}), Linux ${kernel}, Node ${node}, SQLite ${sqlite}; ${disk}.`
}
