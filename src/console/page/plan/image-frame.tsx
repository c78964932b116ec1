import { useRef } from 'preact/hooks'
import type { ImagePlace, PlanImage, Point } from '../data/shapes.ts'
import { middleOf } from '../hall/geometry.ts'
import { imageBox, turned } from '../hall/image.ts'
import { arrowSteps, capturePointer } from './corners.tsx'
import type { Screen } from './drawing.tsx'
import { planShapeTexts as words } from './shape-texts.ts'
import { tidyPlace } from './shapes.ts'

type Kind = 'move' | 'size' | 'turn'

type Props = {
  readonly image: PlanImage
  readonly place: ImagePlace
  readonly screen: Screen
  /** While it is dragged. */
  readonly onLive: (place: ImagePlace | undefined) => void
  readonly onPlace: (place: ImagePlace) => void
}

const handlePx = 24
const turnRoomPx = 34

/** Handles over the picture of the hall: the whole of it moves it, a corner sizes it, the round one turns it. */
export const ImageFrame = ({ image, place, screen, onLive, onPlace }: Props) => {
  const drag = useRef<{ readonly kind: Kind; readonly from: Point; readonly place: ImagePlace } | null>(null)
  const { view, pointAt } = screen
  const box = imageBox(image, place)
  const middle = middleOf(box)
  const [wide, high] = [box.width * view.scale, box.height * view.scale]
  const handlers = (kind: Kind) => ({
    'data-kind': 'corner',
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      drag.current = { kind, from: pointAt(event), place }
      capturePointer(event)
    },
    onPointerMove: (event: PointerEvent) => {
      const now = drag.current
      if (now) onLive(dragged(image, now, pointAt(event)))
    },
    onPointerUp: (event: PointerEvent) => {
      const now = drag.current
      drag.current = null
      onLive(undefined)
      if (now) onPlace(tidyPlace(dragged(image, now, pointAt(event))))
    },
    onPointerCancel: () => {
      drag.current = null
      onLive(undefined)
    },
    onKeyDown: (event: KeyboardEvent) => {
      const next = afterKey(event, kind, image, place)
      if (!next) return
      event.preventDefault()
      onPlace(tidyPlace(next))
    },
  })
  const at = `translate(${view.x + middle.x * view.scale} ${view.y + middle.y * view.scale}) rotate(${place.rotation})`
  return (
    <g transform={at}>
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of HTML. */}
      <rect
        class="frame"
        role="button"
        tabindex={0}
        aria-label={words.movePicture}
        x={-wide / 2}
        y={-high / 2}
        width={wide}
        height={high}
        {...handlers('move')}
      />
      <line class="outline" x1={0} y1={-high / 2} x2={0} y2={-high / 2 + turnRoomPx} />
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of HTML. */}
      <circle
        class="point"
        role="button"
        tabindex={0}
        aria-label={words.turnPicture}
        cx={0}
        cy={-high / 2 + turnRoomPx}
        r={handlePx / 2}
        {...handlers('turn')}
      />
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of HTML. */}
      <rect
        class="corner"
        role="button"
        tabindex={0}
        aria-label={words.sizePicture}
        x={wide / 2 - handlePx}
        y={high / 2 - handlePx}
        width={handlePx}
        height={handlePx}
        rx={5}
        {...handlers('size')}
      />
    </g>
  )
}

type Drag = { readonly kind: Kind; readonly from: Point; readonly place: ImagePlace }

/** Returns the place after a drag to `at`. Pure. */
export function dragged(image: PlanImage, { kind, from, place }: Drag, at: Point): ImagePlace {
  if (kind === 'move') return { ...place, x: place.x + at.x - from.x, y: place.y + at.y - from.y }
  const middle = middleOf(imageBox(image, place))
  if (kind === 'turn') {
    const angle = (point: Point) => (Math.atan2(point.y - middle.y, point.x - middle.x) * 180) / Math.PI
    return { ...place, rotation: place.rotation + angle(at) - angle(from) }
  }
  const upright = (point: Point) => turned(point, middle, -place.rotation)
  return resized(image, place, place.width + upright(at).x - upright(from).x)
}

/** Returns the place with another width; the upper left corner stays where it is, however the picture is turned. Pure. */
function resized(image: PlanImage, place: ImagePlace, wanted: number): ImagePlace {
  const width = Math.max(0.1, wanted)
  const ratio = image.heightPx / image.widthPx
  const middle = middleOf(imageBox(image, place))
  const held = turned({ x: place.x, y: place.y }, middle, place.rotation)
  const next = turned({ x: held.x + width / 2, y: held.y + (width * ratio) / 2 }, held, place.rotation)
  return { ...place, width, x: next.x - width / 2, y: next.y - (width * ratio) / 2 }
}

/** Degrees that an arrow key turns; ten times as many with Shift. */
const turnStep = 1

function afterKey(event: KeyboardEvent, kind: Kind, image: PlanImage, place: ImagePlace): ImagePlace | undefined {
  const step = arrowSteps[event.key]
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return undefined
  const times = event.shiftKey ? 10 : 1
  const along = Math.sign(step.x + step.y)
  if (kind === 'move') return { ...place, x: place.x + step.x * times, y: place.y + step.y * times }
  if (kind === 'turn') return { ...place, rotation: place.rotation + along * turnStep * times }
  return resized(image, place, place.width + (step.x + step.y) * times)
}
