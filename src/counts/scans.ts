import type { ReadTx, Tx } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller, RequestOrigin } from '../http/index.ts'
import { callerMark, headOf, newestTimestampMs, type Recorder, requestHash } from '../ledger/index.ts'
import { mayBeSame, type People } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import {
  type AssetService,
  barcodeWarningText,
  labelOf,
  readBarcode,
  type WarehouseService,
} from '../warehouse/index.ts'
import type { Pallet } from './comparison.ts'
import { scanSha256 } from './scan-statement.ts'
import { decidingScan, foundIn } from './scanned.ts'
import type { CountScan, NewCountScan, ScanWarning } from './schema.ts'
import * as store from './store.ts'

const scanWarningText = {
  ...barcodeWarningText,
  SAME_COUNTER: 'the slot is counted again by the person who counted it before',
} as const satisfies Record<ScanWarning, string>

type ScansNeeds = { warehouse: WarehouseService; assets: AssetService; recorder: Recorder; people: People }

/** Stores scans of counts as they were made. */
export class Scans {
  readonly #needs: ScansNeeds

  constructor(needs: ScansNeeds) {
    this.#needs = needs
  }

  /**
   * Returns the id of a scan that this client sent before under its id; undefined for a new one. Throws
   * VALIDATION_ERROR.
   */
  repeated(tx: ReadTx, countId: number, asked: NewCountScan, caller: Caller): number | undefined {
    if (asked.client_scan_id === undefined) return undefined
    const known = store.findClientScan(tx, countId, callerMark(tx, caller), asked.client_scan_id)
    if (known && known.request_sha256 !== requestHash(asked)) {
      throw AppError.field('client_scan_id', `was used for scan ${known.id} with another body`)
    }
    return known?.id
  }

  /** Appends a scan. Throws REFERENCE_NOT_FOUND, TIMESTAMP_IN_FUTURE. */
  append(tx: Tx, countId: number, asked: NewCountScan, deviceTimeMs: number | undefined, by: RequestOrigin) {
    const slot = this.#needs.warehouse.slotReference(tx, { id: asked.slot_id, code: asked.slot_code }, by.caller)
    demandSlot(tx, countId, slot)
    const found = palletsOf(tx, asked.barcodes ?? [], this.#needs.assets)
    const sight = this.#needs.warehouse.sightOf(by.caller)
    const keys = ['', ...found.map(({ key }) => key)]
    const newestMs = Math.max(...keys.map((key) => newestTimestampMs(tx, slot.id, key, sight)))
    const when = this.#needs.recorder.timeOf({ timestampMs: asked.timestamp, deviceTimeMs }, newestMs)
    const id = store.nextScanId(tx)
    const counter = this.#needs.people.ofCaller(tx, by.caller)
    const row = {
      id,
      count_id: countId,
      slot_id: slot.id,
      found: JSON.stringify(found),
      counter_commitment: this.#needs.people.inRow(tx, counter, { subject: 'count_scan', row: id, field: 'counter' }),
      timestamp_ms: when.timestampMs,
      device_timestamp_ms: when.deviceTimestampMs,
      received_at_ms: this.#needs.recorder.nowMs(),
      clock_offset_ms: when.clockOffsetMs,
      time_quality: when.timeQuality,
      known_event_id: headOf(tx).id,
      caller: callerMark(tx, by.caller),
      client_scan_id: asked.client_scan_id ?? null,
      request_sha256: requestHash(asked),
    }
    store.appendScan(tx, { ...row, sha256: scanSha256(row) })
    return row
  }

  /** Returns a scan as its POST answers it, without anything that is expected. */
  shownTo(tx: ReadTx, id: number): CountScan {
    const scan = store.findScan(tx, id)
    if (!scan) throw new Error(`there is no scan ${id}`)
    const ofSlot = store.scansOf(tx, scan.count_id, scan.slot_id)
    const mark = store.recountsOf(tx, scan.count_id).get(scan.slot_id)
    const found = foundIn(scan)
    const before = mark && ofSlot.findLast((other) => other.id <= mark.after_scan_id)
    const isSame = before && mark && scan.id > mark.after_scan_id && isOfSame(tx, before, scan)
    const codes: ScanWarning[] = [
      ...new Set(found.flatMap(({ barcode }): readonly ScanWarning[] => readBarcode(barcode).warnings)),
      ...(isSame ? (['SAME_COUNTER'] as const) : []),
    ]
    return {
      id: scan.id,
      countId: scan.count_id,
      slot_id: scan.slot_id,
      slot_code: labelOf(tx, scan.slot_id) ?? '',
      found: found.map(({ barcode }) => barcode),
      empty: found.length === 0,
      counter: scan.counter,
      timestamp: isoTime(scan.timestamp_ms),
      received_at: isoTime(scan.received_at_ms),
      time_quality: scan.time_quality,
      client_scan_id: scan.client_scan_id,
      sha256: scan.sha256,
      decides: decidingScan(ofSlot, mark)?.id === scan.id,
      warnings: codes.map((code) => ({ code, message: scanWarningText[code] })),
    }
  }
}

function isOfSame(tx: ReadTx, one: store.Scan, other: store.Scan): boolean {
  if (one.counter_commitment === other.counter_commitment) return true
  const [first, second] = [store.counterOf(tx, one), store.counterOf(tx, other)]
  return first !== undefined && second !== undefined && mayBeSame(first, second)
}

/** Returns each pallet once, in the order of the scans. */
function palletsOf(tx: ReadTx, barcodes: readonly string[], assets: AssetService): Pallet[] {
  const found = new Map<string, Pallet>()
  for (const barcode of barcodes) {
    const { key } = assets.readBarcode(tx, barcode)
    if (!found.has(key)) found.set(key, { barcode, key })
  }
  return [...found.values()]
}

/** Throws REFERENCE_NOT_FOUND unless the slot is part of the count. */
export function demandSlot(tx: ReadTx, countId: number, slot: { id: number; slot_id: string }): void {
  if (store.isCounted(tx, countId, slot.id)) return
  throw new AppError('REFERENCE_NOT_FOUND', 'The slot is not in this count', {
    fields: [{ path: 'slot_id', message: `${slot.slot_id} is not in this count` }],
  })
}
