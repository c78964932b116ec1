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

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** Returns a number of bytes in its largest unit, with one digit behind the point, rounded down: `12.5 MiB`. */
export function sizeWords(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1)
  return `${Math.floor((bytes / 1024 ** power) * 10) / 10} ${units[power]}`
}
