import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a file so that after a crash either the old or the whole new one is there: temp file beside it, fsync,
 * rename, fsync of the folder (the rename itself is only durable after the last step).
 * Throws the errno error of the failing step; the temp file is gone then.
 */
export function writeFileDurably(path: string, bytes: Uint8Array | string, mode = 0o600): void {
  const temp = `${path}.part-${process.pid}`
  mkdirSync(dirname(path), { recursive: true })
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

function syncFolder(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** The file's text, or undefined when there is none; every other failure is thrown. */
export function readFileIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
