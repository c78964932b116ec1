import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Command } from 'commander'
import { tarEnd, tarHeader, tarPadding } from '../../backup/index.ts'
import { loadConfig } from '../../config/index.ts'
import { databaseFile, executor, openReader } from '../../database/index.ts'
import { EXIT_USAGE, ExitError } from '../../errors/index.ts'
import { type ExportedFile, type ExportedLog, wholeLog } from '../../evidence/index.ts'
import { errorCode, errorMessage } from '../../platform/faults.ts'
import { print, printError, systemClock } from '../../platform/index.ts'
import { becomeOwnerOf } from '../alone.ts'
import { usualConfig, usualConfigText } from '../usual-config.ts'

export function exportCommand(): Command {
  return new Command('export')
    .description(
      'copy the whole log, so that anyone can check it without the gateway: checkpoints, keys, tiles and leaves, without names',
    )
    .requiredOption('--out <path>', 'folder to make, or a file that ends in .tar; - writes a tar to standard output')
    .option('--config <file>', `config whose dataDir holds the ledger; ${usualConfigText}`)
    .option('--json', 'for programs')
    .action(exportLog)
}

/** Reads beside a running daemon: a log only grows, and leaves behind the newest checkpoint are left out. */
function exportLog({ out, config: file, json }: { out: string; config?: string; json?: boolean }): void {
  const { config } = loadConfig(usualConfig(file))
  const database = databaseFile(config.dataDir)
  const path = out === '-' ? out : resolve(out)
  if (!existsSync(database)) throw new ExitError(1, `there is no database at ${database}`)
  if (path !== '-' && existsSync(path)) throw new ExitError(EXIT_USAGE, `${path} exists already; name another one`)
  becomeOwnerOf(config.dataDir)
  const db = openReader(database)
  try {
    const { logs, files } = wholeLog(executor(db), config.dataDir)
    const count = path === '-' || path.endsWith('.tar') ? writeTar(path, files) : writeFolder(path, files)
    // A tar on standard output has it to itself.
    const say = path === '-' ? printError : print
    say(json ? `${JSON.stringify({ path, files: count, logs })}\n` : forPeople(path, count, logs))
  } catch (error) {
    if (errorCode(error) === undefined || error instanceof ExitError) throw error
    throw new ExitError(1, `the log could not be written to ${path}: ${errorMessage(error)}`, error)
  } finally {
    db.close()
  }
}

/** Makes the folder under its name when all of it is on disk. */
function writeFolder(path: string, files: Iterable<ExportedFile>): number {
  const part = `${path}.part`
  rmSync(part, { recursive: true, force: true })
  let count = 0
  try {
    for (const { name, pieces } of files) {
      const to = join(part, name)
      mkdirSync(dirname(to), { recursive: true, mode: 0o750 })
      writeNew(to, (write) => {
        for (const piece of pieces()) write(piece)
      })
      count += 1
    }
    renameSync(part, path)
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
  return count
}

/** Each file is read twice, because a tar states the size in front. */
function writeTar(path: string, files: Iterable<ExportedFile>): number {
  let count = 0
  const all = (write: (bytes: Uint8Array) => void) => {
    for (const { name, pieces } of files) {
      let sizeBytes = 0
      for (const { length } of pieces()) sizeBytes += length
      write(tarHeader(name, sizeBytes, systemClock.now()))
      for (const piece of pieces()) write(piece)
      write(tarPadding(sizeBytes))
      count += 1
    }
    write(tarEnd)
  }
  if (path === '-') {
    all((bytes) => writeAll(1, bytes))
    return count
  }
  const part = `${path}.part`
  rmSync(part, { force: true })
  try {
    writeNew(part, all)
    renameSync(part, path)
  } finally {
    rmSync(part, { force: true })
  }
  return count
}

function writeNew(path: string, work: (write: (bytes: Uint8Array) => void) => void): void {
  const fd = openSync(path, 'wx', 0o640)
  try {
    work((bytes) => writeAll(fd, bytes))
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
}

function forPeople(path: string, files: number, logs: readonly ExportedLog[]): string {
  const lines = logs.map(({ logId, size, rootHash }) => `log ${logId}: ${size} leaves, root ${rootHash}\n`)
  return `${lines.join('')}${path}: ${files} files; README.txt says what they are and how to check them. No names are in them.\n`
}
