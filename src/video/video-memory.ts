/** Somebody who keeps video in memory: one camera. */
export type MemoryUser = {
  /** Bytes that are kept now. */
  readonly bytes: () => number
  /** Gives some of them up. Returns false when there is nothing to give. */
  readonly shed: () => boolean
}

/**
 * Keeps the video of all cameras within one limit. The camera that keeps most gives up first, so one that keeps no more than its
 * equal share is never touched. A flooding camera shortens its own pre-roll.
 */
export class VideoMemory {
  readonly #users = new Set<MemoryUser>()
  #limitBytes: number

  constructor(limitBytes = Number.POSITIVE_INFINITY) {
    this.#limitBytes = limitBytes
  }

  set limitBytes(bytes: number) {
    this.#limitBytes = bytes
    this.settle()
  }

  get bytes(): number {
    let sum = 0
    for (const user of this.#users) sum += user.bytes()
    return sum
  }

  /** Counts a user in. Returns a function that counts it out again. */
  add(user: MemoryUser): () => void {
    this.#users.add(user)
    return () => this.#users.delete(user)
  }

  /** Has users give up until all fit. Call it when one of them has grown. */
  settle(): void {
    const exhausted = new Set<MemoryUser>()
    while (this.bytes > this.#limitBytes) {
      const largest = this.#largest(exhausted)
      if (!largest) return
      if (!largest.shed()) exhausted.add(largest)
    }
  }

  #largest(except: ReadonlySet<MemoryUser>): MemoryUser | undefined {
    let found: { user: MemoryUser; bytes: number } | undefined
    for (const user of this.#users) {
      const bytes = user.bytes()
      if (!except.has(user) && bytes > (found?.bytes ?? 0)) found = { user, bytes }
    }
    return found?.user
  }
}
