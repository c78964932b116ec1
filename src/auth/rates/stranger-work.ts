import type { Clock } from '../../platform/index.ts'
import { Recent } from './recent.ts'

/** A fifth of a core. A sign-in page and its first requests take a few milliseconds. */
const cpuMsPerSecond = 200
const networksKept = 10_000

type Debt = { readonly cpuMs: number; readonly atMs: number }

/**
 * Bounds the processor time that requests without a known caller take from the main thread, by network. A count of requests does
 * not bound it, because one request may cost a hundred times another. Time is paid afterwards: a network that owes more than a
 * second's share waits.
 */
export class StrangerWork {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #debts = new Recent<Debt>(networksKept)

  constructor(options: { clock: Pick<Clock, 'monotonic'> }) {
    this.#clock = options.clock
  }

  /** Returns the whole seconds until requests of this network are served; 0 for now. */
  waitSeconds(network: string): number {
    return Math.max(0, Math.ceil(this.#owed(network) / cpuMsPerSecond - 1))
  }

  spent(network: string, cpuMs: number): void {
    this.#debts.set(network, { cpuMs: this.#owed(network) + cpuMs, atMs: this.#clock.monotonic() })
  }

  #owed(network: string): number {
    const debt = this.#debts.get(network)
    if (!debt) return 0
    const paid = ((this.#clock.monotonic() - debt.atMs) / 1000) * cpuMsPerSecond
    return Math.max(0, debt.cpuMs - paid)
  }
}
