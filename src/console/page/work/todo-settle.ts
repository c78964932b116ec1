import { get } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import type { OnceKey } from '../data/once-key.ts'
import type { Keeping, Remedy, RemovalBefore } from '../data/todo-list.ts'
import { todoTexts } from '../i18n/todo-texts.ts'

export type Settling = Extract<Remedy, { act: 'remove' | 'removeBefore' | 'takeBack' | 'keep' }>

/** Records that a pallet is not in a slot, or that it is. Returns in words what is recorded. Throws Refused, Unreachable. */
export async function settle(remedy: Settling, once: OnceKey): Promise<string> {
  const { slot } = remedy
  if (remedy.act === 'removeBefore') return removeBefore(remedy, once)
  if (remedy.act === 'takeBack') {
    await takeBack(remedy.eventId, todoTexts.notIn(slot.label), once)
    return todoTexts.takenBack(slot.label)
  }
  if (remedy.act === 'keep') return keepIn(remedy, once)
  // A removal of any pallet empties the slot, and another one may be there by now.
  await post('/api/whms/events', { ...removalOf(remedy), placement_event_id: remedy.placedBy }, once)
  return todoTexts.recorded(slot.label)
}

/** The list may be older than the ledger: a pallet that was placed elsewhere meanwhile would not come here by the correction. */
async function keepIn({ slot, barcode, other, eventId }: Keeping, once: OnceKey): Promise<string> {
  const now = await get('/api/whms/assets/{barcode}/location', { barcode })
  if (now.slot && now.slot.id !== slot.id) return todoTexts.movedOn(now.slot.slot_id)
  await takeBack(eventId, todoTexts.isIn(slot.label), once)
  return todoTexts.kept(slot.label, other.label)
}

/**
 * The pallet was there until it came to the other slot: a removal just before says so. There is no such time between placements of the
 * same moment, and `ledger.maxAge` and `ledger.enforce` may refuse late events. A correction has no such limits: it records the removal
 * at the time of the placement, and its reason says what is not known.
 */
async function removeBefore(remedy: RemovalBefore, once: OnceKey): Promise<string> {
  const { slot, placedBy, before } = remedy
  const placed = await get('/api/whms/events/{id}', { id: placedBy })
  const timestamp = new Date(Date.parse(before) - 1).toISOString()
  if (Date.parse(placed.timestamp) <= Date.parse(timestamp)) {
    try {
      await post('/api/whms/events', { ...removalOf(remedy), timestamp }, once)
      return todoTexts.recorded(slot.label)
    } catch (error) {
      if (!isTooLate(error)) throw error
    }
  }
  await takeBack(placedBy, todoTexts.notInSince(slot.label), once)
  return todoTexts.recordedLate(slot.label)
}

const isTooLate = (error: unknown): boolean =>
  error instanceof Refused && (error.code === 'CONSTRAINT_VIOLATED' || error.fields.has('timestamp'))

const removalOf = ({ slot, barcode }: Exclude<Settling, { act: 'takeBack' | 'keep' }>) => ({
  event_type: 'REMOVED',
  slot_id: slot.id,
  asset_barcode: barcode,
})

const takeBack = (eventId: number, reason: string, once: OnceKey): Promise<void> =>
  post(`/api/whms/events/${eventId}/correct`, { none: true, reason }, once)

async function post(path: string, body: object, once: OnceKey): Promise<void> {
  await ask(path, { method: 'POST', body, onceKey: once.of(body) })
  once.done(body)
}
