import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Ask, Caller, Reply, RequestOrigin } from '../http/index.ts'
import type { AuditTrail, Idempotency } from '../journal/index.ts'
import type { People } from '../log/index.ts'
import type { Clock } from '../platform/index.ts'
import {
  type Asset,
  type AssetService,
  checkDigit,
  GS,
  readBarcode,
  type Slot,
  type WarehouseService,
} from '../warehouse/index.ts'
import { type LabelContent, type Layout, layOut } from './layout.ts'
import { type NewSsccs, type Printer, type PrintJob, type PrintOrder, readSize } from './schema.ts'
import type { LabelSettings, PrinterSettings } from './settings.ts'
import * as store from './store.ts'
import { toSvg } from './svg.ts'
import { type Symbology, symbolsFor } from './symbol.ts'
import type { PrintJobRow } from './tables.ts'
import { toZpl } from './zpl.ts'

/** Digits of an SSCC in front of its check digit: extension digit, company prefix, serial. */
const bodyDigits = 17

/** Size of a series (extension digit and company prefix), in numbers. */
const seriesSize = (series: string): number => 10 ** (bodyDigits - series.length)

/** Returns the SSCCs of `count` serials from `first` on, 18 digits each. */
function ssccsFrom(series: string, first: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const body = `${series}${String(first + i).padStart(bodyDigits - series.length, '0')}`
    return `${body}${checkDigit(body)}`
  })
}

export const jobsPath = '/api/whms/labels/jobs'
const defaultDpi = 203

export type LabelForm = {
  readonly format?: 'svg' | 'zpl' | undefined
  readonly size?: string | undefined
  readonly dpi?: number | undefined
  readonly symbology?: Symbology | undefined
  readonly copies?: number | undefined
}

export type Label = { readonly mediaType: 'image/svg+xml' | 'application/zpl'; readonly text: string }
type JobReply = Reply<{ success: true } & PrintJob>

type LabelServiceNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly people: People
  readonly audit: AuditTrail
  readonly idempotency: Idempotency
  readonly settings: () => LabelSettings
  /** Called when a job was queued. */
  readonly onQueued: () => void
}

/** Labels of slots and assets, the queue of those to be printed, and numbers for pallets that have none. */
export class LabelService {
  readonly #needs: LabelServiceNeeds

  constructor(needs: LabelServiceNeeds) {
    this.#needs = needs
  }

  /** Throws NOT_FOUND, VALIDATION_ERROR when the code does not fit. */
  slotLabel(path: string, byLabel: boolean, caller: Caller, form: LabelForm): Label {
    const content = this.#needs.work.read((tx) => {
      const slot = this.#needs.warehouse.slotByPath(tx, path, byLabel, caller)
      return slotContent(slot, this.#needs.warehouse.warehouse(tx, slot.warehouseId, caller).name)
    })
    return this.#draw(content, form)
  }

  /** As `slotLabel`. */
  assetLabel(barcode: string, caller: Caller, form: LabelForm): Label {
    return this.#draw(assetContent(this.#needs.assets.asset(barcode, caller)), form)
  }

  /** Puts a label into a printer's queue. Throws NOT_CONFIGURED, REFERENCE_NOT_FOUND, VALIDATION_ERROR. */
  async print(order: PrintOrder, { by, claim }: Ask): Promise<JobReply> {
    const reply = await this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim, () => this.#queue(tx, this.#jobOf(tx, order, by.caller), null, by)),
    )
    this.#needs.onQueued()
    return reply
  }

  /** Queues the same bytes again, whatever has become of the slot or asset. Throws NOT_FOUND. */
  async reprint(id: number | undefined, { by, claim }: Ask): Promise<JobReply> {
    const reply = await this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim, () => {
        const job = this.#job(tx, id, by.caller)
        return this.#queue(tx, job, job.id, by)
      }),
    )
    this.#needs.onQueued()
    return reply
  }

  /** Cancels a queued job; one that is printing or finished stays as it is. Throws NOT_FOUND. */
  cancel(id: number | undefined, { by, claim }: Ask): Promise<JobReply> {
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim, () => {
        const job = this.#job(tx, id, by.caller)
        if (store.cancelJob(tx, job.id, this.#needs.clock.now()))
          this.#needs.audit.write(tx, by, { action: 'label.cancelled', entity: 'print_job', entityId: job.id })
        return { status: 200 as const, body: this.#shown(tx, job.id, by.caller) }
      }),
    )
  }

  /** Throws NOT_FOUND. */
  job(id: number | undefined, caller: Caller): PrintJob {
    return this.#needs.work.read((tx) => store.toPrintJob(this.#job(tx, id, caller)))
  }

  jobs(filter: Pick<store.JobFilter, 'printer' | 'state'>, page: { limit: number; offset: number }, caller: Caller) {
    const hiddenWarehouses = this.#needs.warehouse.hiddenFrom(caller)
    const { limit, offset } = page
    return this.#needs.work.read((tx) => {
      if (hiddenWarehouses.length === 0) {
        const { rows, total } = store.listJobs(tx, { ...filter, hiddenWarehouses }, limit, offset)
        return { jobs: rows.map(store.toPrintJob), total }
      }
      // The label of a pallet belongs to no warehouse: whether it may be shown is checked pallet by pallet.
      const { rows } = store.listJobs(tx, { ...filter, hiddenWarehouses }, mostJobs, 0)
      const seen = rows.filter((job) => this.#maySee(tx, job, caller))
      return { jobs: seen.slice(offset, offset + limit).map(store.toPrintJob), total: seen.length }
    })
  }

  printers(caller: Caller): Printer[] {
    const { printers, size } = this.#needs.settings()
    return this.#needs.work.read((tx) =>
      printers.map((one) => {
        const waiting = store.queueOf(tx, one.name).filter((job) => this.#maySee(tx, job, caller))
        const lastError = waiting[0]?.last_error ?? null
        return { name: one.name, dpi: one.dpi, size: one.size ?? size, waiting: waiting.length, lastError }
      }),
    )
  }

  /** Gives SSCCs to pallets that have none and registers each as an asset. Throws NOT_CONFIGURED. */
  allocate(wanted: NewSsccs, { by, claim }: Ask) {
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim, () => {
        const { count = 1, type = 'pallet', gtin, lot, bestBefore } = wanted
        const data = this.#freeNumbers(tx, count).map((sscc) => {
          const asset_id = `00${sscc}`
          const goods = { ...(gtin && { gtin }), ...(lot && { lot }), ...(bestBefore && { bestBefore }) }
          this.#needs.assets.register(tx, { asset_id, type, ...goods }, by)
          return { sscc, asset_id }
        })
        const location = `/api/whms/assets/${data[0]?.asset_id}`
        return { status: 201 as const, body: { success: true as const, data }, location }
      }),
    )
  }

  /** Returns `count` new SSCCs, without those that an asset already has. Throws NOT_CONFIGURED. */
  #freeNumbers(tx: Tx, count: number): string[] {
    const { sscc } = this.#needs.settings()
    if (!sscc) throw new AppError('NOT_CONFIGURED', 'The config has no company prefix for pallet numbers (labels.sscc)')
    const free: string[] = []
    while (free.length < count) {
      const series = `${sscc.extensionDigit}${sscc.companyPrefix}`
      const first = store.takeSerials(tx, series, count - free.length)
      if (first + count - free.length > seriesSize(series))
        throw new AppError('NOT_CONFIGURED', 'All numbers of this prefix have been given; set another extension digit')
      const numbers = ssccsFrom(series, first, count - free.length)
      free.push(...numbers.filter((number) => !this.#needs.assets.find(tx, `00${number}`)))
    }
    return free
  }

  #draw(content: LabelContent, { format = 'svg', size, dpi = defaultDpi, symbology, copies = 1 }: LabelForm): Label {
    const layout = fitted(content, size ?? this.#needs.settings().size, dpi, symbology)
    if (format === 'zpl') return { mediaType: 'application/zpl', text: toZpl(layout, copies) }
    return { mediaType: 'image/svg+xml', text: toSvg(layout) }
  }

  #printer(name: string | undefined): PrinterSettings {
    const { printers } = this.#needs.settings()
    if (printers.length === 0) throw new AppError('NOT_CONFIGURED', 'The config names no printer')
    const found = name === undefined ? printers[0] : printers.find((one) => one.name === name)
    if (found) return found
    throw new AppError('REFERENCE_NOT_FOUND', 'There is no such printer', {
      fields: [{ path: 'printer', message: `no printer ${name}` }],
    })
  }

  #jobOf(
    tx: ReadTx,
    order: PrintOrder,
    caller: Caller,
  ): Pick<store.NewJob, Exclude<keyof store.NewJob, 'id' | 'actor_commitment' | 'reprint_of'>> {
    const printer = this.#printer(order.printer)
    const { content, ...what } =
      order.asset_barcode === undefined
        ? this.#slotJob(tx, order, caller)
        : this.#assetJob(tx, order.asset_barcode, caller)
    const copies = order.copies ?? 1
    const layout = fitted(content, printer.size ?? this.#needs.settings().size, printer.dpi, order.symbology)
    return { printer: printer.name, copies, zpl: Buffer.from(toZpl(layout, copies)), ...what }
  }

  #slotJob(tx: ReadTx, order: PrintOrder, caller: Caller) {
    const slot = this.#needs.warehouse.slotReference(tx, { id: order.slot_id, code: order.slot_code }, caller)
    const content = slotContent(slot, this.#needs.warehouse.warehouse(tx, slot.warehouseId, caller).name)
    return { content, entity: 'slot' as const, entity_id: slot.id, label: slot.slot_id, warehouse_id: slot.warehouseId }
  }

  #assetJob(tx: ReadTx, barcode: string, caller: Caller) {
    const asset = this.#needs.assets.visible(tx, this.#needs.assets.readBarcode(tx, barcode).key, caller)
    if (!asset) {
      throw new AppError('REFERENCE_NOT_FOUND', 'There is no such asset', {
        fields: [{ path: 'asset_barcode', message: 'neither registered nor ever seen' }],
      })
    }
    const content = assetContent(asset)
    return { content, entity: 'asset' as const, entity_id: asset.id, label: asset.asset_id, warehouse_id: null }
  }

  #queue(
    tx: Tx,
    job: Omit<store.NewJob, 'id' | 'actor_commitment' | 'reprint_of'>,
    reprintOf: number | null,
    by: RequestOrigin,
  ) {
    const place = { subject: 'print_job', row: store.nextJobId(tx), field: 'actor' }
    const actor_commitment = this.#needs.people.inRow(tx, this.#needs.people.ofCaller(tx, by.caller), place)
    const id = store.insertJob(
      tx,
      { ...job, id: place.row, actor_commitment, reprint_of: reprintOf },
      this.#needs.clock.now(),
    )
    this.#needs.audit.write(tx, by, {
      action: reprintOf === null ? 'label.printed' : 'label.reprinted',
      entity: 'print_job',
      entityId: id,
      changes: { printer: job.printer, [job.entity]: job.entity_id, copies: job.copies },
    })
    return { status: 201 as const, body: this.#shown(tx, id, by.caller), location: `${jobsPath}/${id}` }
  }

  #shown(tx: ReadTx, id: number, caller: Caller): { success: true } & PrintJob {
    return { success: true, ...store.toPrintJob(this.#job(tx, id, caller)) }
  }

  /** Returns a job. Throws NOT_FOUND, also for a job that the caller may not see. */
  #job(tx: ReadTx, id: number | undefined, caller: Caller): PrintJobRow & { requested_by: string | null } {
    const job = id === undefined ? undefined : store.findJob(tx, id)
    if (!job || !this.#maySee(tx, job, caller)) throw AppError.notFound('Print job')
    return job
  }

  /** Returns whether the caller may see a job: of a slot by its warehouse, of a pallet by whether the pallet is visible. */
  #maySee(tx: ReadTx, job: Pick<PrintJobRow, 'entity' | 'label' | 'warehouse_id'>, caller: Caller): boolean {
    if (job.warehouse_id !== null) return this.#needs.warehouse.isVisible(caller, job.warehouse_id)
    return (
      job.entity !== 'asset' ||
      this.#needs.assets.visible(tx, this.#needs.assets.readBarcode(tx, job.label).key, caller) !== undefined
    )
  }
}

/** More jobs than a queue and its recent past ever have. */
const mostJobs = 100_000

/** Throws VALIDATION_ERROR. */
function fitted(content: LabelContent, size: string, dpi: number, symbology: Symbology | undefined): Layout {
  const paper = readSize(size)
  if (!paper) throw AppError.field('size', 'expected width x height in mm')
  const symbols = symbology === undefined ? content.symbols : content.symbols.filter((s) => s.symbology === symbology)
  if (symbols.length === 0) throw AppError.field('symbology', `cannot carry this code so that its scan is the same`)
  const layout = layOut({ ...content, symbols }, { ...paper, dpi })
  if (layout) return layout
  throw AppError.field(symbology === undefined ? 'size' : 'symbology', 'the code does not fit on the label')
}

function slotContent(slot: Slot, warehouseName: string): LabelContent {
  return {
    title: slot.slot_id,
    lines: [slot.zone, warehouseName],
    readable: slot.slot_id,
    // The code of a slot is its label as written: scans name a slot by its text.
    symbols: symbolsFor(slot.slot_id, { gs1: undefined, key: slot.slot_id }),
  }
}

function assetContent(asset: Asset): LabelContent {
  const code = readBarcode(asset.asset_id)
  const readable = code.gs1
    ? [...code.gs1].map(([ai, value]) => `(${ai})${value}`).join('')
    : code.key.replaceAll(GS, ' ')
  const fact = (name: string, value: string | null) => (value === null ? [] : [`${name} ${value}`])
  return {
    title: asset.sscc ?? asset.serial ?? readable,
    // The most important first: on a small label the last ones have no room.
    lines: [
      [...fact('LOT', asset.lot), ...fact('BEST BEFORE', asset.bestBefore)].join('   '),
      ...fact('GTIN', asset.gtin),
      ...(asset.sscc === null ? [] : fact('SERIAL', asset.serial)),
      asset.type ?? '',
    ].filter((line) => line !== ''),
    readable,
    symbols: symbolsFor(asset.asset_id, code),
  }
}
