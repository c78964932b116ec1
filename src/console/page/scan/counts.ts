import { useState } from 'preact/hooks'
import { type Credential, call } from './gateway.ts'
import type { ItemStore } from './items.ts'
import type { Count, ScanTasks } from './tasks.ts'

/** Counts that are open. `offer` asks for them as somebody begins to count; those of training are in its memory. */
export function useCounts(store: ItemStore, tasks: ScanTasks, ofTraining: readonly Count[] | undefined) {
  const [counts, setCounts] = useState<readonly Count[]>([])
  const offer = async (by: Credential) => {
    const show = (open: readonly Count[]) => {
      setCounts(open)
      tasks.offer(by.username, open)
    }
    if (ofTraining) return show(ofTraining)
    // Those that were known last at once: without a network the answer takes its time.
    const known = (await store.fact<Count[]>('counts')) ?? []
    setCounts(known)
    tasks.remember(by.username, known)
    const open = await openCounts(store, by)
    if (open) show(open)
  }
  return { counts, offer }
}

/** Asks for the counts that are open, and keeps them for times without a network; undefined: no answer came. */
async function openCounts(store: ItemStore, by: Credential): Promise<readonly Count[] | undefined> {
  const outcome = await call('/api/whms/counts', by)
  if (outcome.kind !== 'acknowledged') return undefined
  const all = outcome.answer['data'] as { id: number; reference: string | null; state: string }[]
  const counts = all.filter(({ state }) => state === 'open' || state === 'counting')
  await store.setFact('counts', counts)
  return counts
}
