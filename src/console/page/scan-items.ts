/** What a person did, as it waits in this browser for the gateway. Items keep the order of `n`. */
export type Item = {
  readonly n: number
  /** Its key at the gateway, the same for each try. */
  readonly id: string
  /** User name of the person who did it: only this person's sign-in sends it. */
  readonly by: string
  /** In words, for the person. */
  readonly title: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** The device's clock when it was done; RFC 3339. */
  readonly at: string
  readonly hasPhoto: boolean
  /** Why the gateway refused it, in words; undefined: it waits. */
  readonly refusal?: string | undefined
}

export type NewItem = Omit<Item, 'n' | 'hasPhoto' | 'refusal'>
export type Photo = { readonly bytes: ArrayBuffer; readonly type: string }

/** Where items are kept. Each promise resolves when the change is on disk, and rejects when nothing was changed. */
export interface ItemStore {
  items(): Promise<readonly Item[]>
  /** Returns the item with its place. */
  add(item: NewItem, photo: Photo | undefined): Promise<Item>
  photo(id: string): Promise<Photo | undefined>
  refuse(n: number, why: string): Promise<void>
  /** Takes a refusal back: the item waits again, at its old place. */
  renew(n: number): Promise<void>
  /** Removes an item. `isAcknowledged`: the gateway has it, so it is counted. */
  remove(item: Item, isAcknowledged: boolean): Promise<void>
  fact<T>(key: string): Promise<T | undefined>
  /** Stores a fact; undefined removes it. */
  setFact(key: string, value: unknown): Promise<void>
}

/** Key of the fact that counts what the gateway acknowledged. */
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
  async refuse(n: number, why: string): Promise<void> {
    this.#items = this.#items.map((item) => (item.n === n ? { ...item, refusal: why } : item))
  }
  async renew(n: number): Promise<void> {
    this.#items = this.#items.map((item) => (item.n === n ? { ...item, refusal: undefined } : item))
  }
  async remove({ n, id }: Item, isAcknowledged: boolean): Promise<void> {
    this.#items = this.#items.filter((item) => item.n !== n)
    this.#photos.delete(id)
    if (isAcknowledged) this.#facts.set(acknowledgedKey, ((this.#facts.get(acknowledgedKey) as number) ?? 0) + 1)
  }
  async setFact(key: string, value: unknown): Promise<void> {
    this.#facts.set(key, value)
  }
}
