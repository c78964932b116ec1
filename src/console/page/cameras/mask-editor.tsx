import { useEffect, useRef, useState } from 'preact/hooks'
import type { Point } from '../data/shapes.ts'
import { moved, rectangle, rounded, withCornerAfter, withCornerAt, withoutCorner } from '../hall/polygon-edit.ts'
import { inputOf } from '../kit/field.ts'
import { newestPicture } from '../pictures/newest-picture.tsx'
import { tuneTexts as words } from './tune-texts.ts'
import type { Area } from './tune-trial.ts'

type Props = {
  camera: { readonly id: number; readonly name: string }
  areas: readonly Area[]
  onAreas: (areas: readonly Area[]) => void
}

/** Points are parts of the picture's width and height. */
const whole = { width: 1, height: 1 }
/** Width of the drawing in its own units; its height follows the picture. */
const across = 1000
/** As the config keeps them: a thousandth of the picture. */
const digits = 3
/** A smaller rectangle was a click, not a drawing. */
const leastSide = 0.02
/** Radius that a finger hits, in pixels of the screen. */
const reachPx = 22
const steps: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -0.01, y: 0 },
  ArrowRight: { x: 0.01, y: 0 },
  ArrowUp: { x: 0, y: -0.01 },
  ArrowDown: { x: 0, y: 0.01 },
}
/** The config and the gateway take no more corners. */
const mostCorners = 256
const mostAreas = 32

type Drag =
  | { readonly kind: 'corner'; readonly area: number; readonly corner: number }
  | { readonly kind: 'area'; readonly area: number; last: Point }
  | { readonly kind: 'draw'; readonly from: Point }

/** Returns the name of an area, counted among its kind. */
export const nameOf = (areas: readonly Area[], at: number): string => {
  const kind = areas[at]?.kind ?? 'mask'
  return `${words.kinds[kind]} ${areas.slice(0, at + 1).filter((one) => one.kind === kind).length}`
}

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

type PictureProps = {
  camera: Props['camera']
  areas: readonly Area[]
  chosen: number
  onChoose: (at: number) => void
  change: (at: number, points: readonly Point[]) => void
  add: (kind: Area['kind'], points: readonly Point[]) => void
}

const MaskPicture = ({ camera, areas, chosen, onChoose, change, add }: PictureProps) => {
  const canvas = useRef<HTMLCanvasElement>(null)
  const drawing = useRef<SVGSVGElement>(null)
  const [ratio, setRatio] = useState(9 / 16)
  const [perPx, setPerPx] = useState(2)
  const [problem, setProblem] = useState('')
  const [draft, setDraft] = useState<readonly Point[] | undefined>(undefined)
  const drag = useRef<Drag | null>(null)
  const look = () => {
    setProblem('')
    newestPicture(camera.id).then(
      ({ bitmap }) => {
        const to = canvas.current
        if (!to) return
        ;[to.width, to.height] = [bitmap.width, bitmap.height]
        to.getContext('2d')?.drawImage(bitmap, 0, 0)
        setRatio(bitmap.height / bitmap.width)
        bitmap.close()
      },
      () => setProblem(words.noPicture),
    )
  }
  useEffect(look, [camera.id])
  useEffect(() => {
    const place = drawing.current
    if (!place) return
    const sizes = new ResizeObserver(() => setPerPx(across / (place.clientWidth || across / 2)))
    sizes.observe(place)
    return () => sizes.disconnect()
  }, [])
  const pointAt = (event: PointerEvent): Point => {
    const { left, top, width, height } = (drawing.current as SVGSVGElement).getBoundingClientRect()
    return { x: (event.clientX - left) / width, y: (event.clientY - top) / height }
  }
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return
    const target = event.target as SVGElement
    const area = Number(target.closest('[data-area]')?.getAttribute('data-area') ?? -1)
    const corner = target.closest('[data-corner]')?.getAttribute('data-corner')
    const at = pointAt(event)
    if (area >= 0) onChoose(area)
    if (corner != null) drag.current = { kind: 'corner', area, corner: Number(corner) }
    else if (area >= 0) drag.current = { kind: 'area', area, last: at }
    else drag.current = { kind: 'draw', from: at }
    drawing.current?.setPointerCapture(event.pointerId)
  }
  const move = (event: PointerEvent) => {
    const now = drag.current
    if (!now) return
    const at = pointAt(event)
    if (now.kind === 'draw') {
      setDraft(rectangle(now.from, at, whole))
      return
    }
    const points = areas[now.area]?.points
    if (!points) return
    if (now.kind === 'corner') change(now.area, withCornerAt(points, now.corner, at, whole))
    else {
      change(now.area, moved(points, { x: at.x - now.last.x, y: at.y - now.last.y }, whole))
      now.last = at
    }
  }
  const up = (event: PointerEvent) => {
    const now = drag.current
    drag.current = null
    setDraft(undefined)
    if (now?.kind !== 'draw') return
    const made = rectangle(now.from, pointAt(event), whole)
    const [a, , c] = made
    if (a && c && c.x - a.x >= leastSide && c.y - a.y >= leastSide) add('mask', made)
  }
  const press = (event: KeyboardEvent, corner: number) => {
    const points = areas[chosen]?.points
    const step = steps[event.key]
    const point = points?.[corner]
    if (!points || !point) return
    if (event.key === 'Delete' || event.key === 'Backspace') change(chosen, withoutCorner(points, corner))
    else if (step) {
      const times = event.shiftKey ? 5 : 1
      change(chosen, withCornerAt(points, corner, { x: point.x + step.x * times, y: point.y + step.y * times }, whole))
    } else return
    event.preventDefault()
  }
  const height = across * ratio
  const spots = (points: readonly Point[]) => points.map(({ x, y }) => `${x * across},${y * height}`).join(' ')
  return (
    <div class="mask-picture">
      <canvas ref={canvas} width={640} height={360} role="img" aria-label={words.picture(camera.name)} />
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no fieldset. */}
      <svg
        ref={drawing}
        viewBox={`0 0 ${across} ${height}`}
        preserveAspectRatio="none"
        role="group"
        aria-label={words.editor}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={() => {
          drag.current = null
          setDraft(undefined)
        }}
      >
        {areas.map((area, at) => (
          <polygon
            key={at}
            class={at === chosen ? `${area.kind} chosen` : area.kind}
            points={spots(area.points)}
            data-area={at}
          />
        ))}
        {draft ? <polygon class="mask draft" points={spots(draft)} /> : null}
        {(areas[chosen]?.points ?? []).map(({ x, y }, corner) => (
          // biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of HTML.
          <g
            key={`${chosen} ${corner}`}
            role="button"
            tabindex={0}
            aria-label={words.corner(nameOf(areas, chosen), corner + 1)}
            data-area={chosen}
            data-corner={corner}
            onKeyDown={(event: KeyboardEvent) => press(event, corner)}
          >
            <circle class="reach" cx={x * across} cy={y * height} r={reachPx * perPx} />
            <circle class="handle" cx={x * across} cy={y * height} r={8 * perPx} />
          </g>
        ))}
      </svg>
      <p class="muted" role="status">
        {problem}
      </p>
      <button type="button" onClick={look}>
        {words.newPicture}
      </button>
    </div>
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
