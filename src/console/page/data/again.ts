const listeners = new Set<() => void>()

/** Calls the listener when the person of this page has signed in again and the view goes on. Returns a function that ends it. */
export function onSignedInAgain(listener: () => void): () => void {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

/** Tells the view that its requests are answered again. */
export function tellSignedInAgain(): void {
  for (const listener of [...listeners]) listener()
}
