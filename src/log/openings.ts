import type { ReadTx, Tx } from '../database/index.ts'
import type { RandomBytes } from '../world/index.ts'
import { sha256 } from './merkle.ts'

const saltBytes = 16

/** What a leaf holds instead of a name or a free text. */
export function commitmentOf(salt: Uint8Array, value: string): string {
  return sha256(Buffer.concat([salt, Buffer.from(value, 'utf8')])).toString('hex')
}

/** What stands in place of a name that was erased: the same for all that the person did. */
export const erasedName = (commitment: string): string => `erased-${commitment.slice(0, 8)}`

const erasedForm = /^erased-([0-9a-f]{8})$/

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

  /** The commitment of a person by name, or by what stands in its place once it was erased. */
  recognise(tx: ReadTx, name: string): string | undefined {
    const known = this.findPerson(tx, name)
    const [, prefix] = erasedForm.exec(name) ?? []
    if (known !== undefined || prefix === undefined) return known
    return tx.oneOf<{ commitment: string }>(
      `SELECT commitment FROM erased_person WHERE commitment >= +? AND commitment < +? || 'g'`,
      [prefix, prefix],
    )?.commitment
  }

  /** The name, or what stands in its place once it was erased. */
  nameOf(tx: ReadTx, commitment: string): string {
    return this.reveal(tx, commitment) ?? erasedName(commitment)
  }

  /**
   * Forgets a person: name and salt. Returns the commitment that all that the person did goes on to carry, or undefined
   * when nobody of that name is known.
   * @param nameMark by which the name is known again as one that was erased
   */
  forgetPerson(tx: Tx, name: string, nameMark: string, nowMs: number): string | undefined {
    const commitment = this.findPerson(tx, name)
    if (commitment === undefined) return undefined
    tx.runOf('DELETE FROM opening WHERE commitment = ?', [commitment])
    tx.runOf('INSERT INTO erased_person VALUES (?, ?, ?)', [commitment, nameMark, nowMs])
    return commitment
  }

  /** Forgets a text; a commitment that opens to nothing any more is no mistake. */
  forgetText(tx: Tx, commitment: string): boolean {
    return tx.runOf(`DELETE FROM opening WHERE kind = 'text' AND commitment = ?`, [commitment]).changes > 0
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
