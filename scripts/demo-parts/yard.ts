import type { DemoSlot, Floor } from './warehouse.ts'

/** One job for somebody with a handheld. */
export type Task = {
  readonly type: 'PLACED' | 'REMOVED' | 'VERIFIED' | 'DISPUTED'
  readonly slot: DemoSlot
  readonly pallet: string
  /**
   * `late`: reported minutes after it happened. `again`: sent twice. `contradiction`: against the state of the ledger.
   */
  readonly twist?: 'late' | 'again' | 'contradiction'
}

/** A slot as the gateway answers it. */
export type SlotAnswer = {
  readonly id: number
  readonly isOccupied: boolean
  readonly assetBarcode: string | null
  readonly isVerified?: boolean
  readonly isDisputed?: boolean
}

type Standing = { readonly pallet: string; readonly isJudged: boolean }

/** From here down pallets only come in, from there up they only go out; the hall neither empties nor fills. */
const fill = { few: 0.4, many: 0.75 }
const twistChance = { late: 0.1, again: 0.1, contradiction: 0.08 }
const disputeChance = 0.1

/**
 * Holds the knowledge of the simulated people about the hall, from the gateway's answers alone, and chooses the next task
 * of each. No one gets a slot or a pallet of a task that is under way.
 */
export class Yard {
  readonly #floor: Floor
  /** 0 up to 1. */
  readonly #chance: () => number
  readonly #standing = new Map<number, Standing>()
  readonly #underWay = new Set<Task>()

  constructor(options: { floor: Floor; chance: () => number }) {
    this.#floor = options.floor
    this.#chance = options.chance
  }

  /** Returns the next task of a person who moves pallets; undefined when there is none. `done` ends it. */
  moving(): Task | undefined {
    const filled = this.#standing.size / this.#floor.slots.length
    const twist = this.#twist()
    if (twist === 'contradiction' && filled > fill.few) return this.#begin(this.#intoOccupied())
    const bringsIn = filled < fill.few || (filled < fill.many && this.#chance() < 0.5)
    const task = bringsIn ? this.#bringIn() : this.#takeOut()
    return this.#begin(task && twist && twist !== 'contradiction' ? { ...task, twist } : task)
  }

  /** Returns the next task of a person who judges placements. */
  judging(): Task | undefined {
    const waiting = this.#occupied().filter(({ isJudged }) => !isJudged)
    const one = this.#anyOf(waiting)
    const type = this.#chance() < disputeChance ? 'DISPUTED' : 'VERIFIED'
    return this.#begin(one && { type, slot: one.slot, pallet: one.pallet })
  }

  /** The job is over; `answer` is the slot as the gateway now sees it, undefined when nothing was recorded. */
  done(task: Task, answer: SlotAnswer | undefined): void {
    this.#underWay.delete(task)
    if (!answer) return
    const { id, assetBarcode, isVerified, isDisputed } = answer
    if (assetBarcode === null) this.#standing.delete(id)
    else this.#standing.set(id, { pallet: assetBarcode, isJudged: isVerified === true || isDisputed === true })
  }

  #begin(task: Task | undefined): Task | undefined {
    if (task) this.#underWay.add(task)
    return task
  }

  #bringIn(): Task | undefined {
    const slot = this.#anyOf(this.#floor.slots.filter(({ id }) => !this.#standing.has(id) && !this.#isBusy(id)))
    const pallet = this.#anyOf(this.#freePallets())
    return slot && pallet ? { type: 'PLACED', slot, pallet } : undefined
  }

  /** Judged ones first, as a warehouse would have it. */
  #takeOut(): Task | undefined {
    const all = this.#occupied()
    const judged = all.filter(({ isJudged }) => isJudged)
    const one = this.#anyOf(judged.length > 0 ? judged : all)
    return one && { type: 'REMOVED', slot: one.slot, pallet: one.pallet }
  }

  /** Somebody moved the first pallet by hand and reported it to no one. */
  #intoOccupied(): Task | undefined {
    const one = this.#anyOf(this.#occupied())
    const pallet = this.#anyOf(this.#freePallets())
    return one && pallet ? { type: 'PLACED', slot: one.slot, pallet, twist: 'contradiction' } : undefined
  }

  #occupied(): (Standing & { slot: DemoSlot })[] {
    return this.#floor.slots.flatMap((slot) => {
      const standing = this.#standing.get(slot.id)
      return standing && !this.#isBusy(slot.id) ? [{ slot, ...standing }] : []
    })
  }

  #freePallets(): string[] {
    const standing = new Set([...this.#standing.values()].map(({ pallet }) => pallet))
    const moving = new Set([...this.#underWay].map(({ pallet }) => pallet))
    return this.#floor.pallets.filter((pallet) => !standing.has(pallet) && !moving.has(pallet))
  }

  #isBusy(slotId: number): boolean {
    return [...this.#underWay].some(({ slot }) => slot.id === slotId)
  }

  #twist(): Task['twist'] {
    const chance = this.#chance()
    const { late, again, contradiction } = twistChance
    if (chance < late) return 'late'
    if (chance < late + again) return 'again'
    return chance < late + again + contradiction ? 'contradiction' : undefined
  }

  #anyOf<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#chance() * list.length)]
  }
}
