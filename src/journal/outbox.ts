import type { ReadTx, Tx } from '../database/index.ts'
import { isoTime } from '../world/index.ts'
import type { Inspect } from './notifications.ts'

/** Every type of notification; the document's list. */
export const eventTypes = [
  'event.created',
  'transport_unit.created',
  'transport_unit.stage_changed',
  'transport_unit.completed',
  'whms.placement',
  'whms.removal',
  'whms.verification',
  'whms.dispute',
  'incident.created',
  'incident.resolved',
  'audit.report_generated',
  'motion.detected',
  'scale.reading',
  'webhook.test',
] as const

export type EventType = (typeof eventTypes)[number]

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

export type Envelope = {
  readonly id: string
  readonly type: EventType
  readonly timestamp: string
  readonly data: Record<string, unknown>
  readonly metadata: { readonly warehouseId: number; readonly siteId: string; readonly version: string }
}

/** Whether any endpoint is registered; one that is switched off is owed what happens meanwhile. */
const isAnyoneOwed = (tx: ReadTx): boolean => tx.oneOf('SELECT 1 FROM webhook LIMIT 1') !== undefined

/**
 * The one place that writes notifications, in the transaction of what they tell. While no endpoint is registered
 * nothing is written: one that comes later gets what is published from then on.
 */
export class Outbox {
  readonly #siteId: string
  readonly #warehouseId: number
  readonly #makeId: () => string
  readonly #inspect: Inspect
  readonly #isOwed: (tx: ReadTx) => boolean

  /**
   * `inspect` sees the data of everything that is published; see `inspector`. `isOwed`: whether anybody is to be told;
   * tests say yes, to see what would be.
   */
  constructor(options: {
    siteId: string
    warehouseId: number
    makeId: () => string
    inspect?: Inspect
    isOwed?: (tx: ReadTx) => boolean
  }) {
    this.#siteId = options.siteId
    this.#warehouseId = options.warehouseId
    this.#makeId = options.makeId
    this.#inspect = options.inspect ?? (() => {})
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
  created(tx: Tx, event: PublishedEvent): void {
    if (this.#isOwed(tx)) this.#created(tx, event)
  }

  #announce(tx: Tx, event: PublishedEvent): void {
    this.#insert(tx, this.envelope(event.type, event.eventId, event.timestampMs, event.data, event.warehouseId))
  }

  #created(tx: Tx, event: PublishedEvent): void {
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
    const metadata = { warehouseId: warehouseId ?? this.#warehouseId, siteId: this.#siteId, version: payloadVersion }
    return { id, type, timestamp: isoTime(timestampMs), data, metadata }
  }

  #insert(tx: Tx, envelope: Envelope): void {
    const body = Buffer.from(JSON.stringify(envelope), 'utf8')
    tx.runOf('INSERT INTO outbox (event_id, type, timestamp_ms, body) VALUES (?, ?, ?, ?)', [
      envelope.id,
      envelope.type,
      Date.parse(envelope.timestamp),
      body,
    ])
  }
}
