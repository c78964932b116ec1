import { built, pick, type ReadTx, type Tx } from '../database/index.ts'
import { isoTime } from '../platform/index.ts'
import type { CreatedKind, EventType } from './event-types.ts'
import type { Inspect } from './notifications.ts'
import { sql, tables } from './tables.ts'

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

/** A fact without an event type: only `event.created` reports it. */
export type CreatedEvent = Omit<PublishedEvent, 'type' | 'eventId'> & { readonly type: CreatedKind }

/** The newest checkpoint in a notification: a receiver that keeps it can compare the log with it later. */
export type CheckpointNote = {
  readonly logId: string
  /** Leaves of the log. */
  readonly size: number
  /** Root hash over them, hex. */
  readonly root: string
  /** The signed checkpoint as text. */
  readonly note: string
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

const newNotification = built(pick(tables.outbox, 'event_id', 'type', 'timestamp_ms', 'body'), (row) =>
  sql.insertInto('outbox').values(row),
)

/** The notifications, for a join in SQL. */
export const published = 'outbox'

type OutboxNeeds = {
  readonly siteId: string
  readonly warehouseId: number
  readonly makeId: () => string
  readonly inspect?: Inspect
  readonly checkpoint?: () => CheckpointNote | undefined
  /**
   * Returns whether notifications must be written: an endpoint is registered (also one that is switched off), or the outbox
   * still holds rows, so that an endpoint that was deleted and registered again can recover what happened meanwhile.
   */
  readonly isOwed: (tx: ReadTx) => boolean
}

/**
 * Writes notifications, in the transaction of the facts that they report; no other code does. Before the first endpoint is
 * registered nothing is written: an endpoint gets what is published from its registration on.
 */
export class Outbox {
  readonly #needs: OutboxNeeds
  readonly #inspect: Inspect
  readonly #checkpoint: () => CheckpointNote | undefined
  #written = 0

  /**
   * `inspect` gets the data of everything that is published; see `inspector`. `checkpoint` returns the newest checkpoint, if
   * any, which is added to each notification. `isOwed` returns whether notifications must be written; tests return true.
   */
  constructor(needs: OutboxNeeds) {
    this.#needs = needs
    this.#inspect = needs.inspect ?? (() => {})
    this.#checkpoint = needs.checkpoint ?? (() => undefined)
  }

  /** How many notifications this process has written, those of undone transactions too: where it has not grown, none is new. */
  get written(): number {
    return this.#written
  }

  /** Publishes the event, and `event.created` about it. */
  publish(tx: Tx, event: PublishedEvent): void {
    if (!this.#needs.isOwed(tx)) return
    const metadata = this.#metadata(event.warehouseId)
    this.#announce(tx, event, metadata)
    this.#created(tx, event, metadata)
  }

  /** Publishes the event alone, for a fact that is reported before its row exists; `created` follows with the row. */
  announce(tx: Tx, event: PublishedEvent): void {
    if (this.#needs.isOwed(tx)) this.#announce(tx, event)
  }

  /** Publishes `event.created` about an event. */
  created(tx: Tx, event: PublishedEvent | CreatedEvent): void {
    if (this.#needs.isOwed(tx)) this.#created(tx, event)
  }

  #announce(tx: Tx, event: PublishedEvent, metadata = this.#metadata(event.warehouseId)): void {
    this.#insert(tx, this.#envelope(event.type, event.eventId, event.timestampMs, event.data, metadata))
  }

  #created(tx: Tx, event: PublishedEvent | CreatedEvent, metadata = this.#metadata(event.warehouseId)): void {
    const created = { kind: event.type, event: event.data }
    this.#insert(tx, this.#envelope('event.created', this.#needs.makeId(), event.timestampMs, created, metadata))
  }

  envelope(
    type: EventType,
    id: string,
    timestampMs: number,
    data: Record<string, unknown>,
    warehouseId?: number,
  ): Envelope {
    return this.#envelope(type, id, timestampMs, data, this.#metadata(warehouseId))
  }

  #envelope(
    type: EventType,
    id: string,
    timestampMs: number,
    data: Record<string, unknown>,
    metadata: Envelope['metadata'],
  ): Envelope {
    this.#inspect(type, data)
    return { id, type, timestamp: isoTime(timestampMs), data, metadata }
  }

  #metadata(warehouseId: number | undefined): Envelope['metadata'] {
    const checkpoint = this.#checkpoint()
    return {
      warehouseId: warehouseId ?? this.#needs.warehouseId,
      siteId: this.#needs.siteId,
      version: payloadVersion,
      ...(checkpoint && { checkpoint }),
    }
  }

  /** Stores a notification as bytes. Returns its `seq`, the place in the order of publication. */
  keep(tx: Tx, sent: { eventId: string; type: EventType; timestampMs: number; body: Uint8Array }): number {
    this.#written += 1
    const { eventId, type, timestampMs, body } = sent
    return tx.run(newNotification, { event_id: eventId, type, timestamp_ms: timestampMs, body }).lastId
  }

  #insert(tx: Tx, { id, type, timestamp, ...rest }: Envelope): void {
    const body = Buffer.from(JSON.stringify({ id, type, timestamp, ...rest }), 'utf8')
    this.keep(tx, { eventId: id, type, timestampMs: Date.parse(timestamp), body })
  }
}
