import { printable } from '../codes/scan-place.ts'
import {
  type Act,
  beginning,
  type Code,
  type Filled,
  type IsSlot,
  isEmpty,
  nothing,
  withCode,
  withoutCode,
} from './codes.ts'
import type { NewItem, Photo } from './items.ts'
import { scanTexts as texts } from './texts.ts'

export type Count = { readonly id: number; readonly reference: string | null }
export type Done = Pick<NewItem, 'title' | 'path' | 'body'>
/** The recorded act; `VERIFIED` and `DISPUTED` end the same task. */
export type Deed = Act | 'DISPUTED'

/** A task that a person has begun and not saved. `act` undefined: it is not chosen yet. */
export type Draft = {
  readonly act: Act | undefined
  readonly filled: Filled
  readonly photo: Photo | undefined
  readonly note: string
  readonly count: Count | undefined
  /** Whether the person or the gateway has named this count; one that is only remembered may be closed by now. */
  readonly isCountSure: boolean
}

type Needs = {
  /** Called after each change. */
  readonly draw: () => void
  /** Shows a problem, with its sound; '' removes it. */
  readonly say: (words: string) => void
  readonly isSlot: (by: string) => IsSlot
  /** Stores an act; resolves to whether it is stored. */
  readonly keep: (by: string, done: Done, photo: Photo | undefined) => Promise<boolean>
}

const blank: Draft = {
  act: undefined,
  filled: nothing,
  photo: undefined,
  note: '',
  count: undefined,
  isCountSure: false,
}

/**
 * The tasks that people have begun on this device. Each person has one, which outlives the end of a sign-in. A code
 * that comes while a task is being stored goes into the next one.
 */
export class ScanTasks {
  readonly #needs: Needs
  readonly #drafts = new Map<string, Draft>()
  #saving: { readonly codes: (readonly [string, Code])[] } | undefined
  /** A picture of the camera that is still being read. */
  #reading: Promise<void> | undefined
  /** Counts the tasks that were given up. */
  #left = 0

  constructor(needs: Needs) {
    this.#needs = needs
  }

  get isSaving(): boolean {
    return this.#saving !== undefined
  }

  /** Whether nothing has been begun: then the page may be loaded again. */
  get isIdle(): boolean {
    return [...this.#drafts.values()].every(({ act, filled }) => act === undefined && isEmpty(filled))
  }

  of(by: string): Draft {
    return this.#drafts.get(by) ?? blank
  }

  /** Whether this device knows the slots, and the one of the task is none of them. */
  hasUnknownSlot(by: string): boolean {
    const { slot } = this.of(by).filled
    return slot !== undefined && this.#needs.isSlot(by)?.(slot.text) === false
  }

  take(by: string, code: Code): void {
    if (this.#saving) {
      this.#saving.codes.push([by, code])
      return
    }
    const { act, filled } = this.of(by)
    const taken = withCode(act, filled, code, this.#needs.isSlot(by))
    this.#put(by, { filled: taken.filled })
    this.#needs.say(taken.problem)
  }

  begin(by: string, act: Act): void {
    this.#put(by, { act, filled: beginning(act, this.of(by).filled) })
  }

  /** Gives the task up. One that is being stored stays: its person has pressed Save. */
  leave(by: string): void {
    if (this.#saving) return
    this.#left += 1
    this.#drafts.delete(by)
    this.#needs.draw()
  }

  clear(by: string, code: Code): void {
    this.#put(by, { filled: withoutCode(this.of(by).filled, code) })
    this.#needs.say('')
  }

  /** Takes codes out that turned out to be parts of one. */
  drop(by: string, parts: readonly string[]): void {
    const { filled } = this.of(by)
    const { pallet, slot, found } = filled
    const torn = [pallet, slot, ...found].filter((code) => code !== undefined && parts.includes(code.text))
    if (torn.length > 0) this.#put(by, { filled: torn.reduce((rest, code) => withoutCode(rest, code as Code), filled) })
  }

  note(by: string, note: string): void {
    this.#put(by, { note })
  }

  choose(by: string, count: Count | undefined): void {
    this.#put(by, { count, isCountSure: true })
  }

  /** The counts that were open last: one is chosen until the gateway answers. */
  remember(by: string, counts: readonly Count[]): void {
    const { count, filled } = this.of(by)
    const isKept = count !== undefined && (!isEmpty(filled) || isAmong(counts, count))
    if (!isKept) this.#put(by, { count: counts[0], isCountSure: false })
  }

  /** The gateway has sent the open counts. One is chosen, unless codes were scanned for another that was open. */
  offer(by: string, open: readonly Count[]): void {
    const { count, filled, isCountSure } = this.of(by)
    const isKept = count !== undefined && (isAmong(open, count) || (isCountSure && !isEmpty(filled)))
    this.#put(by, { count: isKept ? count : open[0], isCountSure: true })
  }

  /** Takes a photo as soon as it is read, unless its task was given up meanwhile. */
  async photograph(by: string, reading: Promise<Photo>): Promise<void> {
    const before = this.#left
    this.#reading = reading.then(
      (photo) => {
        if (this.#left !== before) return
        this.#put(by, { photo })
        this.#needs.say('')
      },
      (error: Error) => this.#needs.say(error.message),
    )
    await this.#reading
  }

  /** Stores the task and begins the next of its kind; says so when something is missing. */
  async save(by: string, deed: Deed): Promise<void> {
    // A second press while the first is being stored would be a second scan.
    if (this.#saving) return
    const saving: (readonly [string, Code])[] = []
    this.#saving = { codes: saving }
    this.#needs.draw()
    // The photo belongs to this task, not to the next one.
    await this.#reading
    const draft = this.of(by)
    const missing = missingIn(deed, draft)
    if (missing !== '') this.#needs.say(missing)
    const isKept = missing === '' && (await this.#needs.keep(by, doneOf(deed, draft), draft.photo))
    this.#saving = undefined
    // The count may have been named meanwhile.
    const { act, count, isCountSure } = this.of(by)
    if (isKept) this.#put(by, { ...blank, act, count, isCountSure })
    for (const [who, code] of saving) if (isKept || who !== by) this.take(who, code)
    this.#needs.draw()
    // They belong to the next task, which cannot begin yet.
    const untaken = saving.filter(([who]) => who === by).map(([, { text }]) => printable(text))
    if (!isKept && untaken.length > 0) this.#needs.say(texts.notSavedBefore(untaken.join(', ')))
  }

  #put(by: string, part: Partial<Draft>): void {
    this.#drafts.set(by, { ...this.of(by), ...part })
    this.#needs.draw()
  }
}

const isAmong = (counts: readonly Count[], { id }: Count): boolean => counts.some((one) => one.id === id)

export const needsPhoto = (act: string): boolean => act === 'PLACED' || act === 'move'

function missingIn(deed: Deed, { filled: { pallet, slot }, photo, note, count }: Draft): string {
  if (!pallet && deed !== 'count') return texts.missing(texts.pallet)
  if (!slot) return texts.missing(texts.slot)
  if (needsPhoto(deed) && !photo) return texts.photoNeeded
  if (deed === 'count' && !count) return texts.noCount
  return deed === 'DISPUTED' && note.trim() === '' ? texts.noteNeeded : ''
}

function doneOf(deed: Deed, { filled: { pallet, slot, found }, note, count }: Draft): Done {
  const [asset, label, words] = [pallet?.text ?? '', slot?.text ?? '', note.trim()]
  if (deed === 'count') {
    const barcodes = found.map(({ text }) => text)
    const what = barcodes.length > 0 ? { barcodes } : { empty: true }
    const title = `${texts.acts.count}: ${printable(label)}, ${barcodes.map(printable).join(', ') || texts.emptySlot}`
    return { title, path: `/api/whms/counts/${count?.id}/scans`, body: { slot_code: label, ...what } }
  }
  const title = `${texts.acts[deed]}: ${printable(asset)} · ${printable(label)}`
  const scan = pallet?.isScanned && slot?.isScanned ? { scan: { slot: label, asset } } : {}
  const common = { asset_barcode: asset, ...scan, ...(words !== '' && { verification_notes: words }) }
  if (deed === 'move') return { title, path: '/api/whms/moves', body: { ...common, to_slot_code: label } }
  return { title, path: '/api/whms/events', body: { ...common, event_type: deed, slot_code: label } }
}
