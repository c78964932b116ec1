import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freeSpace } from '../platform/index.ts'

/** Bytes needed to open the database: lock, shared memory, first pages. */
const neededBytes = 256 * 1024
/** Below this, no reserve is set aside. */
const enoughBytes = 16 * neededBytes

const reserveFile = (dataDir: string) => join(dataDir, 'start-reserve')

/**
 * Sets a small file aside while there is room. A gateway that starts on a full disk deletes it, because otherwise the
 * database cannot be opened, not even for reading. Does nothing where it cannot be written.
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

/** Deletes the reserve when the disk is full. */
export function useStartRoom(dataDir: string): void {
  const file = reserveFile(dataDir)
  if (existsSync(file) && freeSpace(dataDir).bytes < neededBytes) rmSync(file, { force: true })
}
