import type { DiskRoom, Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller, FileAnswer, RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { type Recorder, uncountedOpenings } from '../ledger/index.ts'
import { type People, sha256 } from '../log/index.ts'
import type { Clock } from '../platform/index.ts'
import type { AssetService, Slot, Warehouse, WarehouseService } from '../warehouse/index.ts'
import { assetsForm } from './assets.ts'
import { columnOf, columnsOf, explainColumns, findRepeats, lacksColumns, nameOf } from './columns.ts'
import type { Form, RowOutcome } from './form.ts'
import { Grid } from './grid.ts'
import { keepList, listFile } from './list-file.ts'
import { openingForm } from './opening-stock.ts'
import { type Cause, type ListProblem, Problems } from './problems.ts'
import type { OpeningList } from './schema.ts'
import { type Row, readSheet, type Sheet } from './sheet.ts'
import { slotsForm } from './slots.ts'
import * as store from './store.ts'

export const listKinds = ['slots', 'assets', 'opening-stock'] as const
export type ListKind = (typeof listKinds)[number]

export const listLimitBytes = 32 * 1024 * 1024

/** Lines of a list that are read in one turn of the event loop: about 2 ms. */
const lookedLines = 500

/** Lines that share a transaction: about 10 ms, then other writes run. */
const sliceLines = 20

export type ImportOptions = {
  readonly kind: ListKind
  readonly dryRun: boolean
  readonly createZones: boolean
  /** Id or name of the warehouse of slots that name none; without it the site's own. */
  readonly warehouse?: string | undefined
  /** Slots without a place get one by their label. */
  readonly grid?: boolean
  /** Lines that the list may have; without it 200,000. */
  readonly mostRows?: number
}

export type ImportResult = {
  readonly kind: ListKind
  /** Hash of the list's bytes, hex. */
  readonly sha256: string
  readonly dryRun: boolean
  /** Whether the list has no problem: all of it is stored, or would be. */
  readonly ok: boolean
  /** A line was refused after others had been stored; the counts are those of the stored part. */
  readonly partlyStored: boolean
  readonly rows: number
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly zonesCreated: readonly string[]
  /** Count of each warning of the ledger. */
  readonly warnings: Readonly<Record<string, number>>
  /** In the order of the lines, the first thousand of `problemCount`. */
  readonly problems: readonly ListProblem[]
  readonly problemCount: number
  /** All problems grouped by cause, the most frequent first. */
  readonly causes: readonly Cause[]
  readonly notices: readonly ListProblem[]
  readonly noticeCount: number
  readonly noticeCauses: readonly Cause[]
}

/** Thrown to undo a transaction that was only a trial. */
class Undone extends Error {}

type ImportServiceNeeds = {
  readonly work: UnitOfWork
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly recorder: Recorder
  readonly audit: AuditTrail
  readonly people: People
  readonly clock: Pick<Clock, 'now'>
  readonly room: Pick<DiskRoom, 'demand'>
  readonly dataDir: string
  readonly warehouseId: () => number
}

/** Imports lists of slots, assets and opening stock, one at a time. A list with a problem is refused before anything of it is stored. */
export class ImportService {
  readonly #needs: ImportServiceNeeds
  /** The import under way, and those that wait for it. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(needs: ImportServiceNeeds) {
    this.#needs = needs
  }

  /**
   * Tries every line and returns all problems. Without a problem it stores the lines, a slice in each commit. After a crash the
   * same list completes the import: lines that are stored already change nothing. Waits for the import before it, so that no other
   * list changes the tried state. A scan or a person may change it: then the lines before the first refused one are stored, and the
   * result reports it. Throws STORAGE_FULL, NOT_READY; their details name the stored part.
   */
  import(bytes: Buffer, options: ImportOptions, by: RequestOrigin): Promise<ImportResult> {
    const result = this.#last.then(() => this.#import(bytes, options, by))
    this.#last = result.catch(() => undefined)
    return result
  }

  async #import(bytes: Buffer, options: ImportOptions, by: RequestOrigin): Promise<ImportResult> {
    const list = sha256(bytes).toString('hex')
    const problems = new Problems()
    const named = (written: string) => nameOf(written, columnsOf[options.kind])
    const sheet = await readSheet(bytes, problems, named, options.mostRows)
    if (!sheet) return resultOf(list, options, 0, new Tally(), problems)
    const zones = new Set<string>()
    const warehouseId = options.kind === 'slots' ? this.#warehouseOf(options, sheet, by, problems) : undefined
    // Every line would be refused, for a reason that is in none of them.
    if (options.kind === 'slots' && warehouseId === undefined) {
      return resultOf(list, options, sheet.rows.length, new Tally(), problems)
    }
    const isAsked = options.warehouse !== undefined
    const grid = options.grid ? await this.#gridOf(sheet, warehouseId, by) : undefined
    const onZone = (name: string) => zones.add(name)
    const form = this.#formOf(options, sheet, list, { warehouseId, isAsked, grid, onZone })
    explainColumns(sheet, form, problems)
    findRepeats(sheet, form, problems)
    const tried = new Tally(zones)
    if (!lacksColumns(sheet, form)) await this.#try(sheet, form, by, tried, problems)
    if (problems.count > 0 || options.dryRun) return resultOf(list, options, sheet.rows.length, tried, problems)
    if (tried.created + tried.updated === 0) return resultOf(list, options, sheet.rows.length, tried, problems)
    zones.clear()
    const done = new Tally(zones)
    if (options.kind === 'opening-stock') await this.#keep(bytes, list, sheet.rows.length, by)
    const stored = this.#store(sheet, form, by, done, problems)
    const failure = await stored.then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    const isPart = done.created + done.updated > 0 && (failure !== undefined || problems.count > 0)
    const recordTrail = () => this.#needs.work.write((tx) => this.#tell(tx, options.kind, list, done, by))
    if (failure) {
      // A full disk may refuse the entry too; the caller needs the first failure.
      if (isPart) await recordTrail().catch(() => undefined)
      throw isPart && failure.error instanceof AppError ? partlyFailed(failure.error, done) : failure.error
    }
    const [refused] = problems.list
    if (refused && isPart) problems.add(refused.line, null, `${storedWords(done)}; correct it and ${againWords}`)
    if (!refused || isPart) await recordTrail()
    return { ...resultOf(list, options, sheet.rows.length, done, problems), partlyStored: isPart }
  }

  /** Returns the lists of opening stock, the newest first, without those that name a hidden warehouse. */
  async lists(caller: Caller, signal?: AbortSignal): Promise<OpeningList[]> {
    const sight = this.#needs.warehouse.sightOf(caller)
    const lists: OpeningList[] = []
    for (const list of this.#needs.work.read(store.openingLists)) {
      if (this.#needs.work.read((tx) => store.listIsHidden(tx, list.sha256, sight))) continue
      const slices = this.#needs.work.readInSlices(
        0,
        (tx, afterLine: number) => {
          const { uncounted, next } = uncountedOpenings(tx, list.sha256, afterLine, lookedLines)
          return { found: uncounted, next }
        },
        signal,
      )
      let uncounted = 0
      for await (const found of slices) uncounted += found
      lists.push({ ...list, uncounted })
    }
    return lists
  }

  /** Returns the file of a list as it was imported. Throws NOT_FOUND, also when it names a hidden warehouse. */
  file(hash: string, caller: Caller): FileAnswer {
    const sight = this.#needs.warehouse.sightOf(caller)
    const found = this.#needs.work.read((tx) =>
      store.listIsHidden(tx, hash, sight) ? undefined : store.findOpeningList(tx, hash),
    )
    if (!found) throw AppError.notFound('List')
    return {
      path: listFile(this.#needs.dataDir, hash),
      mediaType: 'text/csv',
      sizeBytes: found.size_bytes,
      sha256: hash,
    }
  }

  /** Returns the warehouse of slots that name none. Adds a problem and returns undefined when there is no such warehouse. */
  #warehouseOf({ warehouse }: ImportOptions, sheet: Sheet, by: RequestOrigin, problems: Problems): number | undefined {
    const known = this.#needs.warehouse.warehouses(by.caller)
    const wanted = warehouse ?? `${this.#needs.warehouseId()}`
    const named = known.filter(({ id, name }) => `${id}` === wanted || sameName(name, wanted))
    const [found] = named
    if (found && named.length === 1) return found.id
    const needsIt = warehouse !== undefined || sheet.rows.some(({ cells }) => !cells.has('warehouseId'))
    if (!needsIt) return this.#needs.warehouseId()
    problems.add(sheet.headerLine, null, noWarehouse(wanted, known, named.length))
    return undefined
  }

  /** Reads the existing slots, a thousand at a time; other requests run in between. */
  async #gridOf(sheet: Sheet, warehouseId: number | undefined, by: RequestOrigin): Promise<Grid> {
    const existing: Slot[] = []
    for (let afterId: number | undefined = 0; afterId !== undefined; ) {
      const from: number = afterId
      const page = this.#needs.work.read((tx) => this.#needs.warehouse.slots(tx, by.caller, from, 1000))
      existing.push(...page.slots.filter((slot) => slot.warehouseId === warehouseId))
      afterId = page.lastId
      await new Promise((resolve) => setImmediate(resolve))
    }
    const hasPlace = (row: Row) => row.cells.has('floor_plan_polygon') || row.cells.has('x')
    const labels = sheet.rows.filter((row) => !hasPlace(row)).map(({ cells }) => cells.get('slot_id') ?? '')
    return new Grid(labels, existing)
  }

  #formOf({ kind, createZones }: ImportOptions, sheet: Sheet, list: string, slots: SlotSettings): Form {
    const { warehouse, assets, recorder } = this.#needs
    switch (kind) {
      case 'slots':
        return slotsForm({
          ...slots,
          warehouse,
          warehouseId: slots.warehouseId ?? this.#needs.warehouseId(),
          sheet,
          createZones,
        })
      case 'assets':
        return assetsForm(assets, sheet)
      case 'opening-stock':
        return openingForm({ ...{ warehouse, assets, recorder }, sheet, list })
    }
  }

  /** Stores every line in a transaction that is then undone, to find what would be refused before anything is stored. */
  async #try(sheet: Sheet, form: Form, by: RequestOrigin, tally: Tally, problems: Problems): Promise<void> {
    for (const slice of trialsOf(sheet.rows, form)) {
      const trial = this.#needs.work.write((tx) => {
        for (const row of slice) {
          const outcome = this.#line(tx, row, form, by, problems)
          if (outcome) tally.count(row, outcome)
        }
        throw new Undone()
      })
      await trial.catch((error: unknown) => {
        if (!(error instanceof Undone)) throw error
      })
    }
  }

  /** Stores the lines up to the first that is refused. Counts what is committed alone. */
  async #store(sheet: Sheet, form: Form, by: RequestOrigin, tally: Tally, problems: Problems): Promise<void> {
    for (const slice of slicesOf(sheet.rows)) {
      if (problems.count > 0) return
      const stored = await this.#needs.work.write((tx) => {
        const outcomes: [Row, RowOutcome][] = []
        for (const row of slice) {
          const outcome = this.#line(tx, row, form, by, problems)
          if (!outcome) break
          outcomes.push([row, outcome])
        }
        return outcomes
      })
      for (const [row, outcome] of stored) tally.count(row, outcome)
    }
  }

  /** Stores a line. When it is refused, adds its problems and returns undefined. */
  #line(tx: Tx, row: Row, form: Form, by: RequestOrigin, problems: Problems): RowOutcome | undefined {
    const attempt = this.#needs.recorder.attempt(tx, () => form.store(tx, row, by))
    if ('done' in attempt) return attempt.done
    const { fields = [], message, details, code } = attempt.refused
    if (code === 'STORAGE_FULL' || code === 'NOT_READY' || code === 'INTERNAL_ERROR') throw attempt.refused
    for (const { path, message: what } of fields) {
      const column = columnOf(path, form)
      problems.add(row.line, column, what, row.cells.get(column ?? ''))
    }
    if (fields.length === 0) problems.add(row.line, null, details || message)
    return undefined
  }

  async #keep(bytes: Buffer, list: string, rows: number, by: RequestOrigin): Promise<void> {
    await keepList(this.#needs.dataDir, list, bytes, this.#needs.room)
    await this.#needs.work.write((tx) => {
      const row = { sha256: list, sizeBytes: bytes.length, rows, receivedAtMs: this.#needs.clock.now() }
      if (store.addOpeningList(tx, row, this.#needs.people, this.#needs.people.ofCaller(tx, by.caller))) {
        this.#needs.audit.write(tx, by, { action: 'opening_list.stored', entity: 'opening_list', entityId: list })
      }
    })
  }

  #tell(tx: Tx, kind: ListKind, list: string, { created, updated, unchanged }: Tally, by: RequestOrigin): void {
    const entity = ({ slots: 'slot', assets: 'asset', 'opening-stock': 'opening_list' } as const)[kind]
    this.#needs.audit.write(tx, by, {
      action: 'list.imported',
      entity,
      ...(kind === 'opening-stock' && { entityId: list }),
      changes: { sha256: list, created, updated, unchanged },
    })
  }
}

/** Counts what became of the lines. */
class Tally {
  created = 0
  updated = 0
  unchanged = 0
  readonly warnings: Record<string, number> = {}
  readonly notices = new Problems()
  readonly zones: ReadonlySet<string>

  constructor(zones: ReadonlySet<string> = new Set()) {
    this.zones = zones
  }

  count({ line }: Row, { what, warnings = [], notice }: RowOutcome): void {
    this[what] += 1
    for (const code of warnings) this.warnings[code] = (this.warnings[code] ?? 0) + 1
    if (notice) this.notices.add(line, notice.column, notice.message)
  }
}

function resultOf(
  list: string,
  { kind, dryRun }: ImportOptions,
  rows: number,
  { created, updated, unchanged, zones, warnings, notices }: Tally,
  problems: Problems,
): ImportResult {
  return {
    kind,
    sha256: list,
    dryRun,
    ok: problems.count === 0,
    partlyStored: false,
    rows,
    created,
    updated,
    unchanged,
    zonesCreated: [...zones],
    warnings,
    problems: problems.list,
    problemCount: problems.count,
    causes: problems.causes,
    notices: notices.list,
    noticeCount: notices.count,
    noticeCauses: notices.causes,
  }
}

const storedWords = ({ created, updated, unchanged }: Tally): string =>
  `the lines before it are stored (${created} new, ${updated} changed, ${unchanged} as they were)`
const againWords = 'import the whole list again: lines that are stored stay as they are'

/** Returns the failure that ended an import, with the stored part of the list. */
function partlyFailed(cause: AppError, done: Tally): AppError {
  const why = cause.details === '' ? '' : `${cause.details}; `
  return new AppError(cause.code, cause.message, {
    details: `${why}a part of the list is stored (${done.created} new, ${done.updated} changed); ${againWords}`,
    cause,
    ...(cause.retryAfterSeconds !== undefined && { retryAfterSeconds: cause.retryAfterSeconds }),
  })
}

type SlotSettings = {
  readonly warehouseId: number | undefined
  readonly isAsked: boolean
  readonly grid: Grid | undefined
  readonly onZone: (name: string) => void
}

const sameName = (a: string, b: string): boolean =>
  a.trim().normalize('NFC').toLowerCase() === b.trim().normalize('NFC').toLowerCase()

function noWarehouse(wanted: string, known: readonly Warehouse[], howMany: number): string {
  const make = 'gatehouse warehouse add --name NAME --timezone ZONE'
  if (known.length === 0) return `there is no warehouse yet; make one: ${make}`
  const names = known.map(({ id, name }) => `${id} (${name})`).join(', ')
  if (howMany > 1) return `${howMany} warehouses are called ${wanted}; give --warehouse the id: there are ${names}`
  return `there is no warehouse ${wanted}; give --warehouse one of ${names}, or make it: ${make}`
}

/** Yields slices as they are stored, with lines that depend on each other in the same slice. */
function* trialsOf(rows: readonly Row[], { together }: Form): Generator<readonly Row[]> {
  if (!together) return yield* slicesOf(rows)
  const groups = Map.groupBy(rows, (row) => together(row) ?? `line ${row.line}`)
  let slice: Row[] = []
  for (const group of groups.values()) {
    slice.push(...group)
    if (slice.length < sliceLines) continue
    yield slice
    slice = []
  }
  if (slice.length > 0) yield slice
}

function* slicesOf(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += sliceLines) yield rows.slice(from, from + sliceLines)
}
