import { Refused } from './ask.ts'
import { askPatiently } from './asking.ts'
import type { Change } from './plan-draft.ts'
import { whyOf } from './plan-import.ts'
import type { ShapeChange } from './plan-shapes.ts'
import { planTexts as words } from './plan-texts.ts'

export type Refusal = { readonly label: string; readonly why: string }

export type Saved = {
  /** What the gateway answered, by the key of the change. */
  readonly stored: ReadonlyMap<string, unknown>
  readonly refused: readonly Refusal[]
  /** The gateway does not answer, or the sign-in has ended: what comes after would wait for nothing. */
  readonly isStopped: boolean
}

/** Returns the change of a slot as one among others. */
export const asked = ({ slot, body }: Change): ShapeChange => ({
  ...{ key: `slot ${slot.id}`, label: slot.slot_id, path: `/api/whms/slots/${slot.id}`, version: slot.version, body },
})

/** Stores changes one after the other; says of each what became of it. `onTold`: what is going on, for people. */
export async function saveAll(changes: readonly ShapeChange[], onTold: (words: string) => void): Promise<Saved> {
  const stored = new Map<string, unknown>()
  const refused: Refusal[] = []
  for (const [i, change] of changes.entries()) {
    onTold(words.saving(i, changes.length))
    const { key, label } = change
    try {
      const answer = await store(change, (seconds) => onTold(words.waiting(seconds)))
      if (typeof answer === 'string') refused.push({ label, why: answer })
      else stored.set(key, answer)
    } catch (error) {
      refused.push({ label, why: (error as Error).message })
      return { stored, refused, isStopped: true }
    }
  }
  return { stored, refused, isStopped: false }
}

/**
 * Stores one of them; returns the answer, or why not. Waits while the rate of the caller is used up. Throws when the gateway does not answer,
 * takes nothing now, or knows the caller no longer.
 */
async function store(
  { path, version, body }: ShapeChange,
  onWait: (seconds: number) => void,
): Promise<object | string> {
  try {
    const options = { method: 'PUT', body, ifMatch: version }
    return await askPatiently<object>(path, options, onWait)
  } catch (error) {
    if (!(error instanceof Refused) || error.isSignedOut || error.status >= 500) throw error
    return error.code === 'VERSION_MISMATCH' ? words.changedElsewhere : whyOf(error)
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
