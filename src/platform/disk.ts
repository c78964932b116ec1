import { statfsSync } from 'node:fs'

export type FreeSpace = {
  readonly bytes: number
  /** How many files can still be made; undefined where the file system has no limit of its own. */
  readonly files: number | undefined
}

/** What this process may still use of the disk that holds the folder. Throws the errno error of the disk. */
export function freeSpace(folder: string): FreeSpace {
  const { bavail, bsize, files, ffree } = statfsSync(folder)
  return { bytes: bavail * bsize, files: files > 0 ? ffree : undefined }
}
