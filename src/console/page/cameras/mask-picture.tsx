import { useEffect, useRef, useState } from 'preact/hooks'
import type { Point } from '../data/shapes.ts'
import { moved, rectangle, withCornerAt, withoutCorner } from '../hall/polygon-edit.ts'
import { newestPicture } from '../pictures/newest-picture.tsx'
import { tuneTexts as words } from './tune-texts.ts'
import type { Area } from './tune-trial.ts'

/** Points are parts of the picture's width and height. */
export const whole = { width: 1, height: 1 }
/** Width of the drawing in its own units; its height follows the picture. */
const across = 1000
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

type Drag =
  | { readonly kind: 'corner'; readonly area: number; readonly corner: number }
  | { readonly kind: 'area'; readonly area: number; last: Point }
  | { readonly kind: 'draw'; readonly from: Point }

/** Returns the name of an area, counted among its kind. */
export const nameOf = (areas: readonly Area[], at: number): string => {
  const kind = areas[at]?.kind ?? 'mask'
  return `${words.kinds[kind]} ${areas.slice(0, at + 1).filter((one) => one.kind === kind).length}`
}

type Areas = {
  areas: readonly Area[]
  chosen: number
  onChoose: (at: number) => void
  change: (at: number, points: readonly Point[]) => void
  add: (kind: Area['kind'], points: readonly Point[]) => void
}

type PictureProps = Areas & { camera: { readonly id: number; readonly name: string } }

/** The areas over the newest picture of a camera. They are drawn, moved and bent by pointer and by keys. */
export const MaskPicture = ({ camera, ...of }: PictureProps) => {
  const { areas, chosen } = of
  const { canvas, ratio, problem, look } = useNewestPicture(camera.id)
  const drawing = useRef<SVGSVGElement>(null)
  const perPx = useUnitsPerPx(drawing)
  const { draft, ...pointer } = useDrawing(drawing, of)
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
        {...pointer}
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
            onKeyDown={(event: KeyboardEvent) => pressCorner(event, corner, of)}
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

/** Draws the newest picture of a camera. `ratio`: its height for a width of 1. */
function useNewestPicture(cameraId: number) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [ratio, setRatio] = useState(9 / 16)
  const [problem, setProblem] = useState('')
  const look = () => {
    setProblem('')
    newestPicture(cameraId).then(
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
  useEffect(look, [cameraId])
  return { canvas, ratio, problem, look }
}

type DrawingRef = { current: SVGSVGElement | null }

/** Returns units of the drawing in a pixel of the screen. */
function useUnitsPerPx(drawing: DrawingRef): number {
  const [perPx, setPerPx] = useState(2)
  useEffect(() => {
    const place = drawing.current
    if (!place) return
    const sizes = new ResizeObserver(() => setPerPx(across / (place.clientWidth || across / 2)))
    sizes.observe(place)
    return () => sizes.disconnect()
  }, [])
  return perPx
}

/** Draws a rectangle, or moves an area or a corner, as the pointer says. `draft`: the rectangle that is being drawn. */
function useDrawing(drawing: DrawingRef, { areas, onChoose, change, add }: Areas) {
  const [draft, setDraft] = useState<readonly Point[] | undefined>(undefined)
  const drag = useRef<Drag | null>(null)
  const pointAt = ({ clientX, clientY }: PointerEvent): Point => {
    const box = drawing.current?.getBoundingClientRect()
    return box ? { x: (clientX - box.left) / box.width, y: (clientY - box.top) / box.height } : { x: 0, y: 0 }
  }
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return
    const now = dragAt(event.target, pointAt(event))
    if (now.kind !== 'draw') onChoose(now.area)
    drag.current = now
    drawing.current?.setPointerCapture(event.pointerId)
  }
  const onPointerMove = (event: PointerEvent) => {
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
  const onPointerCancel = () => {
    drag.current = null
    setDraft(undefined)
  }
  const onPointerUp = (event: PointerEvent) => {
    const now = drag.current
    onPointerCancel()
    if (now?.kind !== 'draw') return
    const made = rectangle(now.from, pointAt(event), whole)
    const [a, , c] = made
    if (a && c && c.x - a.x >= leastSide && c.y - a.y >= leastSide) add('mask', made)
  }
  return { draft, onPointerDown, onPointerMove, onPointerUp, onPointerCancel }
}

/** Returns what a pointer that is pressed on this element moves; on none of an area it draws. */
function dragAt(target: EventTarget | null, at: Point): Drag {
  const numberAt = (name: string) => {
    const text = target instanceof Element ? target.closest(`[${name}]`)?.getAttribute(name) : undefined
    return text === null || text === undefined ? undefined : Number(text)
  }
  const [area, corner] = [numberAt('data-area'), numberAt('data-corner')]
  if (area === undefined) return { kind: 'draw', from: at }
  return corner === undefined ? { kind: 'area', area, last: at } : { kind: 'corner', area, corner }
}

/** Moves a corner by the arrow keys, and removes it by Delete. */
function pressCorner(event: KeyboardEvent, corner: number, { areas, chosen, change }: Areas): void {
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
