import {
  chownSync,
  closeSync,
  constants,
  type Dirent,
  existsSync,
  fsync,
  fsyncSync,
  mkdirSync,
  open,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  write,
  writeSync,
} from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { errorCode } from './faults.ts'
import { demandHeld, heldAround } from './held-folder.ts'

/**
 * Flags for the files that the gateway keeps below its data folder. Opening a symbolic link there fails with ELOOP. Somebody else
 * put it there, and it would make the gateway write to, or show, a file of their choice.
 */
export const ownFile = {
  read: constants.O_RDONLY | constants.O_NOFOLLOW,
  write: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
} as const

let parts = 0
/** Returns the path of a temp file; different for each write, so that several may write one file at the same time. */
const partOf = (path: string) => `${path}.part-${process.pid}-${parts++}`

/**
 * Writes a file so that after a crash either the old or the whole new one is there. Steps: temp file beside it, fsync, rename,
 * fsync of the folder; only the last step makes the rename durable. Folders above new ones are fsynced before. Throws the errno
 * error of the failing step; the temp file is gone then. Throws ESTALE below a held folder that is not in its place.
 */
export function writeFileDurably(path: string, bytes: Uint8Array | string, mode = 0o600): void {
  const temp = partOf(path)
  makeFolderNow(dirname(path))
  try {
    const fd = openSync(temp, ownFile.write, mode)
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
    removeIfPossible(temp)
    throw error
  }
  syncFolder(dirname(path))
}

/** A failure here would hide the error that the clean-up follows. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The disk refuses this, too; the part is waste.
  }
}

/** As `writeFileDurably`, without blocking the thread; for large files. */
export async function writeFileDurablyAside(path: string, bytes: Uint8Array, mode = 0o600): Promise<void> {
  const part = await PartFile.begin(partOf(path), mode)
  try {
    await part.write(bytes)
    await part.keepAs(path)
  } finally {
    await part.discard()
  }
}

// By number: a FileHandle costs the thread a fifth more.
const openAside = promisify(open)
const writeAside = promisify(write)
const fsyncAside = promisify(fsync)

/** A file that is written piece by piece under another name, and gets its real name when it is whole. */
export class PartFile {
  readonly path: string
  readonly #fd: number
  #state: 'open' | 'closed' | 'gone' = 'open'

  private constructor(path: string, fd: number) {
    this.path = path
    this.#fd = fd
  }

  /** Makes the file, and the folders above it. Throws the errno error of the failing step. */
  static async begin(path: string, mode = 0o600): Promise<PartFile> {
    return new PartFile(path, await inFolder(path, () => openAside(path, ownFile.write, mode)))
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) at += (await writeAside(this.#fd, bytes, at)).bytesWritten
  }

  /** Gives the file its name: first its content is on disk, then the name, as in `writeFileDurably`. */
  async keepAs(path: string): Promise<void> {
    await fsyncAside(this.#fd)
    this.#close()
    await inFolder(path, () => rename(this.path, path))
    this.#state = 'gone'
    await syncFolderAside(dirname(path))
  }

  /** Removes what was not kept, as far as the disk lets it: a failure would hide the one before. Does nothing after `keepAs`. */
  async discard(): Promise<void> {
    try {
      this.#close()
      if (this.#state === 'gone') return
      await rm(this.path, { force: true })
      this.#state = 'gone'
    } catch {
      // The part is waste.
    }
  }

  /** In this thread: closing writes nothing to the disk. */
  #close(): void {
    if (this.#state !== 'open') return
    this.#state = 'closed'
    closeSync(this.#fd)
  }
}

/**
 * Writes an entry into the folder of `path`, and makes the folder when the write fails without it. Checking first would cost as
 * much as the write.
 */
async function inFolder<Result>(path: string, write: () => Promise<Result>): Promise<Result> {
  const around = heldAround(path)
  try {
    return await write()
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    demandHeld(path, around)
    await makeFolder(dirname(path))
    return await write()
  }
}

/**
 * Makes a folder and those above it, each durable with its entry in the folder around it. Does nothing when it is there. Throws
 * ESTALE below a held folder that is not in its place.
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  demandHeld(path)
  const made = await mkdir(path, { recursive: true, mode })
  for (const folder of parentsOf(made, path)) await syncFolderAside(folder)
}

/** As `makeFolder`, for a start or a command; blocks the thread. */
export function makeFolderNow(path: string, mode = 0o777): void {
  demandHeld(path)
  for (const folder of parentsOf(mkdirSync(path, { recursive: true, mode }), path)) syncFolder(folder)
}

/** Returns the folders whose entries changed when `first` and all below it down to `last` were made; none when none was. */
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
  const fd = openSync(path, 'r')
  try {
    await fsyncAside(fd)
  } finally {
    closeSync(fd)
  }
}

/** Has the entries of a folder on disk; of a file, its content: the system syncs what a descriptor is open on. */
export function syncFolder(path: string): void {
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
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Returns the first symbolic link below a folder with its target, two levels deep: the folders, and the files beside them. The many
 * files deeper down are opened with `ownFile`.
 */
export function linkBelow(folder: string, levels = 2): { path: string; target: string } | undefined {
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name)
    if (entry.isSymbolicLink()) return { path, target: readlinkSync(path) }
    const deeper = entry.isDirectory() && levels > 1 ? linkBelow(path, levels - 1) : undefined
    if (deeper) return deeper
  }
  return undefined
}

/** Returns none for a folder that this process may not read, such as lost+found: nothing of ours is there. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (errorCode(error) === 'EACCES') return []
    throw error
  }
}

/** Makes a folder that the group of the folder around it may read. The gateway is in the group of the config's folder. */
export function makeGroupFolder(folder: string): void {
  if (existsSync(folder)) return
  mkdirSync(folder, { recursive: true, mode: 0o750 })
  giveToGroup(folder)
}

/** Writes a file that only its owner and the group of its folder may read. */
export function writeForGroup(file: string, content: string | Uint8Array): void {
  writeFileDurably(file, content, 0o640)
  giveToGroup(file)
}

/** Gives a file or folder to the group of the folder around it. Does nothing unless root calls it. */
export function giveToGroup(path: string): void {
  if (process.getuid?.() === 0) chownSync(path, 0, statSync(dirname(path)).gid)
}
