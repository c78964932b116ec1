import { useRef, useState } from 'preact/hooks'
import type { ImagePlace, PlanImage, Point } from '../data/shapes.ts'
import { middleOf } from '../hall/geometry.ts'
import { imageBox, turned } from '../hall/image.ts'
import { arrowSteps, capturePointer } from './corners.tsx'
import type { Screen } from './drawing.tsx'
import { planShapeTexts as words } from './shape-texts.ts'
import { tidyPlace } from './shapes.ts'

/** Points nearer to each other than this, in meters, measure nothing. */
const leastM = 0.001
const markPx = 12
/** Pixels that an arrow key moves a point; ten times as far with Shift. */
const stepPx = 1
const startId = 'plan-ruler-start'

/** Returns the place in which two points of the picture are this far apart; the first one stays where it is. Pure. */
export function scaledTo(image: PlanImage, place: ImagePlace, [a, b]: readonly [Point, Point], metres: number) {
  const by = metres / Math.hypot(b.x - a.x, b.y - a.y)
  const old = imageBox(image, place)
  const middle = middleOf(old)
  const at = { x: a.x + (middle.x - a.x) * by, y: a.y + (middle.y - a.y) * by }
  const [width, height] = [old.width * by, old.height * by]
  return tidyPlace({ ...place, x: at.x - width / 2, y: at.y - height / 2, width })
}

/** Returns two points on the middle line of a picture, half its width apart. Pure. */
function pointsIn(image: PlanImage, place: ImagePlace): Point[] {
  const { width, ...box } = imageBox(image, place)
  const middle = middleOf({ ...box, width })
  return [-0.25, 0.25].map((part) => turned({ x: middle.x + part * width, y: middle.y }, middle, place.rotation))
}

type Props = {
  readonly image: PlanImage
  readonly place: ImagePlace
  readonly isLocked: boolean
  /** Tapped points, at most two; undefined while nothing is measured. */
  readonly ruler: readonly Point[] | undefined
  readonly onRuler: (points: readonly Point[] | undefined) => void
  readonly onPlace: (place: ImagePlace) => void
}

/** Sizes the picture by two points of it whose distance is known. */
export const RulerTools = ({ image, place, isLocked, ruler, onRuler, onPlace }: Props) => {
  const [done, setDone] = useState('')
  const end = () => {
    onRuler(undefined)
    requestAnimationFrame(() => document.getElementById(startId)?.focus())
  }
  if (!ruler)
    return (
      <>
        <div class="plan-acts">
          <button
            type="button"
            id={startId}
            aria-disabled={isLocked ? 'true' : 'false'}
            onClick={() => {
              setDone('')
              if (!isLocked) onRuler([])
            }}
          >
            {words.measure}
          </button>
        </div>
        <p role="status">{done}</p>
      </>
    )
  const [a, b] = ruler
  const scale = (metres: number) => {
    if (isLocked || !a || !b) return
    const next = scaledTo(image, place, [a, b], metres)
    onPlace(next)
    setDone(words.measured(next.width))
    end()
  }
  return (
    <>
      <p role="status">{words.measureHelp(ruler.length)}</p>
      <DistanceField points={ruler} onMetres={scale} />
      <div class="plan-acts">
        <button type="button" onClick={() => onRuler(pointsIn(image, place))}>
          {words.measurePut}
        </button>
        <button type="button" aria-disabled={a ? 'false' : 'true'} onClick={() => onRuler(ruler.slice(0, -1))}>
          {words.measureBack}
        </button>
        <button type="button" onClick={end}>
          {words.cancel}
        </button>
      </div>
    </>
  )
}

type FieldProps = { readonly points: readonly Point[]; readonly onMetres: (metres: number) => void }

const DistanceField = ({ points: [a, b], onMetres }: FieldProps) => {
  const field = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState('')
  const take = () => {
    const metres = field.current?.valueAsNumber ?? Number.NaN
    const wrong =
      !a || !b || Math.hypot(b.x - a.x, b.y - a.y) < leastM
        ? words.twoPoints
        : metres >= leastM
          ? ''
          : words.distanceNeeded
    setProblem(wrong)
    if (wrong === '') onMetres(metres)
  }
  return (
    <div class="plan-choices">
      <label>
        <span>{words.distance}</span>
        <input
          ref={field}
          type="number"
          step={leastM}
          min={leastM}
          aria-describedby="plan-ruler-problem"
          onKeyDown={(event: KeyboardEvent) => {
            if (event.key === 'Enter') take()
          }}
        />
      </label>
      <button type="button" class="strong" onClick={take}>
        {words.measureApply}
      </button>
      <p role="alert" id="plan-ruler-problem" class="problem">
        {problem}
      </p>
    </div>
  )
}

type MarksProps = {
  readonly points: readonly Point[]
  readonly screen: Screen
  readonly onPoints: (points: readonly Point[]) => void
}

/** The points on the plan, each to be dragged or moved by keys, and the line between them. */
export const RulerMarks = ({ points, screen: { view, pointAt }, onPoints }: MarksProps) => {
  const dragged = useRef(-1)
  const spots = points.map(({ x, y }) => ({ x: view.x + x * view.scale, y: view.y + y * view.scale }))
  const put = (index: number, to: Point) => onPoints(points.map((point, i) => (i === index ? to : point)))
  const press = (event: KeyboardEvent, index: number, point: Point) => {
    const step = arrowSteps[event.key]
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const by = (stepPx * (event.shiftKey ? 10 : 1)) / view.scale
    put(index, { x: point.x + Math.sign(step.x) * by, y: point.y + Math.sign(step.y) * by })
  }
  return (
    <>
      <polyline class="outline" points={spots.map(({ x, y }) => `${x},${y}`).join(' ')} />
      {points.map((point, index) => (
        // biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of HTML.
        <circle
          key={index}
          class="point"
          role="button"
          tabindex={0}
          aria-label={words.measurePoint(index + 1)}
          cx={spots[index]?.x}
          cy={spots[index]?.y}
          r={markPx}
          data-kind="corner"
          onPointerDown={(event: PointerEvent) => {
            if (event.button !== 0) return
            dragged.current = index
            capturePointer(event)
          }}
          onPointerMove={(event: PointerEvent) => {
            if (dragged.current === index) put(index, pointAt(event))
          }}
          onPointerUp={() => {
            dragged.current = -1
          }}
          onPointerCancel={() => {
            dragged.current = -1
          }}
          onKeyDown={(event: KeyboardEvent) => press(event, index, point)}
        />
      ))}
    </>
  )
}
