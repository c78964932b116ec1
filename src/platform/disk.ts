import { statfsSync } from 'node:fs'

export type FreeSpace = {
  readonly bytes: number
  /** Number of files that can still be made; undefined where the file system has no limit. */
  readonly files: number | undefined
}

/** Returns what this process may still use of the disk of the folder. Throws the errno error of the disk. */
export function freeSpace(folder: string): FreeSpace {
  const { bavail, bsize, files, ffree } = statfsSync(folder)
  return { bytes: bavail * bsize, files: files > 0 ? ffree : undefined }
}
