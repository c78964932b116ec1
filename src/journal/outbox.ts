import type { ReadTx, Tx } from '../database/index.ts'
import { isoTime } from '../platform/index.ts'
import type { CreatedKind, EventType } from './event-types.ts'
import type { Inspect } from './notifications.ts'

/** Version of the payload schemas, `metadata.version`. */
export const payloadVersion = '1.0'

export type PublishedEvent = {
  readonly type: Exclude<EventType, 'event.created' | 'webhook.test'>
  /** UUIDv7, the envelope's id; the row's own event id where it has one. */
  readonly eventId: string
  /** When the gateway recorded it. */
  readonly timestampMs: number
  readonly data: Record<string, unknown>
  /** Of the slot, camera or unit; the site's own when the event has none. */
  readonly warehouseId?: number | undefined
}

/** What only `event.created` tells. */
export type CreatedEvent = Omit<PublishedEvent, 'type' | 'eventId'> & { readonly type: CreatedKind }

/** What a notification says of the newest checkpoint: whoever keeps it can hold the log to it later. */
type CheckpointNote = {
  readonly logId: string
  /** Leaves of the log. */
  readonly size: number
  /** Root hash over them, hex. */
  readonly root: string
  /** The signed checkpoint as text, where there is one. */
  readonly note?: string | undefined
}

export type Envelope = {
  readonly id: string
  readonly type: EventType
  readonly timestamp: string
  readonly data: Record<string, unknown>
  readonly metadata: {
    readonly warehouseId: number
    readonly siteId: string
    readonly version: string
    readonly checkpoint?: CheckpointNote | undefined
  }
}

/**
 * Whether any endpoint is registered, or ever was: one that is switched off is owed what happens meanwhile, and one that
 * is deleted to be registered anew can recover it.
 */
const isAnyoneOwed = (tx: ReadTx): boolean =>
  tx.oneOf('SELECT 1 FROM webhook UNION ALL SELECT 1 FROM outbox LIMIT 1') !== undefined

/**
 * The one place that writes notifications, in the transaction of what they tell. Before the first endpoint is
 * registered nothing is written: it gets what is published from then on.
 */
export class Outbox {
  readonly #siteId: string
  readonly #warehouseId: number
  readonly #makeId: () => string
  readonly #inspect: Inspect
  readonly #checkpoint: () => CheckpointNote | undefined
  readonly #isOwed: (tx: ReadTx) => boolean

  /**
   * `inspect` sees the data of everything that is published; see `inspector`. `checkpoint` is asked at every event for
   * the newest one, which rides along; without it, or before the first, nothing does. `isOwed`: whether anybody is to
   * be told; tests say yes, to see what would be.
   */
  constructor(options: {
    siteId: string
    warehouseId: number
    makeId: () => string
    inspect?: Inspect
    checkpoint?: () => CheckpointNote | undefined
    isOwed?: (tx: ReadTx) => boolean
  }) {
    this.#siteId = options.siteId
    this.#warehouseId = options.warehouseId
    this.#makeId = options.makeId
    this.#inspect = options.inspect ?? (() => {})
    this.#checkpoint = options.checkpoint ?? (() => undefined)
    this.#isOwed = options.isOwed ?? isAnyoneOwed
  }

  /** Publishes the event, and `event.created` about it. */
  publish(tx: Tx, event: PublishedEvent): void {
    if (!this.#isOwed(tx)) return
    this.#announce(tx, event)
    this.#created(tx, event)
  }

  /** Publishes the event alone, for what is told before its row exists; `created` follows with the row. */
  announce(tx: Tx, event: PublishedEvent): void {
    if (this.#isOwed(tx)) this.#announce(tx, event)
  }

  /** Publishes `event.created` about an event. */
  created(tx: Tx, event: PublishedEvent | CreatedEvent): void {
    if (this.#isOwed(tx)) this.#created(tx, event)
  }

  #announce(tx: Tx, event: PublishedEvent): void {
    this.#insert(tx, this.envelope(event.type, event.eventId, event.timestampMs, event.data, event.warehouseId))
  }

  #created(tx: Tx, event: PublishedEvent | CreatedEvent): void {
    const created = { kind: event.type, event: event.data }
    this.#insert(tx, this.envelope('event.created', this.#makeId(), event.timestampMs, created, event.warehouseId))
  }

  envelope(
    type: EventType,
    id: string,
    timestampMs: number,
    data: Record<string, unknown>,
    warehouseId?: number,
  ): Envelope {
    this.#inspect(type, data)
    const checkpoint = this.#checkpoint()
    const metadata = {
      warehouseId: warehouseId ?? this.#warehouseId,
      siteId: this.#siteId,
      version: payloadVersion,
      ...(checkpoint && { checkpoint }),
    }
    return { id, type, timestamp: isoTime(timestampMs), data, metadata }
  }

  /** Keeps a notification that was sent to one endpoint already. Returns its place in the order of publication. */
  keep(tx: Tx, sent: { eventId: string; type: EventType; timestampMs: number; body: Uint8Array }): number {
    return tx.runOf('INSERT INTO outbox (event_id, type, timestamp_ms, body) VALUES (?, ?, ?, ?)', [
      sent.eventId,
      sent.type,
      sent.timestampMs,
      sent.body,
    ]).lastId
  }

  #insert(tx: Tx, { id, type, timestamp, ...rest }: Envelope): void {
    const body = Buffer.from(JSON.stringify({ id, type, timestamp, ...rest }), 'utf8')
    this.keep(tx, { eventId: id, type, timestampMs: Date.parse(timestamp), body })
  }
}
