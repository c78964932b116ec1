import type { IsSlot } from './codes.ts'
import { type Credential, call } from './gateway.ts'
import type { ItemStore } from './items.ts'

type Kept = { readonly of: string; readonly labels: readonly string[] }
const key = 'slots'

/** The labels of the slots that the person may see, as the gateway listed them last. They are kept for hours without a network. */
export class SlotLabels {
  readonly #store: ItemStore
  #of: string | undefined
  #labels: ReadonlySet<string> = new Set()

  constructor(store: ItemStore) {
    this.#store = store
  }

  /** Says what is a slot for this person; undefined where nothing is known. */
  of(username: string): IsSlot {
    return this.#of === username && this.#labels.size > 0 ? (text) => this.#labels.has(matched(text)) : undefined
  }

  async recall(): Promise<void> {
    const kept = await this.#store.fact<Kept>(key)
    if (kept) this.#know(kept)
  }

  /** Asks the gateway for the labels; what was known stays when it does not answer. Resolves to whether it did. */
  async refresh(by: Credential): Promise<boolean> {
    const outcome = await call('/api/whms/slots', by)
    const { data } = outcome.kind === 'acknowledged' ? outcome.answer : { data: undefined }
    if (!Array.isArray(data)) return false
    const kept = { of: by.username, labels: data.map(({ slot_id }: { slot_id: string }) => slot_id) }
    this.#know(kept)
    await this.#store.setFact(key, kept)
    return true
  }

  #know({ of, labels }: Kept): void {
    this.#of = of
    this.#labels = new Set(labels.map(matched))
  }
}

/** The gateway compares labels so. */
const matched = (label: string) => label.normalize('NFC').trim().toLowerCase()
