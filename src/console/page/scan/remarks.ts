import { useState } from 'preact/hooks'
import { signal } from './signals.ts'

type Remark = { readonly kind: 'good' | 'warn' | 'bad'; readonly words: string }
export type Remarks = ReturnType<typeof useRemarks>

/** Message of the page about the newest scan. */
export function useRemarks() {
  const [said, setSaid] = useState<Remark | undefined>(undefined)
  const problem = (words: string) => {
    signal(false)
    setSaid({ kind: 'bad', words })
  }
  return {
    said,
    problem,
    /** Without words it removes an older problem. */
    problemOrNone: (words: string) =>
      words === '' ? setSaid((last) => (last?.kind === 'bad' ? undefined : last)) : problem(words),
    good: (words: string) => {
      signal(true)
      setSaid({ kind: 'good', words })
    },
    clear: () => setSaid(undefined),
  }
}
