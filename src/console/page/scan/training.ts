import type { Item } from './items.ts'
import type { Settling } from './outcome.ts'
import type { QueueNeeds } from './queue.ts'
import type { Count } from './tasks.ts'
import { scanTexts } from './texts.ts'

/** Slots of the sandbox. */
const slots = new Set(['T-01', 'T-02'])

/** A floor that exists in this page alone: for practice. It asks no gateway for anything. */
export class TrainingFloor {
  readonly #pallets = new Map<string, string>()
  readonly counts: readonly Count[] = [{ id: 1, reference: scanTexts.training.count }]

  readonly isSlot = (text: string): boolean => slots.has(text.trim().toUpperCase())

  /** Takes what the queue sends, in place of a gateway. */
  readonly gateway: Pick<QueueNeeds, 'send' | 'sendRun' | 'sendPhoto' | 'hasPhoto'> = {
    send: async (item) => this.#take(item),
    sendRun: async (run) => ({ kind: 'each', outcomes: run.map((item) => this.#take(item)) }),
    hasPhoto: async () => true,
    sendPhoto: async () => ({ kind: 'acknowledged', warnings: [], answer: { url: '', sha256: '' } }),
  }

  /** Answers as a gateway would. */
  #take({ body }: Pick<Item, 'body'>): Settling {
    const slot = String(body['slot_code'] ?? body['to_slot_code'])
    const pallet = String(body['asset_barcode'] ?? '')
    if (!slots.has(slot)) return { kind: 'refused', words: scanTexts.training.unknownSlot(slot) }
    const before = this.#pallets.get(slot)
    const isPlacing = body['event_type'] === 'PLACED' || 'to_slot_code' in body
    if (isPlacing) {
      for (const [place, one] of this.#pallets) if (one === pallet) this.#pallets.delete(place)
      this.#pallets.set(slot, pallet)
    }
    if (body['event_type'] === 'REMOVED') this.#pallets.delete(slot)
    const isOdd = isPlacing && before !== undefined && before !== pallet
    return { kind: 'acknowledged', warnings: isOdd ? [scanTexts.training.occupied(slot, before)] : [], answer: {} }
  }
}
