import { useState } from 'preact/hooks'
import type { Point } from '../data/shapes.ts'
import { rectangle, rounded, withCornerAfter, withCornerAt, withoutCorner } from '../hall/polygon-edit.ts'
import { inputOf } from '../kit/field.ts'
import { MaskPicture, nameOf, whole } from './mask-picture.tsx'
import { tuneTexts as words } from './tune-texts.ts'
import type { Area } from './tune-trial.ts'

type Props = {
  camera: { readonly id: number; readonly name: string }
  areas: readonly Area[]
  onAreas: (areas: readonly Area[]) => void
}

/** The config and the gateway take no more corners. */
const mostCorners = 256
const mostAreas = 32
/** As the config keeps them: a thousandth of the picture. */
const digits = 3

const tidy = (points: readonly Point[]) => points.map(({ x, y }) => ({ x: rounded(x, digits), y: rounded(y, digits) }))

/** Masks and zones of a camera on its newest picture, by pointer, by keys and by fields. */
export const MaskEditor = ({ camera, areas, onAreas }: Props) => {
  const [chosen, setChosen] = useState(0)
  const change = (at: number, points: readonly Point[]) =>
    onAreas(areas.map((area, i) => (i === at ? { ...area, points: tidy(points) } : area)))
  const add = (kind: Area['kind'], points: readonly Point[]) => {
    if (areas.length >= mostAreas) return
    onAreas([...areas, { kind, points: tidy(points) }])
    setChosen(areas.length)
  }
  const middle = () => rectangle({ x: 0.35, y: 0.35 }, { x: 0.65, y: 0.65 }, whole)
  const remove = (at: number) => {
    onAreas(areas.toSpliced(at, 1))
    setChosen(Math.max(0, at - 1))
  }
  return (
    <section class="mask-editor" aria-labelledby="mask-title">
      <h3 id="mask-title">{words.editor}</h3>
      <p class="muted">{words.editorHelp}</p>
      <MaskPicture {...{ camera, areas, chosen, change, add }} onChoose={setChosen} />
      <div class="day-acts">
        <button type="button" onClick={() => add('mask', middle())}>
          {words.newMask}
        </button>
        <button type="button" onClick={() => add('zone', middle())}>
          {words.newZone}
        </button>
      </div>
      <p class="muted">{areas.length === 0 ? words.noAreas : words.kindHelp}</p>
      {areas.length === 0 ? null : (
        <ul class="mask-list">
          {areas.map((_, at) => (
            <li key={at}>
              <button
                type="button"
                aria-pressed={at === chosen ? 'true' : 'false'}
                aria-label={words.choose(nameOf(areas, at))}
                onClick={() => setChosen(at)}
              >
                {nameOf(areas, at)}
              </button>
              <button type="button" onClick={() => remove(at)}>
                {words.remove(nameOf(areas, at))}
              </button>
            </li>
          ))}
        </ul>
      )}
      <CornerFields areas={areas} at={chosen} onChange={(points) => change(chosen, points)} />
    </section>
  )
}

type FieldsProps = { areas: readonly Area[]; at: number; onChange: (points: readonly Point[]) => void }

const CornerFields = ({ areas, at, onChange }: FieldsProps) => {
  const points = areas[at]?.points
  if (!points) return null
  const set = (corner: number, axis: 'x' | 'y', event: Event) => {
    const value = inputOf(event).valueAsNumber / 100
    const point = points[corner]
    if (point && Number.isFinite(value)) onChange(withCornerAt(points, corner, { ...point, [axis]: value }, whole))
  }
  const field = (corner: number, axis: 'x' | 'y', value: number, label: string) => (
    <label>
      <span>{label}</span>
      <input
        type="number"
        min={0}
        max={100}
        step={0.1}
        value={rounded(value * 100, 1)}
        onInput={(event: Event) => set(corner, axis, event)}
      />
    </label>
  )
  return (
    <fieldset class="mask-fields">
      <legend>{nameOf(areas, at)}</legend>
      {points.map(({ x, y }, corner) => (
        <div key={corner} class="mask-corner">
          {field(corner, 'x', x, words.across(corner + 1))}
          {field(corner, 'y', y, words.down(corner + 1))}
          <button
            type="button"
            aria-disabled={points.length >= mostCorners ? 'true' : 'false'}
            onClick={() => points.length < mostCorners && onChange(withCornerAfter(points, corner))}
          >
            {words.addCorner(corner + 1)}
          </button>
          <button
            type="button"
            aria-disabled={points.length <= 3 ? 'true' : 'false'}
            onClick={() => onChange(withoutCorner(points, corner))}
          >
            {words.removeCorner(corner + 1)}
          </button>
        </div>
      ))}
    </fieldset>
  )
}
