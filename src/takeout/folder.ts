import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { EXIT_USAGE, ExitError } from '../errors/index.ts'
import { errorCode } from '../platform/faults.ts'
import { ownFile, syncFolder } from '../platform/index.ts'

export const manifestName = 'manifest.json'

const pieceBytes = 1 << 20

/** A file of the export. `rows`: absent for files that have none. */
export type WrittenFile = {
  readonly name: string
  readonly rows?: number
  readonly bytes: number
  readonly sha256: string
}

/** Throws ExitError unless the folder is new or empty. */
export function refuseFullFolder(path: string): void {
  if (existsSync(path) && readdirSync(path).length > 0)
    throw new ExitError(EXIT_USAGE, `${path} is not empty; name another folder`)
}

/**
 * The folder that takes an export. Its manifest is written file by file beside the others, and gets its name last: a folder without
 * it holds no whole export.
 */
export class ExportFolder {
  readonly #path: string
  readonly #isNew: boolean
  readonly #onPiece: () => void
  readonly #manifest: number
  #files = 0
  #rows = 0

  /** Throws ExitError unless the folder is new or empty. `onPiece` is called after each MiB, and may throw to give up. */
  constructor(path: string, onPiece: () => void) {
    this.#path = path
    this.#onPiece = onPiece
    this.#isNew = !existsSync(path)
    refuseFullFolder(path)
    mkdirSync(path, { recursive: true, mode: 0o750 })
    this.#manifest = openSync(this.#part, 'wx', 0o640)
  }

  get counts(): { readonly files: number; readonly rows: number } {
    return { files: this.#files, rows: this.#rows }
  }

  /** Begins the manifest with these facts. */
  begin(facts: object): void {
    this.#note(`${JSON.stringify(facts, undefined, 1).replace(/\n\}$/, '')},\n "files": [`)
  }

  /** Writes a file of pieces. Lines of JSON are counted; for others `rows` gives the number after the last piece. */
  write(name: string, pieces: Iterable<Uint8Array | string>, rows?: () => number): WrittenFile {
    const hash = createHash('sha256')
    const isLines = name.endsWith('.jsonl')
    let bytes = 0
    let lines = 0
    const path = join(this.#path, name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o750 })
    const fd = openSync(path, 'wx', 0o640)
    try {
      for (const piece of inMebibytes(pieces)) {
        hash.update(piece)
        writeAll(fd, piece)
        bytes += piece.length
        if (isLines) lines += newlinesIn(piece)
        this.#onPiece()
      }
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    const count = isLines ? lines : rows?.()
    const written = { name, ...(count !== undefined && { rows: count }), bytes, sha256: hash.digest('hex') }
    this.#note(`${this.#files === 0 ? '' : ','}\n  ${JSON.stringify(written)}`)
    this.#files += 1
    this.#rows += written.rows ?? 0
    return written
  }

  /** Writes objects as lines of JSON. */
  writeLines(name: string, objects: Iterable<object>): WrittenFile {
    return this.write(name, linesOf(objects))
  }

  /** Copies a file of the gateway. Returns undefined when it is not there. */
  copy(name: string, source: string): WrittenFile | undefined {
    let fd: number
    try {
      fd = openSync(source, ownFile.read)
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined
      throw error
    }
    try {
      return this.write(name, piecesOf(fd))
    } finally {
      closeSync(fd)
    }
  }

  /** Ends the manifest with these facts, and gives it its name. */
  finish(facts: object): void {
    this.#note(`\n ],\n${JSON.stringify(facts, undefined, 1).replace(/^\{\n/, '')}\n`)
    fsyncSync(this.#manifest)
    closeSync(this.#manifest)
    renameSync(this.#part, join(this.#path, manifestName))
    syncFolder(this.#path)
  }

  /** Removes everything again. */
  discard(): void {
    if (this.#isNew) rmSync(this.#path, { recursive: true, force: true })
    else for (const name of readdirSync(this.#path)) rmSync(join(this.#path, name), { recursive: true, force: true })
  }

  get #part(): string {
    return join(this.#path, `${manifestName}.part`)
  }

  #note(text: string): void {
    writeAll(this.#manifest, Buffer.from(text))
  }
}

function* linesOf(objects: Iterable<object>): Generator<string> {
  for (const object of objects) yield `${JSON.stringify(object)}\n`
}

function newlinesIn(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) count += 1
  return count
}

/** Gathers small pieces in one buffer, so that a row costs no write. A yielded piece is overwritten. */
function* inMebibytes(pieces: Iterable<Uint8Array | string>): Generator<Uint8Array> {
  const gathered = Buffer.allocUnsafe(pieceBytes)
  let bytes = 0
  for (const piece of pieces) {
    const length = typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
    if (bytes > 0 && bytes + length > pieceBytes) {
      yield gathered.subarray(0, bytes)
      bytes = 0
    }
    if (length >= pieceBytes) yield typeof piece === 'string' ? Buffer.from(piece) : piece
    else {
      if (typeof piece === 'string') gathered.write(piece, bytes)
      else gathered.set(piece, bytes)
      bytes += length
    }
  }
  if (bytes > 0) yield gathered.subarray(0, bytes)
}

/** A yielded piece is overwritten. */
function* piecesOf(fd: number): Generator<Uint8Array> {
  const piece = Buffer.allocUnsafe(pieceBytes)
  for (;;) {
    const length = readSync(fd, piece)
    if (length === 0) return
    yield piece.subarray(0, length)
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
}
