import { useState } from 'preact/hooks'
import { ask, Refused } from '../../data/ask.ts'
import { isOutdated } from '../../data/asking.ts'
import { useOnceKey } from '../../data/use-once-key.ts'
import type { Fate, SlotState, Waiting } from '../../data/verify-queue.ts'
import { texts } from '../../i18n/texts.ts'
import { verifyTexts as words } from './verify-texts.ts'

export type Verdict = 'VERIFIED' | 'DISPUTED'

/** Another one's verdict is about the same placement, so it can be disputed behind it. */
const takes = {
  VERIFIED: new Set<Fate['kind']>(['waits']),
  DISPUTED: new Set<Fate['kind']>(['waits', 'verified', 'disputed']),
}

/** The placement on the screen. `n`: counts the looks, so that a later look at the same placement is another one. */
export type Pinned = Waiting & { readonly n: number }

type Shown = { readonly fate: Fate; readonly isSeen: boolean; readonly note: string }

/** Returns why a verdict on the placement that is shown cannot be sent; undefined: it can. Pure. */
function wrongWith(verdict: Verdict, { fate, isSeen, note }: Shown): 'settled' | 'notSeen' | 'noteMissing' | undefined {
  if (!takes[verdict].has(fate.kind)) return 'settled'
  if (!isSeen) return 'notSeen'
  return verdict === 'DISPUTED' && note === '' ? 'noteMissing' : undefined
}

type Needs = {
  readonly pinned: Pinned | undefined
  readonly fate: Fate
  readonly note: string
  readonly onJudged: (judged: Pinned, state: SlotState) => void
  readonly onNoteMissing: () => void
  /** Called when the slot shows another placement by now. */
  readonly onOutdated: () => void
  readonly onLeft: (why: string) => void
}

/** Judges the placement on the screen, one verdict at a time. `outcome`: text about the last one. */
export function useVerdict({ pinned, fate, note: typed, onJudged, onNoteMissing, onOutdated, onLeft }: Needs) {
  const [outcome, setOutcome] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  // A verdict counts when the photo of this look was on the screen, or there is none.
  const [seen, setSeen] = useState(0)
  const isSeen = seen === pinned?.n
  const once = useOnceKey()
  const failed = (error: Error) => {
    if (error instanceof Refused && error.isSignedOut) return onLeft(texts.signedOut)
    const isOther = isOutdated(error)
    setProblem(isOther ? words.otherNow : words.failed(error.message))
    if (isOther) onOutdated()
  }
  const send = (judged: Pinned, verdict: Verdict, note: string) => {
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
  const judge = (verdict: Verdict) => {
    if (!pinned || isBusy) return
    const note = typed.trim()
    const wrong = wrongWith(verdict, { fate, isSeen, note })
    if (!wrong) return send(pinned, verdict, note)
    setProblem(words[wrong])
    if (wrong === 'noteMissing') onNoteMissing()
  }
  const markSeen = (n: number) => {
    setSeen(n)
    setProblem((shown) => (shown === words.notSeen ? '' : shown))
  }
  return {
    outcome,
    problem,
    forgetProblem: () => setProblem(''),
    isBusy,
    mayJudge: (verdict: Verdict) => isSeen && takes[verdict].has(fate.kind),
    judge,
    markSeen,
  }
}
