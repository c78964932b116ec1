import type { ReadTx, Tx } from '../database/index.ts'
import type { RandomBytes } from '../world/index.ts'
import { sha256 } from './merkle.ts'

const saltBytes = 16

/** What a leaf holds instead of a name or a free text. */
export function commitmentOf(salt: Uint8Array, value: string): string {
  return sha256(Buffer.concat([salt, Buffer.from(value, 'utf8')])).toString('hex')
}

/**
 * The erasable side of the log: names and free texts with their salts. A person has one salt, so that all that one
 * did can be told to be one person's after the name is gone; every text has its own.
 */
export class Openings {
  readonly #random: RandomBytes

  constructor(options: { random: RandomBytes }) {
    this.#random = options.random
  }

  /** The commitment of a person's name; the same one as long as the name is not erased. */
  person(tx: Tx, name: string): string {
    return this.findPerson(tx, name) ?? this.#add(tx, 'person', name)
  }

  /** As `person`, without making one. */
  findPerson(tx: ReadTx, name: string): string | undefined {
    return tx.oneOf<{ commitment: string }>(`SELECT commitment FROM opening WHERE kind = 'person' AND value = ?`, [
      name,
    ])?.commitment
  }

  text(tx: Tx, value: string): string {
    return this.#add(tx, 'text', value)
  }

  /** The name or text again; undefined once it was erased. */
  reveal(tx: ReadTx, commitment: string): string | undefined {
    return tx.oneOf<{ value: string }>('SELECT value FROM opening WHERE commitment = ?', [commitment])?.value
  }

  #add(tx: Tx, kind: 'person' | 'text', value: string): string {
    const salt = this.#random(saltBytes)
    const commitment = commitmentOf(salt, value)
    tx.runOf('INSERT INTO opening (commitment, kind, salt, value) VALUES (?, ?, ?, ?)', [commitment, kind, salt, value])
    return commitment
  }
}
