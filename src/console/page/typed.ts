import { useEffect } from 'hono/jsx/dom'
import { keepsUnsaved } from './address.ts'
import { texts } from './texts.ts'

type Written = HTMLInputElement | HTMLTextAreaElement

const written = 'main :is(textarea, input:is([type=text], [type=password], [type=number]))'

/** What a field held when somebody came to it first. */
const before = new WeakMap<Element, string>()

function meet(field: EventTarget | null): void {
  if (!(field instanceof Element) || !field.matches(written) || before.has(field)) return
  before.set(field, (field as Written).value)
}

/** A field that was sent is empty again, or gone, or has what it had at first. */
const isTyped = (field: Written) => field.value !== (before.get(field) ?? field.value)

/** Keeps what is typed into the fields of a view until it is sent, or somebody agrees to lose it. */
export function useTyped(): void {
  useEffect(() => {
    const come = ({ target }: FocusEvent) => meet(target)
    meet(document.activeElement)
    document.addEventListener('focusin', come)
    const end = keepsUnsaved(
      () => confirm(texts.leave),
      () => [...document.querySelectorAll<Written>(written)].some(isTyped),
    )
    return () => {
      document.removeEventListener('focusin', come)
      end()
    }
  }, [])
}

/** Says that a form was sent as it is; it goes on showing what was typed. */
export function wasSent(form: HTMLFormElement | null): void {
  for (const field of form?.querySelectorAll<Written>(written) ?? []) before.set(field, field.value)
}
