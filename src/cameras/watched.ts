import type { Clock } from '../platform/index.ts'

/** A camera stays connected this long after its last viewer: a page that reloads finds it live. */
const lingerMs = 10_000

type WatchedNeeds = { readonly clock: Pick<Clock, 'after'> }

/** Knows which cameras somebody watches, and so which need a connection without detection too. */
export class Watched {
  readonly #needs: WatchedNeeds
  readonly #counts = new Map<number, number>()
  readonly #letGo = new Map<number, () => void>()
  #changed: (cctvId: number) => void = () => {}

  constructor(needs: WatchedNeeds) {
    this.#needs = needs
  }

  /** Calls back when a camera has got its first viewer, and a little after it has lost its last. */
  onChange(changed: (cctvId: number) => void): void {
    this.#changed = changed
  }

  /** Says whether the camera has a viewer, or had one until just now. */
  has(cctvId: number): boolean {
    return this.#counts.has(cctvId)
  }

  /** Counts one viewer. Returns a function that ends its view; further calls of it change nothing. */
  hold(cctvId: number): () => void {
    this.#letGo.get(cctvId)?.()
    this.#letGo.delete(cctvId)
    const before = this.#counts.get(cctvId)
    this.#counts.set(cctvId, (before ?? 0) + 1)
    if (before === undefined) this.#changed(cctvId)
    let isHeld = true
    return () => {
      if (isHeld) this.#release(cctvId)
      isHeld = false
    }
  }

  #release(cctvId: number): void {
    const left = (this.#counts.get(cctvId) ?? 1) - 1
    this.#counts.set(cctvId, left)
    if (left > 0) return
    const cancel = this.#needs.clock.after(lingerMs, () => {
      this.#letGo.delete(cctvId)
      this.#counts.delete(cctvId)
      this.#changed(cctvId)
    })
    this.#letGo.set(cctvId, cancel)
  }
}
