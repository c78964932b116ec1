import { SetAside } from './scan-aside.ts'
import { acknowledgedKey, type Item, type ItemStore, type NewItem, type Photo } from './scan-items.ts'
import type { Outcome } from './scan-outcome.ts'

/** What is to be shown of the queue: always all of it. */
export type QueueState = {
  readonly items: readonly Item[]
  readonly acknowledged: number
  /** Why sending rests, in words; empty: it does not. */
  readonly rests: string
  /** People whose items wait for their sign-in. */
  readonly signInNeeded: readonly string[]
  /** What the gateway remarked about the last item that it took. */
  readonly remarks: readonly string[]
  /** Items that the gateway fails at, by their number, with its words; they are tried again later. */
  readonly aside: ReadonlyMap<number, string>
}

export type QueueNeeds = {
  readonly store: ItemStore
  /** Sends one item. `later` when the gateway cannot be reached. Never rejects for that. */
  readonly send: (item: Item, photo: Photo | undefined) => Promise<Outcome>
  readonly tell: (state: QueueState) => void
  /** Called after the gateway refused an item. */
  readonly onRefused: () => void
  /** Runs the work alone among all windows of this browser. */
  readonly alone: (work: () => Promise<void>) => Promise<void>
  /** Milliseconds that only go forward. */
  readonly nowMs: () => number
}

const waitsSeconds = [1, 2, 5, 10, 30] as const

/**
 * Keeps what was done until the gateway has it. An item counts as taken only when the store has committed it, and leaves the
 * store only when the gateway acknowledged it. Items of one person are sent one after the other, in their order; what was
 * refused stays visible and lets the next one pass. What the gateway fails at again and again is set aside for some minutes.
 */
export class ScanQueue {
  readonly #needs: QueueNeeds
  #state: QueueState = { items: [], acknowledged: 0, rests: '', signInNeeded: [], remarks: [], aside: new Map() }
  /** As the store has them; read again before each round of sending, because another window may have changed them. */
  #items: readonly Item[] = []
  #failures = 0
  readonly #aside = new SetAside()
  #timer: ReturnType<typeof setTimeout> | undefined
  #sending: Promise<void> | undefined
  #isAskedAgain = false

  constructor(needs: QueueNeeds) {
    this.#needs = needs
  }

  /** Shows what is stored and begins to send. */
  async start(): Promise<void> {
    this.#items = await this.#needs.store.items()
    await this.#show()
    this.wake()
  }

  /** Stores an item; resolves when it is on disk. Rejects, with nothing taken, when the browser cannot store it. */
  async take(item: NewItem, photo: Photo | undefined): Promise<void> {
    const stored = await this.#needs.store.add(item, photo)
    this.#items = [...this.#items, stored]
    await this.#show()
    this.wake()
  }

  async sendAgain({ n }: Item): Promise<void> {
    await this.#needs.store.renew(n)
    this.#aside.forget(n)
    this.#put(n, undefined)
    await this.#show()
    this.wake()
  }

  /** Removes a refused item for good, because a person wants so. An item that waits is never removed. */
  async discard(item: Item): Promise<void> {
    if (item.refusal === undefined) return
    await this.#needs.store.remove(item, false)
    this.#drop(item)
    await this.#show()
  }

  /** Sends now what waits: after a sign-in, when the network is back. */
  wake(): void {
    clearTimeout(this.#timer)
    if (this.#sending) {
      this.#isAskedAgain = true
      return
    }
    this.#isAskedAgain = false
    this.#sending = this.#needs
      .alone(() => this.#sendAll())
      .catch((error: Error) => this.#rest(error.message, 0))
      .finally(() => {
        this.#sending = undefined
        if (this.#isAskedAgain) this.wake()
      })
  }

  async #sendAll(): Promise<void> {
    const { store, send, nowMs } = this.#needs
    const signedOut = new Set<string>()
    this.#items = await store.items()
    this.#aside.keep(this.#items)
    for (;;) {
      const held = this.#aside.held(this.#items, nowMs())
      const next = this.#items.find(({ n, refusal, by }) => refusal === undefined && !signedOut.has(by) && !held.has(n))
      if (!next) break
      const outcome = await send(next, next.hasPhoto ? await store.photo(next.id) : undefined)
      if (outcome.kind === 'later') {
        const isAside = outcome.isFault === true && this.#aside.failed(next, outcome.words, nowMs())
        if (!isAside) return this.#rest(outcome.words, outcome.afterSeconds)
        await this.#show()
        continue
      }
      this.#failures = 0
      this.#aside.forget(next.n)
      if (outcome.kind === 'sign-in') signedOut.add(next.by)
      if (outcome.kind === 'refused') {
        await store.refuse(next.n, outcome.words)
        this.#put(next.n, outcome.words)
        this.#needs.onRefused()
      }
      if (outcome.kind === 'acknowledged') {
        await store.remove(next, true)
        this.#drop(next)
      }
      const remarks = outcome.kind === 'acknowledged' ? outcome.warnings : this.#state.remarks
      await this.#show({ rests: '', remarks, signInNeeded: [...signedOut] })
    }
    await this.#show({ rests: '', signInNeeded: [...signedOut] })
    const againMs = this.#aside.nextMs(nowMs())
    if (againMs !== undefined) this.#timer = setTimeout(() => this.wake(), againMs - nowMs() + 10)
  }

  #put(n: number, refusal: string | undefined): void {
    this.#items = this.#items.map((item) => (item.n === n ? { ...item, refusal } : item))
  }

  #drop({ n }: Item): void {
    this.#items = this.#items.filter((item) => item.n !== n)
  }

  /** Tries again later; each time later, up to half a minute. */
  async #rest(words: string, atLeastSeconds: number): Promise<void> {
    const seconds = Math.max(atLeastSeconds, waitsSeconds[Math.min(this.#failures, waitsSeconds.length - 1)] ?? 30)
    this.#failures++
    this.#timer = setTimeout(() => this.wake(), seconds * 1000)
    await this.#show({ rests: words })
  }

  async #show(more: Partial<QueueState> = {}): Promise<void> {
    const { store } = this.#needs
    const acknowledged = (await store.fact<number>(acknowledgedKey)) ?? 0
    this.#state = { ...this.#state, ...more, items: this.#items, acknowledged, aside: this.#aside.words }
    this.#needs.tell(this.#state)
  }
}
