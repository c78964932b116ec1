import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freeSpace } from '../platform/index.ts'

/** What opening the database needs besides the files that are there: its lock, its shared memory, the first pages. */
const neededBytes = 256 * 1024
/** With less, the disk is better left alone. */
const enoughBytes = 16 * neededBytes

const reserveFile = (dataDir: string) => join(dataDir, 'start-reserve')

/**
 * Lays a small file aside while there is room. A gateway that has to start on a full disk gives it up: without it the
 * database cannot be opened, not even to look. Does nothing where it cannot be written.
 */
export function keepStartRoom(dataDir: string): void {
  const file = reserveFile(dataDir)
  try {
    if (!existsSync(file) && freeSpace(dataDir).bytes >= enoughBytes) {
      writeFileSync(file, Buffer.alloc(neededBytes, 1), { mode: 0o640 })
    }
  } catch {
    rmSync(file, { force: true })
  }
}

/** Gives the file up when the disk is full. */
export function useStartRoom(dataDir: string): void {
  const file = reserveFile(dataDir)
  if (existsSync(file) && freeSpace(dataDir).bytes < neededBytes) rmSync(file, { force: true })
}
