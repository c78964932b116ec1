import type { Point } from '../data/shapes.ts'
import { type Box, boxAround } from '../hall/geometry.ts'
import { rounded } from '../hall/polygon-edit.ts'
import { textOf } from '../kit/field.ts'
import { Corners } from './corners.tsx'
import type { Draft, PlanSlot, PlanZone } from './draft.ts'
import { placeOf, stretched } from './draft.ts'
import type { Screen } from './drawing.tsx'
import { PlanNumberField } from './number-field.tsx'
import { planShapeTexts as words } from './shape-texts.ts'
import { outlineAround, outlineOf, rectangleIn, strangersIn, withOutline, withZone } from './shapes.ts'

/** The gateway takes no more corners. */
const mostCorners = 256
/** A tap without a corner nearby snaps to a grid of this many meters. */
const gridM = 0.1
const digits = 3

/** Returns the place of a tapped corner: that of a slot's corner within reach, else on the grid. Pure. */
function attracted(at: Point, reach: number, slots: readonly PlanSlot[], draft: Draft): Point {
  let best: { readonly point: Point; readonly far: number } | undefined
  for (const slot of slots)
    for (const point of placeOf(slot, draft)) {
      const far = Math.hypot(point.x - at.x, point.y - at.y)
      if (far <= reach && (!best || far < best.far)) best = { point, far }
    }
  if (best) return best.point
  const onGrid = (value: number) => rounded(Math.round(value / gridM) * gridM, digits)
  return { x: onGrid(at.x), y: onGrid(at.y) }
}

/** Returns an outline that is being drawn after one more tap; a tap on its first corner ends it. Pure. */
export function drawnOn(
  sketch: readonly Point[],
  { at, reach }: { readonly at: Point; readonly reach: number },
  slots: readonly PlanSlot[],
  draft: Draft,
): { readonly points: readonly Point[]; readonly isWhole: boolean } {
  const [first] = sketch
  const isWhole = first !== undefined && sketch.length >= 3 && Math.hypot(first.x - at.x, first.y - at.y) <= reach
  return { points: isWhole ? sketch : [...sketch, attracted(at, reach / 2, slots, draft)], isWhole }
}

/** An outline to be put beside itself, for other zones; `times` it was put already. */
export type CopiedOutline = { readonly of: string; readonly points: readonly Point[]; readonly times: number }

/** Returns the next copy: to the right of the ones before. Pure. */
export function nextCopy({ points, times }: CopiedOutline): Point[] {
  const box = boxAround(points)
  return stretched(points, box, { ...box, x: box.x + (times + 1) * box.width })
}

type ToolProps = {
  readonly zones: readonly PlanZone[]
  readonly zone: PlanZone | undefined
  readonly slots: readonly PlanSlot[]
  readonly draft: Draft
  readonly hall: Box
  readonly isLocked: boolean
  /** Tapped corners; undefined while nothing is being drawn. */
  readonly sketch: readonly Point[] | undefined
  readonly copied: CopiedOutline | undefined
  readonly onZone: (id: number) => void
  readonly onCopy: (copied: CopiedOutline) => void
  readonly onSketch: (points: readonly Point[] | undefined) => void
  readonly onDraft: (draft: Draft) => void
}

/** Chooses a zone, and draws, changes or removes its outline. */
export const OutlineTools = (props: ToolProps) => {
  const { zones, zone, slots, draft, hall, isLocked, sketch, copied, onZone, onCopy, onSketch, onDraft } = props
  if (!zone) return <p>{words.noZones}</p>
  const outline = outlineOf(zone, draft)
  const own = slots.filter((slot) => slot.zoneId === zone.id && slot.retiredAt === null)
  const strangers = strangersIn(zone, slots, draft)
  const put = (points: readonly Point[]) => onDraft(withOutline(draft, zone, points))
  const putCopy = (one: CopiedOutline) => {
    if (isLocked) return
    put(nextCopy(one))
    onCopy({ ...one, times: one.times + 1 })
  }
  return (
    <>
      <p class="muted">{words.outlineHelp}</p>
      <div class="plan-choices">
        <label>
          <span>{words.zone}</span>
          <select onInput={(event: Event) => onZone(Number(textOf(event)))}>
            {zones.map(({ id, name }) => (
              <option key={id} value={id} selected={id === zone.id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {sketch ? (
        <SketchActs sketch={sketch} onSketch={onSketch} onDone={put} />
      ) : (
        <div class="plan-acts">
          <button type="button" class="strong" aria-disabled={isLocked ? 'true' : 'false'} onClick={() => onSketch([])}>
            {words.draw}
          </button>
          {own.length > 0 ? (
            <button
              type="button"
              aria-disabled={isLocked ? 'true' : 'false'}
              onClick={() => put(outlineAround(own, draft))}
            >
              {words.around}
            </button>
          ) : null}
          <button type="button" aria-disabled={isLocked ? 'true' : 'false'} onClick={() => put(rectangleIn(hall))}>
            {words.rectangle}
          </button>
          {outline.length > 0 ? (
            <>
              <button type="button" onClick={() => onCopy({ of: zone.name, points: outline, times: 0 })}>
                {words.copy}
              </button>
              <button type="button" aria-disabled={isLocked ? 'true' : 'false'} onClick={() => put([])}>
                {words.remove}
              </button>
            </>
          ) : null}
          {copied && copied.of !== zone.name ? (
            <button type="button" aria-disabled={isLocked ? 'true' : 'false'} onClick={() => putCopy(copied)}>
              {words.putCopy(copied.of)}
            </button>
          ) : null}
          {strangers.length > 0 ? (
            <button
              type="button"
              aria-disabled={isLocked ? 'true' : 'false'}
              onClick={() => onDraft(withZone(draft, strangers, zone))}
            >
              {words.putInside(strangers.length, zone.name)}
            </button>
          ) : null}
        </div>
      )}
      {outline.length === 0 && !sketch ? <p class="muted">{words.noOutline}</p> : null}
      <p role="status">{copied && copied.of === zone.name ? words.copied(copied.of) : ''}</p>
    </>
  )
}

type SketchProps = {
  readonly sketch: readonly Point[]
  readonly onSketch: (points: readonly Point[] | undefined) => void
  readonly onDone: (points: readonly Point[]) => void
}

const SketchActs = ({ sketch, onSketch, onDone }: SketchProps) => {
  const isWhole = sketch.length >= 3
  const finish = () => {
    if (!isWhole) return
    onDone(sketch)
    onSketch(undefined)
  }
  return (
    <>
      <p role="status">
        {words.drawHelp} {words.corners(sketch.length)}
      </p>
      <div class="plan-acts">
        <button type="button" class="strong" aria-disabled={isWhole ? 'false' : 'true'} onClick={finish}>
          {words.finish}
        </button>
        <button
          type="button"
          aria-disabled={sketch.length > 0 ? 'false' : 'true'}
          onClick={() => onSketch(sketch.slice(0, -1))}
        >
          {words.back}
        </button>
        <button type="button" onClick={() => onSketch(undefined)}>
          {words.cancel}
        </button>
      </div>
    </>
  )
}

type DrawnProps = {
  readonly zone: PlanZone
  readonly points: readonly Point[]
  readonly sketch: readonly Point[] | undefined
  readonly screen: Screen
  readonly onPoints: (points: readonly Point[]) => void
}

/** The outline of the chosen zone with its corners, or the corners of a new one. */
export const DrawnOutline = ({ zone, points, sketch, screen, onPoints }: DrawnProps) => {
  const { view, pointAt } = screen
  const name = words.outline(zone.name)
  if (!sketch) {
    const most = (next: readonly Point[]) => next.length <= mostCorners && onPoints(next)
    return points.length === 0 ? null : <Corners name={name} {...{ points, view, pointAt }} onPoints={most} />
  }
  const spots = sketch.map(({ x, y }) => ({ x: view.x + x * view.scale, y: view.y + y * view.scale }))
  return (
    <>
      <polyline class="outline" points={spots.map(({ x, y }) => `${x},${y}`).join(' ')} />
      {spots.map(({ x, y }, i) => (
        <circle key={i} class={i === 0 ? 'spot first' : 'spot'} cx={x} cy={y} r={i === 0 ? 11 : 6} />
      ))}
    </>
  )
}

type FieldsProps = {
  readonly zone: PlanZone
  readonly points: readonly Point[]
  readonly isLocked: boolean
  readonly onPoints: (points: readonly Point[]) => void
}

/** The corners of an outline as numbers. */
export const OutlineFields = ({ zone, points, isLocked, onPoints }: FieldsProps) => {
  const take = (corner: number, axis: 'x' | 'y', input: HTMLInputElement) => {
    const point = points[corner]
    if (!point) return
    const value = rounded(Number.isFinite(input.valueAsNumber) ? input.valueAsNumber : point[axis], digits)
    input.value = String(value)
    if (value !== point[axis]) onPoints(points.map((one, i) => (i === corner ? { ...one, [axis]: value } : one)))
  }
  const field = (corner: number, axis: 'x' | 'y', value: number, label: string) => (
    <PlanNumberField label={label} value={value} isLocked={isLocked} onTyped={(input) => take(corner, axis, input)} />
  )
  return (
    <details>
      <summary>{words.cornerFields}</summary>
      <fieldset class="plan-fields">
        <legend>{words.outline(zone.name)}</legend>
        {points.map(({ x, y }, corner) => (
          <div key={corner} class="plan-choices">
            {field(corner, 'x', x, words.cornerX(corner + 1))}
            {field(corner, 'y', y, words.cornerY(corner + 1))}
          </div>
        ))}
      </fieldset>
    </details>
  )
}
