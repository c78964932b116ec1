import { printable } from '../codes/scan-place.ts'
import { inputOf, textOf } from '../kit/field.ts'
import { type Act, type Code, type Filled, isEmpty } from './codes.ts'
import type { Photo } from './items.ts'
import { type Count, needsPhoto, type ScanTasks } from './tasks.ts'
import { scanTexts as texts } from './texts.ts'

type Props = {
  readonly act: Act
  readonly by: string
  readonly tasks: ScanTasks
  readonly counts: readonly Count[]
  readonly onBack: () => void
}

/** One task, from the first scan to “Save”; then the next of the same kind. */
export const Task = ({ act, by, tasks, counts, onBack }: Props) => {
  const { filled, note, count } = tasks.of(by)
  return (
    <section aria-labelledby="task" class="scan-steps">
      <h2 id="task">{texts.acts[act]}</h2>
      <Steps
        {...{ act, filled }}
        isBusy={tasks.isSaving}
        isOdd={tasks.hasUnknownSlot(by)}
        onClear={(code) => tasks.clear(by, code)}
      />
      {act === 'count' ? (
        <label>
          {texts.countId}
          <select
            value={String(count?.id ?? '')}
            onInput={(event: Event) => {
              const id = Number(textOf(event))
              tasks.choose(
                by,
                counts.find((one) => one.id === id),
              )
            }}
          >
            {withChosen(counts, count).map(({ id, reference }) => (
              <option key={id} value={String(id)} selected={id === count?.id}>
                {reference ?? id}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      {act === 'count' ? null : <PhotoOf act={act} by={by} tasks={tasks} />}
      {act === 'VERIFIED' ? (
        <label>
          {texts.note}
          <textarea rows={2} maxlength={4000} value={note} onInput={(event: Event) => tasks.note(by, textOf(event))} />
        </label>
      ) : null}
      <button type="button" class="strong" onClick={() => tasks.save(by, act)}>
        {act === 'count' && filled.found.length === 0
          ? texts.emptySlot
          : act === 'VERIFIED'
            ? texts.acts.VERIFIED
            : texts.save}
      </button>
      {act === 'VERIFIED' ? (
        <button type="button" onClick={() => tasks.save(by, 'DISPUTED')}>
          {texts.acts.DISPUTED}
        </button>
      ) : null}
      <button type="button" disabled={tasks.isSaving} onClick={onBack}>
        {texts.back}
      </button>
    </section>
  )
}

/** A count that was chosen before it closed stays: its scans must not go to another. */
const withChosen = (counts: readonly Count[], count: Count | undefined) =>
  count === undefined || counts.some(({ id }) => id === count.id) ? counts : [count, ...counts]

/** The photo of a task; placements and moves need one. */
const PhotoOf = ({ act, by, tasks }: Pick<Props, 'act' | 'by' | 'tasks'>) => {
  const { photo } = tasks.of(by)
  const take = (event: Event) => {
    const [file] = inputOf(event).files ?? []
    if (file) void tasks.photograph(by, readPhoto(file))
  }
  return (
    <label class={photo ? 'scan-photo done' : 'scan-photo'}>
      {photo ? `✓ ${texts.photoTaken}` : needsPhoto(act) ? texts.takePhoto : texts.mayTakePhoto}
      <input
        key={photo ? 'taken' : 'none'}
        type="file"
        accept="image/jpeg,image/png,image/webp"
        capture="environment"
        disabled={tasks.isSaving}
        onInput={take}
      />
    </label>
  )
}

type StepsProps = {
  readonly act: Act
  readonly filled: Filled
  readonly isBusy: boolean
  readonly isOdd: boolean
  readonly onClear: (code: Code) => void
}

const Steps = ({ act, filled: { pallet, slot, found }, isBusy, isOdd, onClear }: StepsProps) => {
  const shared = { isBusy, onClear }
  if (act !== 'count') {
    return (
      <ol class="scan-steps">
        <Step name={texts.pallet} code={pallet} isNext={!pallet} {...shared} />
        <Step
          name={act === 'move' ? texts.toSlot : texts.slot}
          code={slot}
          isNext={!slot && !!pallet}
          isOdd={isOdd}
          {...shared}
        />
      </ol>
    )
  }
  return (
    <ol class="scan-steps">
      <Step name={texts.slot} code={slot} isNext={!slot} isOdd={isOdd} {...shared} />
      {found.map((code) => (
        <Step key={code.text} name={texts.found} code={code} isNext={false} {...shared} />
      ))}
      {found.length > 0 ? null : (
        <li class="next">
          <p>
            {texts.found}
            <strong>{texts.nothingYet}</strong>
          </p>
        </li>
      )}
    </ol>
  )
}

/** Codes that were scanned before an act was chosen. */
export const Scanned = ({ by, tasks }: Pick<Props, 'by' | 'tasks'>) => {
  const { filled } = tasks.of(by)
  if (isEmpty(filled)) return null
  const { pallet, slot } = filled
  const shared = { isNext: false, isBusy: false, onClear: (code: Code) => tasks.clear(by, code) }
  return (
    <section aria-labelledby="scanned" class="scan-steps">
      <h2 id="scanned">{texts.chooseAct}</h2>
      <ol class="scan-steps">
        {pallet ? <Step name={texts.pallet} code={pallet} {...shared} /> : null}
        {slot ? <Step name={texts.slot} code={slot} {...shared} /> : null}
      </ol>
    </section>
  )
}

type StepProps = {
  readonly name: string
  readonly code: Code | undefined
  readonly isNext: boolean
  readonly isBusy: boolean
  /** A slot that this device does not know. */
  readonly isOdd?: boolean
  readonly onClear: (code: Code) => void
}

const Step = ({ name, code, isNext, isBusy, isOdd = false, onClear }: StepProps) => (
  <li class={code ? (isOdd ? 'odd' : 'done') : isNext ? 'next' : ''}>
    <p>
      {name}
      <strong>{code ? printable(code.text) : texts.scanNow(name)}</strong>
      {isOdd ? texts.unknownHere : null}
    </p>
    {code ? (
      <button
        type="button"
        class="clear"
        aria-label={texts.clearOf(printable(code.text))}
        disabled={isBusy}
        onClick={() => onClear(code)}
      >
        {texts.clear}
      </button>
    ) : null}
  </li>
)

const largestBytes = 1_000_000
const longestSide = 1600

/** Reads a picture of the device's camera. One over 1 MB becomes smaller, so that a shift of photos fits the device. */
async function readPhoto(file: File): Promise<Photo> {
  if (file.size <= largestBytes) return { bytes: await file.arrayBuffer(), type: file.type }
  const picture = await createImageBitmap(file)
  const scale = Math.min(1, longestSide / Math.max(picture.width, picture.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(picture.width * scale)
  canvas.height = Math.round(picture.height * scale)
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  const small = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.85))
  if (!small) throw new Error(texts.unreadable)
  return { bytes: await small.arrayBuffer(), type: 'image/jpeg' }
}
