/** Returns what is typed or chosen in the field that an event is of. */
export function textOf({ target }: Event): string {
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement ? target.value : ''
}

/** Returns the input that an event is of. Throws TypeError when it is of something else. */
export function inputOf({ target }: Event): HTMLInputElement {
  if (target instanceof HTMLInputElement) return target
  throw new TypeError('The event is of no input.')
}
