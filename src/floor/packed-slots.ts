import type { ReadTx, UnitOfWork } from '../database/index.ts'
import { type Caller, type PackedText, packedList, packText } from '../http/index.ts'
import { type SlotState, settle, slotMarks, slotStates, stateIn, type When } from '../ledger/index.ts'
import { ownTurn } from '../platform/index.ts'
import { slotPlaces, type WarehouseService, zoneMarks } from '../warehouse/index.ts'

/** Slots that are packed together: an event packs so many again. */
const blockSlots = 64
/** Blocks that are read in one turn, and those of them that may be rebuilt: either is about 1 ms. */
const turnBlocks = 8
const turnMade = 3
/** Variants of one block: the admin's, and that of callers from whom some of its slots are hidden. */
const mostVariants = 2
/** Callers who see different warehouses. */
const mostShared = 8

type PackedSlotsNeeds = { readonly work: UnitOfWork; readonly warehouse: WarehouseService }

/** Rows of a block as they were at these marks, which name each slot that is in it, and the types of all zones. */
type Block = { readonly marks: string; readonly zones: string; readonly rows: PackedText; readonly count: number }
type Place = { number: number; marks: string; zones: string; firstId: number; lastId: number }
type Turn = { readonly blocks: readonly Block[]; readonly afterId: number | undefined }

/**
 * The list of all slots as they are now, packed. Most clients request this list again and again, with few changes between. Each
 * block of slots is cached with a text that names its slots and their state. At every list SQLite builds that text again, and a
 * block is used again only where both texts are the same. So it shows no change late, and nothing to anyone who may not see it.
 * Between two commits the whole answer is used again.
 */
export class PackedSlots {
  readonly #needs: PackedSlotsNeeds
  readonly #blocks = new Map<number, Block[]>()
  /** By what the caller may see; all of one version of the database. */
  readonly #shared = new Map<string, Promise<Buffer<ArrayBuffer> | undefined>>()
  #sharedVersion = -1

  constructor(needs: PackedSlotsNeeds) {
    this.#needs = needs
  }

  /** Returns the answer in gzip; undefined when it has to be made in the usual way. Works in slices, as the list itself. */
  list(caller: Caller): Promise<Buffer<ArrayBuffer> | undefined> {
    const { version } = this.#needs.work
    if (version !== this.#sharedVersion) this.#shared.clear()
    this.#sharedVersion = version
    const sight = this.#sightOf(caller)
    const known = this.#shared.get(sight)
    if (known) return known
    const made = this.#make(caller, sight)
    if (this.#shared.size < mostShared) this.#shared.set(sight, made)
    made.catch(() => this.#shared.clear())
    return made
  }

  async #make(caller: Caller, sight: string): Promise<Buffer<ArrayBuffer> | undefined> {
    const known = this.#needs.work.read((tx) => settle(tx))
    const found: Block[] = []
    for (let afterId: number | undefined = 0; afterId !== undefined; ) {
      await ownTurn()
      const turn = this.#turn(caller, known, afterId)
      // The caller's sight has changed meanwhile: one list would mix blocks of both sights.
      if (this.#sightOf(caller) !== sight) return undefined
      found.push(...turn.blocks)
      afterId = turn.afterId
    }
    return packedList(
      found.map(({ rows }) => rows),
      found.reduce((sum, { count }) => sum + count, 0),
    )
  }

  #sightOf(caller: Caller): string {
    return JSON.stringify(this.#needs.warehouse.hiddenFrom(caller))
  }

  /** Looks at the next blocks behind a slot. */
  #turn(caller: Caller, known: When, afterId: number): Turn {
    return this.#needs.work.read((tx) => {
      const hiddenWarehouses = this.#needs.warehouse.hiddenFrom(caller)
      const zones = zoneMarks(tx)
      const blocks: Block[] = []
      let made = 0
      let behind = afterId
      for (let looked = 0; looked < turnBlocks && made < turnMade; looked += 1) {
        const [next] = slotPlaces(tx, behind, 1)
        if (!next) return { blocks, afterId: undefined }
        const number = Math.floor((next.id - 1) / blockSlots)
        const range = { firstId: number * blockSlots + 1, lastId: (number + 1) * blockSlots }
        behind = range.lastId
        const marks = slotMarks(tx, known, { ...range, hiddenWarehouses })
        if (marks === null) continue
        const kept = this.#blocks.get(number)?.find((block) => block.marks === marks && block.zones === zones)
        if (!kept) made += 1
        blocks.push(kept ?? this.#pack(tx, caller, known, { number, marks, zones, ...range }))
      }
      return { blocks, afterId: behind }
    })
  }

  #pack(tx: ReadTx, caller: Caller, known: When, { number, marks, zones, firstId, lastId }: Place): Block {
    const { slots } = this.#needs.warehouse.slotTexts(tx, caller, firstId - 1, blockSlots)
    const states = slotStates(tx, known, { firstId, lastId })
    const texts = slots.flatMap(({ id, members }) => (id > lastId ? [] : [withStateText(members, stateIn(states, id))]))
    const block = { marks, zones, rows: packText(texts.join(',')), count: texts.length }
    this.#blocks.set(number, [block, ...(this.#blocks.get(number) ?? [])].slice(0, mostVariants))
    return block
  }
}

/** Returns a slot with its state as JSON. `members`: of the slot, without braces. */
export const withStateText = (members: string, state: SlotState): string =>
  `{${members},${JSON.stringify(state).slice(1)}`
