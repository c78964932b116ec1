import { useEffect, useMemo, useState } from 'preact/hooks'
import { errorMessage } from '../../../platform/faults.ts'
import { type Credential, hasPhoto, sendItem, sendPhoto, sendRun } from './gateway.ts'
import type { Handheld } from './handheld.ts'
import type { ItemStore, NewItem, Photo } from './items.ts'
import { type QueueNeeds, type QueueState, ScanQueue } from './queue.ts'
import type { Remarks } from './remarks.ts'
import type { SlotLabels } from './slots.ts'
import type { Done } from './tasks.ts'
import { scanTexts as texts } from './texts.ts'
import type { TrainingFloor } from './training.ts'

export const isTraining = location.pathname === '/training'

/** Data stored on this device. */
export type Opened = { readonly store: ItemStore; readonly handheld: Handheld; readonly slots: SlotLabels }

const empty: QueueState = { items: [], acknowledged: 0, rests: '', signInNeeded: [], remarks: [], aside: new Map() }

/** The queue of items to be sent, and its state. It works as long as the page is open. */
export function useQueue({ store, handheld }: Opened, floor: TrainingFloor, { problem }: Remarks) {
  const [queued, setQueued] = useState<QueueState>(empty)
  const queue = useMemo(
    () =>
      new ScanQueue({
        store,
        ...(isTraining ? floor.gateway : sendersOf(handheld, () => problem(texts.signInEnded))),
        tell: (state) => {
          setQueued(state)
          void handheld.endShifts(state.items)
        },
        onRefused: () => problem(texts.refusedNow),
        nowMs: () => performance.now(),
        alone: (work) => navigator.locks.request(isTraining ? 'gatehouse training' : 'gatehouse scan', work),
      }),
    [],
  )
  useEffect(() => {
    void queue.start()
    const wake = () => queue.wake()
    addEventListener('online', wake)
    return () => removeEventListener('online', wake)
  }, [])
  return { queue, queued }
}

/** Puts an act into the queue. Resolves to whether it is stored. */
export async function keep(
  queue: ScanQueue,
  { problem, good }: Remarks,
  { id, by }: Pick<NewItem, 'id' | 'by'>,
  { title, path, body }: Done,
  photo: Photo | undefined,
): Promise<boolean> {
  const key = path.endsWith('/scans') ? { client_scan_id: id } : { client_event_id: id }
  try {
    await queue.take({ id, by, title, path, body: { ...body, ...key }, at: new Date().toISOString() }, photo)
  } catch (error) {
    problem(texts.notStored(errorMessage(error) || (error instanceof Error ? error.name : '')))
    return false
  }
  good(texts.taken(title))
  return true
}

/** Sends each item as the person who did it; a sign-in that has ended is forgotten. `onEnded`: it was that of who scans. */
function sendersOf(
  handheld: Handheld,
  onEnded: () => void,
): Pick<QueueNeeds, 'send' | 'sendRun' | 'sendPhoto' | 'hasPhoto'> {
  const noting = async <T extends { readonly kind: string }>(
    by: string,
    ask: (shift: Credential | undefined) => Promise<T>,
  ): Promise<T> => {
    const shift = handheld.shiftOf(by)
    const outcome = await ask(shift)
    // The person may have signed in again meanwhile: that sign-in has not ended.
    if (outcome.kind !== 'sign-in' || !shift || handheld.shiftOf(by)?.secret !== shift.secret) return outcome
    const isScanning = handheld.isScanning(by)
    await handheld.ended(by)
    if (isScanning) onEnded()
    return outcome
  }
  return {
    send: (item) => noting(item.by, (shift) => sendItem(item, shift)),
    sendRun: (run) => noting(run[0]?.by ?? '', (shift) => sendRun(run, shift)),
    hasPhoto: (photo, by) => hasPhoto(photo, handheld.shiftOf(by)),
    sendPhoto: (photo, by) => noting(by, (shift) => sendPhoto(photo, shift)),
  }
}
