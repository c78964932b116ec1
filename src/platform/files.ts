import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

let parts = 0
/** Returns the path of a temp file; different for each write, so that several may write one file at the same time. */
const partOf = (path: string) => `${path}.part-${process.pid}-${parts++}`

/**
 * Writes a file so that after a crash either the old or the whole new one is there: temp file beside it, fsync,
 * rename, fsync of the folder (the rename itself is only durable after the last step), and before that of the folders
 * in which new ones were made. Throws the errno error of the failing step; the temp file is gone then.
 */
export function writeFileDurably(path: string, bytes: Uint8Array | string, mode = 0o600): void {
  const temp = partOf(path)
  for (const folder of parentsOf(mkdirSync(dirname(path), { recursive: true }), dirname(path))) syncFolder(folder)
  try {
    const fd = openSync(temp, 'w', mode)
    try {
      const buffer = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
      let written = 0
      while (written < buffer.length) written += writeSync(fd, buffer, written)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(temp, path)
  } catch (error) {
    rmSync(temp, { force: true })
    throw error
  }
  syncFolder(dirname(path))
}

/** As `writeFileDurably`, without blocking the thread; for large files. */
export async function writeFileDurablyAside(path: string, bytes: Uint8Array, mode = 0o600): Promise<void> {
  const temp = partOf(path)
  const made = await mkdir(dirname(path), { recursive: true })
  for (const folder of parentsOf(made, dirname(path))) await syncFolderAside(folder)
  try {
    const file = await open(temp, 'w', mode)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temp, path)
  } catch (error) {
    await rm(temp, { force: true })
    throw error
  }
  await syncFolderAside(dirname(path))
}

/** The folders whose entries changed when `first` and all below it down to `last` were made; none when none was. */
function parentsOf(first: string | undefined, last: string): string[] {
  if (first === undefined) return []
  const top = dirname(resolve(first))
  const parents: string[] = []
  for (let folder = dirname(resolve(last)); folder.length >= top.length; folder = dirname(folder)) {
    parents.unshift(folder)
    if (folder === dirname(folder)) break
  }
  return parents
}

async function syncFolderAside(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function syncFolder(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Returns the bytes of a file, or undefined when it does not exist. Throws every other failure. */
export function readFileIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
