import type { ReadTx, Tx } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import { admit, crowdedFrom, lanesPerEndpoint, type Queue } from '../admission.ts'
import { OpenSecrets, sealedSecretsOf } from '../secrets.ts'
import type { Outcome } from '../sending/sender.ts'
import type { Secrets, SignedMessage } from '../sending/signature.ts'
import { testMessage } from '../sending/test-message.ts'
import { endpointOf, endpoints, findWebhook, outboxEnd, type Webhook } from '../store.ts'
import { ClockSteps, shiftDue } from './clock-steps.ts'
import { fanOut } from './fan-out.ts'
import { Housekeeper } from './housekeeping.ts'
import { Lanes } from './lanes.ts'
import { PassedPlaces } from './passed.ts'
import { recordAttempt, resume } from './recording.ts'
import { type Claimed, claim, nextDueMs, voidLeases } from './store.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

/** A lease outlives the longest attempt: the timeout, the reading of the body, and the commit after it. */
const leaseBeyondTimeoutMs = 30_000

/** How long `stop` waits for attempts under way. */
const graceMs = 10_000

/** After a failure of our own (a full disk), before the next try. */
const troubleMs = 5000

/** The wall clock may be set forward, so the next due time is looked up at least this often. */
const longestWaitMs = 5 * 60_000

/** A message and all that sending it takes. */
type Addressed = SignedMessage & Pick<Claimed, 'webhookId' | 'url' | 'sealedSecrets'>

/** Deliveries that a write claimed, and whether the attempt that it recorded says something of the endpoint. */
type Claims = { readonly claimed: Claimed[]; readonly saysSomething?: boolean }

/** How an attempt ended, and whether other deliveries have taken all lanes of its endpoint already. */
type Ended = { readonly kind: Outcome['kind'] | 'abandoned'; readonly isReplaced: boolean }

/**
 * Carries notifications to the endpoints. A pass makes the deliveries of new notifications, claims the due ones in one short write,
 * and starts the attempts. Each attempt sends outside of any transaction, and a separate write records it. The write of a success
 * also claims the endpoint's next deliveries, so that a backlog costs one commit each. Any other write asks for the next pass.
 * Passes never overlap, and `#lanes` knows the claims of a commit under way, so nothing is claimed twice.
 */
export class DeliveryWorker {
  readonly #needs: DeliveryWorkerOptions
  readonly #lanes: Lanes
  readonly #stopping = new AbortController()
  readonly #housekeeper: Housekeeper
  readonly #clockSteps: ClockSteps
  readonly #secrets: OpenSecrets
  readonly #passed = new PassedPlaces()
  #running = false
  #tookOver = false
  #asked = false
  /** `outbox.written` when no endpoint was behind, else undefined. */
  #caughtUpAt: number | undefined
  /** Monotonic time of the next due delivery, or of the next look-up. */
  #nextDueMs = Number.NEGATIVE_INFINITY
  #pass: Promise<void> | undefined
  #cancelDue = () => {}

  constructor(options: DeliveryWorkerOptions) {
    this.#needs = options
    this.#lanes = new Lanes(options.pacing)
    this.#housekeeper = new Housekeeper({ ...options, onDone: () => this.wake() })
    this.#clockSteps = new ClockSteps({ ...options, shift: shiftDue })
    this.#secrets = new OpenSecrets(options.box)
  }

  /** Takes over what a predecessor left, then works until `stop`. May be called once. */
  start(): void {
    this.#running = true
    this.#needs.work.onCommit(() => {
      if (this.#needs.outbox.written !== this.#caughtUpAt) this.#look()
    })
    this.wake()
    this.#housekeeper.start()
  }

  /**
   * Starts nothing more and waits up to 10 s for attempts under way; then cuts them. Attempts that were cut, or could not be
   * recorded, stay pending; the next start sends them again.
   */
  async stop(): Promise<void> {
    this.#running = false
    this.#cancelDue()
    this.#housekeeper.stop()
    const cancelGrace = this.#needs.clock.after(graceMs, () => this.#needs.sender.abandon())
    this.#stopping.abort()
    await this.settled()
    cancelGrace()
    this.#needs.sender.abandon()
  }

  /** Looks for work soon, whatever there may be. Any number of calls before that is one. */
  wake(): void {
    this.#nextDueMs = Number.NEGATIVE_INFINITY
    this.#caughtUpAt = undefined
    // Endpoints may be gone or want other events.
    this.#passed.clear()
    this.#goOn()
  }

  /** Whether deliveries are being sent now. Work that may wait lets them go first. */
  get isSending(): boolean {
    return this.#lanes.underWay.size > 0
  }

  /** As `wake`, where no due time can have changed. */
  #goOn(): void {
    this.#asked = true
    this.#look()
  }

  /** Resolves when no pass or housekeeping is running and no attempt is under way. */
  async settled(): Promise<void> {
    const keeper = this.#housekeeper
    while (this.#pass || keeper.underWay || this.#lanes.underWay.size > 0) {
      await Promise.all([this.#pass, keeper.underWay, ...[...this.#lanes.underWay.values()].map(({ done }) => done)])
    }
  }

  /** A pass after this turn of the event loop; one that runs already looks again at its end. */
  #look(): void {
    if (!this.#running || this.#pass) return
    this.#pass = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.#passes())
      .catch((error: unknown) => this.#trouble(error, 'webhooks are not being delivered'))
      .finally(() => {
        this.#pass = undefined
        if (this.#asked) this.#look()
      })
  }

  async #passes(): Promise<void> {
    while (this.#running && (this.#asked || this.#behind().length > 0)) {
      this.#asked = false
      await this.#onePass()
    }
  }

  /** Endpoints that are behind; not asked again until something is published. */
  #behind(): string[] {
    const { work, outbox } = this.#needs
    const { written } = outbox
    if (this.#caughtUpAt === written) return []
    const ids = work.read((tx) => this.#passed.behind(tx))
    this.#caughtUpAt = ids.length === 0 ? written : undefined
    return ids
  }

  async #onePass(): Promise<void> {
    await this.#takeOver()
    await this.#clockSteps.follow()
    await this.#fanOut()
    const lookedAtMs = this.#needs.clock.now()
    for (const claimed of await this.#claim(lookedAtMs)) this.#begin(claimed)
    for (const id of this.#needs.pacing.takeDueTests()) this.#beginTest(id)
    this.#waitForNextDue(lookedAtMs)
  }

  async #takeOver(): Promise<void> {
    if (this.#tookOver) return
    const voided = await this.#needs.work.write(voidLeases)
    this.#tookOver = true
    if (voided > 0)
      this.#needs.log.info({ deliveries: voided }, 'deliveries under way when the gateway ended are sent again')
  }

  /** One batch for each endpoint that is behind; the next pass does the rest, so that sending goes on meanwhile. */
  async #fanOut(): Promise<void> {
    const { work, makeId, clock, settings, newestCheckpoint } = this.#needs
    const firstDelayMs = settings().retryScheduleMs[0] ?? 0
    const options = { makeId, nowMs: clock.now(), firstDelayMs, newestCheckpoint }
    if (options.firstDelayMs > 0) this.#nextDueMs = Number.NEGATIVE_INFINITY
    const wanting = this.#behind().filter((id) => !work.read((tx) => this.#passed.pass(tx, id)))
    await Promise.all(wanting.map((id) => work.writeRepeatable((tx) => fanOut(tx, id, options))))
  }

  async #claim(nowMs: number): Promise<Claimed[]> {
    const due = admit(this.#needs.work.read((tx) => this.#queues(tx, nowMs)))
    if (due.length === 0) return []
    return (await this.#writeClaims((tx) => ({ claimed: this.#claimAll(tx, due, nowMs) }))).claimed
  }

  /** Runs a write that claims deliveries, which stay marked until `#begin`, or until the write has failed. */
  async #writeClaims(write: (tx: Tx) => Claims): Promise<Claims> {
    let claimed: Claimed[] = []
    try {
      return await this.#needs.work.write((tx) => {
        const done = write(tx)
        claimed = done.claimed
        return done
      })
    } catch (error) {
      for (const { id } of claimed) this.#lanes.claimed.delete(id)
      throw error
    }
  }

  /** Those of the deliveries that are free still. To be called inside `#writeClaims`. */
  #claimAll(tx: Tx, ids: readonly string[], nowMs: number): Claimed[] {
    const leaseUntilMs = nowMs + this.#needs.settings().timeoutMs + leaseBeyondTimeoutMs
    const claimed = ids
      .filter((id) => this.#lanes.isFree(id))
      .map((id) => claim(tx, id, nowMs, leaseUntilMs))
      .filter((one) => one !== undefined)
    for (const one of claimed) {
      this.#lanes.claimed.set(one.id, { webhookId: one.webhookId, isFirst: one.attempt === 1 })
      this.#needs.pacing.started(one.webhookId)
    }
    return claimed
  }

  /** The next deliveries of an endpoint that has just taken one; none where a pass has more to weigh. */
  #claimNext(tx: Tx, webhookId: string, nowMs: number): Claimed[] {
    if (!this.#running || !this.#needs.pacing.isOpen(webhookId) || this.#lanes.underWay.size >= crowdedFrom) return []
    const endpoint = endpointOf(tx, webhookId)
    return endpoint?.condition === 'open'
      ? this.#claimAll(tx, admit([this.#lanes.queueOf(tx, this.#passed.moved(endpoint), nowMs)]), nowMs)
      : []
  }

  #queues(tx: ReadTx, nowMs: number): Queue[] {
    const all = endpoints(tx).map((endpoint) => this.#passed.moved(endpoint))
    this.#needs.pacing.look(all, outboxEnd(tx))
    return all.map((endpoint) => this.#lanes.queueOf(tx, endpoint, nowMs))
  }

  #begin(claimed: Claimed): void {
    this.#lanes.claimed.delete(claimed.id)
    if (!this.#running) return
    const done = this.#attempt(claimed)
      .catch((error: unknown) => this.#trouble(error, 'an attempt could not be brought to its end'))
      .then((ended) => {
        this.#lanes.underWay.delete(claimed.id)
        if (ended?.kind !== 'delivered') this.wake()
        else if (!ended.isReplaced) this.#goOn()
      })
    const { webhookId, attempt } = claimed
    this.#lanes.underWay.set(claimed.id, { webhookId, isFirst: attempt === 1, done, isAnswered: false })
  }

  async #attempt(claimed: Claimed): Promise<Ended> {
    const { webhookId } = claimed
    const startedAtMs = this.#needs.clock.now()
    const outcome = await this.#send({ ...claimed, deliveryId: claimed.id })
    if (outcome.kind === 'abandoned') return { kind: 'abandoned', isReplaced: false }
    const { saysSomething, claimed: next } = await this.#record(claimed, startedAtMs, outcome)
    try {
      if (saysSomething) this.#needs.pacing.ended(webhookId, outcome.kind)
      this.#report(claimed, outcome)
    } finally {
      // No other pass sends a claimed delivery.
      for (const one of next) this.#begin(one)
    }
    return { kind: outcome.kind, isReplaced: this.#lanes.of(webhookId).length >= lanesPerEndpoint }
  }

  /** One `webhook.test` to an endpoint that its failures have disabled; a 2xx switches it on again. */
  #beginTest(webhookId: string): void {
    const key = `test of ${webhookId}`
    if (!this.#running || this.#lanes.underWay.has(key)) return
    const done = this.#test(webhookId)
      .catch((error: unknown) => this.#trouble(error, 'the test of a disabled webhook could not be brought to its end'))
      .finally(() => {
        this.#lanes.underWay.delete(key)
        this.wake()
      })
    this.#lanes.underWay.set(key, { webhookId, isFirst: false, done, isAnswered: false })
  }

  async #test(webhookId: string): Promise<void> {
    const { work, audit, outbox, clock, log } = this.#needs
    const target = work.read((tx) => testTarget(tx, webhookId, clock.now()))
    if (!target) return
    const { url, sealedSecrets, webhook } = target
    const message = testMessage(this.#needs, webhook, clock.now())
    const outcome = await this.#send({ webhookId, url, sealedSecrets, ...message })
    if (outcome.kind === 'abandoned') return
    const { kind, status } = outcome
    const resumed =
      kind === 'delivered' &&
      (await work.write((tx) => resume(tx, { audit, outbox, nowMs: clock.now() }, { webhookId, url, status })))
    log.info(
      { webhookId, ...loggable(outcome) },
      resumed ? 'a disabled webhook is on again' : 'a disabled webhook was tested',
    )
  }

  async #send({ webhookId, url, sealedSecrets, ...message }: Addressed) {
    const { sender, log } = this.#needs
    let secrets: Secrets
    try {
      secrets = this.#secrets.of(webhookId, sealedSecrets)
    } catch (error) {
      log.error({ err: error, webhookId }, 'the secret of a webhook cannot be opened: is this the key of this box?')
      return {
        kind: 'failed',
        status: null,
        error: 'the secret cannot be opened; set a new one',
        durationMs: 0,
      } as const
    }
    return sender.send(url, message, secrets)
  }

  /** Keeps trying until it is written: what was sent must not be sent again only because the disk was full. */
  async #record(claimed: Claimed, startedAtMs: number, outcome: Outcome): Promise<Claims> {
    const { audit, outbox, clock, random, settings, log } = this.#needs
    const chance = random(4).readUInt32BE() / 2 ** 32
    const scheduleMs = settings().retryScheduleMs
    const endedMs = clock.monotonic()
    for (;;) {
      try {
        await this.#clockSteps.follow()
        // By the clock as it is now, which may have been set since; the delays count from the end of the attempt.
        const nowMs = Math.round(clock.now() - (clock.monotonic() - endedMs))
        const finished = { claimed, startedAtMs, outcome, nowMs, chance, scheduleMs }
        const isDelivered = outcome.kind === 'delivered'
        this.#lanes.setAnswered(claimed.id, isDelivered)
        return await this.#writeClaims((tx) => {
          const saysSomething = recordAttempt(tx, { audit, outbox }, finished)
          const next = isDelivered && saysSomething ? this.#claimNext(tx, claimed.webhookId, nowMs) : []
          return { saysSomething, claimed: next }
        })
      } catch (error) {
        this.#lanes.setAnswered(claimed.id, false)
        if (this.#stopping.signal.aborted || isClosed(error)) throw error
        log.error({ err: error, deliveryId: claimed.id }, 'an attempt could not be recorded; trying again')
        await this.#pause(troubleMs)
      }
    }
  }

  #report({ id, webhookId, attempt }: Claimed, outcome: Outcome): void {
    const { log, onAttempt } = this.#needs
    const facts = { webhookId, deliveryId: id, attempt, ...loggable(outcome) }
    if (outcome.kind === 'offline') {
      log.warn(facts, 'delivery held: the gateway is offline')
      return
    }
    const failed = outcome.kind === 'failed'
    log[failed ? 'warn' : 'debug'](facts, failed ? 'delivery failed' : 'delivered')
    onAttempt?.({ webhookId, outcome: outcome.kind, seconds: outcome.durationMs / 1000 })
  }

  /** @param lookedAtMs until when this pass has claimed what is due: what came due since then is waited for too */
  #waitForNextDue(lookedAtMs: number): void {
    const { clock, pacing } = this.#needs
    this.#cancelDue()
    const nowMs = clock.monotonic()
    if (this.#nextDueMs <= nowMs) this.#nextDueMs = nowMs + this.#nextDueInMs(lookedAtMs)
    const waitMs = Math.min(this.#nextDueMs - nowMs, pacing.nextChangeInMs() ?? Number.POSITIVE_INFINITY)
    if (waitMs === Number.POSITIVE_INFINITY || !this.#running) return
    this.#cancelDue = clock.after(Math.min(waitMs, longestWaitMs), () => this.wake())
  }

  /** Until the next delivery becomes due, or it has to be looked up again; infinite without one. */
  #nextDueInMs(lookedAtMs: number): number {
    const { work, clock } = this.#needs
    const dueMs = work.read((tx) => nextDueMs(tx, lookedAtMs))
    return dueMs === undefined ? Number.POSITIVE_INFINITY : Math.min(dueMs - clock.now(), longestWaitMs)
  }

  #trouble(error: unknown, message: string): void {
    if (!this.#running) return
    this.#needs.log.error({ err: error }, message)
    if (isClosed(error)) return
    this.#cancelDue()
    this.#cancelDue = this.#needs.clock.after(troubleMs, () => this.wake())
  }

  /** Until `ms` have passed or the worker stops. */
  #pause(ms: number): Promise<void> {
    const { signal } = this.#stopping
    return new Promise((resolve) => {
      const end = () => {
        cancel()
        signal.removeEventListener('abort', end)
        resolve()
      }
      const cancel = this.#needs.clock.after(ms, end)
      signal.addEventListener('abort', end)
    })
  }
}

function testTarget(
  tx: ReadTx,
  webhookId: string,
  nowMs: number,
): (Pick<Addressed, 'url' | 'sealedSecrets'> & { readonly webhook: Webhook }) | undefined {
  const webhook = findWebhook(tx, webhookId)
  return webhook && { webhook, url: webhook.url, sealedSecrets: sealedSecretsOf(tx, webhookId, nowMs) }
}

/** Without the receiver's text: the delivery log has it, for those who manage webhooks. */
function loggable(outcome: Outcome): object {
  return { ...outcome, answer: undefined }
}

/** The database is closed: the process ends, or this worker has outlived its gateway. */
function isClosed(error: unknown): boolean {
  return error instanceof AppError && error.code === 'NOT_READY'
}
