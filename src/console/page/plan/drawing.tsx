import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { ImagePlace, Point, Warehouse } from '../data/shapes.ts'
import { type Box, boxAround } from '../hall/geometry.ts'
import { imageAddress, imageStyle } from '../hall/image.ts'
import { type Hall, onScreen, type View as PlanView, reachPx } from '../hall/view.ts'
import { type Draft, type PlanSlot, type PlanZone, placeOf } from './draft.ts'
import { Frame, ZoomButtons } from './frame.tsx'
import type { NewPlace } from './make/grid.ts'
import { drawSlots } from './paint.ts'
import { planTexts as words } from './texts.ts'
import { useDrag } from './use-drag.ts'
import { useView } from './use-view.ts'

/** Room around the hall, so that things dragged outward stay in the picture. */
const roomShare = 0.06
/** Position of the plan on the screen, for drawings over it. */
export type Screen = { readonly view: PlanView; readonly pointAt: (event: PointerEvent) => Point }

/** A tap on the plan or the frame: its place, the reach of a finger there in meters, and the slot. */
export type Tap = { readonly at: Point; readonly reach: number; readonly slot: PlanSlot | undefined }

type DrawingProps = {
  warehouse: Warehouse
  zones: readonly PlanZone[]
  slots: readonly PlanSlot[]
  proposed: readonly NewPlace[]
  draft: Draft
  /** More points that must be in the picture. */
  around: readonly Point[]
  /** Where the picture of the hall lies now, also while it is dragged. */
  imagePlace: ImagePlace | undefined
  /** Box that a frame can move; undefined when there is none. */
  box: Box | undefined
  name: string
  onBox: (box: Box) => void
  over: (screen: Screen) => unknown
  onTap: (tap: Tap) => void
}

/** The plan with a frame around the selection. It can be dragged, resized by its corner, panned and zoomed. */
export const Drawing = (props: DrawingProps) => {
  const { warehouse, zones, slots, proposed, draft, around, imagePlace, box, name, onBox, over, onTap } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  // The picture stays where it is while something is dragged, and fits again afterwards.
  const hall = useMemo(() => hallAround(slots, draft, proposed, around), [slots, draft, proposed, around])
  const shown = useView(hall)
  const { overlay, size, view, near, pointAt } = shown
  const paint = () => canvas.current && drawSlots(canvas.current, { slots, zones, draft, view, size, proposed })
  useEffect(() => {
    paint()
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', paint)
    return () => dark.removeEventListener('change', paint)
  }, [slots, zones, draft, size.width, proposed, near, hall])
  const tapped = (at: Point) => {
    const slot = slots.find((one) => isIn(at, boxAround(placeOf(one, draft))))
    onTap({ at, reach: reachPx / 2 / view.scale, slot })
  }
  const { dragged, press, pointer } = useDrag(shown, box, { onBox, onTap: tapped })
  const framed = box && onScreen(dragged ?? box, view)
  return (
    <>
      <ZoomButtons isWhole={near === undefined} onZoom={shown.zoom} onWhole={shown.whole} />
      <div class="edit-drawing">
        {warehouse.floorPlanImage && imagePlace ? (
          <img
            class="plan-image"
            alt=""
            draggable={false}
            src={imageAddress(warehouse.id, warehouse.floorPlanImage)}
            style={imageStyle(warehouse.floorPlanImage, imagePlace, view)}
          />
        ) : null}
        <canvas ref={canvas} />
        {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no fieldset. */}
        <svg ref={overlay} role="group" aria-label={words.plan(warehouse.name)} {...pointer}>
          {framed ? <Frame name={name} shown={framed} onPress={press} /> : null}
          {dragged ? null : over({ view, pointAt })}
        </svg>
      </div>
    </>
  )
}

function hallAround(
  slots: readonly PlanSlot[],
  draft: Draft,
  proposed: readonly NewPlace[],
  more: readonly Point[],
): Hall {
  const around = boxAround([
    ...more,
    ...slots.flatMap((slot) => placeOf(slot, draft)),
    ...proposed.flatMap(({ points }) => points),
  ])
  const room = Math.max(around.width, around.height, 1) * roomShare
  const box = {
    x: around.x - room,
    y: around.y - room,
    width: around.width + 2 * room,
    height: around.height + 2 * room,
  }
  return { box, unit: 1 }
}

const isIn = ({ x, y }: Point, box: Box): boolean =>
  x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height
