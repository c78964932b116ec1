import type { KeptCheckpoint } from '../proof/checkpoint-keeper.ts'

/** The newest checkpoint that this browser has seen, and when. */
export type Kept = { readonly checkpoint: KeptCheckpoint; readonly at: string }

const [name, store, key] = ['gatehouse-kept', 'checkpoints', 'newest']

/** Reads what this browser has kept of the log; undefined for nothing. Rejects where the browser keeps nothing. */
export async function readKept(): Promise<Kept | undefined> {
  return (await within('readonly', (all) => all.get(key))) as Kept | undefined
}

/** Keeps a checkpoint. Resolves when it is stored. Rejects where the browser keeps nothing. */
export async function writeKept(kept: Kept): Promise<void> {
  await within('readwrite', (all) => all.put(kept, key))
}

async function within(mode: IDBTransactionMode, act: (all: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open(name, 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore(store)
    opening.onsuccess = () => resolve(opening.result)
    opening.onerror = () => reject(opening.error)
  })
  try {
    return await new Promise((resolve, reject) => {
      const transaction = db.transaction(store, mode)
      const asked = act(transaction.objectStore(store))
      transaction.oncomplete = () => resolve(asked.result)
      transaction.onabort = () => reject(transaction.error)
    })
  } finally {
    db.close()
  }
}
