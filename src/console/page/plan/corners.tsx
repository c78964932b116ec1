import { useRef, useState } from 'preact/hooks'
import type { Point } from '../data/shapes.ts'
import { withCornerAfter, withoutCorner } from '../hall/polygon-edit.ts'
import type { View as PlanView } from '../hall/view.ts'
import { planMakeTexts as words } from './make/make-texts.ts'

const cornerPx = 9
/** Metres that an arrow key moves; ten times as far with Shift. */
const stepM = 0.1

export const arrowSteps: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -stepM, y: 0 },
  ArrowRight: { x: stepM, y: 0 },
  ArrowUp: { x: 0, y: -stepM },
  ArrowDown: { x: 0, y: stepM },
}

/** Has the element that listens receive the pointer until it is released, also outside of it. */
export function capturePointer({ currentTarget, pointerId }: PointerEvent): void {
  if (currentTarget instanceof Element) currentTarget.setPointerCapture(pointerId)
}

type Props = {
  readonly name: string
  readonly points: readonly Point[]
  readonly view: PlanView
  readonly pointAt: (event: PointerEvent) => Point
  readonly onPoints: (points: readonly Point[]) => void
}

/** The corners of a slot, each to be dragged or moved by keys; plus adds one behind it, Delete removes it. */
export const Corners = ({ name, points, view, pointAt, onPoints }: Props) => {
  const dragged = useRef<number | undefined>(undefined)
  const [at, setAt] = useState<Point | undefined>(undefined)
  const withCorner = (corner: number, to: Point) => points.map((point, i) => (i === corner ? to : point))
  const press = (event: KeyboardEvent, corner: number) => {
    const next = afterKey(event, corner, points)
    if (!next) return
    event.preventDefault()
    onPoints(next)
  }
  const now = dragged.current === undefined || !at ? points : withCorner(dragged.current, at)
  return (
    <>
      <polygon
        class="outline"
        points={now.map(({ x, y }) => `${view.x + x * view.scale},${view.y + y * view.scale}`).join(' ')}
      />
      {now.map(({ x, y }, i) => (
        // biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of HTML.
        <circle
          key={i}
          class="point"
          role="button"
          tabindex={0}
          aria-label={words.cornerOf(i + 1, name)}
          data-kind="corner"
          cx={view.x + x * view.scale}
          cy={view.y + y * view.scale}
          r={cornerPx}
          onKeyDown={(event: KeyboardEvent) => press(event, i)}
          onPointerDown={(event: PointerEvent) => {
            dragged.current = i
            capturePointer(event)
          }}
          onPointerMove={(event: PointerEvent) => {
            if (dragged.current === i) setAt(pointAt(event))
          }}
          onPointerUp={(event: PointerEvent) => {
            if (dragged.current !== i) return
            dragged.current = undefined
            setAt(undefined)
            onPoints(withCorner(i, pointAt(event)))
          }}
          onPointerCancel={() => {
            dragged.current = undefined
            setAt(undefined)
          }}
        />
      ))}
    </>
  )
}

function afterKey(event: KeyboardEvent, corner: number, points: readonly Point[]): readonly Point[] | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined
  if (event.key === '+') return withCornerAfter(points, corner)
  if (event.key === 'Delete' && points.length > 3) return withoutCorner(points, corner)
  const step = arrowSteps[event.key]
  const times = event.shiftKey ? 10 : 1
  return (
    step && points.map(({ x, y }, i) => (i === corner ? { x: x + step.x * times, y: y + step.y * times } : { x, y }))
  )
}
