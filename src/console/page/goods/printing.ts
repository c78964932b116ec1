import { useRef, useState } from 'preact/hooks'
import { ask, Refused } from '../data/ask.ts'
import { newActId } from '../data/once-key.ts'
import { texts } from '../i18n/texts.ts'
import type { Acts } from '../kit/acts.tsx'
import { type LabelForm, printOf } from './label-order.ts'
import { labelTexts as words } from './label-texts.ts'

/** An order whose first labels were sent; each label has the key of the first attempt. */
type Broken = { readonly what: string; readonly id: string; next: number; readonly failed: string[] }

/** Prints orders of labels. `refused`: text about each label of the last order that was refused. */
export function usePrinting(acts: Acts, onLeft: (why: string) => void) {
  const [progress, setProgress] = useState('')
  const [refused, setRefused] = useState<readonly string[]>([])
  const broken = useRef<Broken | null>(null)
  /** Resolves to whether the order was sent to its end. */
  const print = async (form: LabelForm, codes: readonly string[], printer: string): Promise<boolean> => {
    const what = JSON.stringify([form, codes, printer])
    // The same order goes on where it broke off: no label comes out twice.
    const order = broken.current?.what === what ? broken.current : { what, id: newActId(), next: 0, failed: [] }
    setRefused([])
    const isDone = await acts.act(async () => {
      for (const [index, code] of codes.entries()) {
        if (index < order.next) continue
        setProgress(words.sending(index, codes.length))
        const why = await send(printOf(form, code, printer), `${order.id}-${index}`, onLeft)
        if (why !== undefined) order.failed.push(words.refused(code, why))
        order.next = index + 1
      }
    }, '')
    broken.current = isDone ? null : order
    setRefused(order.failed)
    const sent = order.next - order.failed.length
    setProgress(isDone ? (sent > 0 ? words.sent(sent) : '') : words.brokeOff(order.next, codes.length))
    return isDone
  }
  return { progress, refused, print }
}

/** Sends one label, as soon as the gateway takes it. Resolves to why it was refused; undefined: it was not. */
async function send(
  body: Readonly<Record<string, unknown>>,
  onceKey: string,
  onLeft: (why: string) => void,
): Promise<string | undefined> {
  for (;;) {
    try {
      await ask('/api/whms/labels/print', { method: 'POST', body, onceKey })
      return undefined
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (error.isSignedOut) onLeft(texts.signedOut)
      // The gateway says when it takes the next one.
      if (error.status === 429 && error.retryAfterSeconds > 0) {
        await new Promise((resolve) => setTimeout(resolve, error.retryAfterSeconds * 1000))
        continue
      }
      if (error.status === 400 || error.status === 404) return error.details || error.message
      throw error
    }
  }
}
