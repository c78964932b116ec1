import type { UnitOfWork } from '../../database/index.ts'
import { addTimestamp, type Checkpoint, lastTimestampBy } from '../../log/index.ts'
import { type Clock, type Logger, type RandomBytes, readFileIfThere } from '../../platform/index.ts'
import { Rounds } from '../rounds.ts'
import type { Checkpoints } from '../transparency/checkpoints.ts'
import type { EvidenceClient } from '../witnesses/client.ts'
import { stampRequest, verifyStampReply } from './token.ts'

/** A time stamp authority of the config: `caFile` has the certificates to which its tokens must lead. */
export type Authority = { readonly url: string; readonly caFile: string }

/** State of an authority: its trouble, undefined while it is well, and for how long. */
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

/**
 * Has the newest checkpoint stamped by each authority of the config, at most once an hour. A token is verified before it is stored.
 * Nothing waits for an authority; after an outage of the line, the next stamp covers the missed checkpoints.
 */
export class TimeStamps {
  readonly #needs: TimeStampsNeeds
  readonly #rounds: Rounds<Authority, string>

  constructor(needs: TimeStampsNeeds) {
    this.#needs = needs
    const { clock, random, authorities, checkpoints } = needs
    const nameOf = ({ url }: Authority) => url
    const ask = (one: Authority) =>
      this.#look(one).catch((err: unknown) => {
        needs.log.error({ err, url: one.url }, 'a time stamp authority could not be asked; the next checkpoint asks it')
      })
    this.#rounds = new Rounds({ clock, random, nameOf, outsiders: authorities, ask })
    checkpoints.onCheckpoint(() => this.#rounds.wake())
  }

  start(): void {
    this.#rounds.start()
  }

  /** Ends requests under way. */
  async stop(): Promise<void> {
    this.#rounds.halt()
    this.#needs.client.stop()
    await this.settled()
  }

  /** Asks at once where a failure waits: a corrected address or file is tried now. */
  onReload(): void {
    this.#rounds.onReload()
  }

  /** Resolves when no request is under way. */
  settled(): Promise<void> {
    return this.#rounds.settled()
  }

  /** Returns how the configured authorities are doing. */
  seen(): AuthoritySeen[] {
    return this.#needs.authorities().map((one) => ({ url: one.url, ...this.#rounds.seen(one) }))
  }

  /** Asks now, or at the end of the hour since the last stamp; not at all while nothing new is signed. */
  async #look(authority: Authority): Promise<void> {
    const newest = this.#needs.checkpoints.newest()
    if (!newest || newest.size === 0) return
    const last = this.#needs.work.read((tx) => lastTimestampBy(tx, newest.log_id, authority.url))
    if (last && last.size >= newest.size) return
    const agoMs = last ? this.#needs.clock.now() - last.received_at_ms : leastWaitMs
    // A clock that was set back must not put the next stamp off for years.
    if (agoMs >= 0 && agoMs < leastWaitMs) this.#rounds.later(authority, leastWaitMs - agoMs)
    else await this.#ask(authority, newest)
  }

  async #ask(authority: Authority, newest: Checkpoint): Promise<void> {
    const { url } = authority
    const why = await this.#stamp(authority, newest).catch((err: unknown) => {
      this.#needs.log.error({ err, url }, 'a time stamp could not be stored; it is asked for again')
      return 'it could not be stored'
    })
    if (!this.#rounds.isStarted) return
    const { log, onAsked } = this.#needs
    onAsked(why === undefined ? 'stamped' : 'failed')
    if (why === undefined) {
      if (this.#rounds.well(authority)) log.info({ url }, 'a time stamp authority is well again')
    } else if (this.#rounds.unwell(authority, why) !== why) log.warn({ url }, `no time stamp: ${why}`)
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
