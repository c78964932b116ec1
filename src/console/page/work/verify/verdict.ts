import { useState } from 'preact/hooks'
import { ask, Refused } from '../../data/ask.ts'
import { isOutdated } from '../../data/asking.ts'
import { useOnceKey } from '../../data/use-once-key.ts'
import type { Fate, SlotState, Waiting } from '../../data/verify-queue.ts'
import { texts } from '../../i18n/texts.ts'
import { verifyTexts as words } from './verify-texts.ts'

export type Verdict = 'VERIFIED' | 'DISPUTED'

/** Another one's verdict is about the same placement, so it can be disputed behind it. */
export const takes = {
  VERIFIED: new Set<Fate['kind']>(['waits']),
  DISPUTED: new Set<Fate['kind']>(['waits', 'verified', 'disputed']),
}

type Shown = { readonly fate: Fate; readonly isSeen: boolean; readonly note: string }

/** Returns why a verdict on the placement that is shown cannot be sent; undefined: it can. Pure. */
export function wrongWith(
  verdict: Verdict,
  { fate, isSeen, note }: Shown,
): 'settled' | 'notSeen' | 'noteMissing' | undefined {
  if (!takes[verdict].has(fate.kind)) return 'settled'
  if (!isSeen) return 'notSeen'
  return verdict === 'DISPUTED' && note === '' ? 'noteMissing' : undefined
}

type After<Judged> = {
  onJudged: (judged: Judged, state: SlotState) => void
  /** Called when the slot shows another placement by now. */
  onOutdated: () => void
  onLeft: (why: string) => void
}

/** Sends verdicts, one at a time. `outcome`: text about the last one. */
export function useVerdict<Judged extends Waiting>({ onJudged, onOutdated, onLeft }: After<Judged>) {
  const [outcome, setOutcome] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const once = useOnceKey()
  const failed = (error: Error) => {
    if (error instanceof Refused && error.isSignedOut) return onLeft(texts.signedOut)
    const isOther = isOutdated(error)
    setProblem(isOther ? words.otherNow : words.failed(error.message))
    if (isOther) onOutdated()
  }
  const send = (judged: Judged, verdict: Verdict, note: string) => {
    const { slot, placed } = judged
    setBusy(true)
    setProblem('')
    const body = {
      event_type: verdict,
      slot_id: slot.id,
      asset_barcode: slot.assetBarcode,
      // The gateway records nothing when the slot shows another placement by then.
      placement_event_id: placed?.id,
      ...(note && { verification_notes: note }),
    }
    const recorded = (answer: { slot: SlotState }) => {
      once.done(body)
      setOutcome(words[verdict === 'VERIFIED' ? 'verified' : 'disputed'](slot.assetBarcode ?? '', slot.slot_id))
      onJudged(judged, answer.slot)
    }
    ask<{ slot: SlotState }>('/api/whms/events', { method: 'POST', body, onceKey: once.of(body) })
      .then(recorded, failed)
      .finally(() => setBusy(false))
  }
  return { outcome, problem, setProblem, isBusy, send }
}
