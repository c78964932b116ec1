import type { Head } from '../../database/index.ts'

type LedgerStart = {
  readonly id: number
  readonly receivedAtMs: number
  /** No time before it is believed: a box whose clock lost its battery wakes up in 1970. */
  readonly builtAtMs?: number
}

/** The ledger's end in memory: last id, and the newest time at which something was received. Follows the commits. */
export class LedgerHead implements Head {
  #id: number
  #receivedAtMs: number
  readonly #builtAtMs: number

  constructor(start: LedgerStart) {
    this.#id = start.id
    this.#receivedAtMs = start.receivedAtMs
    this.#builtAtMs = start.builtAtMs ?? 0
  }

  get nextId(): number {
    return this.#id + 1
  }

  /** The gateway's own time: never behind the newest receipt time, nor the build, whatever the system clock shows. */
  nowMs(clockMs: number): number {
    return Math.max(clockMs, this.#receivedAtMs, this.#builtAtMs)
  }

  advance(id: number, receivedAtMs: number): void {
    this.#id = id
    this.#receivedAtMs = receivedAtMs
  }

  save(): unknown {
    return { id: this.#id, receivedAtMs: this.#receivedAtMs }
  }

  restore(saved: unknown): void {
    const { id, receivedAtMs } = saved as { id: number; receivedAtMs: number }
    this.#id = id
    this.#receivedAtMs = receivedAtMs
  }
}
