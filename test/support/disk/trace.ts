import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/** A write or a new size that no sync of the file has followed. */
type Pending = { readonly offset: number; readonly data?: Buffer }

class Content {
  /** Durable bytes; longer than `size`. */
  #bytes: Buffer
  #size: number
  readonly pending: Pending[] = []

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#bytes = bytes
    this.#size = bytes.length
  }

  sync(): void {
    for (const change of this.pending.splice(0)) this.#put(change)
  }

  /** Returns the bytes with some of the pending changes. */
  with(changes: readonly Pending[]): Buffer {
    if (changes.length === 0) return this.#bytes.subarray(0, this.#size)
    const copy = new Content(Buffer.from(this.#bytes.subarray(0, this.#size)))
    for (const change of changes) copy.#put(change)
    return copy.#bytes.subarray(0, copy.#size)
  }

  #put({ offset, data }: Pending): void {
    const size = data ? Math.max(this.#size, offset + data.length) : offset
    if (size > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes.subarray(0, this.#size)], size * 2 + 4096)
    if (data ? offset > this.#size : size > this.#size) this.#bytes.fill(0, this.#size, data ? offset : size)
    data?.copy(this.#bytes, offset)
    this.#size = size
  }
}

type Entry = Content | 'folder'
/** Entries that change together; undefined: the entry is removed. */
type Move = readonly (readonly [path: string, entry: Entry | undefined])[]

/**
 * When an entry becomes durable. In `posix` it does after a sync of its folder, in any order. In `ordered` any sync makes all earlier
 * entries durable, as on ext4 and xfs. A power cut then loses them from the end. Bytes need a sync of their file in both.
 */
export type DiskModel = 'posix' | 'ordered'

/** The share of unsynced changes that a power cut leaves. `some`: each by chance, writes of more than a sector in part. */
export type Kept = 'none' | 'some' | 'all'

const sectorBytes = 512

/** The disk of a recorded run. */
export class RecordedDisk {
  readonly #model: DiskModel
  readonly #live = new Map<string, Entry>()
  readonly #durable = new Map<string, Entry>()
  readonly #byInode = new Map<number, Content>()
  readonly #moves: Move[] = []
  /** Lines that the program wrote into a file `.marks`: the acknowledged facts. */
  readonly marks: string[] = []

  constructor(model: DiskModel = 'posix') {
    this.#model = model
  }

  /** Takes the files of a folder for durable ones, from before the run. */
  load(folder: string, below = ''): void {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
      const path = `${below}/${entry.name}`
      const content = entry.isDirectory() ? 'folder' : new Content(readFileSync(join(folder, path)))
      for (const entries of [this.#live, this.#durable]) entries.set(path, content)
      if (entry.isDirectory()) this.load(folder, path)
    }
  }

  apply({ op, path, inode, offset, data }: Change): void {
    if (op === 'create') this.#move([[path, this.#file(path, inode, true)]])
    if (op === 'mkdir') this.#move([[path, 'folder']])
    if (op === 'unlink' || op === 'rmdir') this.#move([[path, undefined]])
    if (op === 'rename') this.#rename(path, data.toString())
    if (op === 'link') this.#move([[data.toString(), this.#live.get(path)]])
    if (op === 'sync folder') this.#settle(path)
    if (op === 'write') this.#file(path, inode).pending.push({ offset, data })
    if (op === 'truncate') this.#file(path, inode).pending.push({ offset })
    if (op === 'sync') this.#file(path, inode).sync()
    if (op === 'sync' && this.#model === 'ordered') this.#settle(path)
    if (op === 'mark') this.marks.push(...data.toString().split('\n').filter(Boolean))
  }

  /** Writes the files as programs see them: what is there after a kill -9. */
  writeLive(folder: string): void {
    write(folder, this.#live, (content) => content.with(content.pending))
  }

  /** Writes what is there after a power cut that loses everything that was not synced. */
  writeDurable(folder: string): void {
    this.writeCut(folder, 'none', () => 0)
  }

  /** Writes what a power cut leaves. @param chance returns numbers from 0 up to 1 */
  writeCut(folder: string, kept: Kept, chance: () => number): void {
    const entries = new Map(this.#durable)
    const upTo = this.#model === 'ordered' ? Math.floor(chance() * (this.#moves.length + 1)) : this.#moves.length
    for (const [at, move] of this.#moves.entries()) {
      const isKept = kept === 'all' || (kept === 'some' && (this.#model === 'ordered' ? at < upTo : chance() < 0.5))
      if (isKept) put(entries, move)
    }
    write(folder, entries, (content) => {
      if (kept === 'none') return content.with([])
      return content.with(kept === 'all' ? content.pending : content.pending.flatMap((one) => someOf(one, chance)))
    })
  }

  /** Returns the folders that a power cut would lose. */
  get unsyncedFolders(): string[] {
    return [...this.#live].flatMap(([path, entry]) => (entry === 'folder' && !this.#durable.has(path) ? [path] : []))
  }

  #file(path: string, inode: number, isNew = false): Content {
    // A file from before the run has no number yet.
    const loaded = this.#live.get(path)
    const known = isNew ? undefined : (this.#byInode.get(inode) ?? (loaded === 'folder' ? undefined : loaded))
    const file = known ?? new Content()
    this.#byInode.set(inode, file)
    return file
  }

  #rename(from: string, to: string): void {
    const moved = [...this.#live].filter(([path]) => path === from || path.startsWith(`${from}/`))
    this.#move(
      moved.flatMap(([path, entry]) => [
        [path, undefined],
        [to + path.slice(from.length), entry],
      ]),
    )
  }

  #move(move: Move): void {
    put(this.#live, move)
    this.#moves.push(move)
  }

  /** Makes entries durable: all, or those of a folder. */
  #settle(folder: string): void {
    const isIn = ([path]: Move[number]) => dirname(path) === (folder === '' ? '/' : folder)
    for (const move of this.#moves.splice(0)) {
      if (this.#model === 'ordered' || move.some(isIn)) put(this.#durable, move)
      else this.#moves.push(move)
    }
  }
}

function put(entries: Map<string, Entry>, move: Move): void {
  for (const [path, entry] of move) {
    if (entry) entries.set(path, entry)
    else entries.delete(path)
  }
}

/** A sector is written whole or not at all. */
function someOf(change: Pending, chance: () => number): Pending[] {
  const { offset, data } = change
  const dice = chance()
  if (dice < 0.4) return []
  if (dice < 0.7 || !data || (offset % sectorBytes) + data.length <= sectorBytes) return [change]
  const parts: Pending[] = []
  for (let at = 0; at < data.length; ) {
    const length = sectorBytes - ((offset + at) % sectorBytes)
    if (chance() < 0.5) parts.push({ offset: offset + at, data: data.subarray(at, at + length) })
    at += length
  }
  return parts
}

function write(folder: string, entries: ReadonlyMap<string, Entry>, bytesOf: (content: Content) => Buffer): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const isReached = (path: string): boolean =>
    path === '/' || (entries.get(path) === 'folder' && isReached(dirname(path)))
  for (const path of [...entries.keys()].toSorted()) {
    const entry = entries.get(path)
    // Shared memory is made anew by the first program that opens the database.
    if (!entry || path.endsWith('-shm') || !isReached(dirname(path))) continue
    if (entry === 'folder') mkdirSync(join(folder, path), { recursive: true })
    else writeFileSync(join(folder, path), bytesOf(entry), { mode: 0o640 })
  }
}
