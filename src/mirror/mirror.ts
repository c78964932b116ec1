import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type NoteKey, readCheckpointText, readNote, verifySignatures } from '../evidence/index.ts'
import { rootOf, tileWidth, widthOfTile } from '../log/index.ts'
import { makeFolderNow, readFileIfThere, syncFolder, writeFileDurably } from '../platform/index.ts'
import { type GrownTile, Growth } from './growth.ts'
import { StoredTiles, tilePath } from './tiles.ts'

/** A checkpoint whose signatures hold. */
export type Head = { readonly note: string; readonly size: number; readonly root: Buffer }

/** Result of one visit to the log. `words`: a sentence without a full stop. */
export type Visit = { readonly kind: 'grown' | 'same' | 'refused' | 'unreachable'; readonly words: string }

/** Fetches below the prefix of the log. Returns the bytes, or in words why there are none. Never rejects. */
export type FetchPart = (path: string) => Promise<Buffer | { readonly why: string; readonly isMissing: boolean }>

/** Refused checkpoints that are stored. */
const maxEvidence = 100

/** The copy of one log in a folder: its tiles, entry bundles and newest checkpoint, in the layout of c2sp.org/tlog-tiles. */
export class Mirror {
  readonly tiles: StoredTiles
  readonly #folder: string
  readonly #keys: readonly NoteKey[]
  #head: Head | undefined

  /** Throws an Error when the stored checkpoint is of another log, or is damaged. */
  constructor(folder: string, keys: readonly NoteKey[]) {
    this.#folder = folder
    this.#keys = keys
    this.tiles = new StoredTiles(folder)
    const stored = readFileIfThere(join(folder, 'checkpoint'))?.toString('utf8')
    const head = stored === undefined ? undefined : this.#read(stored)
    if (typeof head === 'string') throw new Error(`${join(folder, 'checkpoint')}: ${head}`)
    this.#head = head
    rmSync(this.#incoming, { recursive: true, force: true })
  }

  /** The newest checkpoint that was taken. */
  get head(): Head | undefined {
    return this.#head
  }

  /**
   * Takes what the log has more than the copy. Nothing is taken before all of it leads to the signed root, and the checkpoint is
   * stored last. A refused checkpoint is stored in `evidence/` beside the one that it contradicts.
   */
  async visit(getPart: FetchPart): Promise<Visit> {
    const fetched = await getPart('checkpoint')
    if (!Buffer.isBuffer(fetched)) return { kind: 'unreachable', words: `the checkpoint: ${fetched.why}` }
    const note = fetched.toString('utf8')
    const next = this.#read(note)
    if (typeof next === 'string') return this.#refuse(note, next)
    const held = this.#head
    if (held && next.size <= held.size) return this.#compare(next, held)
    return this.#grow(next, held, getPart)
  }

  #read(note: string): Head | string {
    const read = readNote(note)
    const head = read && readCheckpointText(read.text)
    if (!read || !head) return 'this is no signed checkpoint'
    const origin = this.#keys[0]?.name
    if (head.origin !== origin) return `the checkpoint is of ${head.origin}, and the key of ${origin}`
    const signatures = verifySignatures(read, this.#keys)
    if (signatures.length === 0) return 'no given key signed the checkpoint'
    if (signatures.some(({ holds }) => !holds)) return 'a signature does not verify: the checkpoint is a forgery'
    return { note, size: head.size, root: head.root }
  }

  #compare(next: Head, held: Head): Visit {
    const root = next.size === held.size ? held.root : rootOf(next.size, this.tiles.nodeAt)
    if (!root.equals(next.root)) {
      return this.#refuse(next.note, `the log was forked: two roots are signed over ${next.size} leaves`)
    }
    if (next.size === held.size) return { kind: 'same', words: `${held.size} leaves, nothing new` }
    return this.#refuse(next.note, `the log shows ${next.size} leaves, and had signed ${held.size}: it was cut`)
  }

  async #grow(next: Head, held: Head | undefined, getPart: FetchPart): Promise<Visit> {
    const incoming = new StoredTiles(this.#incoming)
    const kept: Omit<GrownTile, 'bytes'>[] = []
    rmSync(this.#incoming, { recursive: true, force: true })
    const growth = new Growth(this.tiles, held?.size ?? 0, ({ level, n, width, bytes }) => {
      writeFileDurably(incoming.pathOf(level, n, width), bytes, 0o644)
      kept.push({ level, n, width })
    })
    try {
      for (let n = Math.floor(growth.size / tileWidth); growth.size < next.size; n += 1) {
        const width = widthOfTile(0, n, next.size)
        const bundle = await bundleOf(getPart, n, width)
        if (!Buffer.isBuffer(bundle)) return { kind: 'unreachable', words: bundle.why }
        if (!growth.add(n, width, bundle)) {
          return this.#refuse(next.note, `${tilePath('entries', n, width)} has fewer than ${width} whole leaves`)
        }
      }
      const root = growth.finish()
      if (!root.equals(next.root)) return this.#refuse(next.note, this.#contradiction(next, held))
      if (held && !growth.heldRoot?.equals(held.root)) {
        return this.#refuse(
          next.note,
          `the log was forked: its ${next.size} leaves do not begin with the ${held.size} that it had signed`,
        )
      }
      this.#take(incoming, kept, next)
    } finally {
      rmSync(this.#incoming, { recursive: true, force: true })
    }
    return { kind: 'grown', words: `${next.size} leaves, ${next.size - (held?.size ?? 0)} of them new` }
  }

  #contradiction({ size }: Head, held: Head | undefined): string {
    const wrong = `the leaves do not lead to the root that is signed over ${size} leaves`
    return held
      ? `${wrong}: the log does not continue the ${held.size} leaves that it had signed, or sends others`
      : wrong
  }

  /** Moves the tiles to their places. After a kill in between they are fetched again and replaced by the same. */
  #take(incoming: StoredTiles, kept: readonly Omit<GrownTile, 'bytes'>[], next: Head): void {
    for (const { level, n, width } of kept) {
      const path = this.tiles.pathOf(level, n, width)
      makeFolderNow(dirname(path))
      renameSync(incoming.pathOf(level, n, width), path)
      syncFolder(dirname(path))
    }
    writeFileDurably(join(this.#folder, 'checkpoint'), next.note, 0o644)
    this.#head = next
    for (const { level, n, width } of kept) this.tiles.removeNarrower(level, n, width)
  }

  #refuse(note: string, words: string): Visit {
    const folder = join(this.#folder, 'evidence')
    mkdirSync(folder, { recursive: true })
    const name = createHash('sha256').update(note).digest('hex').slice(0, 16)
    const names = readdirSync(folder)
    if (!names.includes(`${name}.note`) && names.length < 3 * maxEvidence) {
      writeFileDurably(join(folder, `${name}.note`), note, 0o644)
      writeFileDurably(join(folder, `${name}.txt`), `${words}\n`, 0o644)
      if (this.#head) writeFileDurably(join(folder, `${name}.held.note`), this.#head.note, 0o644)
    }
    return { kind: 'refused', words: `${words}; see ${join(folder, `${name}.note`)}` }
  }

  get #incoming(): string {
    return join(this.#folder, 'incoming')
  }
}

/** A log that has grown since may have only the full bundle. */
async function bundleOf(getPart: FetchPart, n: number, width: number): Promise<Buffer | { readonly why: string }> {
  const path = tilePath('entries', n, width)
  const part = await getPart(path)
  if (Buffer.isBuffer(part)) return part
  const full = part.isMissing && width < tileWidth ? await getPart(tilePath('entries', n, tileWidth)) : part
  return Buffer.isBuffer(full) ? full : { why: `${path}: ${part.why}` }
}
