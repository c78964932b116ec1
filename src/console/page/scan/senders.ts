import { type Credential, hasPhoto, sendItem, sendPhoto, sendRun } from './gateway.ts'
import type { Handheld } from './handheld.ts'
import type { QueueNeeds } from './queue.ts'

/** Sends each item as the person who did it; a sign-in that has ended is forgotten. `onEnded`: it was that of who scans. */
export function sendersOf(
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
