import type { ReadTx, Tx } from '../database/index.ts'
import type { RandomBytes } from '../platform/index.ts'
import { sha256 } from './merkle.ts'

const saltBytes = 32

/** What a leaf holds instead of a name or a free text. */
export function commitmentOf(salt: Uint8Array, value: string): string {
  return sha256(Buffer.concat([salt, Buffer.from(value, 'utf8')])).toString('hex')
}

/**
 * The erasable side of the log: free texts with their salts, each with its own, and the names of leaves of version 1.
 * There a person has one salt, and one commitment in all leaves; who stands in later rows is known to `People`.
 */
export class Openings {
  readonly #random: RandomBytes

  constructor(options: { random: RandomBytes }) {
    this.#random = options.random
  }

  /** The commitment of a text. */
  text(tx: Tx, value: string): string {
    const salt = this.#random(saltBytes)
    const commitment = commitmentOf(salt, value)
    tx.runOf(`INSERT INTO opening (commitment, kind, salt, value) VALUES (?, 'text', ?, ?)`, [commitment, salt, value])
    return commitment
  }

  /** The name or text again; undefined once it was erased. */
  reveal(tx: ReadTx, commitment: string): string | undefined {
    return tx.oneOf<{ value: string }>('SELECT value FROM opening WHERE commitment = ?', [commitment])?.value
  }

  /** Forgets a text; a commitment that opens to nothing any more is no mistake. */
  forgetText(tx: Tx, commitment: string): boolean {
    return tx.runOf(`DELETE FROM opening WHERE kind = 'text' AND commitment = ?`, [commitment]).changes > 0
  }
}
