import { useLayoutEffect } from 'preact/hooks'
import { texts } from '../i18n/texts.ts'
import { keepsUnsaved } from './address.ts'
import { isField } from './field.ts'

type Written = HTMLInputElement | HTMLTextAreaElement
type Chosen = HTMLInputElement | HTMLSelectElement

const written = 'main :is(textarea, input:is([type=text], [type=password], [type=number]))'
/** A choice counts in a form, which sends it. A filter is no form, or is marked as one, and shows its result at once. */
const chosen =
  'main :is(form:not([data-filter]), [data-sends]) :is(select, input:is([type=checkbox], [type=radio], [type=date], [type=datetime-local]))'

/** Content of a field when a person came to it first. */
const before = new WeakMap<Element, string>()
/** Fields that a person has chosen, not the page. */
const touched = new WeakSet<Element>()

const stateOf = (field: Written | Chosen): string =>
  field instanceof HTMLInputElement && (field.type === 'checkbox' || field.type === 'radio')
    ? String(field.checked)
    : field.value

function meet(field: EventTarget | null): void {
  if (!isField(field) || !field.matches(`${written}, ${chosen}`) || before.has(field)) return
  before.set(field, stateOf(field))
}

/** A sent field is empty again, or gone, or has its first content. */
const isTyped = (field: Written) => stateOf(field) !== (before.get(field) ?? stateOf(field))
/** When a person chose without entering the field, its first content is not known. */
const isChosen = (field: Chosen) => touched.has(field) && stateOf(field) !== before.get(field)

const hasUnsent = (): boolean =>
  [...document.querySelectorAll<Written>(written)].some(isTyped) ||
  [...document.querySelectorAll<Chosen>(chosen)].some(isChosen)

/** Keeps the typed and chosen values of a view until they are sent, or a person agrees to lose them. */
export function useTyped(): void {
  useLayoutEffect(() => {
    const come = ({ target }: Event) => {
      meet(target)
      // A tick box need not take the focus, and is ticked by its label as well.
      if (target instanceof Element) meet(target.closest('label')?.control ?? null)
    }
    const choose = ({ target }: Event) => {
      if (target instanceof Element && target.matches(chosen)) touched.add(target)
    }
    // The fields of a form that resets itself after sending count as sent.
    const empty = ({ target }: Event) => {
      if (target instanceof HTMLFormElement) setTimeout(() => wasSent(target))
    }
    meet(document.activeElement)
    const hearing = [
      ...[['focusin', come] as const, ['pointerdown', come] as const],
      ...[['change', choose] as const, ['reset', empty] as const],
    ]
    for (const [kind, listener] of hearing) document.addEventListener(kind, listener)
    const end = keepsUnsaved(() => confirm(texts.leave), hasUnsent)
    return () => {
      for (const [kind, listener] of hearing) document.removeEventListener(kind, listener)
      end()
    }
  }, [])
}

/** Notes that a form was sent as it is; its fields keep their values. */
export function wasSent(form: HTMLFormElement | null): void {
  for (const field of form?.querySelectorAll<Written | Chosen>(`${written}, ${chosen}`) ?? []) {
    before.set(field, stateOf(field))
    touched.delete(field)
  }
}
