/** Returns an id that no other act has, also where the page is not served by TLS and `randomUUID` is missing. */
export const newActId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** The key of a request: the same for the same request until it is done, so that trying again records nothing twice. */
export type OnceKey = {
  readonly of: (request: unknown) => string
  /** The next request is another act, even when it asks for the same. */
  readonly done: (request: unknown) => void
}

/** Keeps the keys of the requests that were sent and are not answered yet. */
export function onceKeys(): OnceKey {
  const keys = new Map<string, string>()
  return {
    of: (request) => {
      const asked = JSON.stringify(request)
      const key = keys.get(asked) ?? newActId()
      keys.set(asked, key)
      return key
    },
    done: (request) => void keys.delete(JSON.stringify(request)),
  }
}
