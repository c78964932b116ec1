import { type CodeField, codeFieldOf } from './field.ts'
import { afterSilence, atRest, latestKeyMs, longestGapMs, pressed, type Reading, released } from './wedge.ts'

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement
type Before = {
  readonly field: Field
  readonly value: string
  readonly start: number | null
  readonly end: number | null
}

/**
 * A scan. `parts`: texts that the scanner wrote just before, with pauses between. `field`: the field with the focus, if it takes
 * codes.
 */
export type ScannedCode = {
  readonly code: string
  readonly parts: readonly string[]
  readonly field: CodeField | undefined
}

/** Keys that this page sends again itself. */
const resent = new WeakSet<Event>()

/** Keys outside of fields, held back until it is known whether they are of a scan. */
class HeldKeys {
  #keys: { readonly event: KeyboardEvent; readonly target: EventTarget }[] = []

  hold(event: KeyboardEvent): void {
    holdBack(event)
    if (event.target) this.#keys.push({ event, target: event.target })
  }

  /** Gives the page the typed keys. */
  sendOn(): void {
    for (const { event, target } of this.drop()) {
      const again = new KeyboardEvent(event.type, event)
      resent.add(again)
      target.dispatchEvent(again)
    }
  }

  /** Drops the keys and returns them. */
  drop() {
    const keys = this.#keys
    this.#keys = []
    return keys
  }
}

let isWriting = false
const resting = new Set<() => void>()

function rest(): void {
  isWriting = false
  for (const then of resting) then()
  resting.clear()
}

/**
 * Resolves once no keys of a run are being written into a field: text that the page writes meanwhile would be removed with them.
 */
export async function fieldsAtRest(): Promise<void> {
  // The key that ends a run may begin the next one.
  while (isWriting) await new Promise<void>((then) => resting.add(then))
}

/** Earlier states of the fields that the keys of a scan go to. There are several when the focus moves within a scan. */
class WrittenFields {
  #before: Before[] = []
  #first: Field | undefined

  /** The field that the scan began in. */
  get first(): Field | undefined {
    return this.#first
  }

  /** Notes where a key of a run goes to; undefined: to no field. */
  note(kind: Reading['kind'], field: Field | undefined): void {
    if (kind === 'scan' || kind === 'echo') return
    isWriting ||= field !== undefined
    // The text before a pause may be taken already.
    if (kind === 'first' || (kind === 'again' && this.#before.length === 0)) this.#begin(field)
    else this.#goOn(field)
  }

  #begin(field: Field | undefined): void {
    this.#before = []
    this.#first = field
    this.#goOn(field)
  }

  #goOn(field: Field | undefined): void {
    if (field && this.#before.every((one) => one.field !== field)) this.#before.push({ field, ...selectionOf(field) })
  }

  /** Removes the written text, and forgets the fields. */
  putBack(): void {
    const before = this.#before
    this.#begin(undefined)
    for (const one of before) putBack(one)
  }
}

function holdBack(event: KeyboardEvent): void {
  event.preventDefault()
  event.stopImmediatePropagation()
}

/**
 * Listens on the whole page for scans, whatever has the focus, and calls `onScan` with each. In a field, the text of the scanner is
 * removed again. Elsewhere its keys are held back, so that a digit in a code is no shortcut. Keys that turn out to be typed are
 * sent on. Returns a function that ends it.
 */
export function listenForScans(onScan: (scan: ScannedCode) => void): () => void {
  let state = atRest
  const written = new WrittenFields()
  let timer = 0
  const held = new HeldKeys()

  /** Takes the code of a scanner without a suffix. Returns whether there was one. */
  const takeSilent = (atMs: number): boolean => {
    const [next, reading] = afterSilence(state, atMs)
    if (reading.kind !== 'scan' || isProgram(written.first, reading.code)) return false
    state = next
    scanned(reading)
    return true
  }
  const silent = () => {
    if (!takeSilent(performance.now())) typed()
  }
  const typed = () => {
    held.sendOn()
    rest()
  }
  const scanned = ({ code, parts = [] }: Extract<Reading, { kind: 'scan' }>) => {
    const field = codeFieldOf(written.first)
    held.drop()
    written.putBack()
    rest()
    onScan({ code, parts, field })
  }
  const take = (event: KeyboardEvent, reading: Reading) => {
    clearTimeout(timer)
    const field = fieldOf(event.target)
    if (reading.kind === 'other') return typed()
    if (reading.kind === 'first') held.sendOn()
    written.note(reading.kind, field)
    if (reading.kind === 'scan' || reading.kind === 'echo') holdBack(event)
    else if (!field && event.type === 'keydown' && (reading.kind === 'more' || isPlain(event))) {
      held.hold(event)
    }
    if (reading.kind === 'scan') scanned(reading)
    else if (reading.kind !== 'echo') {
      // One key is a shortcut; two that fast may be the beginning of a code that pauses.
      const mayBeCode = state.run.length > 1 || state.parts.some((part) => part.length > 1)
      timer = window.setTimeout(silent, mayBeCode ? latestKeyMs : longestGapMs + 10)
    }
  }
  const down = (event: KeyboardEvent) => {
    if (resent.has(event) || event.isComposing) return
    const { key, code, altKey, ctrlKey, metaKey, repeat, timeStamp: atMs } = event
    if (atMs - state.lastMs > latestKeyMs) takeSilent(atMs)
    const [next, reading] = pressed(state, { key, code, altKey, ctrlKey, metaKey, repeat, atMs })
    state = next
    take(event, reading)
  }
  const up = (event: KeyboardEvent) => {
    const [next, reading] = released(state, event.key, event.timeStamp)
    state = next
    if (reading.kind !== 'other') take(event, reading)
  }
  window.addEventListener('keydown', down, true)
  window.addEventListener('keyup', up, true)
  return () => {
    clearTimeout(timer)
    rest()
    window.removeEventListener('keydown', down, true)
    window.removeEventListener('keyup', up, true)
  }
}

/** A key that may be a shortcut of this page; a space stays with the button or the page that it presses. */
const isPlain = ({ key, ctrlKey, altKey, metaKey }: KeyboardEvent) => key !== ' ' && !ctrlKey && !altKey && !metaKey

/** Returns the field that keys change; undefined for one that no one can write in. */
function fieldOf(target: EventTarget | null): Field | undefined {
  if (target instanceof HTMLSelectElement) return target
  const isText = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement
  if (!isText || target.readOnly || target.disabled) return undefined
  return /^(button|checkbox|radio|submit|reset|file|range|color)$/.test(target.type) ? undefined : target
}

/** Whether a program may have written this, such as one that fills in passwords or whole sentences: that stays in its field. */
const isProgram = (field: Field | undefined, code: string): boolean =>
  field !== undefined && (field.type === 'password' || /\s/.test(code))

function selectionOf(field: Field): Omit<Before, 'field'> {
  if (field instanceof HTMLSelectElement) return { value: field.value, start: null, end: null }
  return { value: field.value, start: field.selectionStart, end: field.selectionEnd }
}

function putBack({ field, value, start, end }: Before): void {
  if (field.value === value) return
  field.value = value
  if (!(field instanceof HTMLSelectElement) && start !== null) field.setSelectionRange(start, end)
  field.dispatchEvent(new Event('input', { bubbles: true }))
  if (field instanceof HTMLSelectElement) field.dispatchEvent(new Event('change', { bubbles: true }))
}
