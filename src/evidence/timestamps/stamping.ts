import type { UnitOfWork } from '../../database/index.ts'
import { addTimestamp, type Checkpoint, lastTimestampBy } from '../../log/index.ts'
import { type Clock, type Logger, type RandomBytes, readFileIfThere } from '../../platform/index.ts'
import type { Checkpoints } from '../transparency/checkpoints.ts'
import type { EvidenceClient } from '../witnesses/client.ts'
import { retryDelayMs } from '../witnesses/waiting.ts'
import { stampRequest, verifyStampReply } from './token.ts'

/** A time stamp authority of the config: `caFile` has the certificates to which its tokens must lead. */
export type Authority = { readonly url: string; readonly caFile: string }

/** How an authority is doing: what is wrong, undefined while it is well, and for how long. */
export type AuthoritySeen = { readonly url: string; readonly trouble: string | undefined; readonly forMs: number }

export type TimeStampsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  readonly checkpoints: Pick<Checkpoints, 'newest' | 'onCheckpoint'>
  readonly client: Pick<EvidenceClient, 'post' | 'stop'>
  readonly authorities: () => readonly Authority[]
  readonly onAsked: (outcome: 'stamped' | 'failed') => void
}

const leastWaitMs = 3_600_000
const nonceBytes = 8

type Round = {
  failures: number
  failingSinceMs: number | undefined
  trouble: string | undefined
  cancel: (() => void) | undefined
}

/**
 * Has the newest checkpoint stamped by each authority of the config, at most once an hour. A token is verified before it is stored.
 * Nothing waits for an authority; what was missed while the line was down is covered by the next stamp.
 */
export class TimeStamps {
  readonly #needs: TimeStampsNeeds
  readonly #rounds = new Map<string, Round>()
  readonly #asking = new Map<string, Promise<void>>()
  #isStarted = false

  constructor(needs: TimeStampsNeeds) {
    this.#needs = needs
    needs.checkpoints.onCheckpoint(() => this.#wake())
  }

  start(): void {
    this.#isStarted = true
    this.#wake()
  }

  /** Ends requests under way. */
  async stop(): Promise<void> {
    this.#isStarted = false
    for (const round of this.#rounds.values()) round.cancel?.()
    this.#needs.client.stop()
    await this.settled()
  }

  /** Asks at once where a failure waits: a corrected address or file is tried now. */
  onReload(): void {
    const urls = this.#needs.authorities().map(({ url }) => url)
    for (const [url, round] of this.#rounds) {
      round.cancel?.()
      round.cancel = undefined
      if (!urls.includes(url)) this.#rounds.delete(url)
    }
    this.#wake()
  }

  /** Resolves when no request is under way. */
  async settled(): Promise<void> {
    while (this.#asking.size > 0) await Promise.all(this.#asking.values())
  }

  /** Returns how the configured authorities are doing. */
  seen(): AuthoritySeen[] {
    const nowMs = this.#needs.clock.monotonic()
    return this.#needs.authorities().map(({ url }) => {
      const { trouble, failingSinceMs } = this.#rounds.get(url) ?? {}
      return { url, trouble, forMs: failingSinceMs === undefined ? 0 : nowMs - failingSinceMs }
    })
  }

  #wake(): void {
    if (!this.#isStarted) return
    for (const authority of this.#needs.authorities()) {
      const round = this.#roundOf(authority.url)
      if (!round.cancel && !this.#asking.has(authority.url)) this.#look(authority, round)
    }
  }

  #roundOf(url: string): Round {
    const known = this.#rounds.get(url)
    if (known) return known
    const made: Round = { failures: 0, failingSinceMs: undefined, trouble: undefined, cancel: undefined }
    this.#rounds.set(url, made)
    return made
  }

  /** Asks now, or at the end of the hour since the last stamp; not at all while nothing new is signed. */
  #look(authority: Authority, round: Round): void {
    const newest = this.#needs.checkpoints.newest()
    if (!newest || newest.size === 0) return
    const last = this.#needs.work.read((tx) => lastTimestampBy(tx, newest.log_id, authority.url))
    if (last && last.size >= newest.size) return
    const agoMs = last ? this.#needs.clock.now() - last.received_at_ms : leastWaitMs
    // A clock that was set back must not put the next stamp off for years.
    if (agoMs >= 0 && agoMs < leastWaitMs) {
      this.#later(authority, round, leastWaitMs - agoMs)
      return
    }
    const asking = this.#ask(authority, round, newest).finally(() => this.#asking.delete(authority.url))
    this.#asking.set(authority.url, asking)
  }

  #later({ url }: Authority, round: Round, delayMs: number): void {
    round.cancel = this.#needs.clock.after(delayMs, () => {
      round.cancel = undefined
      const now = this.#needs.authorities().find((one) => one.url === url)
      if (now && this.#isStarted && !this.#asking.has(url)) this.#look(now, round)
    })
  }

  async #ask(authority: Authority, round: Round, newest: Checkpoint): Promise<void> {
    const why = await this.#stamp(authority, newest).catch((err: unknown) => {
      this.#needs.log.error({ err, url: authority.url }, 'a time stamp could not be stored; it is asked for again')
      return 'it could not be stored'
    })
    if (!this.#isStarted) return
    const { clock, log, random, onAsked } = this.#needs
    onAsked(why === undefined ? 'stamped' : 'failed')
    if (why === undefined) {
      if (round.trouble) log.info({ url: authority.url }, 'a time stamp authority is well again')
      Object.assign(round, { failures: 0, failingSinceMs: undefined, trouble: undefined })
      return
    }
    if (round.trouble !== why) log.warn({ url: authority.url }, `no time stamp: ${why}`)
    round.failures += 1
    round.failingSinceMs ??= clock.monotonic()
    round.trouble = why
    this.#later(authority, round, retryDelayMs(round.failures, random))
  }

  /** Returns why there is no token; undefined when it is stored. */
  async #stamp({ url, caFile }: Authority, { log_id, size, note }: Checkpoint): Promise<string | undefined> {
    const { client, clock, random, work } = this.#needs
    const asked = { data: Buffer.from(note.slice(0, note.indexOf('\n\n') + 1)), nonce: random(nonceBytes) }
    const body = await stampRequest(asked)
    const reply = await client.post(
      { url, caFile: null },
      { path: '', contentType: 'application/timestamp-query', body },
    )
    if (typeof reply === 'string') return `it gives no answer: ${reply}`
    if (reply.status !== 200) return `it answers ${reply.status}`
    const authorities = readFileIfThere(caFile)?.toString('utf8')
    if (authorities === undefined) return `${caFile} does not exist`
    const verdict = await verifyStampReply(reply.body, asked, authorities)
    if (verdict.kind === 'refused') return verdict.why
    const received_at_ms = clock.now()
    const { token, atMs } = verdict
    await work.write((tx) => addTimestamp(tx, { log_id, size, url, token, stamped_at_ms: atMs, received_at_ms }))
    return undefined
  }
}
