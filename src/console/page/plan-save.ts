import { Refused } from './ask.ts'
import { askPatiently } from './asking.ts'
import type { Change, PlanSlot } from './plan-draft.ts'
import { planTexts as words } from './plan-texts.ts'

export type Refusal = { readonly label: string; readonly why: string }

export type Saved = {
  readonly stored: ReadonlyMap<number, PlanSlot>
  readonly refused: readonly Refusal[]
  /** The gateway does not answer, or the sign-in has ended: what comes after would wait for nothing. */
  readonly isStopped: boolean
}

/** Stores changes one after the other; says of each what became of it. `onTold`: what is going on, for people. */
export async function saveAll(changes: readonly Change[], onTold: (words: string) => void): Promise<Saved> {
  const stored = new Map<number, PlanSlot>()
  const refused: Refusal[] = []
  for (const [i, change] of changes.entries()) {
    onTold(words.saving(i, changes.length))
    const label = change.slot.slot_id
    try {
      const answer = await store(change, (seconds) => onTold(words.waiting(seconds)))
      if (typeof answer === 'string') refused.push({ label, why: answer })
      else stored.set(change.slot.id, answer)
    } catch (error) {
      refused.push({ label, why: (error as Error).message })
      return { stored, refused, isStopped: true }
    }
  }
  return { stored, refused, isStopped: false }
}

/**
 * Stores one slot; returns it, or why not. Waits while the rate of the caller is used up. Throws when the gateway does not answer,
 * takes nothing now, or knows the caller no longer.
 */
async function store({ slot, body }: Change, onWait: (seconds: number) => void): Promise<PlanSlot | string> {
  try {
    const options = { method: 'PUT', body, ifMatch: slot.version }
    return await askPatiently<PlanSlot>(`/api/whms/slots/${slot.id}`, options, onWait)
  } catch (error) {
    if (!(error instanceof Refused) || error.isSignedOut || error.status >= 500) throw error
    return error.code === 'VERSION_MISMATCH' ? words.changedElsewhere : error.message
  }
}

/** Gives a text to the browser as a file. */
export function download(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
