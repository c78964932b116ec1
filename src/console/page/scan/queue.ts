import { SetAside } from './aside.ts'
import {
  acknowledgedKey,
  type Item,
  type ItemStore,
  type NewItem,
  type Photo,
  type SentPhoto,
  type Settled,
} from './items.ts'
import type { Later, Outcome, RunOutcome, Settling } from './outcome.ts'
import { Halves, nextRun } from './run.ts'

/** State of the queue for the page: always the whole. */
export type QueueState = {
  readonly items: readonly Item[]
  readonly acknowledged: number
  /** Why sending rests; empty: it does not. */
  readonly rests: string
  /** People whose items wait for their sign-in. */
  readonly signInNeeded: readonly string[]
  /** Remarks of the gateway about the newest accepted items, each with the item's title. */
  readonly remarks: readonly string[]
  /** Items that make the gateway fail, by their number, with its words; they are retried later. */
  readonly aside: ReadonlyMap<number, string>
}

export type QueueNeeds = {
  readonly store: ItemStore
  /** Sends one item. `later` when the gateway cannot be reached. Never rejects for that. */
  readonly send: (item: Item) => Promise<Outcome>
  /** Sends several events of one person, as `send`. */
  readonly sendRun: (run: readonly Item[]) => Promise<RunOutcome>
  /** Sends the photo of an item, as `send`; the answer has its `url` and `sha256`. */
  readonly sendPhoto: (photo: Photo, by: string) => Promise<Outcome>
  /** Whether the gateway still has a photo that it took, or why that is not known. */
  readonly hasPhoto: (photo: SentPhoto, by: string) => Promise<boolean | Later>
  readonly tell: (state: QueueState) => void
  /** Called after the gateway refused an item. */
  readonly onRefused: () => void
  /** Runs the work alone among all windows of this browser. */
  readonly alone: (work: () => Promise<void>) => Promise<void>
  /** Milliseconds that only go forward. */
  readonly nowMs: () => number
}

/** More would hide the page. */
const mostRemarks = 5

/** After so much of photos the events that are ready are sent: an answer that comes late must not keep all of them waiting. */
const photosOfRun = { ms: 10_000, bytes: 1_000_000 } as const

const waitsSeconds = [1, 2, 5, 10, 30] as const

/**
 * Stores acts until the gateway has them. An item counts as taken only when the store has committed it, and leaves the store
 * only when the gateway acknowledged it. Items are sent in their order, many events of one person at once. A refused item
 * stays visible and lets the next one pass. An item that makes the gateway fail repeatedly is set aside for some minutes.
 */
export class ScanQueue {
  readonly #needs: QueueNeeds
  #state: QueueState = { items: [], acknowledged: 0, rests: '', signInNeeded: [], remarks: [], aside: new Map() }
  /** As the store has them. Read again before each round of sending, because another window may have changed them. */
  #items: readonly Item[] = []
  #failures = 0
  /** Items whose photo the gateway has confirmed in this round: it may have been restored without it earlier. */
  readonly #photosThere = new Set<number>()
  readonly #aside = new SetAside()
  readonly #halves = new Halves()
  #timer: ReturnType<typeof setTimeout> | undefined
  #sending: Promise<void> | undefined
  #isAskedAgain = false

  constructor(needs: QueueNeeds) {
    this.#needs = needs
  }

  /** Shows the stored items and begins to send. */
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
    await this.#needs.store.discard(item)
    this.#drop(item)
    await this.#show()
  }

  /** Sends the waiting items now: after a sign-in, when the network is back. */
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
    const { store, nowMs } = this.#needs
    const signedOut = new Set<string>()
    let remarks: readonly string[] | undefined
    this.#items = await store.items()
    this.#aside.keep(this.#items)
    this.#photosThere.clear()
    for (let run = this.#next(signedOut); run.length > 0; run = this.#next(signedOut)) {
      const [sent, outcome] = await this.#send(run)
      if (outcome.kind === 'later') {
        const isGoingOn = outcome.isFault === true && this.#failedAt(sent, outcome)
        if (!isGoingOn) return this.#rest(outcome.words, outcome.afterSeconds)
        await this.#show()
        continue
      }
      this.#failures = 0
      if (outcome.kind === 'sign-in') for (const { by } of sent) signedOut.add(by)
      // Only a batch is refused as a whole: one of its events may be the reason.
      else if (outcome.kind === 'refused') this.#halves.cut(sent)
      else remarks = [...(remarks ?? []), ...(await this.#settle(sent, outcome.outcomes))].slice(-mostRemarks)
      await this.#show({ rests: '', ...(remarks && { remarks }), signInNeeded: [...signedOut] })
    }
    await this.#show({ rests: '', signInNeeded: [...signedOut] })
    const againMs = this.#aside.nextMs(nowMs())
    if (againMs !== undefined) this.#timer = setTimeout(() => this.wake(), againMs - nowMs() + 10)
  }

  #next(signedOut: ReadonlySet<string>): readonly Item[] {
    const held = this.#aside.held(this.#items, this.#needs.nowMs())
    const isDue = ({ n, refusal, by }: Item) => refusal === undefined && !signedOut.has(by) && !held.has(n)
    const first = this.#items.find(isDue)
    if (!first) return []
    return nextRun(this.#items, {
      isDue,
      isAlone: ({ n }) => this.#aside.hasFailed(n),
      ...this.#halves.limitFor(first),
    })
  }

  /** Sends a run, its photos first. Returns the sent items and their outcome. */
  async #send(run: readonly Item[]): Promise<readonly [readonly Item[], RunOutcome]> {
    const ready: Item[] = []
    const { nowMs } = this.#needs
    const endMs = nowMs() + photosOfRun.ms
    let bytes = 0
    for (const item of run) {
      if (ready.length > 0 && (nowMs() >= endMs || bytes >= photosOfRun.bytes)) break
      const isDue = await this.#isPhotoDue(item)
      const photo = isDue === true ? await this.#needs.store.photo(item.id) : undefined
      bytes += photo?.bytes.byteLength ?? 0
      const outcome = typeof isDue === 'object' ? isDue : photo && (await this.#needs.sendPhoto(photo, item.by))
      if (outcome && outcome.kind !== 'acknowledged') {
        // Items before it need not wait.
        if (ready.length > 0) break
        return [[item], settledOr(outcome)]
      }
      ready.push(outcome ? await this.#keepSent(item, outcome.answer) : item)
    }
    const [first] = ready
    if (ready.length > 1) return [ready, await this.#needs.sendRun(ready)]
    return [ready, first ? settledOr(await this.#needs.send(first)) : { kind: 'each', outcomes: [] }]
  }

  /** Whether the photo of an item is to be sent, for the first time or again. */
  async #isPhotoDue({ n, by, hasPhoto, sentPhoto }: Item): Promise<boolean | Later> {
    if (!hasPhoto || !sentPhoto || this.#photosThere.has(n)) return hasPhoto && !sentPhoto
    const isThere = await this.#needs.hasPhoto(sentPhoto, by)
    if (isThere === true) this.#photosThere.add(n)
    return typeof isThere === 'object' ? isThere : !isThere
  }

  async #keepSent(item: Item, { url, sha256 }: Readonly<Record<string, unknown>>): Promise<Item> {
    const sentPhoto: SentPhoto = { url: String(url), sha256: String(sha256) }
    await this.#needs.store.photoSent(item.n, sentPhoto)
    this.#photosThere.add(item.n)
    const sent = { ...item, sentPhoto }
    this.#items = this.#items.map((one) => (one.n === item.n ? sent : one))
    return sent
  }

  /** The gateway failed at these; returns whether to go on at once, with smaller parts or with others. */
  #failedAt(run: readonly Item[], { words }: Later): boolean {
    const [only, ...more] = run
    if (more.length > 0) this.#halves.cut(run)
    else this.#halves.done()
    return only === undefined || more.length > 0 || this.#aside.failed(only, words, this.#needs.nowMs())
  }

  /** Stores the outcome of each item, all at once. Returns the remarks of the gateway. */
  async #settle(items: readonly Item[], outcomes: readonly Settling[]): Promise<string[]> {
    const settled = items.flatMap((item, i): Settled[] => {
      const outcome = outcomes[i]
      if (!outcome) return []
      return [outcome.kind === 'refused' ? { item, refusal: outcome.words } : { item }]
    })
    await this.#needs.store.settle(settled)
    for (const { item, refusal } of settled) {
      this.#aside.forget(item.n)
      if (refusal === undefined) this.#drop(item)
      else this.#put(item.n, refusal)
    }
    const isRefused = settled.some(({ refusal }) => refusal !== undefined)
    if (isRefused && items.length === 1) this.#halves.done()
    if (isRefused) this.#needs.onRefused()
    return items.flatMap(({ title }, i) => {
      const outcome = outcomes[i]
      return outcome?.kind === 'acknowledged' ? outcome.warnings.map((warning) => `${title}: ${warning}`) : []
    })
  }

  #put(n: number, refusal: string | undefined): void {
    this.#items = this.#items.map((item) => (item.n === n ? { ...item, refusal, sentPhoto: undefined } : item))
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

/** The outcome of one item, as that of a run of one. */
const settledOr = (outcome: Outcome): RunOutcome =>
  outcome.kind === 'acknowledged' || outcome.kind === 'refused' ? { kind: 'each', outcomes: [outcome] } : outcome
