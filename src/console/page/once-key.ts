import { useRef } from 'hono/jsx/dom'
import { newActId } from './acts.tsx'

/** The key of a request: the same for the same request until it is done, so that trying again records nothing twice. */
export type OnceKey = {
  readonly of: (request: unknown) => string
  /** What comes next is another act, even when it asks for the same. */
  readonly done: () => void
}

/** Keeps the key of the request that was sent last and is not answered yet. */
export function useOnceKey(): OnceKey {
  const kept = useRef({ request: '', key: '' })
  return {
    of: (request) => {
      const asked = JSON.stringify(request)
      const last = kept.current
      if (last && last.request === asked) return last.key
      const key = newActId()
      kept.current = { request: asked, key }
      return key
    },
    done: () => {
      kept.current = { request: '', key: '' }
    },
  }
}
