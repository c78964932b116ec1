import type { Point } from '../data/shapes.ts'
import { boxAround } from '../hall/geometry.ts'
import { onScreen, type View as PlanView, type Size } from '../hall/view.ts'
import { fallbackColor, safeColor } from '../kit/slot-marks.tsx'
import { type Draft, isRetired, type PlanSlot, type PlanZone, placeOf } from './draft.ts'
import type { NewPlace } from './make/grid.ts'
import { outlineOf } from './shapes.ts'

type Picture = {
  /** Slots that are not stored yet. */
  readonly proposed: readonly NewPlace[]
  readonly slots: readonly PlanSlot[]
  readonly zones: readonly PlanZone[]
  readonly draft: Draft
  readonly view: PlanView
  readonly size: Size
}

/** Draws outlines of zones, slots, and what is proposed beside them. */
export function drawSlots(canvas: HTMLCanvasElement, { slots, zones, draft, view, size, proposed }: Picture): void {
  const scale = devicePixelRatio
  canvas.width = Math.round(size.width * scale)
  canvas.height = Math.round(size.height * scale)
  const to = canvas.getContext('2d')
  if (!to) return
  to.scale(scale, scale)
  const style = getComputedStyle(canvas)
  const colors = new Map(zones.map(({ name, color }) => [name, safeColor(color)]))
  const zoneColors = new Map(zones.map(({ id, color }) => [id, safeColor(color)]))
  to.font = `12px ${style.fontFamily}`
  to.textAlign = 'center'
  to.textBaseline = 'middle'
  const trace = (points: readonly Point[]) => {
    to.beginPath()
    for (const { x, y } of points) to.lineTo(view.x + x * view.scale, view.y + y * view.scale)
    to.closePath()
  }
  for (const zone of zones) {
    const points = outlineOf(zone, draft)
    if (points.length === 0) continue
    trace(points)
    to.fillStyle = to.strokeStyle = safeColor(zone.color)
    to.globalAlpha = 0.13
    to.fill()
    to.globalAlpha = 1
    to.lineWidth = 2
    to.stroke()
    to.lineWidth = 1
  }
  for (const slot of slots) {
    const points = placeOf(slot, draft)
    trace(points)
    to.globalAlpha = isRetired(slot, draft) ? 0.15 : 0.45
    to.fillStyle = zoneColors.get(draft.zones.get(slot.id) ?? 0) ?? colors.get(slot.zone) ?? fallbackColor
    to.fill()
    to.globalAlpha = 1
    to.strokeStyle = style.getPropertyValue(draft.places.has(slot.id) ? '--text' : '--muted')
    to.setLineDash(isRetired(slot, draft) ? [3, 3] : [])
    to.stroke()
    const box = onScreen(boxAround(points), view)
    to.fillStyle = style.getPropertyValue('--text')
    if (to.measureText(slot.slot_id).width + 4 < box.width && box.height > 14)
      to.fillText(slot.slot_id, box.x + box.width / 2, box.y + box.height / 2)
  }
  to.setLineDash([4, 3])
  to.strokeStyle = style.getPropertyValue('--accent')
  for (const { points } of proposed) {
    trace(points)
    to.stroke()
  }
}
