import type { Clock } from '../../platform/index.ts'

/** Bytes a second that others get while an incident is sent: enough that their connections stay open. */
const trickle = 8 * 1024

type Waiting = { readonly bytes: number; readonly urgent: boolean; readonly go: () => void }

type ThrottleNeeds = {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  /** Bytes a second of all uploads together, as of now; null: no limit. */
  readonly limit: () => number | null
}

/**
 * A token bucket for the bytes of all uploads, with at most one second in it. While something urgent is being sent, the
 * rest gets a trickle.
 */
export class Throttle {
  readonly #needs: ThrottleNeeds
  #waiting: Waiting[] = []
  #urgent = 0
  #free: number
  #freeRest = trickle
  #atMs: number
  #cancel: (() => void) | undefined

  constructor(needs: ThrottleNeeds) {
    this.#needs = needs
    this.#free = needs.limit() ?? 0
    this.#atMs = needs.clock.monotonic()
  }

  /** Says that an urgent transfer begins; returns a function that ends it. */
  hurry(): () => void {
    this.#urgent += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#urgent -= 1
      this.#serve()
    }
  }

  /** Resolves when so many bytes may be sent. */
  take(bytes: number, urgent: boolean): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ bytes, urgent, go })
      this.#serve()
    })
  }

  #serve(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#fill()
    for (;;) {
      const next = this.#next()
      if (!next) return
      const waitMs = this.#waitMs(next)
      if (waitMs > 0) {
        this.#cancel = this.#needs.clock.after(waitMs, () => this.#serve())
        return
      }
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      this.#free -= next.bytes
      if (!next.urgent) this.#freeRest -= next.bytes
      next.go()
    }
  }

  /** Urgent ones first, but for the trickle that is owed to the others. */
  #next(): Waiting | undefined {
    const isOwed = this.#urgent > 0 && this.#freeRest > 0
    return this.#waiting.find(({ urgent }) => urgent !== isOwed) ?? this.#waiting[0]
  }

  /** A piece may go when the bucket is not in debt; it then owes what it is larger than the bucket. */
  #waitMs({ urgent }: Waiting): number {
    const limit = this.#needs.limit()
    const own = limit === null || this.#free > 0 ? 0 : ((1 - this.#free) / limit) * 1000
    const rest = urgent || this.#urgent === 0 || this.#freeRest > 0 ? 0 : ((1 - this.#freeRest) / trickle) * 1000
    return Math.ceil(Math.max(own, rest))
  }

  #fill(): void {
    const nowMs = this.#needs.clock.monotonic()
    const seconds = (nowMs - this.#atMs) / 1000
    this.#atMs = nowMs
    const limit = this.#needs.limit()
    if (limit !== null) this.#free = Math.min(this.#free + seconds * limit, limit)
    this.#freeRest = this.#urgent === 0 ? trickle : Math.min(this.#freeRest + seconds * trickle, trickle)
  }
}
