import type { Config } from '../config/index.ts'
import { keysOfPage, type ReadTx, type UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Observation } from '../health/index.ts'
import { type Caller, countLimit, historyLimit, identityOf, pageOfAll, type RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { isoTime } from '../platform/index.ts'
import { findAlert } from '../webhooks/index.ts'
import { addressesOf, type Recipients, wayOf } from './recipients.ts'
import type { ChannelOut, SentOut } from './schema.ts'
import type { Channel } from './selection.ts'
import * as store from './store.ts'
import type { AlertWorker } from './worker.ts'

/** A channel fails from this attempt of one message on: a mail server that restarts is no trouble. */
const failingFrom = 3

type OverviewNeeds = {
  readonly work: UnitOfWork
  readonly audit: AuditTrail
  readonly settings: () => Config['alerts']
  readonly recipients: Recipients
  readonly worker: AlertWorker
}

/** Shows the channels with their messages, and tests them. */
export class Overview {
  readonly #needs: OverviewNeeds

  constructor(needs: OverviewNeeds) {
    this.#needs = needs
  }

  channels() {
    const { work, settings } = this.#needs
    return pageOfAll(
      work.read((tx) => settings().channels.map((channel) => this.#channelOut(tx, channel))),
      {},
    )
  }

  /** Returns the messages, the newest first. Ends early when `signal` says that the client has gone. */
  async messages(query: { limit?: number | undefined; offset?: number | undefined }, signal?: AbortSignal) {
    const { limit = historyLimit, offset = 0 } = query
    const { work } = this.#needs
    const { keys, hasMore, total } = await keysOfPage(
      work,
      store.messageListing(),
      { limit, offset },
      countLimit,
      signal,
    )
    const data = work.read((tx) => keys.flatMap(([id = 0]) => this.#sentOut(tx, store.findMessage(tx, id))))
    return { success: true as const, data, pagination: { limit, offset, total, hasMore, nextCursor: null } }
  }

  /**
   * Sends a test to each recipient of a channel; by web push to the browsers of the caller alone. Resolves after the attempts.
   * Throws NOT_FOUND, and INVALID_TRANSITION when no browser of the caller has subscribed.
   */
  async test(name: string, by: RequestOrigin & { readonly caller: Caller }) {
    const { work, audit, recipients, worker } = this.#needs
    const channel = this.#needs.settings().channels.find((one) => one.name === name)
    if (!channel) throw AppError.notFound('Channel')
    const own = work.read((tx) =>
      recipients.subscribers(tx, channel).filter((row) => identityOf(row) === identityOf(by.caller)),
    )
    const to = [...addressesOf(channel), ...own.map(({ id }) => String(id))]
    if (to.length === 0)
      throw new AppError('INVALID_TRANSITION', 'No browser of yours gets the messages of this channel', {
        details: 'allow messages at /alerts first',
      })
    const results = await worker.test(channel, to)
    const failures = results.filter(({ error }) => error !== null).length
    await work.write((tx) =>
      audit.write(tx, by, { action: 'alerts.tested', entity: 'alert', changes: { channel: name, failures } }),
    )
    const shown = results.map(({ recipient, error }) => ({
      recipient: wayOf(recipient) === 'webPush' ? by.caller.username : recipient,
      sent: error === null,
      error,
    }))
    return { success: true as const, results: shown }
  }

  /** Returns one observation for each channel: whether its messages arrive. */
  observations(): Observation[] {
    const { work, settings } = this.#needs
    return work.read((tx) =>
      settings().channels.map((channel): Observation => {
        const { name } = channel
        const failing = this.#failing(tx, channel)
        const message = `Messages of the alert channel ${name} do not arrive. Last: ${failing?.last_error}. Correct the channel, then test it at /alerts.`
        return {
          ...{ component: 'alerts', subject: `alerts: ${name}`, name: `The alert channel ${name}` },
          wrong: failing ? { kind: 'alerts.unsent', forMs: 0, message } : null,
        }
      }),
    )
  }

  /** Returns the newest message of a recipient that was given up, or that waits after several attempts. */
  #failing(tx: ReadTx, channel: Channel): store.MessageRow | undefined {
    const subscriptions = store.allSubscriptions(tx).map(({ id }) => String(id))
    const known = new Set([...addressesOf(channel), ...subscriptions])
    const newest = new Map<string, store.MessageRow>()
    for (const row of store.newestMessages(tx, channel.name))
      if (!newest.has(row.recipient) && known.has(row.recipient)) newest.set(row.recipient, row)
    return [...newest.values()].find(
      ({ state, attempts, about }) =>
        (state === 'failed' && about !== 'test') || (state === 'pending' && attempts >= failingFrom),
    )
  }

  #channelOut(tx: ReadTx, channel: Channel): ChannelOut {
    const { name, severities, kinds, warehouses, hours, digest, escalateAfter, webPush } = channel
    const newest = store.newestMessages(tx, name)
    const sentMs = newest.find(({ state }) => state === 'sent')?.settled_at_ms
    const people = this.#needs.recipients.subscribers(tx, channel).map(({ username }) => username)
    return {
      ...{ name, hasWebPush: webPush !== null },
      recipients: [...addressesOf(channel), ...new Set(people)],
      ...{ severities: [...severities], kinds: [...kinds], warehouses: [...warehouses], hours: [...hours] },
      ...{ digestMs: digest, escalateAfterMs: escalateAfter },
      waiting: store.noticesOf(tx, name, 0).length,
      pending: newest.filter(({ state }) => state === 'pending').length,
      lastSentAt: sentMs === undefined || sentMs === null ? null : isoTime(sentMs),
      lastError: this.#failing(tx, channel)?.last_error ?? null,
    }
  }

  #sentOut(tx: ReadTx, row: store.MessageRow | undefined): SentOut[] {
    if (!row) return []
    const alertIds: number[] = JSON.parse(row.alert_ids)
    const isPush = wayOf(row.recipient) === 'webPush'
    const owner = isPush ? store.findSubscription(tx, Number(row.recipient))?.username : row.recipient
    return [
      {
        ...{ id: row.id, messageId: row.message_id, channel: row.channel, about: row.about, alertIds },
        recipient: owner ?? 'an ended subscription',
        kinds: [...new Set(alertIds.slice(0, mostKinds).flatMap((id) => findAlert(tx, id)?.kind ?? []))],
        ...{ status: row.state, attempts: row.attempts, lastError: row.last_error },
        nextAttemptAt: row.state === 'pending' ? isoTime(row.next_attempt_at_ms || row.created_at_ms) : null,
        createdAt: isoTime(row.created_at_ms),
        settledAt: row.settled_at_ms === null ? null : isoTime(row.settled_at_ms),
      },
    ]
  }
}

/** So many alerts of a message are read for the list. */
const mostKinds = 20
