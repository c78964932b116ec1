import type { ReadTx } from '../database/index.ts'
import * as store from './store.ts'

/**
 * Holds every name that a badge has or had, in memory, because reads need it. A revoked name stays local: its permissions in the
 * config must not pass to a storage user of the same name.
 */
export class BadgeNames {
  readonly #names: Set<string>

  constructor(options: { tx: ReadTx }) {
    this.#names = new Set(store.namesEver(options.tx))
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** Adds a name before its commit. If the commit fails, the name stays reserved until the next start. */
  add(name: string): void {
    this.#names.add(name)
  }
}
