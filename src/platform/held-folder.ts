import { statSync } from 'node:fs'
import { resolve, sep } from 'node:path'

/** Device and inode of a folder or a file; undefined when it cannot be found. About 5 µs. */
export function identityOf(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found && `${found.dev}:${found.ino}`
  } catch {
    return undefined
  }
}

/** Identity of each held folder by its path, in this thread. */
const held = new Map<string, string>()

/**
 * Holds a folder: no folder is made below its path while another folder, or none, is there. Else a write after an `umount` would make
 * the folders again below the mount point, and the next mount would hide the files in them.
 */
export function holdFolder(path: string): void {
  const identity = identityOf(path)
  if (identity !== undefined) held.set(resolve(path), identity)
}

export function releaseFolder(path: string): void {
  held.delete(resolve(path))
}

/** The held folders of this thread, for the `workerData` of another one. */
export type HeldFolders = readonly (readonly [path: string, identity: string])[]
export const heldFolders = (): HeldFolders => [...held]

/** Holds in this thread what another thread holds. */
export function holdAlso(folders: HeldFolders): void {
  for (const [path, identity] of folders) held.set(path, identity)
}

/** Returns the held folders around this path, or at it. */
export function heldAround(path: string): HeldFolders {
  const absolute = resolve(path)
  return [...held].filter(([folder]) => absolute === folder || absolute.startsWith(folder + sep))
}

/**
 * Throws an error with the code ESTALE when one of the folders around this path is not the one that was held.
 * @param around those that were held when the work on the path began: a stop releases them
 */
export function demandHeld(path: string, around = heldAround(path)): void {
  for (const [folder, identity] of around) {
    if (identityOf(folder) === identity) continue
    throw Object.assign(new Error(`${folder} is not in its place; ${resolve(path)} was not made`), { code: 'ESTALE' })
  }
}
