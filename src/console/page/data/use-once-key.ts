import { useState } from 'preact/hooks'
import { type OnceKey, onceKeys } from './once-key.ts'

/** Returns the keys of a view, the same at each drawing. */
export function useOnceKey(): OnceKey {
  const [keys] = useState(onceKeys)
  return keys
}
