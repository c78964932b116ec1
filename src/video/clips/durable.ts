import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ownFile } from '../../platform/index.ts'

/**
 * Writes and syncs a file like `writeFileDurably` of platform, without blocking the thread. An SD card takes a second for an fsync,
 * and a camera's pipe is full in a tenth of that.
 */
export async function writeDurably(path: string, text: string, mode = 0o640): Promise<void> {
  const part = `${path}.part`
  try {
    const file = await open(part, ownFile.write, mode)
    await file.writeFile(text).finally(() => file.close())
    await makeDurable(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** Syncs a finished file, renames it, and syncs the folder: first the content is on disk, then the name. */
export async function makeDurable(part: string, path: string): Promise<void> {
  await sync(part, ownFile.read)
  await rename(part, path)
  await sync(dirname(path), ownFile.read)
}

async function sync(path: string, flags: number): Promise<void> {
  const file = await open(path, flags)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
