import { useEffect, useRef, useState } from 'hono/jsx/dom'
import type { NewItem, Photo } from './scan-items.ts'
import { readPhoto } from './scan-photo.ts'
import { printable } from './scan-place.ts'
import { scanTexts as texts } from './scan-texts.ts'

/** What can be done; `VERIFIED` also disputes. */
export type Act = 'PLACED' | 'REMOVED' | 'move' | 'count' | 'VERIFIED'
type EventType = Exclude<Act, 'move' | 'count'> | 'DISPUTED'
/** A code, and whether a scanner read it: typed codes are no scan proof. */
export type Code = { readonly text: string; readonly isScanned: boolean }
export type Count = { readonly id: number; readonly reference: string | null }
type Filled = { readonly pallet?: Code | undefined; readonly slot?: Code | undefined; readonly found: readonly Code[] }
export type Done = Pick<NewItem, 'title' | 'path' | 'body'>

type Props = {
  readonly act: Act
  readonly counts: readonly Count[]
  /** Called with the function that takes the scans of this task. */
  readonly onReady: (take: (code: Code) => void) => void
  /** Stores what was done; resolves to whether it is stored. */
  readonly onDone: (done: Done, photo: Photo | undefined) => Promise<boolean>
  /** Shows what is wrong; without words nothing is any more. */
  readonly onProblem: (words: string) => void
  readonly onBack: () => void
}

const nothing: Filled = { found: [] }

/** One task, from the first scan to “Save”; then the next of the same kind. */
export const Task = ({ act, counts, onReady, onDone, onProblem, onBack }: Props) => {
  const [filled, setFilled] = useState<Filled>(nothing)
  const [photo, setPhoto] = useState<Photo | undefined>(undefined)
  const now = useRef<Filled>(nothing)
  const note = useRef<HTMLTextAreaElement>(null)
  const count = useRef<HTMLSelectElement>(null)
  const isSaving = useRef(false)
  const fill = (next: Filled) => {
    now.current = next
    setFilled(next)
  }
  useEffect(() => onReady((code) => fill(withCode(act, now.current ?? nothing, code))), [])

  const save = async (type: EventType | 'move' | 'count') => {
    const words = note.current?.value.trim() ?? ''
    const countId = Number(count.current?.value ?? 0)
    const problem = missingIn(type, filled, photo !== undefined, words)
    if (problem !== undefined) return onProblem(problem)
    if (type === 'count' && !countId) return onProblem(texts.noCount)
    // A second press while the first is being stored would be a second scan.
    if (isSaving.current) return
    isSaving.current = true
    const isStored = await onDone(doneOf(type, filled, words, countId), photo)
    isSaving.current = false
    if (!isStored) return
    fill(nothing)
    setPhoto(undefined)
    if (note.current) note.current.value = ''
  }
  const take = async (event: Event) => {
    const [file] = (event.target as HTMLInputElement).files ?? []
    if (!file) return
    try {
      setPhoto(await readPhoto(file))
      onProblem('')
    } catch (error) {
      onProblem((error as Error).message)
    }
  }
  const isPhotoAsked = needsPhoto(act) || act === 'REMOVED'
  const slotName = act === 'move' ? texts.toSlot : texts.slot
  const { pallet, slot, found } = filled
  return (
    <section aria-labelledby="task" class="scan-steps">
      <h2 id="task">{texts.acts[act]}</h2>
      <ol class="scan-steps">
        {act === 'count' ? null : <Step name={texts.pallet} code={pallet} isNext={!pallet} />}
        <Step name={slotName} code={slot} isNext={!slot && (act === 'count' || pallet !== undefined)} />
        {act === 'count' ? (
          <li class={found.length > 0 ? 'done' : 'next'}>
            {texts.found}
            <strong>{found.map(({ text }) => printable(text)).join(', ') || texts.nothingYet}</strong>
          </li>
        ) : null}
      </ol>
      {act === 'count' ? (
        <label>
          {texts.countId}
          <select ref={count}>
            {counts.map(({ id, reference }) => (
              <option key={id} value={String(id)}>
                {reference ?? id}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      {isPhotoAsked ? (
        <label class={photo ? 'scan-photo done' : 'scan-photo'}>
          {photo ? `✓ ${texts.photoTaken}` : needsPhoto(act) ? texts.takePhoto : texts.mayTakePhoto}
          <input
            key={photo ? 'taken' : 'none'}
            type="file"
            accept="image/jpeg,image/png,image/webp"
            capture="environment"
            onChange={take}
          />
        </label>
      ) : null}
      {act === 'VERIFIED' ? (
        <label>
          {texts.note}
          <textarea ref={note} rows={2} maxlength={4000} />
        </label>
      ) : null}
      <button type="button" class="strong" onClick={() => save(act)}>
        {act === 'count' && found.length === 0
          ? texts.emptySlot
          : act === 'VERIFIED'
            ? texts.acts.VERIFIED
            : texts.save}
      </button>
      {act === 'VERIFIED' ? (
        <button type="button" onClick={() => save('DISPUTED')}>
          {texts.acts.DISPUTED}
        </button>
      ) : null}
      <button type="button" onClick={onBack}>
        {texts.back}
      </button>
    </section>
  )
}

const Step = ({ name, code, isNext }: { name: string; code: Code | undefined; isNext: boolean }) => (
  <li class={code ? 'done' : isNext ? 'next' : ''}>
    {name}
    <strong>{code ? printable(code.text) : texts.scanNow(name)}</strong>
  </li>
)

/** Puts a code where it belongs: first the pallet, then the slot; a pallet that is read twice changes nothing. */
function withCode(act: Act, filled: Filled, code: Code): Filled {
  const { pallet, slot, found } = filled
  if (act === 'count') {
    if (!slot) return { ...filled, slot: code }
    return code.text === slot.text || found.some(({ text }) => text === code.text)
      ? filled
      : { ...filled, found: [...found, code] }
  }
  if (!pallet) return { ...filled, pallet: code }
  return code.text === pallet.text ? filled : { ...filled, slot: code }
}

const needsPhoto = (act: string) => act === 'PLACED' || act === 'move'

function missingIn(type: string, { pallet, slot }: Filled, hasPhoto: boolean, note: string): string | undefined {
  if (!pallet && type !== 'count') return texts.missing(texts.pallet)
  if (!slot) return texts.missing(texts.slot)
  if (needsPhoto(type) && !hasPhoto) return texts.photoNeeded
  return type === 'DISPUTED' && note === '' ? texts.noteNeeded : undefined
}

function doneOf(
  type: EventType | 'move' | 'count',
  { pallet, slot, found }: Filled,
  note: string,
  count: number,
): Done {
  const [asset, label] = [pallet?.text ?? '', slot?.text ?? '']
  if (type === 'count') {
    const barcodes = found.map(({ text }) => text)
    const what = barcodes.length > 0 ? { barcodes } : { empty: true }
    const title = `${texts.acts.count}: ${printable(label)}, ${barcodes.map(printable).join(', ') || texts.emptySlot}`
    return { title, path: `/api/whms/counts/${count}/scans`, body: { slot_code: label, ...what } }
  }
  const title = `${texts.acts[type]}: ${printable(asset)} · ${printable(label)}`
  const scan = pallet?.isScanned && slot?.isScanned ? { scan: { slot: label, asset } } : {}
  const common = { asset_barcode: asset, ...scan, ...(note !== '' && { verification_notes: note }) }
  if (type === 'move') return { title, path: '/api/whms/moves', body: { ...common, to_slot_code: label } }
  return { title, path: '/api/whms/events', body: { ...common, event_type: type, slot_code: label } }
}
