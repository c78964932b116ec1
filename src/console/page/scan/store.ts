import {
  acknowledgedKey,
  type Item,
  type ItemStore,
  type NewItem,
  type Photo,
  type SentPhoto,
  type Settled,
} from './items.ts'

/** Opens the store of this browser. Rejects where the browser keeps nothing. */
export async function openStore(): Promise<ItemStore> {
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open('gatehouse-scan', 1)
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore('items', { keyPath: 'n', autoIncrement: true })
      opening.result.createObjectStore('photos')
      opening.result.createObjectStore('facts')
    }
    opening.onsuccess = () => resolve(opening.result)
    opening.onerror = () => reject(opening.error)
    opening.onblocked = () => reject(new Error('another window holds the store'))
  })
  return new BrowserStore(db)
}

type Stores = { readonly items: IDBObjectStore; readonly photos: IDBObjectStore; readonly facts: IDBObjectStore }

class BrowserStore implements ItemStore {
  readonly #db: IDBDatabase

  constructor(db: IDBDatabase) {
    this.#db = db
  }

  items(): Promise<readonly Item[]> {
    return this.#read(({ items }) => items.getAll())
  }

  photo(id: string): Promise<Photo | undefined> {
    return this.#read(({ photos }) => photos.get(id))
  }

  fact<T>(key: string): Promise<T | undefined> {
    return this.#read(({ facts }) => facts.get(key))
  }

  async add(item: NewItem, photo: Photo | undefined): Promise<Item> {
    const whole = { ...item, hasPhoto: photo !== undefined }
    let added: IDBRequest<IDBValidKey> | undefined
    await this.#write(({ items, photos }) => {
      if (photo) photos.put(photo, item.id)
      added = items.add(whole)
    })
    return { ...whole, n: Number(added?.result) }
  }

  photoSent(n: number, sentPhoto: SentPhoto): Promise<void> {
    return this.#write(({ items }) => change(items, n, (item) => ({ ...item, sentPhoto })))
  }

  settle(settled: readonly Settled[]): Promise<void> {
    return this.#write(({ items, photos, facts }) => {
      const taken = settled.filter(({ refusal }) => refusal === undefined)
      for (const { item, refusal } of settled) {
        if (refusal !== undefined) change(items, item.n, (kept) => ({ ...kept, refusal }))
      }
      for (const { item } of taken) {
        items.delete(item.n)
        photos.delete(item.id)
      }
      const before = facts.get(acknowledgedKey)
      before.onsuccess = () => facts.put(((before.result as number | undefined) ?? 0) + taken.length, acknowledgedKey)
    })
  }

  renew(n: number): Promise<void> {
    return this.#write(({ items }) => change(items, n, ({ refusal: _, sentPhoto: __, ...item }) => item))
  }

  discard({ n, id }: Item): Promise<void> {
    return this.#write(({ items, photos }) => {
      items.delete(n)
      photos.delete(id)
    })
  }

  setFact(key: string, value: unknown): Promise<void> {
    return this.#write(({ facts }) => void (value === undefined ? facts.delete(key) : facts.put(value, key)))
  }

  async #read<T>(ask: (stores: Stores) => IDBRequest): Promise<T> {
    let asked: IDBRequest | undefined
    await this.#within('readonly', (stores) => {
      asked = ask(stores)
    })
    return asked?.result as T
  }

  #write(act: (stores: Stores) => void): Promise<void> {
    return this.#within('readwrite', act)
  }

  /** `strict`: complete means that the disk has it, so that a handheld whose battery falls out loses nothing. */
  #within(mode: IDBTransactionMode, act: (stores: Stores) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const transaction = this.#db.transaction(['items', 'photos', 'facts'], mode, { durability: 'strict' })
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error ?? new Error('the browser gave up storing'))
      const store = (name: string) => transaction.objectStore(name)
      try {
        act({ items: store('items'), photos: store('photos'), facts: store('facts') })
      } catch (error) {
        // All of it or nothing: what was put before the error must not be committed.
        transaction.abort()
        reject(error)
      }
    })
  }
}

function change(items: IDBObjectStore, n: number, to: (item: Item) => Item): void {
  const before = items.get(n)
  before.onsuccess = () => before.result && items.put(to(before.result as Item))
}
