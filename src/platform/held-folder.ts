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

/** Throws an error with the code ESTALE when a held folder around this path, or the path itself, is not the one that was held. */
export function demandHeld(path: string): void {
  const absolute = resolve(path)
  for (const [folder, identity] of held) {
    if (absolute !== folder && !absolute.startsWith(folder + sep)) continue
    if (identityOf(folder) === identity) continue
    throw Object.assign(new Error(`${folder} is not in its place; ${absolute} was not made`), { code: 'ESTALE' })
  }
}
