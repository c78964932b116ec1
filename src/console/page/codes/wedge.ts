/**
 * Distinguishes the keys of a barcode scanner (a keyboard wedge) from typing. Pure: times come in with the keys, by the clock of
 * the events. So a busy page does not look like a slow scanner.
 *
 * A scan is a run of at least three characters that Enter or Tab ends. Each comes at most 50 ms after the one before, 35 ms on
 * average. No one types like that: three letters and Enter in a tenth of a second.
 *
 * Bluetooth, a slow hub and a busy device cut codes in two. A run that broke off shortly before is a part of the next scan, or may
 * be. The scan names it, and the page decides by the check digits (`code-check.ts`).
 */

/** One key as the page gets it. */
export type KeyPress = {
  readonly key: string
  /** The key's place: only digits of the number pad make Alt codes. */
  readonly code: string
  readonly altKey: boolean
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  /** The key is held down. */
  readonly repeat: boolean
  readonly atMs: number
}

export type WedgeState = {
  /** The characters of the run, which may become a scan. */
  readonly run: readonly string[]
  readonly firstMs: number
  readonly lastMs: number
  /** Runs just before this one that nothing ended. */
  readonly parts: readonly string[]
  /** Parts of the last scan, if only silence ended it: its scanner may continue. */
  readonly silent: readonly string[]
  /** The end of the last scan; a second suffix comes right behind it. */
  readonly scannedMs: number
  /** Digits of an Alt code while the Alt key is down; undefined: it is not. */
  readonly altDigits: string | undefined
}

/**
 * Meaning of a key.
 *
 * - `other`: not of a scanner, as far as is known
 * - `first`: may begin a scan
 * - `more`: continues one, with a scanner's speed
 * - `again`: may continue one after a pause
 * - `scan`: ends one; `parts` are the runs just before it that nothing ended
 * - `echo`: a second suffix after a scan
 */
export type Reading =
  | { readonly kind: 'other' | 'first' | 'more' | 'again' | 'echo' }
  | { readonly kind: 'scan'; readonly code: string; readonly parts?: readonly string[] }

export const atRest: WedgeState = {
  run: [],
  parts: [],
  silent: [],
  firstMs: 0,
  lastMs: Number.NEGATIVE_INFINITY,
  scannedMs: Number.NEGATIVE_INFINITY,
  altDigits: undefined,
}

export const longestGapMs = 50
const longestMeanMs = 35
const fewestCharacters = 3
/** A run without Enter or Tab is a scan when it is longer and the keys then stay away. */
export const fewestWithoutSuffix = 6
const echoMs = 150
/** Keys of a scanner that a busy device brings late are waited for, where the code would be cut. */
export const latestKeyMs = 300
/** As long as a scanner pauses within a code. Two fast keys may be typed, so they count for `latestKeyMs`. */
const longestPauseMs = 1000
/** Earlier parts are forgotten. */
const mostParts = 4
const GS = '\x1d'
/** Characters that scanners send by Ctrl in place of a control character. */
const byCtrl: Readonly<Record<string, string>> = { ']': GS, j: 'Enter', m: 'Enter', i: 'Tab' }

/** Takes a pressed key. Returns the new state and the meaning of the key. */
export function pressed(state: WedgeState, press: KeyPress): readonly [WedgeState, Reading] {
  if (press.key === 'Alt') return [{ ...state, altDigits: '' }, { kind: isRunning(state, press) ? 'more' : 'other' }]
  // These keys mean nothing alone. A scanner presses modifiers within a code, such as for a capital letter. The trigger of a
  // handheld has no name and repeats while it is held. The text of an input method arrives without keys.
  if (['Shift', 'Control', 'AltGraph', 'CapsLock', 'NumLock', 'Unidentified', 'Process'].includes(press.key))
    return [state, { kind: isRunning(state, press) ? 'more' : 'other' }]
  // A held key is no scan; some systems report it in the middle of one.
  if (press.repeat) return isRunning(state, press) ? [state, { kind: 'more' }] : rest(state)
  if (state.altDigits !== undefined && press.altKey) return inAltCode(state, state.altDigits, press)
  if (press.metaKey) return rest(state)
  const key = press.ctrlKey && !press.altKey ? byCtrl[press.key.toLowerCase()] : press.key
  if (key === undefined) return rest(state)
  if (key === 'Enter' || key === 'Tab') return ended(state, press)
  return [...key].length === 1 ? taken(state, key, press.atMs) : rest(state)
}

/** Takes a key that went up: the end of the Alt key makes a character of its digits. */
export function released(state: WedgeState, key: string, atMs: number): readonly [WedgeState, Reading] {
  if (key !== 'Alt' || state.altDigits === undefined) return [state, { kind: 'other' }]
  const { altDigits, ...rest } = state
  const up = { ...rest, altDigits: undefined }
  return altDigits === '' ? [up, { kind: 'other' }] : taken(up, characterOf(altDigits), atMs)
}

/**
 * Returns the scan of a scanner without a suffix, after a gap longer than a scanner's. Else the run stays, because a busy device
 * may bring the next key late. The time of that key shows whether it belongs to the run.
 */
export function afterSilence(state: WedgeState, atMs: number): readonly [WedgeState, Reading] {
  if (atMs - state.lastMs <= longestGapMs) return [state, { kind: 'other' }]
  if (state.run.length === 0 || lengthOf(state) < fewestWithoutSuffix || !isFast(state))
    return [state, { kind: 'other' }]
  const [next, reading] = scanned(state, state.lastMs)
  return [{ ...next, silent: [...state.parts, state.run.join('')] }, reading]
}

function taken(state: WedgeState, character: string, atMs: number): readonly [WedgeState, Reading] {
  const isRun = state.run.length > 0 && atMs - state.lastMs <= longestGapMs
  if (!isRun) {
    const parts = partsBefore(state, atMs)
    const isAgain = (parts.at(-1)?.length ?? 0) > 1
    const begun = { ...state, parts, silent: [], run: [character], firstMs: atMs, lastMs: atMs }
    return [begun, { kind: isAgain ? 'again' : 'first' }]
  }
  return [{ ...state, run: [...state.run, character], lastMs: atMs }, { kind: 'more' }]
}

/** Returns the parts of a run that begins now: the one that broke off, and earlier ones. */
function partsBefore(state: WedgeState, atMs: number): readonly string[] {
  const { run, parts, lastMs, silent, scannedMs } = state
  if (run.length === 0) return atMs - scannedMs <= latestKeyMs ? silent : []
  const longestMs = run.length >= fewestCharacters ? longestPauseMs : latestKeyMs
  if (!isFast(state) || atMs - lastMs > longestMs) return []
  return [...parts, run.join('')].slice(-mostParts)
}

function ended(state: WedgeState, press: KeyPress): readonly [WedgeState, Reading] {
  const waitedMs = press.atMs - state.lastMs
  if (state.run.length === 0)
    return press.atMs - state.scannedMs <= echoMs
      ? [{ ...state, scannedMs: press.atMs }, { kind: 'echo' }]
      : [state, { kind: 'other' }]
  // Behind a long run a suffix may pause like any other key.
  const isInTime = waitedMs <= (lengthOf(state) < fewestWithoutSuffix ? longestGapMs : latestKeyMs)
  if (!isInTime || lengthOf(state) < fewestCharacters || !isFast(state)) return rest(state)
  return scanned(state, press.atMs)
}

/** Characters of a run and of its parts; a single key before it is typed. */
const lengthOf = ({ run, parts }: WedgeState) => parts.filter((part) => part.length > 1).join('').length + run.length

const isFast = ({ run, firstMs, lastMs }: WedgeState) => lastMs - firstMs <= longestMeanMs * (run.length - 1)

const scanned = (state: WedgeState, atMs: number): readonly [WedgeState, Reading] => [
  { ...atRest, altDigits: state.altDigits, scannedMs: atMs },
  { kind: 'scan', code: state.run.join(''), ...(state.parts.length > 0 && { parts: state.parts }) },
]

const rest = (state: WedgeState): readonly [WedgeState, Reading] => [
  { ...state, run: [], parts: [], silent: [], lastMs: Number.NEGATIVE_INFINITY },
  { kind: 'other' },
]

const isRunning = (state: WedgeState, { atMs }: KeyPress) => state.run.length > 0 && atMs - state.lastMs <= longestGapMs

/** Digits of the number pad while the Alt key is down make a character; any other key is a shortcut. */
function inAltCode(state: WedgeState, digits: string, press: KeyPress): readonly [WedgeState, Reading] {
  const [, digit] = /^Numpad(\d)$/.exec(press.code) ?? []
  if (digit === undefined) return rest({ ...state, altDigits: '' })
  const isRun = isRunning(state, press)
  // The digits take their time too: the run continues while they come.
  const lastMs = isRun ? press.atMs : state.lastMs
  return [{ ...state, lastMs, altDigits: digits + digit }, { kind: isRun ? 'more' : 'other' }]
}

/** Alt codes are the same for ASCII in every system; above it only with a leading zero (Latin-1). */
function characterOf(digits: string): string {
  const value = Number(digits)
  const isKnown = value > 0 && (value < 128 || (digits.startsWith('0') && value >= 160 && value < 256))
  return isKnown ? String.fromCharCode(value) : '\ufffd'
}
