import type { Item } from './scan-items.ts'

/** Tries after which an item that the gateway cannot process lets others pass. */
const mostTries = 3
/** How long it then waits before it is tried again. */
const asideMs = 5 * 60_000

type Failed = { readonly tries: number; readonly words: string; readonly untilMs: number }

/**
 * Items that the gateway answers with an error of its own, again and again. After some tries such an item is set aside for
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

  /** The item was taken or refused, or somebody wants it tried again. */
  forget(n: number): void {
    this.#failed.delete(n)
  }

  /** Whether an item has to wait, by itself or behind an earlier one. `items`: all, in their order. */
  holds(item: Item, items: readonly Item[], nowMs: number): boolean {
    return items.some(
      (other) =>
        other.n <= item.n &&
        other.refusal === undefined &&
        (this.#failed.get(other.n)?.untilMs ?? 0) > nowMs &&
        (other.n === item.n || isAboutTheSame(other, item)),
    )
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

/** Whether two items name one pallet or one slot. Pure. */
export function isAboutTheSame(one: Item, other: Item): boolean {
  const names = new Set(namesIn(one))
  return namesIn(other).some((name) => names.has(name))
}

function namesIn({ body }: Item): string[] {
  const { asset_barcode: pallet, barcodes, slot_code: slot, to_slot_code: target } = body
  const pallets = [pallet, ...(Array.isArray(barcodes) ? barcodes : [])].map((name) => ['pallet', name])
  const slots = [slot, target].map((name) => ['slot', typeof name === 'string' ? name.toUpperCase() : name])
  return [...pallets, ...slots].flatMap(([kind, name]) =>
    typeof name === 'string' ? [`${kind} ${name.normalize().trim()}`] : [],
  )
}
