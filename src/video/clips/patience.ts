import type { Clock } from '../../platform/index.ts'

/** Pauses between attempts; the last one is repeated. */
const pausesMs = [10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000]

/** Waits between attempts at something, longer each time, until there is no time left. */
export class Patience {
  readonly #clock: Pick<Clock, 'after'>
  readonly #wake = new Map<() => void, number>()
  #isOver = false

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock
  }

  /** Resolves with true when it is time for the next attempt at `id` after this one, counted from 0; with false at the end. */
  async again(attempt: number, id: number): Promise<boolean> {
    if (this.#isOver) return false
    await new Promise<void>((resolve) => {
      const wake = () => {
        cancel()
        this.#wake.delete(wake)
        resolve()
      }
      const cancel = this.#clock.after(pausesMs[attempt] ?? pausesMs.at(-1) ?? 0, wake)
      this.#wake.set(wake, id)
    })
    return !this.#isOver
  }

  /** Ends the pause before the next attempt at `id`. Returns false when there is none. */
  hurry(id: number): boolean {
    const [wake] = [...this.#wake].find(([, of]) => of === id) ?? []
    wake?.()
    return wake !== undefined
  }

  /** Ends all pauses: nothing is tried again. */
  end(): void {
    this.#isOver = true
    for (const wake of [...this.#wake.keys()]) wake()
  }
}
