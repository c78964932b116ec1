import { readFileSync, writeFileSync } from 'node:fs'

const hashBytes = 32
const recordBytes = 4 + hashBytes

/** Answers of the gateway to the events of a plan: id and evidence hash, 36 bytes an event. */
export class Acknowledged {
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  static none(events: number): Acknowledged {
    return new Acknowledged(Buffer.alloc(events * recordBytes))
  }

  static read(file: string): Acknowledged {
    return new Acknowledged(readFileSync(file))
  }

  /** Undefined while nothing was answered. */
  of(n: number): { id: number; evidenceHash: string } | undefined {
    const at = n * recordBytes
    const id = this.#bytes.readInt32LE(at)
    if (id === 0) return undefined
    return { id, evidenceHash: this.#bytes.toString('hex', at + 4, at + recordBytes) }
  }

  /** @returns false when something else was answered to the same event before */
  note(n: number, id: number, evidenceHash: string): boolean {
    const before = this.of(n)
    if (before) return before.id === id && before.evidenceHash === evidenceHash
    this.#bytes.writeInt32LE(id, n * recordBytes)
    this.#bytes.write(evidenceHash, n * recordBytes + 4, 'hex')
    return true
  }

  save(file: string): void {
    writeFileSync(file, this.#bytes)
  }
}
