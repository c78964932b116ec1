type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** Returns what is typed or chosen in the field that an event is of; '' when it is of something else. */
export const textOf = ({ target }: Event): string => (isField(target) ? target.value : '')

/** Says whether an event is of a field. */
export function isField(target: EventTarget | null): target is Field {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement
  )
}

/** Returns the input that an event is of. Throws TypeError when it is of something else. */
export function inputOf({ target }: Event): HTMLInputElement {
  if (target instanceof HTMLInputElement) return target
  throw new TypeError('The event is of no input.')
}
