import { errorMessage } from '../../../platform/faults.ts'
import { Refused } from '../data/ask.ts'
import { askPatiently } from '../data/asking.ts'
import type { OnceKey } from '../data/once-key.ts'
import { whyOf } from '../data/slot-list.ts'
import { gatewayWords } from '../i18n/language.ts'
import type { Change, PlanSlot } from './draft.ts'
import type { ShapeChange } from './shapes.ts'
import { planTexts as words } from './texts.ts'

export type Refusal = { readonly label: string; readonly why: string }

export type Saved = {
  /** Answers of the gateway, by the key of the change. */
  readonly stored: ReadonlyMap<string, unknown>
  readonly refused: readonly Refusal[]
  /** The gateway does not answer, or the sign-in has ended: later requests would wait for nothing. */
  readonly isStopped: boolean
}

type Outcome = { readonly key: string } & ({ readonly answer: unknown } | Refusal)

/** Content of one request. */
type Step = {
  readonly parts: readonly { readonly key: string; readonly label: string }[]
  readonly send: (onWait: (seconds: number) => void) => Promise<readonly Outcome[]>
}

/** The most changes that the gateway takes at once. */
const mostAtOnce = 100

/**
 * Stores changes one request after the other, slots a hundred at a time, and returns the outcome of each. With `once`, a batch
 * whose answer was lost is sent again under its key, so that it is not refused for its own changes. Reports the progress as text to
 * `onProgress`.
 */
export async function saveAll(
  slots: readonly Change[],
  shapes: readonly ShapeChange[],
  once: OnceKey,
  onProgress: (words: string) => void,
): Promise<Saved> {
  const stored = new Map<string, unknown>()
  const refused: Refusal[] = []
  let done = 0
  for (const { parts, send } of [...slotSteps(slots, once), ...shapes.map(shapeStep)]) {
    onProgress(words.saving(done, slots.length + shapes.length))
    try {
      for (const outcome of await answered(parts, () => send((seconds) => onProgress(words.waiting(seconds))))) {
        if ('why' in outcome) refused.push({ label: outcome.label, why: outcome.why })
        else stored.set(outcome.key, outcome.answer)
      }
    } catch (error) {
      refused.push(...parts.map(({ label }) => ({ label, why: errorMessage(error) })))
      return { stored, refused, isStopped: true }
    }
    done += parts.length
  }
  return { stored, refused, isStopped: false }
}

/**
 * Sends one request. If the gateway refuses it as a whole, each of its parts is refused. Throws when the gateway does not answer,
 * accepts nothing now, or the sign-in has ended.
 */
async function answered(parts: Step['parts'], send: () => Promise<readonly Outcome[]>): Promise<readonly Outcome[]> {
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof Refused) || error.isSignedOut || error.status >= 500) throw error
    return parts.map((part) => ({ ...part, why: reasonOf(error) }))
  }
}

const reasonOf = (error: Refused): string => (error.code === 'VERSION_MISMATCH' ? words.changedElsewhere : whyOf(error))

const shapeStep = ({ key, label, path, version, body }: ShapeChange): Step => ({
  parts: [{ key, label }],
  send: async (onWait) => [
    { key, answer: await askPatiently<object>(path, { method: 'PUT', body, ifMatch: version }, onWait) },
  ],
})

type SlotResult = {
  readonly index: number
  readonly status: number
  readonly slot?: PlanSlot
  readonly error?: { readonly code: string; readonly message: string; readonly details?: string }
}

function slotSteps(slots: readonly Change[], once: OnceKey): Step[] {
  const starts = Array.from({ length: Math.ceil(slots.length / mostAtOnce) }, (_, n) => n * mostAtOnce)
  return starts.map((start) => slotStep(slots.slice(start, start + mostAtOnce), once))
}

function slotStep(batch: readonly Change[], once: OnceKey): Step {
  const parts = batch.map(({ slot }) => ({ key: `slot ${slot.id}`, label: slot.slot_id }))
  const changes = batch.map(({ slot: { id, version }, body }) => ({ id, version, ...body }))
  const body = { mode: 'proceed', changes }
  const send: Step['send'] = async (onWait) => {
    const options = { method: 'POST', body, onceKey: once.of(body) }
    const { results } = await askPatiently<{ results: readonly SlotResult[] }>('/api/whms/slots/batch', options, onWait)
    once.done(body)
    return results.flatMap((result) => {
      const part = parts[result.index]
      return part ? [slotOutcome(part, result)] : []
    })
  }
  return { parts, send }
}

function slotOutcome(part: Step['parts'][number], { status, slot, error }: SlotResult): Outcome {
  if (slot) return { key: part.key, answer: slot }
  const { code = '', message = '', details = '' } = error ?? {}
  return { ...part, why: reasonOf(new Refused(status, code, gatewayWords(message), 0, gatewayWords(details))) }
}
