import { memo } from 'hono/jsx/dom'
import type { Point, Slot } from './answers.ts'
import { type IconName, iconPath } from './icons.tsx'
import { boxAround, isLight, middleOf } from './plan-geometry.ts'
import { type SlotStatus, spokenSlot, statusOf } from './words.ts'

/** Each status has a separate mark besides its fill, so that colors are not needed. An empty slot has none. */
const markOf: Record<SlotStatus, IconName | undefined> = {
  empty: undefined,
  occupied: 'occupied',
  verified: 'verified',
  disputed: 'disputed',
  retired: 'retired',
}

/** Shows the mark of a status in a line of text. */
export const StatusMark = ({ status }: { status: SlotStatus }) => {
  const mark = markOf[status]
  return (
    <svg class={`status-mark ${status}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <rect class="status-ground" x="1" y="1" width="22" height="22" rx="5" />
      {mark ? <path d={iconPath(mark)} transform="translate(4.8 4.8) scale(.6)" /> : null}
    </svg>
  )
}

export const fallbackColor = '#7a858e'
export const safeColor = (color: string | undefined) => (color && /^#[0-9a-f]{6}$/i.test(color) ? color : fallbackColor)

/** How much of a slot is drawn: its fill, also its mark, or also its label. */
export type Detail = 'fill' | 'mark' | 'label'

type Props = {
  slot: Slot
  color: string
  isChosen: boolean
  isTabStop: boolean
  detail: Detail
}

export const slotElementId = (id: number) => `slot-${id}`

/** Returns the id of the slot whose shape contains this element. */
export function slotIdOf(target: EventTarget | null): number | undefined {
  const element = target instanceof Element ? target.closest('.slot') : null
  return element ? Number(element.id.slice(slotElementId(0).length - 1)) : undefined
}

/**
 * Draws a slot on the plan: a button in the shape of its polygon. The plan handles its clicks and keys. Drawn again
 * only when it changes: a hall has thousands.
 */
export const SlotShape = memo(({ slot, color, isChosen, isTabStop, detail }: Props) => {
  const status = statusOf(slot)
  const ground = status === 'verified' ? (isLight(color) ? 'on-light' : 'on-dark') : ''
  const points = listOf(slot.floor_plan_polygon)
  return (
    // biome-ignore lint/a11y/useSemanticElements: HTML has no button in the shape of a polygon.
    <g
      id={slotElementId(slot.id)}
      class={`slot ${status} ${ground}${isChosen ? ' chosen' : ''}`}
      role="button"
      tabindex={isTabStop ? 0 : -1}
      aria-label={spokenSlot(slot)}
      aria-pressed={isChosen ? 'true' : 'false'}
    >
      {isChosen || isTabStop ? <polygon class="halo" points={points} /> : null}
      <polygon class="ground" points={points} />
      <polygon class="fill" points={points} fill={color} stroke={color} />
      {status === 'disputed' && detail !== 'fill' ? <polygon points={points} fill="url(#hatch)" /> : null}
      {detail === 'fill' ? null : <Label slot={slot} isMarkOnly={detail === 'mark'} />}
    </g>
  )
})

const Label = ({ slot, isMarkOnly }: { slot: Slot; isMarkOnly: boolean }) => {
  const box = boxAround(slot.floor_plan_polygon)
  const { x, y } = middleOf(box)
  const mark = markOf[statusOf(slot)]
  const size = Math.min((box.width * 0.84) / (Math.max(slot.slot_id.length, 3) * 0.6), box.height * 0.37)
  const markSize = Math.min(box.width, box.height) * (isMarkOnly ? 0.62 : 0.42)
  const markY = isMarkOnly ? y : y + box.height * 0.22
  const markPlace = `translate(${x - markSize / 2} ${markY - markSize / 2}) scale(${markSize / 24})`
  return (
    <>
      {isMarkOnly ? null : (
        <text
          x={x}
          y={mark ? y - box.height * 0.19 : y}
          font-size={size}
          text-anchor="middle"
          dominant-baseline="central"
        >
          {slot.slot_id}
        </text>
      )}
      {mark ? <path class="mark" d={iconPath(mark)} transform={markPlace} /> : null}
    </>
  )
}

export const listOf = (points: readonly Point[]): string => points.map(({ x, y }) => `${x},${y}`).join(' ')
