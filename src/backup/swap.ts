import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lockDataDir } from '../database/index.ts'
import { ExitError } from '../errors/index.ts'
import { readFileIfThere, syncFolder, writeFileDurably } from '../platform/index.ts'
import { stagingFolder } from './verify-staged.ts'

/** Entries that a restore replaces. Everything else in the data folder stays where it is. */
export const replacedEntries = [
  'gatehouse.db',
  'gatehouse.db-wal',
  'gatehouse.db-shm',
  'gatehouse.db-journal',
  'keys',
  'photos',
  'clips',
  'lists',
  'reports',
  'first-admin',
  'metrics-token',
  'restored-settings',
] as const

/** `out`: present entries go aside. `in`: restored entries take their place. */
type Journal = { readonly phase: 'out' | 'in'; readonly aside: string }

const journalFile = (dataDir: string) => join(dataDir, 'restore.json')

/**
 * Replaces entries of the data folder by those of the staging folder. The replaced ones go to the folder `aside` below it. After a
 * crash at any step, `finishSwap` does the rest: the first note on disk is written when all of the new state is.
 */
export function swap(dataDir: string, aside: string): void {
  const staging = stagingFolder(dataDir)
  for (const name of ['gatehouse.lock', 'start-reserve']) rmSync(join(staging, name), { force: true })
  syncTree(staging)
  // The entry of the staging folder: a note without the folder would finish with an empty box.
  syncFolder(dataDir)
  note(dataDir, { phase: 'out', aside })
  finishSwap(dataDir)
}

/** Does the rest of a swap that was begun; does nothing when none was. The caller has the lock of the data folder. */
export function finishSwap(dataDir: string): void {
  const journal = readJournal(dataDir)
  if (!journal) return
  const aside = join(dataDir, journal.aside)
  const staging = stagingFolder(dataDir)
  if (journal.phase === 'out') {
    mkdirSync(aside, { recursive: true, mode: 0o700 })
    for (const name of replacedEntries) move(join(dataDir, name), join(aside, name))
    for (const folder of [aside, dataDir]) syncFolder(folder)
    note(dataDir, { ...journal, phase: 'in' })
  }
  for (const name of replacedEntries) move(join(staging, name), join(dataDir, name))
  syncFolder(dataDir)
  rmSync(staging, { recursive: true, force: true })
  rmSync(journalFile(dataDir))
  syncFolder(dataDir)
}

/**
 * Finishes a restore that a crash interrupted after its decision, and removes what one left before it. Call it before the
 * database of a data folder is opened. Throws ExitError when a restore is under way, or its note cannot be read.
 */
export function settleRestore(dataDir: string): void {
  if (!existsSync(journalFile(dataDir)) && !existsSync(stagingFolder(dataDir))) return
  const lock = lockDataDir(dataDir)
  try {
    finishSwap(dataDir)
    rmSync(stagingFolder(dataDir), { recursive: true, force: true })
  } finally {
    lock.release()
  }
}

function note(dataDir: string, journal: Journal): void {
  writeFileDurably(journalFile(dataDir), `${JSON.stringify(journal)}\n`)
}

function readJournal(dataDir: string): Journal | undefined {
  const bytes = readFileIfThere(journalFile(dataDir))
  if (!bytes) return undefined
  try {
    const { phase, aside } = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>
    const isPhase = phase === 'out' || phase === 'in'
    if (isPhase && typeof aside === 'string' && /^replaced-[\w-]+$/.test(aside)) return { phase, aside }
  } catch {
    // Handled like a note with other contents.
  }
  throw new ExitError(1, `${journalFile(dataDir)} is not the note of a restore; find out who wrote it and move it away`)
}

function move(from: string, to: string): void {
  if (existsSync(from)) renameSync(from, to)
}

function syncTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) syncTree(join(folder, entry.name))
    else syncFolder(join(folder, entry.name))
  }
  syncFolder(folder)
}
