import { built, pick, type ReadTx, type Tx } from '../database/index.ts'
import { isoTime } from '../platform/index.ts'
import type { CreatedKind, EventType } from './event-types.ts'
import type { Inspect } from './notifications.ts'
import { sql, tables } from './tables.ts'

/** Version of the payload schemas, `metadata.version`. */
export const payloadVersion = '1.0'

export type AnnouncedEvent = {
  readonly type: Exclude<EventType, 'event.created' | 'webhook.test'>
  /** UUIDv7, the envelope's id; the row's own event id where it has one. */
  readonly eventId: string
  /** When the gateway recorded it. */
  readonly timestampMs: number
  readonly data: Record<string, unknown>
  /** Warehouse of the slot, camera or unit; the site's own when the event has none. */
  readonly warehouseId?: number | undefined
}

/** An event whose data `event.created` repeats as it is. For motion `event.created` has other data. */
export type PublishedEvent = AnnouncedEvent & { readonly type: Exclude<AnnouncedEvent['type'], 'motion.detected'> }

/** A fact without an event type: only `event.created` reports it. */
export type CreatedEvent = Omit<AnnouncedEvent, 'type' | 'eventId'> & { readonly type: CreatedKind }

/** A checkpoint in a notification: a receiver that keeps it can compare the log with it later. */
export type CheckpointNote = {
  readonly logId: string
  /** Leaves of the log. */
  readonly size: number
  /** Root hash over them, hex. */
  readonly root: string
  /** The signed checkpoint as text, with the cosignatures of witnesses that it has by then. */
  readonly note: string
}

export type Envelope = {
  readonly id: string
  readonly type: EventType
  readonly timestamp: string
  readonly data: Record<string, unknown>
  readonly metadata: { readonly warehouseId: number; readonly siteId: string; readonly version: string }
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
  /**
   * Returns whether notifications must be written: an endpoint is registered (also one that is switched off), or the outbox still
   * holds rows. With rows, an endpoint that was deleted and registered again can recover the missed ones.
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
  #written = 0

  /**
   * `inspect` gets the data of everything that is published; see `inspector`. `isOwed` returns whether notifications must be
   * written; tests return true.
   */
  constructor(needs: OutboxNeeds) {
    this.#needs = needs
    this.#inspect = needs.inspect ?? (() => true)
  }

  /**
   * Number of notifications that this process has written, those of undone transactions too. While it has not grown, none is new.
   */
  get written(): number {
    return this.#written
  }

  /** Publishes the event, and `event.created` about it. */
  publish(tx: Tx, event: PublishedEvent): void {
    if (!this.#needs.isOwed(tx)) return
    const parts = this.#partsOf(event)
    const fits = this.#inspect(event.type, event.data)
    this.#announce(tx, event, parts)
    // Its schema wraps the schema that the data has just passed.
    if (!fits) this.#inspect('event.created', createdOf(event))
    this.#created(tx, event, parts)
  }

  /** Publishes the event alone, for a fact that is reported before its row exists; `created` follows with the row. */
  announce(tx: Tx, event: AnnouncedEvent): void {
    if (!this.#needs.isOwed(tx)) return
    this.#inspect(event.type, event.data)
    this.#announce(tx, event, this.#partsOf(event))
  }

  /** Publishes `event.created` about an event. */
  created(tx: Tx, event: AnnouncedEvent | CreatedEvent): void {
    if (!this.#needs.isOwed(tx)) return
    this.#inspect('event.created', createdOf(event))
    this.#created(tx, event, this.#partsOf(event))
  }

  envelope(
    type: EventType,
    id: string,
    timestampMs: number,
    data: Record<string, unknown>,
    warehouseId?: number,
  ): Envelope {
    this.#inspect(type, data)
    return { id, type, timestamp: isoTime(timestampMs), data, metadata: this.#metadata(warehouseId) }
  }

  #announce(tx: Tx, { type, eventId, timestampMs }: AnnouncedEvent, parts: Parts): void {
    this.keep(tx, { eventId, type, timestampMs, body: bodyOf(eventId, type, parts, parts.data) })
  }

  #created(tx: Tx, { type, timestampMs }: AnnouncedEvent | CreatedEvent, parts: Parts): void {
    const eventId = this.#needs.makeId()
    const data = `{"kind":${JSON.stringify(type)},"event":${parts.data}}`
    this.keep(tx, { eventId, type: 'event.created', timestampMs, body: bodyOf(eventId, 'event.created', parts, data) })
  }

  #partsOf({ data, timestampMs, warehouseId }: AnnouncedEvent | CreatedEvent): Parts {
    return {
      timestamp: isoTime(timestampMs),
      data: JSON.stringify(data),
      metadata: JSON.stringify(this.#metadata(warehouseId)),
    }
  }

  #metadata(warehouseId: number | undefined): Envelope['metadata'] {
    return {
      warehouseId: warehouseId ?? this.#needs.warehouseId,
      siteId: this.#needs.siteId,
      version: payloadVersion,
    }
  }

  /** Stores a notification as bytes. Returns its `seq`, the place in the order of publication. */
  keep(tx: Tx, sent: { eventId: string; type: EventType; timestampMs: number; body: Uint8Array }): number {
    this.#written += 1
    const { eventId, type, timestampMs, body } = sent
    return tx.run(newNotification, { event_id: eventId, type, timestamp_ms: timestampMs, body }).lastId
  }
}

/** The parts of a notification as JSON; two notifications about one event differ in the rest. */
type Parts = { readonly timestamp: string; readonly data: string; readonly metadata: string }

/** Returns the bytes of JSON.stringify over the envelope. */
function bodyOf(id: string, type: EventType, { timestamp, metadata }: Parts, data: string): Uint8Array {
  const head = `{"id":${JSON.stringify(id)},"type":"${type}","timestamp":"${timestamp}","data":${data}`
  return Buffer.from(`${head},"metadata":${metadata}}`, 'utf8')
}

const endOfCheckpoint = Buffer.from('}}}')
const twoBraces = 2

/**
 * Returns a notification with the checkpoint, a JSON text, as the last field of `metadata`. A notification of schema 16 comes back
 * as it is: its stored bytes end with its checkpoint, the only object in `metadata`.
 */
export function withCheckpoint(body: Buffer, checkpoint: string): Buffer {
  if (body.subarray(-endOfCheckpoint.length).equals(endOfCheckpoint)) return body
  return Buffer.concat([body.subarray(0, -twoBraces), Buffer.from(`,"checkpoint":${checkpoint}}}`, 'utf8')])
}

const createdOf = ({ type, data }: AnnouncedEvent | CreatedEvent) => ({ kind: type, event: data })
