import { pick, type ReadTx, statement } from '../database/index.ts'
import { tables } from './tables.ts'

/** The smallest memory is for so many keys and takes 128 KiB. */
const leastKeys = 65_536
/**
 * With four bits set for each key, at most one new key in four hundred passes for a stored one. More do while a larger memory is
 * being filled.
 */
const bitsPerKey = 16
const bitsSet = 4
/** Keys that are read at a time, beside a request; they take about 0.2 ms. */
const sliceKeys = 100

export type ReplyKey = { readonly caller: string; readonly method: string; readonly path: string; readonly key: string }

type Place = ReplyKey & { readonly created_at_ms: number }

const beginning: Place = { created_at_ms: Number.MIN_SAFE_INTEGER, caller: '', method: '', path: '', key: '' }
/** The index by age holds all of it, so no reply is read. The limit is written out: SQLite prepares a statement anew for a bound one. */
const keysBehind = statement({
  columns: pick(tables.idempotency, 'created_at_ms', 'caller', 'method', 'path', 'key'),
  sql: `SELECT created_at_ms, caller, method, path, key FROM idempotency
    WHERE (created_at_ms, caller, method, path, key) > (+?, +?, +?, +?, +?)
    ORDER BY created_at_ms, caller, method, path, key LIMIT ${sliceKeys}`,
})

type Filling = { readonly filter: Filter; place: Place }

/**
 * Knows which keys have no kept reply, without asking the database: a look there for a new key reads a dozen whole replies. It is a
 * Bloom filter over the keys of the table. Keys that were removed or undone stay in it. So it may report a new key as possibly
 * stored, but never a stored one as new. Until it has read all keys, each one may be kept.
 */
export class KnownKeys {
  #filter: Filter | undefined
  /** The next filter while keys are read into it: the first one, or one without those that have expired. */
  #filling: Filling | undefined = { filter: new Filter(leastKeys), place: beginning }

  /** Says whether a reply may be kept under the key. False: there is none. Reads some more keys where that is still to be done. */
  mayBeKept(tx: ReadTx, key: ReplyKey): boolean {
    if (this.#filling) this.#readOn(tx, this.#filling)
    return this.#filter?.has(textOf(key)) ?? true
  }

  /** Takes a key in under which a reply is stored. */
  add(key: ReplyKey): void {
    const text = textOf(key)
    this.#filter?.add(text)
    if (this.#filling) this.#filling.filter.add(text)
    else if (this.#filter?.isFull) this.#fill(this.#filter.most)
  }

  /** Reads all keys anew; until then each one may be kept. For a key that was kept and seemed to be new. */
  forget(): void {
    this.#filter = undefined
    this.#fill(leastKeys)
  }

  #fill(most: number): void {
    this.#filling = { filter: new Filter(most), place: beginning }
  }

  #readOn(tx: ReadTx, filling: Filling): void {
    const { created_at_ms, caller, method, path, key } = filling.place
    const rows = tx.all(keysBehind, [created_at_ms, caller, method, path, key])
    for (const row of rows) filling.filter.add(textOf(row))
    const last = rows.at(-1)
    if (last && rows.length === sliceKeys) {
      filling.place = last
      return
    }
    const { filter } = filling
    this.#filter = filter
    this.#filling = undefined
    // One that the keys of the table alone fill by half would soon be full again.
    if (filter.keys > filter.most / 2) this.#fill(roomFor(filter.keys))
  }
}

/** Returns the smallest room of which so many keys take no more than half. */
function roomFor(keys: number): number {
  let most = leastKeys
  while (most < 2 * keys) most *= 2
  return most
}

const textOf = ({ caller, method, path, key }: ReplyKey): string => `${caller}\n${method}\n${path}\n${key}`

/** A set of texts that may contain a text which was not added (a Bloom filter). */
class Filter {
  readonly most: number
  readonly #bits: Uint32Array
  keys = 0

  /** @param most a power of two */
  constructor(most: number) {
    this.most = most
    this.#bits = new Uint32Array((most * bitsPerKey) / 32)
  }

  get isFull(): boolean {
    return this.keys >= this.most
  }

  add(text: string): void {
    const bits = this.#bits
    const mask = bits.length * 32 - 1
    const { first, step } = hashesOf(text)
    for (let n = 0, bit = first; n < bitsSet; n += 1, bit += step) {
      const at = (bit & mask) >>> 5
      bits[at] = (bits[at] ?? 0) | (1 << (bit & 31))
    }
    this.keys += 1
  }

  has(text: string): boolean {
    const bits = this.#bits
    const mask = bits.length * 32 - 1
    const { first, step } = hashesOf(text)
    for (let n = 0, bit = first; n < bitsSet; n += 1, bit += step) {
      if (((bits[(bit & mask) >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false
    }
    return true
  }
}

/** Two hashes of 32 bits (cyrb53). Two texts with equal hashes only cost a read of the database. */
function hashesOf(text: string): { first: number; step: number } {
  let [one, other] = [0xdeadbeef, 0x41c6ce57]
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    one = Math.imul(one ^ code, 2_654_435_761)
    other = Math.imul(other ^ code, 1_597_334_677)
  }
  one = Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(other ^ (other >>> 13), 3_266_489_909)
  other = Math.imul(other ^ (other >>> 16), 2_246_822_507) ^ Math.imul(one ^ (one >>> 13), 3_266_489_909)
  return { first: one >>> 0, step: (other | 1) >>> 0 }
}
