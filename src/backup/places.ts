import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { UnitOfWork } from '../database/index.ts'
import { type Clock, makeFolder } from '../platform/index.ts'
import { copyOf, DavFolder, type DavFolderAccess, type UploadQueue } from '../upload/index.ts'
import { backupName, type KeptBackup, keptBackups, sealedEnd } from './backup-names.ts'
import { backupsFolder } from './fetch.ts'
import type { BackupMade } from './make.ts'
import type { BackupAt } from './rehearse.ts'

/** Where scheduled backups are kept. Methods reject in words. */
export type BackupPlace = {
  /** The backup that was made and is not there yet; undefined when none is on its way. */
  waiting(): Promise<{ readonly fault: string | null } | undefined>
  /** Backups that are there, the newest first. */
  kept(): Promise<KeptBackup[]>
  /** Those that are there and those on their way, the newest first. */
  standing(): Promise<KeptBackup[]>
  make(nowMs: number): Promise<void>
  remove(name: string): Promise<void>
  /** For the rehearsal. */
  at(name: string): Promise<BackupAt>
  /** For messages: its path, or where it is on the server. */
  pathOf(name: string): string
}

export type MakeFile = (
  target: string,
  sealed: boolean,
  nowMs: number,
) => Promise<Pick<BackupMade, 'sha256' | 'sizeBytes'>>

/** Returns a folder as a place of plain backups. It is not made when it is not there. */
export function folderPlace(folder: string, siteId: string, make: MakeFile): BackupPlace {
  const kept = async () => keptBackups(siteId, await readdir(folder))
  return {
    kept,
    standing: kept,
    waiting: async () => undefined,
    make: async (nowMs) => {
      await make(join(folder, backupName(siteId, nowMs)), false, nowMs)
    },
    remove: (name) => rm(join(folder, name), { force: true }),
    at: async (name) => ({ file: join(folder, name) }),
    pathOf: (name) => join(folder, name),
  }
}

export type StoragePlaceNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'monotonic'>
  readonly queue: Pick<UploadQueue, 'enqueue'>
  readonly dataDir: string
  readonly siteId: string
  readonly make: MakeFile
  /** Asks the server for the way to the folder of the uploads. Rejects in words. */
  readonly access: () => Promise<DavFolderAccess>
}

/** Below the data folder: sealed backups on their way to the server. */
const outFolder = 'backups'
/** The server is asked what it has as often, when nothing was changed. */
const listEveryMs = 3_600_000

/** The storage server as a place of sealed backups: they wait in the data folder, in the queue of the room upload. */
export class StoragePlace implements BackupPlace {
  readonly target: string
  readonly #needs: StoragePlaceNeeds
  #listed: { readonly kept: KeptBackup[]; readonly atMs: number } | undefined
  #isChanged = true

  /** @param target distinguishes servers and their folders */
  constructor(target: string, needs: StoragePlaceNeeds) {
    this.target = target
    this.#needs = needs
  }

  /** Removes the files that the server has, and files that a crash left before they were queued. */
  async waiting(): Promise<{ readonly fault: string | null } | undefined> {
    const { work, siteId } = this.#needs
    let waiting: { fault: string | null } | undefined
    for (const name of existsSync(this.#folder) ? await readdir(this.#folder) : []) {
      const status = work.read((tx) => copyOf(tx, 'backup', `${backupsFolder(siteId)}/${name}`)?.status)
      if (status === undefined || status === 'uploaded') {
        await rm(join(this.#folder, name), { force: true })
        this.#isChanged = true
      } else {
        const fault = `${name} is parked: the storage server does not take it; see GET /api/uploads, and try it again there`
        waiting = { fault: status === 'parked' ? fault : null }
      }
    }
    return waiting
  }

  /** Caches the server's list for an hour, and longer while the server does not answer. */
  async kept(): Promise<KeptBackup[]> {
    const { clock, siteId } = this.#needs
    const known = this.#listed
    if (known && !this.#isChanged && clock.monotonic() - known.atMs < listEveryMs) return known.kept
    try {
      const names = await (await this.#server()).list(backupsFolder(siteId))
      this.#listed = { kept: keptBackups(siteId, names, sealedEnd), atMs: clock.monotonic() }
      this.#isChanged = false
    } catch (error) {
      if (!known || this.#isChanged) throw error
      return known.kept
    }
    return this.#listed.kept
  }

  async standing(): Promise<KeptBackup[]> {
    const here = existsSync(this.#folder) ? await readdir(this.#folder) : []
    const waiting = keptBackups(this.#needs.siteId, here, sealedEnd)
    const there = (await this.kept()).filter(({ name }) => !here.includes(name))
    return [...waiting, ...there].toSorted((a, b) => b.madeMs - a.madeMs)
  }

  async make(nowMs: number): Promise<void> {
    const { work, queue, siteId, make } = this.#needs
    await makeFolder(this.#folder, 0o700)
    const name = `${backupName(siteId, nowMs)}${sealedEnd}`
    const { sha256, sizeBytes } = await make(join(this.#folder, name), true, nowMs)
    const path = `${backupsFolder(siteId)}/${name}`
    const file = { kind: 'backup' as const, ref: path, path, file: join(outFolder, name), sha256, sizeBytes }
    await work.write((tx) => queue.enqueue(tx, file))
  }

  async remove(name: string): Promise<void> {
    this.#isChanged = true
    await (await this.#server()).remove(this.pathOf(name))
  }

  async at(name: string): Promise<BackupAt> {
    return { folder: await this.#needs.access(), path: this.pathOf(name) }
  }

  pathOf(name: string): string {
    return `${backupsFolder(this.#needs.siteId)}/${name}`
  }

  async #server(): Promise<DavFolder> {
    return new DavFolder(await this.#needs.access())
  }

  get #folder(): string {
    return join(this.#needs.dataDir, outFolder)
  }
}
