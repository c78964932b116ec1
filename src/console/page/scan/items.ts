/** An act of a person, as it waits in this browser for the gateway. Items keep the order of `n`. */
export type Item = {
  readonly n: number
  /** Its key at the gateway, the same for each try. */
  readonly id: string
  /** User name of the person who acted: only this person's sign-in sends it. */
  readonly by: string
  /** Title for the person. */
  readonly title: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** The device's clock when it was done; RFC 3339. */
  readonly at: string
  readonly hasPhoto: boolean
  /** Where the gateway has the photo already; undefined: it was not sent yet. */
  readonly sentPhoto?: SentPhoto | undefined
  /** Why the gateway refused it; undefined: it waits. */
  readonly refusal?: string | undefined
}

export type NewItem = Omit<Item, 'n' | 'hasPhoto' | 'sentPhoto' | 'refusal'>
export type SentPhoto = { readonly url: string; readonly sha256: string }
/** Outcome of an item at the gateway. `refusal`: why it was refused; undefined: the gateway has it. */
export type Settled = { readonly item: Item; readonly refusal?: string | undefined }
export type Photo = { readonly bytes: ArrayBuffer; readonly type: string }

/** Store of items. Each promise resolves when the change is on disk, and rejects when nothing was changed. */
export interface ItemStore {
  items(): Promise<readonly Item[]>
  /** Returns the item with its place. */
  add(item: NewItem, photo: Photo | undefined): Promise<Item>
  photo(id: string): Promise<Photo | undefined>
  /** Notes that the gateway has the photo of an item, so that its bytes are not sent again. */
  photoSent(n: number, sent: SentPhoto): Promise<void>
  /** Stores all outcomes at once. Accepted items leave and are counted; refused ones stay with the reason. */
  settle(settled: readonly Settled[]): Promise<void>
  /** Takes a refusal back: the item waits again, at its old place; its photo is sent again. */
  renew(n: number): Promise<void>
  /** Removes an item that the gateway does not have. */
  discard(item: Item): Promise<void>
  fact<T>(key: string): Promise<T | undefined>
  /** Stores a fact; undefined removes it. */
  setFact(key: string, value: unknown): Promise<void>
}

/** Key of the fact that counts acknowledged items. */
export const acknowledgedKey = 'acknowledged'

/** Keeps items only while the page is open: for training. */
export class MemoryStore implements ItemStore {
  #items: Item[] = []
  #n = 0
  readonly #photos = new Map<string, Photo>()
  readonly #facts = new Map<string, unknown>()

  async items(): Promise<readonly Item[]> {
    return this.#items
  }
  async photo(id: string): Promise<Photo | undefined> {
    return this.#photos.get(id)
  }
  async fact<T>(key: string): Promise<T | undefined> {
    return this.#facts.get(key) as T | undefined
  }
  async add(item: NewItem, photo: Photo | undefined): Promise<Item> {
    this.#n++
    if (photo) this.#photos.set(item.id, photo)
    const added = { ...item, n: this.#n, hasPhoto: photo !== undefined }
    this.#items = [...this.#items, added]
    return added
  }
  async photoSent(n: number, sentPhoto: SentPhoto): Promise<void> {
    this.#items = this.#items.map((item) => (item.n === n ? { ...item, sentPhoto } : item))
  }
  async settle(settled: readonly Settled[]): Promise<void> {
    for (const { item, refusal } of settled) {
      if (refusal === undefined) await this.discard(item)
      else this.#items = this.#items.map((one) => (one.n === item.n ? { ...one, refusal } : one))
    }
    const taken = settled.filter(({ refusal }) => refusal === undefined).length
    this.#facts.set(acknowledgedKey, ((this.#facts.get(acknowledgedKey) as number | undefined) ?? 0) + taken)
  }
  async renew(n: number): Promise<void> {
    this.#items = this.#items.map((item) =>
      item.n === n ? { ...item, refusal: undefined, sentPhoto: undefined } : item,
    )
  }
  async discard({ n, id }: Item): Promise<void> {
    this.#items = this.#items.filter((item) => item.n !== n)
    this.#photos.delete(id)
  }
  async setFact(key: string, value: unknown): Promise<void> {
    this.#facts.set(key, value)
  }
}
