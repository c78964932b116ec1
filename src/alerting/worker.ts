import type { Agent } from 'node:https'
import type { Config } from '../config/index.ts'
import type { Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type Clock, isoTime, type Logger, type RandomBytes, type SecretBox } from '../platform/index.ts'
import { ClockSteps, longestDelayMs, nextAttempt } from '../webhooks/index.ts'
import type { Message } from './message.ts'
import { apply, isEmpty, type PlanNeeds, planOf } from './plan.ts'
import { type Recipients, wayOf } from './recipients.ts'
import type { Channel } from './selection.ts'
import * as store from './store.ts'
import { openSubscription } from './subscriptions.ts'
import { sendHttp } from './ways/http.ts'
import { sendMail } from './ways/mail.ts'
import { failed, type Outcome } from './ways/outcome.ts'
import { sendPush } from './ways/push.ts'
import type { VapidKeys } from './ways/vapid-keys.ts'

export type WorkerNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  readonly makeId: () => string
  readonly box: SecretBox
  readonly settings: () => Config['alerts']
  readonly placeOf: PlanNeeds['placeOf']
  readonly recipients: Recipients
  readonly vapid: () => VapidKeys
  /** Contact for push services. */
  readonly contact: () => string
  readonly guardedAgent: () => Agent
}

const roundMs = 5000
/** Attempts of one channel at a time. */
const mostAtOnce = 8
const hourMs = 3_600_000
/** Settled messages stay in the list for so long. */
const keptMs = 30 * 24 * hourMs
/** A stop waits so long for attempts under way: a cut one may be sent twice. */
const graceMs = 10_000
/** Delays before each attempt, 16 hours in all. */
const scheduleMs = [0, 30_000, 120_000, 600_000, 1_800_000, hourMs, 2 * hourMs, 4 * hourMs, 8 * hourMs]

type Recorded = Parameters<typeof store.recordAttempt>[1] & { readonly goneId?: number }

/**
 * Looks every 5 s which alerts each channel has to report, stores the messages, and sends them. A message is stored before it is
 * sent, and stays pending until its outcome is stored. So after a kill it is sent again under the same id.
 */
export class AlertWorker {
  readonly #needs: WorkerNeeds
  readonly #clockSteps: ClockSteps
  readonly #stopping = new AbortController()
  readonly #underWay = new Map<number, Promise<void>>()
  /** Outcomes that the disk has not taken yet. Their messages are not sent again. */
  readonly #unrecorded = new Map<number, Recorded>()
  #isRunning = false
  #round: Promise<void> | undefined
  #cancel = () => {}
  #tidiedMs = Number.NEGATIVE_INFINITY

  constructor(needs: WorkerNeeds) {
    this.#needs = needs
    this.#clockSteps = new ClockSteps({ ...needs, shift: store.shiftTimes })
  }

  start(): void {
    this.#isRunning = true
    this.#schedule(0)
  }

  /** Starts no more attempts, waits up to 10 s for those under way, and cuts them then. */
  async stop(): Promise<void> {
    this.#isRunning = false
    this.#cancel()
    const cancel = this.#needs.clock.after(graceMs, () => this.#stopping.abort())
    await this.settled()
    cancel()
    this.#stopping.abort()
  }

  /** Resolves when no round and no attempt is under way. */
  async settled(): Promise<void> {
    while (this.#round || this.#underWay.size > 0) await Promise.all([this.#round, ...this.#underWay.values()])
  }

  /** One round. Resolves when its messages are stored and their attempts have begun. */
  look(): Promise<void> {
    this.#round ??= this.#lookOnce().finally(() => {
      this.#round = undefined
    })
    return this.#round
  }

  /** Sends a test to each recipient and returns the outcomes; no attempt follows a failed one. */
  async test(channel: Channel, recipients: readonly string[]): Promise<{ recipient: string; error: string | null }[]> {
    const { work, makeId, clock } = this.#needs
    const nowMs = clock.now()
    const rows = await work.write((tx) =>
      recipients.map((recipient) => {
        const row = { message_id: makeId(), channel: channel.name, recipient, about: 'test' as const }
        const id = store.addMessage(tx, { ...row, alert_ids: '[]', created_at_ms: nowMs, next_attempt_at_ms: 0 })
        // No round sends it besides.
        this.#underWay.set(id, Promise.resolve())
        return id
      }),
    )
    return Promise.all(
      rows.map(async (id) => {
        try {
          const row = work.read((tx) => store.findMessage(tx, id))
          if (!row) throw new Error('the message is gone')
          const outcome = await this.#send(channel, row)
          const error = outcome.kind === 'sent' ? null : outcome.kind === 'failed' ? outcome.error : 'the gateway stops'
          await this.#record(this.#after(row, error === null ? { kind: 'sent' } : failed(error, true)))
          return { recipient: row.recipient, error }
        } finally {
          this.#underWay.delete(id)
        }
      }),
    )
  }

  #schedule(ms: number): void {
    this.#cancel = this.#needs.clock.after(ms, () => {
      this.look()
        .catch((err: unknown) => this.#fail(err, 'messages about alerts cannot be sent; trying again'))
        .finally(() => {
          if (this.#isRunning) this.#schedule(roundMs)
        })
    })
  }

  async #lookOnce(): Promise<void> {
    const { work, clock, makeId, settings, placeOf, recipients } = this.#needs
    await this.#clockSteps.follow()
    for (const row of this.#unrecorded.values()) await this.#record(row)
    const nowMs = clock.now()
    if (clock.monotonic() - this.#tidiedMs >= hourMs) await this.#tidy(nowMs)
    const planning: PlanNeeds = {
      ...{ channels: () => settings().channels, placeOf },
      recipientsOf: (tx, channel, alerts) => recipients.of(tx, channel, alerts),
    }
    if (!isEmpty(work.read((tx) => planOf(tx, planning, nowMs)))) {
      const isUnderWay = (id: number) => this.#isTaken(id)
      await work.write((tx) => apply(tx, planOf(tx, planning, nowMs), { makeId, nowMs, isUnderWay }))
    }
    await this.#dropOrphans(nowMs)
    for (const channel of settings().channels) this.#begin(channel, nowMs)
  }

  async #tidy(nowMs: number): Promise<void> {
    const { work } = this.#needs
    await work.write((tx) => store.removeOldMessages(tx, nowMs - keptMs))
    this.#tidiedMs = this.#needs.clock.monotonic()
  }

  /** Ends messages of channels that the config lacks, and tests that a kill has cut. */
  async #dropOrphans(nowMs: number): Promise<void> {
    const { work, settings } = this.#needs
    const names = new Set(settings().channels.map(({ name }) => name))
    const orphans = work.read((tx) =>
      store
        .channelsWithPending(tx)
        .flatMap((name) => store.pendingOf(tx, name))
        .filter((row) => !this.#isTaken(row.id) && (row.about === 'test' || !names.has(row.channel))),
    )
    if (orphans.length === 0) return
    const last_error = 'not sent: the channel or the test has ended'
    await work.write((tx) => {
      for (const row of orphans) store.recordAttempt(tx, { ...row, state: 'failed', last_error, settled_at_ms: nowMs })
    })
  }

  #begin(channel: Channel, nowMs: number): void {
    const pending = this.#needs.work.read((tx) => store.pendingOf(tx, channel.name))
    const taken = pending.filter(({ id }) => this.#isTaken(id)).length
    const due = pending.filter((row) => !this.#isTaken(row.id) && isDue(row, nowMs))
    for (const row of due.slice(0, Math.max(mostAtOnce - taken, 0))) {
      const done = this.#attempt(channel, row)
        .catch((err: unknown) => this.#fail(err, 'a message about alerts could not be brought to its end'))
        .finally(() => this.#underWay.delete(row.id))
      this.#underWay.set(row.id, done)
    }
  }

  #isTaken(id: number): boolean {
    return this.#underWay.has(id) || this.#unrecorded.has(id)
  }

  async #attempt(channel: Channel, row: store.MessageRow): Promise<void> {
    const { log } = this.#needs
    const outcome = await this.#send(channel, row)
    if (outcome.kind === 'abandoned') return
    const facts = { channel: channel.name, message: row.message_id, attempt: row.attempts + 1 }
    if (outcome.kind === 'failed') log.warn({ ...facts, error: outcome.error }, 'a message about alerts was not sent')
    else log.info(facts, 'a message about alerts was sent')
    await this.#record(this.#after(row, outcome))
  }

  /** Returns the row after an attempt. */
  #after(row: store.MessageRow, outcome: Exclude<Outcome, { kind: 'abandoned' }>): Recorded {
    const { clock, random } = this.#needs
    const nowMs = clock.now()
    const attempts = row.attempts + 1
    const same = { id: row.id, attempts, next_attempt_at_ms: row.next_attempt_at_ms }
    if (outcome.kind === 'sent') return { ...same, state: 'sent', last_error: null, settled_at_ms: nowMs }
    const { error: last_error, isFinal, retryAfter } = outcome
    const gone = outcome.isGone ? { goneId: Number(row.recipient) } : {}
    const chance = random(4).readUInt32BE() / 2 ** 32
    const next = nextAttempt({ scheduleMs, attempt: attempts, nowMs, chance, retryAfter })
    if (isFinal || next.kind === 'exhausted')
      return { ...same, ...gone, state: 'failed', last_error, settled_at_ms: nowMs }
    return { ...same, state: 'pending', next_attempt_at_ms: next.atMs, last_error, settled_at_ms: null }
  }

  /** Stores an outcome. While the disk takes none, it stays in memory, so that nothing is sent a second time. */
  async #record(row: Recorded): Promise<void> {
    try {
      await this.#needs.work.write((tx) => recordOne(tx, row))
      this.#unrecorded.delete(row.id)
    } catch (error) {
      this.#unrecorded.set(row.id, row)
      throw error
    }
  }

  /** Writes the message as its recipient may read it now, and sends it. */
  async #send(channel: Channel, row: store.MessageRow): Promise<Outcome> {
    const { work, clock, recipients, settings, box, vapid, contact, guardedAgent } = this.#needs
    const { signal } = this.#stopping
    const ways = { clock, signal }
    const way = wayOf(row.recipient)
    if (way === 'webPush') {
      const found = work.read((tx) => store.findSubscription(tx, Number(row.recipient)))
      const caller = found && recipients.callerOf(found)
      if (!found || !caller) return failed('the subscription has ended', true)
      const message = this.#messageFor(channel, row, caller)
      const subscription = openSubscription(box, found)
      if (!message || !subscription) return failed(message ? 'the subscription cannot be read' : hidden, true)
      return sendPush(subscription, message, { ...ways, agent: guardedAgent(), vapid: vapid(), contact: contact() })
    }
    const message = this.#messageFor(channel, row, undefined)
    if (!message) return failed(hidden, true)
    const { smtp } = settings()
    if (way === 'mail')
      return smtp ? sendMail(smtp, row.recipient, message, ways) : failed('alerts.smtp is not set', true)
    return channel.http ? sendHttp(channel.http, message, ways) : failed('the channel has changed', true)
  }

  #messageFor(
    channel: Channel,
    row: store.MessageRow,
    caller: Parameters<Recipients['messageOf']>[3],
  ): Message | undefined {
    return this.#needs.work.read((tx) => this.#needs.recipients.messageOf(tx, channel, row, caller))
  }

  #fail(err: unknown, text: string): void {
    if (err instanceof AppError && err.code === 'NOT_READY') return
    this.#needs.log.error({ err, at: isoTime(this.#needs.clock.now()) }, text)
  }
}

/** A time beyond every delay is of a clock that was wrong. */
const isDue = ({ next_attempt_at_ms: atMs }: store.MessageRow, nowMs: number) =>
  atMs <= nowMs || atMs > nowMs + longestDelayMs(scheduleMs)

const hidden = 'the recipient may not see these alerts now'

function recordOne(tx: Tx, { goneId, ...row }: Recorded): void {
  store.recordAttempt(tx, row)
  if (goneId !== undefined) store.removeSubscription(tx, goneId)
}
