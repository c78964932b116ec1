import type { UnitOfWork } from '../database/index.ts'
import type { Clock } from '../platform/index.ts'
import { errorOf, type Line } from './line.ts'
import { figures, type QueueFigures } from './store.ts'

/** Asked by everyone who may see health: the queue is counted once in this time. */
const freshMs = 2000
const empty: QueueFigures = {
  ...{ pending: 0, parked: 0, pendingBytes: 0 },
  ...{ oldestMs: null, oldestError: null, parkedError: null },
}

/** The queue and the way to the server. */
export type Wellness = QueueFigures & {
  readonly isConfigured: boolean
  /** Why the server does not take the account, and what to do; null while it does, or is not known to refuse it. */
  readonly refusal: { readonly error: string; readonly remedy: string } | null
  /** Why nothing is sent to the server now; null while it takes files, or was not asked yet. */
  readonly lineError: string | null
}

/** Returns the facts for health and metrics. */
export function wellnessOf(needs: {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'monotonic'>
  readonly isConfigured: () => boolean
  readonly line: () => Line
}): () => Wellness {
  const { work, clock, isConfigured, line } = needs
  let last: { readonly atMs: number; readonly counted: QueueFigures } | undefined
  return () => {
    const now = line()
    const refusal = now.kind === 'refused' ? { error: now.error, remedy: now.remedy } : null
    if (!isConfigured()) return { ...empty, isConfigured: false, refusal: null, lineError: null }
    const nowMs = clock.monotonic()
    if (!last || nowMs - last.atMs >= freshMs) last = { atMs: nowMs, counted: work.read(figures) }
    return { ...last.counted, isConfigured: true, refusal, lineError: errorOf(now) }
  }
}
