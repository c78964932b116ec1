import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { freeSpace, sizeWords } from '../platform/index.ts'
import type { DavFolder } from '../upload/index.ts'
import { keptBackups, madeMsIn, newestOf, sealedEnd } from './backup-names.ts'
import type { Manifest } from './manifest.ts'
import { BackupFault, type UnpackOptions, unpackBackup } from './unpack.ts'

/** Returns the folder of a site's backups on the storage server, below the folder of the uploads. */
export const backupsFolder = (siteId: string): string => `${siteId}/backups`

/** Returns the path of the newest backup of a site below a folder of a server. Rejects with BackupFault when there is none. */
export async function newestBackup(folder: DavFolder, siteId: string, nowMs: number): Promise<string> {
  const names = await folder.list(backupsFolder(siteId)).catch((error: Error) => error)
  if (names instanceof Error) throw new BackupFault(names.message)
  const newest = newestOf(keptBackups(siteId, names, sealedEnd), nowMs)
  if (newest) return `${backupsFolder(siteId)}/${newest.name}`
  throw new BackupFault(
    `${folder.name} has no backup of site ${siteId} (${backupsFolder(siteId)}). Name the address that holds this folder, or that of one backup, and check site.id of the config`,
  )
}

/**
 * Copies a sealed backup from a server into a folder, calls `work` with it, and removes it again. Only sealed bytes are on the
 * disk; memory holds one opened piece at a time. Rejects with BackupFault.
 */
export async function withFetched<T>(
  folder: DavFolder,
  path: string,
  { into, reserveBytes }: Pick<UnpackOptions, 'into' | 'reserveBytes'>,
  work: (file: string) => T,
): Promise<T> {
  // By this name nothing plain is opened: the server does not choose what is taken for the ledger.
  const file = join(into, `fetched${sealedEnd}`)
  try {
    const download = folder.download(path, file, (sizeBytes) => {
      const left = freeSpace(into).bytes - reserveBytes
      if (left >= sizeBytes) return
      throw new Error(`it needs ${sizeWords(sizeBytes)} at ${into}, and ${sizeWords(Math.max(left, 0))} are free`)
    })
    await download.catch((error: Error) => {
      throw new BackupFault(`${path} cannot be fetched from ${folder.name}: ${error.message}`)
    })
    return work(file)
  } catch (error) {
    // The fault names the backup's place on the server, because the local copy is removed.
    if (error instanceof BackupFault) throw new BackupFault(error.message.replaceAll(file, path))
    throw error
  } finally {
    rmSync(file, { force: true })
  }
}

/** Unpacks a sealed backup of a server; see `unpackBackup`. */
export function unpackFetched(folder: DavFolder, path: string, options: UnpackOptions): Promise<Manifest> {
  return withFetched(folder, path, options, (file) => unpackBackup(file, options))
}

/**
 * Throws BackupFault when a backup was not made at the time in its name. The server then gives an old backup under a new name.
 * Earlier versions took the time of the manifest up to some seconds behind that of the name.
 */
export function demandTimeOfName(path: string, { madeAt }: Pick<Manifest, 'madeAt'>): void {
  const namedMs = madeMsIn(path)
  if (namedMs === null || Math.abs(Date.parse(madeAt) - namedMs) < nameToleranceMs) return
  throw new BackupFault(
    `${path} holds a backup of ${madeAt}, so it was renamed or exchanged; name another backup there`,
  )
}

const nameToleranceMs = 300_000
