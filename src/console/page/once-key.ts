import { useRef } from 'hono/jsx/dom'
import { newActId } from './acts.tsx'

/** The key of a request: the same for the same request until it is done, so that trying again records nothing twice. */
export type OnceKey = {
  readonly of: (request: unknown) => string
  /** What comes next is another act, even when it asks for the same. */
  readonly done: (request: unknown) => void
}

/** Keeps the keys of the requests that were sent and are not answered yet. */
export function useOnceKey(): OnceKey {
  const kept = useRef(new Map<string, string>())
  const keys = kept.current ?? new Map<string, string>()
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
