import { join } from 'node:path'
import { isoTime, readFileIfThere, writeFileDurably } from '../../platform/index.ts'
import { segmentsFolder } from './state.ts'

type Note = { readonly at: string; readonly fault: string | null; readonly goodAt: string | null }

const dayMs = 24 * 3_600_000
const againMs = 3_600_000

/** Stores the outcomes of rehearsals of segments through restarts. */
export class Rehearsals {
  readonly #file: string
  #note: Note | undefined

  constructor(dataDir: string) {
    this.#file = join(segmentsFolder(dataDir), 'rehearsal.json')
  }

  /** When the segments last came back; null: not yet. */
  get goodMs(): number | null {
    const at = this.#read()?.goodAt
    return at ? Date.parse(at) : null
  }

  /** Why the last one failed; null when it did not. */
  get fault(): string | null {
    return this.#read()?.fault ?? null
  }

  /** Returns whether it is time for the next one: a day after a good one, an hour after a bad one. */
  isDue(nowMs: number): boolean {
    const note = this.#read()
    return !note || nowMs - Date.parse(note.at) >= (note.fault === null ? dayMs : againMs)
  }

  note(nowMs: number, fault: string | null): void {
    const at = isoTime(nowMs)
    this.#note = { at, fault, goodAt: fault === null ? at : (this.#read()?.goodAt ?? null) }
    writeFileDurably(this.#file, JSON.stringify(this.#note))
  }

  #read(): Note | undefined {
    if (this.#note) return this.#note
    const bytes = readFileIfThere(this.#file)
    try {
      this.#note = bytes && (JSON.parse(bytes.toString('utf8')) as Note)
    } catch {
      // A damaged note does not count: the segments are rehearsed again.
    }
    return this.#note
  }
}
