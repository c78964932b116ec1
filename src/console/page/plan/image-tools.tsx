import { useState } from 'preact/hooks'
import { ask } from '../data/ask.ts'
import type { ImagePlace } from '../data/shapes.ts'
import { whyOf } from '../data/slot-list.ts'
import { Said } from '../i18n/said.tsx'
import { SureButton } from '../kit/box-frame.tsx'
import { inputOf } from '../kit/field.ts'
import { PlanNumberField } from './number-field.tsx'
import { planShapeTexts as words } from './shape-texts.ts'
import { type PlanWarehouse, tidyPlace } from './shapes.ts'

/** Limit of the gateway. */
const mostBytes = 8 * 1024 * 1024

type Props = {
  readonly warehouse: PlanWarehouse
  readonly isLocked: boolean
  /** The picture was replaced or removed: unsaved changes of the old one are pointless. */
  readonly onStored: () => Promise<void>
}

/** Puts a picture of the hall below the plan, and removes it. */
export const ImageTools = ({ warehouse, isLocked, onStored }: Props) => {
  const [note, setNote] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const path = `/api/whms/warehouses/${warehouse.id}/floor-plan-image`
  const act = async (done: string, work: () => Promise<unknown>) => {
    if (isBusy || isLocked) return
    setBusy(true)
    setProblem('')
    try {
      await work()
      await onStored()
      setNote(done)
    } catch (error) {
      setNote('')
      setProblem(words.failed(whyOf(error)))
    }
    setBusy(false)
  }
  const upload = (event: Event) => {
    const field = inputOf(event)
    const [file] = field.files ?? []
    field.value = ''
    if (!file) return
    if (file.size > mostBytes) {
      setProblem(words.tooLarge)
      return
    }
    setNote(words.uploading)
    // The gateway looks at the bytes, whatever the file is called.
    void act(words.stored, () => ask(path, { method: 'PUT', bytes: file, ifMatch: warehouse.version }))
  }
  const remove = () => void act(words.removed, () => ask(path, { method: 'DELETE', ifMatch: warehouse.version }))
  return (
    <>
      <p class="muted">{words.pictureHelp}</p>
      <div class="plan-choices">
        <label>
          <span>{words.picture}</span>
          <input
            type="file"
            accept="image/png,image/jpeg,image/svg+xml"
            disabled={isBusy || isLocked}
            onInput={upload}
          />
        </label>
        {warehouse.floorPlanImage ? (
          <SureButton words={words.removePicture} sure={words.removeSure} isBusy={isBusy || isLocked} onSure={remove} />
        ) : null}
      </div>
      {warehouse.floorPlanImage ? null : <p>{words.noPicture}</p>}
      <p role="status">{note}</p>
      <p role="alert" class="problem">
        <Said words={problem} />
      </p>
    </>
  )
}

type FieldsProps = {
  readonly place: ImagePlace
  readonly isLocked: boolean
  readonly onPlace: (place: ImagePlace) => void
}

/** Where the picture lies, as numbers. */
export const ImageFields = ({ place, isLocked, onPlace }: FieldsProps) => {
  // Opacity is shown in percent.
  const unit = (side: keyof ImagePlace) => (side === 'opacity' ? 100 : 1)
  const shown = (of: ImagePlace, side: keyof ImagePlace) => Number((of[side] * unit(side)).toFixed(3))
  const take = (side: keyof ImagePlace, input: HTMLInputElement) => {
    const value = input.valueAsNumber / unit(side)
    const next = tidyPlace({ ...place, [side]: Number.isFinite(value) ? value : place[side] })
    input.value = String(shown(next, side))
    if (next[side] !== tidyPlace(place)[side]) onPlace(next)
  }
  const field = (side: keyof ImagePlace, label: string, step?: number) => (
    <PlanNumberField
      label={label}
      value={shown(tidyPlace(place), side)}
      isLocked={isLocked}
      {...(step !== undefined && { step })}
      onTyped={(input) => take(side, input)}
    />
  )
  return (
    <fieldset class="plan-fields">
      <legend>{words.fields}</legend>
      {field('x', words.x)}
      {field('y', words.y)}
      {field('width', words.width)}
      {field('rotation', words.rotation, 0.1)}
      {field('opacity', words.opacity, 1)}
    </fieldset>
  )
}
