import { useState } from 'preact/hooks'
import { Choice } from '../kit/acts.tsx'
import { Icon } from '../kit/icons.tsx'
import { type LabelForm, onSheet, pictureOf } from './label-order.ts'
import { labelTexts as words } from './label-texts.ts'

/** The labels in their true size, to print or to save as PDF by the browser. */
export const Sheet = ({ form, codes }: { form: LabelForm; codes: readonly string[] }) => {
  const [at, setAt] = useState(0)
  const [paper, setPaper] = useState('sheet')
  const [attempt, setAttempt] = useState(0)
  const [pictures, setPictures] = useState<ReadonlyMap<string, boolean>>(new Map())
  const shown = codes.slice(at, at + onSheet)
  const missing = shown.filter((code) => pictures.get(code) === false).length
  const isWhole = shown.every((code) => pictures.get(code))
  const note = (code: string, isThere: boolean) => setPictures((before) => new Map(before).set(code, isThere))
  const show = (from: number) => {
    setPictures(new Map())
    setAttempt(attempt + 1)
    setAt(from)
  }
  return (
    <section class="card" aria-labelledby="label-sheet">
      <h2 id="label-sheet" class="no-print">
        {words.sheetTitle(at + 1, at + shown.length, codes.length)}
      </h2>
      <div class="task-acts no-print">
        <Choice id="label-paper" words={words.layout} value={paper} of={words.layouts} onChoice={setPaper} />
        <button
          type="button"
          class="strong"
          aria-disabled={isWhole ? 'false' : 'true'}
          onClick={() => isWhole && print()}
        >
          <Icon name="print" /> {words.printSheet}
        </button>
        {at > 0 ? (
          <button type="button" onClick={() => show(at - onSheet)}>
            {words.before}
          </button>
        ) : null}
        {at + onSheet < codes.length ? (
          <button type="button" onClick={() => show(at + onSheet)}>
            {words.after}
          </button>
        ) : null}
      </div>
      <div class="no-print" role="alert">
        {missing === 0 ? null : (
          <p class="problem">
            {words.missing(missing)}{' '}
            <button type="button" onClick={() => show(at)}>
              {words.loadAgain}
            </button>
          </p>
        )}
      </div>
      <ul class={`label-sheet ${paper}`}>
        {shown.map((code) => (
          <li key={`${attempt} ${code}`} class="one-label">
            <img
              onLoad={() => note(code, true)}
              onError={() => note(code, false)}
              src={pictureOf(form, code)}
              alt={words.labelOf(code)}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}
