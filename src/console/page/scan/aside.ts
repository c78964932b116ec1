import type { Item } from './items.ts'

/** Tries after which an item that the gateway cannot process lets others pass. */
const mostTries = 3
/** How long it then waits before it is tried again. */
const asideMs = 5 * 60_000

type Failed = { readonly tries: number; readonly words: string; readonly untilMs: number }

/**
 * Items for each of which the gateway answers a separate error, again and again. After some tries such an item is set aside for
 * minutes. Later items about the same pallet or slot wait behind it, so that their order stays; all others pass.
 */
export class SetAside {
  readonly #failed = new Map<number, Failed>()

  /** Notes a failed try; returns whether the item is set aside now. */
  failed({ n }: Item, words: string, nowMs: number): boolean {
    const tries = (this.#failed.get(n)?.tries ?? 0) + 1
    const isAside = tries >= mostTries
    this.#failed.set(n, { tries, words, untilMs: isAside ? nowMs + asideMs : 0 })
    return isAside
  }

  /** Whether the gateway failed at the item before. */
  hasFailed(n: number): boolean {
    return this.#failed.has(n)
  }

  /** The item was taken or refused, or somebody wants it tried again. */
  forget(n: number): void {
    this.#failed.delete(n)
  }

  /**
   * Returns the numbers of the items that have to wait. These are set aside, or name a pallet or slot of an earlier waiting
   * item. `items`: all, in their order.
   */
  held(items: readonly Item[], nowMs: number): ReadonlySet<number> {
    const held = new Set<number>()
    const waiting = new Set<string>()
    for (const item of items) {
      if (item.refusal !== undefined) continue
      const names = namesIn(item)
      const isAside = (this.#failed.get(item.n)?.untilMs ?? 0) > nowMs
      if (!isAside && !names.some((name) => waiting.has(name))) continue
      held.add(item.n)
      for (const name of names) waiting.add(name)
    }
    return held
  }

  /** Forgets items that are gone, also those that another window has sent. */
  keep(items: readonly Item[]): void {
    const there = new Set(items.map(({ n }) => n))
    for (const n of this.#failed.keys()) if (!there.has(n)) this.#failed.delete(n)
  }

  /** Why items are set aside, by their number. */
  get words(): ReadonlyMap<number, string> {
    return new Map([...this.#failed].flatMap(([n, { untilMs, words }]) => (untilMs > 0 ? [[n, words]] : [])))
  }

  /** Returns when the next one is tried again; undefined when there is none. */
  nextMs(nowMs: number): number | undefined {
    const times = [...this.#failed.values()].map(({ untilMs }) => untilMs).filter((ms) => ms > nowMs)
    return times.length === 0 ? undefined : Math.min(...times)
  }
}

/** The pallets and slots that an item is about. */
function namesIn({ body }: Item): string[] {
  const { asset_barcode: pallet, barcodes, slot_code: slot, to_slot_code: target } = body
  const pallets = [pallet, ...(Array.isArray(barcodes) ? barcodes : [])].map((name) => ['pallet', name])
  const slots = [slot, target].map((name) => ['slot', typeof name === 'string' ? name.toUpperCase() : name])
  return [...pallets, ...slots].flatMap(([kind, name]) =>
    typeof name === 'string' ? [`${kind} ${name.normalize().trim()}`] : [],
  )
}
