import { afterSilence, atRest, fewestWithoutSuffix, longestGapMs, pressed, type Reading, released } from './wedge.ts'

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement
type Before = {
  readonly field: Field
  readonly value: string
  readonly start: number | null
  readonly end: number | null
}

/** Keys of a scanner that a busy device brings late are waited for, where the code would be cut. */
const latestKeyMs = 300

/** Keys that this page sends again itself. */
const resent = new WeakSet<Event>()

/** Keys outside of fields, held back until it is known whether they are of a scan. */
class HeldKeys {
  #keys: { readonly event: KeyboardEvent; readonly target: EventTarget }[] = []

  hold(event: KeyboardEvent): void {
    holdBack(event)
    if (event.target) this.#keys.push({ event, target: event.target })
  }

  /** Gives the page what was typed. */
  sendOn(): void {
    for (const { event, target } of this.drop()) {
      const again = new KeyboardEvent(event.type, event)
      resent.add(again)
      target.dispatchEvent(again)
    }
  }

  /** Forgets them, and returns what they were. */
  drop() {
    const keys = this.#keys
    this.#keys = []
    return keys
  }
}

/** The fields that the keys of a run are written into, as they were: more than one when the focus moves in the middle of a scan. */
class WrittenFields {
  #before: Before[] = []
  #hasFirst = false

  /** Whether the run began in a field. */
  get hasFirst(): boolean {
    return this.#hasFirst
  }

  /** Notes where the first key goes to; undefined: to no field. */
  begin(field: Field | undefined): void {
    this.#before = []
    this.#hasFirst = field !== undefined
    this.goOn(field)
  }

  /** Notes where a further key goes to. */
  goOn(field: Field | undefined): void {
    if (field && this.#before.every((one) => one.field !== field)) this.#before.push({ field, ...selectionOf(field) })
  }

  /** Takes out what was written, and forgets the fields. */
  putBack(): void {
    const before = this.#before
    this.begin(undefined)
    for (const one of before) putBack(one)
  }
}

function holdBack(event: KeyboardEvent): void {
  event.preventDefault()
  event.stopImmediatePropagation()
}

/**
 * Listens on the whole page for scans, whatever has the focus, and calls `onScan` with each. In a field, what the scanner
 * wrote is taken out again. Elsewhere its keys are held back, so that a digit in a code is no shortcut; when they turn
 * out to be typed, they are sent on. Returns a function that ends it.
 */
export function listenForScans(onScan: (code: string) => void): () => void {
  let state = atRest
  const written = new WrittenFields()
  let timer = 0
  const held = new HeldKeys()

  /** Takes the code of a scanner without a suffix; in a field a suffix is needed. Returns whether there was one. */
  const takeSilent = (atMs: number): boolean => {
    if (written.hasFirst) return false
    const [next, reading] = afterSilence(state, atMs)
    if (reading.kind !== 'scan') return false
    state = next
    scanned(reading.code)
    return true
  }
  const silent = () => {
    if (!takeSilent(performance.now())) held.sendOn()
  }
  const scanned = (code: string) => {
    held.drop()
    written.putBack()
    onScan(code)
  }
  const take = (event: KeyboardEvent, reading: Reading) => {
    clearTimeout(timer)
    const field = fieldOf(event.target)
    if (reading.kind === 'other') return held.sendOn()
    if (reading.kind === 'first') {
      held.sendOn()
      written.begin(field)
    }
    if (reading.kind === 'more') written.goOn(field)
    if (reading.kind === 'scan' || reading.kind === 'echo') holdBack(event)
    else if (!field && event.type === 'keydown' && (reading.kind === 'more' || isPlain(event))) {
      held.hold(event)
    }
    if (reading.kind === 'scan') scanned(reading.code)
    else if (reading.kind !== 'echo') {
      const mayBeCode = !written.hasFirst && state.run.length >= fewestWithoutSuffix
      timer = window.setTimeout(silent, mayBeCode ? latestKeyMs : longestGapMs + 10)
    }
  }
  const down = (event: KeyboardEvent) => {
    if (resent.has(event) || event.isComposing) return
    const { key, code, altKey, ctrlKey, metaKey, repeat, timeStamp: atMs } = event
    takeSilent(atMs)
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
