import type { ReadTx, Tx } from '../database/index.ts'
import type { RandomBytes } from '../platform/index.ts'
import { sha256 } from './merkle.ts'

const saltBytes = 32

/** Returns what a leaf contains instead of a name or a free text: SHA-256 of salt and value, hex. */
export function commitmentOf(salt: Uint8Array, value: string): string {
  return sha256(Buffer.concat([salt, Buffer.from(value, 'utf8')])).toString('hex')
}

/**
 * The erasable part of the log: free texts, each with its salt, and the names of leaves of version 1, where a person has one
 * salt and one commitment in all leaves. The people of later rows are in `People`.
 */
export class Openings {
  readonly #random: RandomBytes

  constructor(options: { random: RandomBytes }) {
    this.#random = options.random
  }

  /** Stores a text with a new salt and returns its commitment. */
  text(tx: Tx, value: string): string {
    const salt = this.#random(saltBytes)
    const commitment = commitmentOf(salt, value)
    tx.runOf(`INSERT INTO opening (commitment, kind, salt, value) VALUES (?, 'text', ?, ?)`, [commitment, salt, value])
    return commitment
  }

  /** Returns the name or text of a commitment; undefined when it is erased. */
  reveal(tx: ReadTx, commitment: string): string | undefined {
    return tx.oneOf<{ value: string }>('SELECT value FROM opening WHERE commitment = ?', [commitment])?.value
  }

  /** Deletes a text and returns whether there was one; a commitment without an opening is valid. */
  forgetText(tx: Tx, commitment: string): boolean {
    return tx.runOf(`DELETE FROM opening WHERE kind = 'text' AND commitment = ?`, [commitment]).changes > 0
  }
}
