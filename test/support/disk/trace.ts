import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** One change that the shim recorded. `path` begins below the recorded folder. */
export type Change = {
  readonly op: (typeof names)[number]
  readonly path: string
  readonly inode: number
  /** Offset of a write, new size of a truncation. */
  readonly offset: number
  /** Bytes of a write, target of a rename or a link. */
  readonly data: Buffer
}

const names = [
  ...['', 'create', 'write', 'truncate', 'sync', 'rename', 'unlink', 'mkdir', 'rmdir', 'mark', 'open', 'read'],
  ...['link', 'sync folder'],
] as const
const headBytes = 32

export function readTrace(file: string): Change[] {
  const bytes = readFileSync(file)
  const changes: Change[] = []
  for (let at = 0; at + headBytes <= bytes.length; ) {
    const pathBytes = bytes.readUInt16LE(at + 6)
    const dataBytes = bytes.readUInt32LE(at + 24)
    const pathAt = at + headBytes
    const end = pathAt + pathBytes + dataBytes
    changes.push({
      op: names[bytes[at + 4] ?? 0] ?? '',
      path: bytes.toString('utf8', pathAt, pathAt + pathBytes),
      inode: Number(bytes.readBigUInt64LE(at + 8)),
      offset: Number(bytes.readBigUInt64LE(at + 16)),
      data: bytes.subarray(pathAt + pathBytes, end),
    })
    at = end
  }
  return changes
}

/** Content of a file: `durable` after a power cut, `live` for programs. */
type Content = { durable: Buffer; live: Buffer }
type Entry = Content | 'folder'

/**
 * The disk of a recorded run, by the rules of POSIX alone: bytes are durable after a sync of their file, an entry after a sync of its
 * folder. Real file systems promise more, and differ in it.
 */
export class RecordedDisk {
  readonly #live = new Map<string, Entry>()
  readonly #durable = new Map<string, Entry>()
  readonly #byInode = new Map<number, Content>()

  /** @param folders exist, with their entries, before the run */
  constructor(folders: readonly string[] = []) {
    for (const path of folders) for (const entries of [this.#live, this.#durable]) entries.set(path, 'folder')
  }

  apply({ op, path, inode, offset, data }: Change): void {
    if (op === 'create') this.#live.set(path, this.#file(inode, true))
    if (op === 'mkdir') this.#live.set(path, 'folder')
    if (op === 'unlink' || op === 'rmdir') this.#live.delete(path)
    if (op === 'rename') this.#rename(path, data.toString())
    if (op === 'link') this.#live.set(data.toString(), this.#live.get(path) ?? 'folder')
    if (op === 'sync folder') this.#syncFolder(path)
    if (op === 'write' || op === 'truncate' || op === 'sync') this.#changeFile(op, this.#file(inode), offset, data)
  }

  /** Writes the files as programs see them: what is there after a kill -9. */
  writeLive(folder: string): void {
    write(folder, this.#live, 'live')
  }

  /** Writes what is there after a power cut that loses everything that was not synced. */
  writeDurable(folder: string): void {
    write(folder, this.#durable, 'durable')
  }

  /** Returns the folders that a power cut would lose. */
  get unsyncedFolders(): string[] {
    return [...this.#live].flatMap(([path, entry]) => (entry === 'folder' && !this.#durable.has(path) ? [path] : []))
  }

  #file(inode: number, isNew = false): Content {
    const known = isNew ? undefined : this.#byInode.get(inode)
    const file = known ?? { durable: Buffer.alloc(0), live: Buffer.alloc(0) }
    this.#byInode.set(inode, file)
    return file
  }

  #changeFile(op: 'write' | 'truncate' | 'sync', file: Content, offset: number, data: Buffer): void {
    if (op === 'sync') file.durable = Buffer.from(file.live)
    if (op === 'truncate')
      file.live = Buffer.concat([file.live, Buffer.alloc(Math.max(0, offset - file.live.length))], offset)
    if (op !== 'write') return
    const size = Math.max(file.live.length, offset + data.length)
    if (size > file.live.length) file.live = Buffer.concat([file.live], size)
    data.copy(file.live, offset)
  }

  #rename(from: string, to: string): void {
    for (const [path, entry] of [...this.#live]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue
      this.#live.delete(path)
      this.#live.set(to + path.slice(from.length), entry)
    }
  }

  #syncFolder(folder: string): void {
    const isIn = (path: string) => path !== folder && dirname(path) === (folder === '' ? '/' : folder)
    for (const path of [...this.#durable.keys()]) if (isIn(path) && !this.#live.has(path)) this.#durable.delete(path)
    for (const [path, entry] of this.#live) if (isIn(path)) this.#durable.set(path, entry)
  }
}

function write(folder: string, entries: ReadonlyMap<string, Entry>, as: keyof Content): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const isReached = (path: string): boolean =>
    path === '/' || (entries.get(path) === 'folder' && isReached(dirname(path)))
  for (const path of [...entries.keys()].toSorted()) {
    const entry = entries.get(path)
    // Shared memory is made anew by the first program that opens the database.
    if (!entry || path.endsWith('-shm') || !isReached(dirname(path))) continue
    if (entry === 'folder') mkdirSync(join(folder, path), { recursive: true })
    else writeFileSync(join(folder, path), entry[as], { mode: 0o640 })
  }
}
