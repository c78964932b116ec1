import type { ReadTx, UnitOfWork } from '../database/index.ts'
import type { Caller } from '../http/index.ts'
import {
  boundsOf,
  correctionsOf,
  eventsInSlices,
  findEvent,
  headOf,
  type OpenedRow,
  type PlacementEvent,
  toPlacementEvent,
} from '../ledger/index.ts'
import { type Clock, isoTime, zoneOffset } from '../platform/index.ts'
import type { AssetService, WarehouseService } from '../warehouse/index.ts'
import { byteOrderMark, csvHead, csvLines } from './csv.ts'
import { epcisContext, epcisId, objectEvent } from './epcis.ts'

export type ExportQuery = {
  readonly slot_id?: number | undefined
  readonly asset_barcode?: string | undefined
  readonly event_type?: string | undefined
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  readonly knownAtMs?: number | undefined
  readonly afterSeq?: number | undefined
}

type Page = { readonly tx: ReadTx; readonly rows: readonly OpenedRow[]; readonly lastId: number }

type ExchangeServiceNeeds = {
  readonly work: Pick<UnitOfWork, 'read' | 'readInSlices'>
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly clock: Pick<Clock, 'now'>
  readonly siteUrl: () => string
}

/** Exports the ledger. Each text comes in pieces, made when the client has taken the one before. */
export class ExchangeService {
  readonly #needs: ExchangeServiceNeeds

  constructor(needs: ExchangeServiceNeeds) {
    this.#needs = needs
  }

  async *csv(query: ExportQuery, caller: Caller, withMark: boolean): AsyncGenerator<string> {
    yield `${withMark ? byteOrderMark : ''}${csvHead()}`
    yield* this.#pages(query, caller, ({ rows }) => csvLines(rows.map(toPlacementEvent)))
  }

  async *ndjson(query: ExportQuery, caller: Caller): AsyncGenerator<string> {
    yield* this.#pages(query, caller, ({ rows }) =>
      rows.map((row) => `${JSON.stringify(toPlacementEvent(row))}\n`).join(''),
    )
  }

  /** Yields an EPCISDocument. The declaration that an event was wrong comes directly before its correction. */
  async *epcis(query: ExportQuery, caller: Caller): AsyncGenerator<string> {
    const head = {
      '@context': epcisContext,
      type: 'EPCISDocument',
      schemaVersion: '2.0',
      creationDate: isoTime(this.#needs.clock.now()),
    }
    yield `${JSON.stringify(head).slice(0, -1)},"epcisBody":{"eventList":[`
    let isFirst = true
    for await (const text of this.#pages(query, caller, (page) => this.#objectEvents(page, caller))) {
      yield isFirst || text === '' ? text : `,${text}`
      isFirst &&= text === ''
    }
    yield ']}}'
  }

  /** Yields the texts of all slices; an empty one where nothing was found. Events recorded meanwhile are left out. */
  async *#pages(query: ExportQuery, caller: Caller, toText: (page: Page) => string): AsyncGenerator<string> {
    const { asset_barcode } = query
    const lastId = this.#needs.work.read(
      (tx) => boundsOf(tx, { knownAtMs: query.knownAtMs, lastId: headOf(tx).id }).lastId ?? 0,
    )
    const filter = {
      slotId: query.slot_id,
      assetKeys:
        asset_barcode === undefined
          ? undefined
          : this.#needs.work.read((tx) => this.#needs.assets.keysOf(tx, asset_barcode)),
      eventType: query.event_type,
      fromMs: query.fromMs,
      toMs: query.toMs,
      afterSeq: query.afterSeq,
      lastId,
    }
    const slots = { hiddenWarehouses: this.#needs.warehouse.hiddenFrom(caller) }
    for await (const rows of eventsInSlices(this.#needs.work, filter, slots)) {
      yield rows.length === 0 ? '' : this.#needs.work.read((tx) => toText({ tx, rows, lastId }))
    }
  }

  #objectEvents({ tx, rows, lastId }: Page, caller: Caller): string {
    const siteUrl = this.#needs.siteUrl()
    const around = (event: PlacementEvent) => ({ siteUrl, zoneOffset: this.#offsetOf(tx, event, caller) })
    return rows
      .flatMap((row) => {
        const event = toPlacementEvent(row)
        const wrong = this.#declaredWrong(tx, event, lastId, caller)
        return [...(wrong ? [{ ...wrong, ...around(wrong.event) }] : []), { event, ...around(event) }]
      })
      .map(({ event, ...surroundings }) => JSON.stringify(objectEvent(event, surroundings)))
      .join(',')
  }

  /**
   * Returns the event that this one corrects, with its error declaration. Events of one commit that correct the same
   * event share one declaration, before the first of them.
   */
  #declaredWrong(tx: ReadTx, event: PlacementEvent, lastId: number, caller: Caller) {
    if (event.corrects_event_id === null) return undefined
    const together = correctionsOf(tx, event.corrects_event_id, lastId).filter(
      ({ received_at_ms }) => isoTime(received_at_ms) === event.received_at,
    )
    const corrected = findVisible(tx, event.corrects_event_id, this.#needs.warehouse, caller)
    if (together[0]?.id !== event.id || !corrected) return undefined
    const errorDeclaration = {
      declarationTime: event.received_at,
      reason: 'incorrect_data' as const,
      correctiveEventIDs: together.map(({ event_id }) => epcisId(event_id)),
    }
    return { event: corrected, errorDeclaration }
  }

  #offsetOf(tx: ReadTx, event: PlacementEvent, caller: Caller): string {
    const { warehouseId } = this.#needs.warehouse.slot(tx, event.slot_id, caller)
    return zoneOffset(this.#needs.warehouse.warehouse(tx, warehouseId, caller).timezone, Date.parse(event.timestamp))
  }
}

function findVisible(tx: ReadTx, id: number, warehouse: WarehouseService, caller: Caller): PlacementEvent | undefined {
  const row = findEvent(tx, id)
  return row && warehouse.visibleSlot(tx, row.slot_id, caller) ? toPlacementEvent(row) : undefined
}
