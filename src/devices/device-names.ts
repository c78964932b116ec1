import type { ReadTx } from '../database/index.ts'
import * as store from './store.ts'

/**
 * Every name that a device or a badge has or had. In memory, because sight asks for it inside of reads. A name stays
 * local after it was revoked: what the config gave to it must not fall to a storage user who is called the same.
 */
export class DeviceNames {
  readonly #names: Set<string>

  constructor(options: { tx: ReadTx }) {
    this.#names = new Set(store.namesEver(options.tx))
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** Before its commit: if that fails, one name too many is nobody's until the next start. */
  add(name: string): void {
    this.#names.add(name)
  }
}
