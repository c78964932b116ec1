import type { ReadTx } from '../database/index.ts'
import { countErased, erasedPeople } from '../log/index.ts'
import {
  assetsAfter,
  assetsPrinted,
  type RowChanges,
  type SentChanges,
  slotsFrom,
  slotsWithNames,
} from '../warehouse/index.ts'
import { namesIn } from './names.ts'
import type { FeedAnswer, FeedBody } from './wire.ts'

const mostRows = 500
/** Changed assets and slots in one feed; fewer, so that the others go on however many change. */
const mostChanged = 250
/** Each leaf names two people at most. */
const leavesOfNames = 512
const dayMs = 24 * 60 * 60 * 1000
/**
 * All assets and slots are sent again after so long. Changes are sent at once, so this only repairs rows that were lost unnoticed.
 */
const rowsAgainMs = 7 * dayMs
/** Erasures are few, and a name that should be away is worse than a wrong row. */
const erasuresAgainMs = dayMs

/** Data beside the leaves of a feed that no leaf states, and its extent. */
export type Load = {
  readonly body: Pick<FeedBody, 'openings' | 'names' | 'erased' | 'erasedPeople' | 'snapshot'>
  /** Extent of assets and slots; undefined with an earlier log, because they belong to the newest one. */
  readonly snapshot:
    | {
        readonly assets: number | undefined
        readonly slots: number | undefined
        readonly changed: Changed<SentChanges>
      }
    | undefined
  readonly erasures: { readonly sent: number; readonly known: number }
}

/** A pair: one for assets, one for slots. */
export type Changed<T> = { readonly assets: T; readonly slots: T }

type Asked = {
  readonly nowMs: number
  readonly version: number
  readonly log: NamedLog
  /** Whether it is the newest log of this box. */
  readonly isGrowing: boolean
  /** Whether this gateway gives names. */
  readonly givesNames: boolean
}

/** A log, and the leaves that the head office has of it when a feed is taken in. */
export type NamedLog = { readonly number: number; readonly logId: string; readonly end: number }

/**
 * Data beside the leaves: printed data of assets, slots with their zones, erasures, and names. None of its progress is on disk.
 * Assets, slots and erasures are sent again after a start, and names from the place that the head office reports.
 */
export class Rides {
  /** Assets and slots that have changed: they go at once, as new assets do. */
  readonly #changes: Changed<RowChanges>
  #assets: number | undefined = 0
  /** Id of the newest asset that was sent: those behind it are new, and go at once. */
  #newestAsset = 0
  #slots: number | undefined = 0
  #rowsAgainAtMs = 0
  #erasuresAgainAtMs = 0
  /** Number of the log that rows went with last. */
  #log: number | undefined
  #erasures = { sent: 0, known: -1 }
  /** Leaves of a log whose names the head office has; undefined: not reported, or it takes none. */
  readonly #named = new Map<number, number>()

  constructor(changes: Changed<RowChanges>) {
    this.#changes = changes
  }

  /** Begins again to send everything. */
  begin(): void {
    this.#assets = 0
    this.#newestAsset = 0
    this.#slots = 0
    this.#erasures = { sent: 0, known: -1 }
    this.#named.clear()
  }

  /** Returns the next rows. `version` rises with each snapshot. */
  load(tx: ReadTx, { nowMs, version, log, isGrowing, givesNames }: Asked): Load {
    if (log.number !== this.#log) {
      // Erasures that were sent with an earlier log are not known of this one.
      this.#log = log.number
      this.#erasures = { sent: 0, known: -1 }
    }
    const printed = isGrowing ? this.#snapshot(tx, nowMs) : undefined
    const erasures = this.#erased(tx)
    return {
      body: {
        ...(printed &&
          printed.assets.length + printed.slots.length > 0 && {
            snapshot: { version, assets: printed.assets.map(printedOn), slots: printed.slots.map(slotRow) },
          }),
        ...erasures.body,
        ...(givesNames && this.#names(tx, log)),
      },
      snapshot: printed?.upTo,
      erasures: { sent: erasures.sent, known: erasures.known },
    }
  }

  #snapshot(tx: ReadTx, nowMs: number) {
    if (this.#assets === undefined && this.#slots === undefined) {
      if (nowMs >= this.#rowsAgainAtMs) {
        this.#assets = 0
        this.#slots = 0
      }
      if (nowMs >= this.#erasuresAgainAtMs) {
        this.#erasuresAgainAtMs = nowMs + erasuresAgainMs
        this.#erasures = { sent: 0, known: -1 }
      }
    }
    if (this.#changes.assets.takeTooMany()) this.#assets = 0
    if (this.#changes.slots.takeTooMany()) this.#slots = 0
    const changed = { assets: this.#changes.assets.next(mostChanged), slots: this.#changes.slots.next(mostChanged) }
    const assets = assetsAfter(tx, this.#assets ?? this.#newestAsset, mostRows - changed.assets.ids.length)
    const slots = this.#slots === undefined ? [] : slotsFrom(tx, this.#slots, mostRows - changed.slots.ids.length)
    return {
      assets: [...assets, ...besides(assets, changed.assets, (ids) => assetsPrinted(tx, ids))],
      slots: [...slots, ...besides(slots, changed.slots, (ids) => slotsWithNames(tx, ids))],
      upTo: { assets: assets.at(-1)?.id, slots: slots.at(-1)?.id, changed },
    }
  }

  /** Notes that the head office has stored them. */
  taken({ snapshot, erasures }: Load, answer: FeedAnswer, log: NamedLog, nowMs: number): void {
    if (snapshot) this.#moveOn(snapshot, nowMs)
    this.#erasures = erasures
    if (answer.openings === 'names' && answer.named !== undefined) this.#named.set(log.number, answer.named)
    else this.#named.delete(log.number)
  }

  #moveOn({ assets, slots, changed }: NonNullable<Load['snapshot']>, nowMs: number): void {
    const isOver = this.#assets === undefined && this.#slots === undefined
    if (assets !== undefined) this.#newestAsset = Math.max(this.#newestAsset, assets)
    if (this.#assets !== undefined) this.#assets = assets
    this.#changes.assets.sent(changed.assets)
    this.#changes.slots.sent(changed.slots)
    this.#slots = slots
    if (isOver || this.#assets !== undefined || slots !== undefined) return
    this.#rowsAgainAtMs = nowMs + rowsAgainMs
    this.#erasuresAgainAtMs = nowMs + erasuresAgainMs
  }

  /** Notes that the head office has stored the erasures and nothing else. After the last of them they begin again. */
  erased({ erasures }: Load): void {
    this.#erasures = erasures.sent < erasures.known ? erasures : { sent: 0, known: -1 }
  }

  /** Returns whether more must be sent without a new leaf. */
  hasMore(tx: ReadTx, log: NamedLog, givesNames: boolean): boolean {
    const named = this.#named.get(log.number)
    const isBehind = givesNames && named !== undefined && named < log.end
    const isNew = this.#assets !== undefined || assetsAfter(tx, this.#newestAsset, 1).length > 0
    return isNew || this.hasChanged || this.#slots !== undefined || isBehind || this.#hasErased(tx)
  }

  /** Returns whether a slot has changed, or an asset that the head office has already. */
  get hasChanged(): boolean {
    return !this.#changes.assets.isEmpty || !this.#changes.slots.isEmpty
  }

  /** Returns whether somebody was erased whom the head office does not know of. */
  hasErased(tx: ReadTx): boolean {
    return this.#erasures.known >= 0 && this.#hasErased(tx)
  }

  #hasErased(tx: ReadTx): boolean {
    const { sent, known } = this.#erasures
    return sent < known || known !== countErased(tx)
  }

  #erased(tx: ReadTx) {
    const known = countErased(tx)
    // Their order is that of the numbers: with a new one among them, all are sent again.
    const behind = known === this.#erasures.known ? this.#erasures.sent : 0
    const all = behind === known ? [] : erasedPeople(tx, behind, mostRows)
    const people = all.flatMap(({ person }) => person ?? [])
    const names = all.flatMap(({ commitment }) => commitment ?? [])
    const body = { ...(people.length > 0 && { erasedPeople: people }), ...(names.length > 0 && { erased: names }) }
    return { body, sent: behind + all.length, known }
  }

  #names(tx: ReadTx, log: NamedLog) {
    const from = this.#named.get(log.number)
    if (from === undefined || from >= log.end) return {}
    const end = Math.min(from + leavesOfNames, log.end)
    return { openings: namesIn(tx, log, from, end), names: { from, end } }
  }
}

/** Returns the rows that changed and are not among these. */
function besides<T extends { readonly id: number }>(
  rows: readonly T[],
  { ids }: SentChanges,
  read: (ids: readonly number[]) => readonly T[],
): readonly T[] {
  const others = new Set(ids).difference(new Set(rows.map(({ id }) => id)))
  return others.size > 0 ? read([...others]) : []
}

function printedOn({ asset_key: key, best_before, ...printed }: ReturnType<typeof assetsAfter>[number]) {
  const { sscc, gtin, lot, serial } = printed
  return { key, sscc, gtin, lot, serial, bestBefore: best_before }
}

function slotRow({ id, slot_id: code, zone, warehouse, retired_at_ms }: ReturnType<typeof slotsFrom>[number]) {
  return { id, code, zone, warehouse, isRetired: retired_at_ms !== null }
}
