import type { Point, Slot } from '../data/shapes.ts'
import type { SlotStatus } from '../i18n/words.ts'
import { iconPath } from '../kit/icons.tsx'
import { markOf } from '../kit/slot-marks.tsx'
import { type Box, isLight } from './geometry.ts'
import type { PlacedName } from './names.ts'
import { overlapPx, tilePx } from './tile-index.ts'
import type { Hall } from './view.ts'

/** A slot as it is painted. */
export type Place = {
  readonly slot: Slot
  readonly box: Box
  readonly middle: Point
  readonly status: SlotStatus
  readonly color: string
  /** Whether the ledger contradicts itself here. */
  readonly isOdd: boolean
}

/** Says whether a place is drawn at the same place in the same color. */
export const isSameOutline = (old: Place, place: Place): boolean =>
  old.slot.id === place.slot.id &&
  old.color === place.color &&
  (old.slot.floor_plan_polygon === place.slot.floor_plan_polygon ||
    JSON.stringify(old.slot.floor_plan_polygon) === JSON.stringify(place.slot.floor_plan_polygon))

export type Ground = {
  readonly key: number | string
  readonly name: string
  readonly color: string
  readonly points: readonly Point[]
  readonly box: Box
  /** Its outline is one that somebody drew. */
  readonly isDrawn: boolean
}

export type Scene = { readonly hall: Hall; readonly places: readonly Place[]; readonly grounds: readonly Ground[] }

/** The parts of a scene and of a place that are painted. */
export type PaintedScene = { readonly hall: Pick<Hall, 'unit'>; readonly grounds: readonly Ground[] }
export type PaintedPlace = Omit<Place, 'slot'> & { readonly slot: Pick<Slot, 'slot_id' | 'floor_plan_polygon'> }

/** Context of the page, or of a worker. */
type Brush = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D

/** Shorter side of a usual slot, in pixels, from which its outline, its mark and its label can be read. */
const outlinePx = 4
const markPx = 13
const labelPx = 34

export type Colors = Readonly<
  Record<'surface' | 'sunken' | 'text' | 'muted' | 'danger' | 'dangerGround' | 'warn' | 'warnGround', string>
>

/** Returns the colors of the page as they are now. */
export function colorsNow(): Colors {
  const style = getComputedStyle(document.documentElement)
  const of = (name: string) => style.getPropertyValue(name).trim()
  return {
    surface: of('--surface'),
    sunken: of('--sunken'),
    text: of('--text'),
    muted: of('--muted'),
    danger: of('--danger'),
    dangerGround: of('--danger-ground'),
    warn: of('--warn'),
    warnGround: of('--warn-ground'),
  }
}

export type Tile = { readonly column: number; readonly row: number; readonly scale: number; readonly perPx: number }
type Painting = {
  readonly context: Brush
  readonly colors: Colors
  /** Units of the plan in a pixel. */
  readonly px: number
  /** Shorter side of a usual slot, in pixels. */
  readonly unitPx: number
}

/** Paints the part of a scene that lies in a tile; `places` are those that reach into it. */
export function paintTile(
  context: Brush,
  { hall, grounds }: PaintedScene,
  places: readonly PaintedPlace[],
  { column, row, scale, perPx }: Tile,
  colors: Colors,
): void {
  const px = 1 / scale
  const reach = overlapPx * px
  const seen: Box = {
    x: column * tilePx * px - reach,
    y: row * tilePx * px - reach,
    width: tilePx * px + 2 * reach,
    height: tilePx * px + 2 * reach,
  }
  context.setTransform(perPx * scale, 0, 0, perPx * scale, -column * tilePx * perPx, -row * tilePx * perPx)
  context.clearRect(seen.x, seen.y, seen.width, seen.height)
  context.lineJoin = 'round'
  context.lineCap = 'round'
  const painting: Painting = { context, colors, px, unitPx: hall.unit * scale }
  for (const ground of grounds) if (touches(ground.box, seen)) paintGround(painting, ground, hall)
  for (const group of groupsOf(places)) paintGroup(painting, group)
  if (painting.unitPx >= markPx) for (const place of places) paintMark(painting, place)
  if (painting.unitPx >= labelPx) for (const place of places) paintLabel(painting, place)
  paintOdd(
    painting,
    places.filter(({ isOdd }) => isOdd),
  )
}

/** Groups places that are painted alike. */
function groupsOf(places: readonly PaintedPlace[]): Iterable<readonly PaintedPlace[]> {
  const groups = new Map<string, PaintedPlace[]>()
  for (const place of places) {
    const key = `${place.status} ${place.color}`
    const group = groups.get(key)
    if (group) group.push(place)
    else groups.set(key, [place])
  }
  return groups.values()
}

const touches = (a: Box, b: Box): boolean =>
  a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height

function paintGround(
  { context, px }: Painting,
  { points, color, isDrawn }: Ground,
  { unit }: Pick<Hall, 'unit'>,
): void {
  context.beginPath()
  outline(context, points)
  context.globalAlpha = 0.13
  context.fillStyle = color
  context.strokeStyle = color
  context.fill()
  context.lineWidth = isDrawn ? 2 * px : unit * 0.14
  if (isDrawn) context.globalAlpha = 0.8
  context.stroke()
  context.globalAlpha = 1
}

/** Ends where it began: to close each of a thousand outlines in one path costs many times as much. */
function outline(context: Brush, points: readonly Point[]): void {
  const [first] = points
  if (!first) return
  context.moveTo(first.x, first.y)
  for (const { x, y } of points.slice(1)) context.lineTo(x, y)
  context.lineTo(first.x, first.y)
}

/** Paints slots of one status and one color: each status has a shape besides its color, also from afar. */
function paintGroup(painting: Painting, group: readonly PaintedPlace[]): void {
  const { context, colors, px, unitPx } = painting
  const [first] = group
  if (!first) return
  const { status, color } = first
  const isFar = unitPx < markPx
  const isDisputed = status === 'disputed'
  context.beginPath()
  for (const { slot } of group) outline(context, slot.floor_plan_polygon)
  context.fillStyle = isDisputed ? colors.dangerGround : colors.surface
  context.fill()
  if (status === 'verified') {
    context.fillStyle = color
    context.fill()
  } else if (status === 'occupied' && !isFar) {
    context.globalAlpha = 0.3
    context.fillStyle = color
    context.fill()
  } else if (status === 'retired') {
    context.globalAlpha = 0.1
    context.fillStyle = color
    context.fill()
  } else if (isDisputed && isFar) {
    context.fillStyle = colors.danger
    context.fill()
  }
  context.globalAlpha = 1
  if (unitPx >= outlinePx) {
    context.strokeStyle = isDisputed ? colors.danger : color
    context.lineWidth = (isDisputed ? 3 : unitPx >= labelPx ? 1.6 : isFar ? 0.6 : 1) * px
    if (status === 'empty' && !isFar) context.setLineDash([5 * px, 4 * px])
    context.stroke()
    context.setLineDash([])
  }
  if (status === 'occupied' && isFar) paintHalves(painting, group, color)
  if (isDisputed) paintStripes(painting, group, isFar)
}

/** From afar a placement that no one has verified is half full. */
function paintHalves({ context }: Painting, group: readonly PaintedPlace[], color: string): void {
  context.beginPath()
  for (const { box } of group) context.rect(box.x, box.y + box.height / 2, box.width, box.height / 2)
  context.globalAlpha = 0.8
  context.fillStyle = color
  context.fill()
  context.globalAlpha = 1
}

/** A dispute is striped. */
function paintStripes({ context, colors, px }: Painting, group: readonly PaintedPlace[], isFar: boolean): void {
  context.beginPath()
  for (const { box } of group) {
    const { x, y, width, height } = box
    for (const part of isFar ? [0.5] : [0.25, 0.5, 0.75, 1]) {
      context.moveTo(x + width * part, y)
      context.lineTo(x, y + height * part)
      if (part === 1) continue
      context.moveTo(x + width, y + height * part)
      context.lineTo(x + width * part, y + height)
    }
  }
  context.strokeStyle = isFar ? colors.surface : colors.danger
  context.globalAlpha = isFar ? 1 : 0.26
  context.lineWidth = (isFar ? 1 : 3) * px
  context.stroke()
  context.globalAlpha = 1
}

const marks = new Map<SlotStatus, Path2D>()

function markPath(status: SlotStatus): Path2D | undefined {
  const icon = markOf[status]
  if (icon === undefined) return undefined
  const path = marks.get(status) ?? new Path2D(iconPath(icon))
  marks.set(status, path)
  return path
}

const inkOf = ({ status, color }: PaintedPlace, colors: Colors): string =>
  status === 'disputed' ? colors.danger : status === 'verified' ? (isLight(color) ? '#000' : '#fff') : colors.text

function paintMark({ context, colors, unitPx }: Painting, place: PaintedPlace): void {
  const path = markPath(place.status)
  if (!path) return
  const { box, middle } = place
  const isAlone = unitPx < labelPx
  const side = Math.min(box.width, box.height) * (isAlone ? 0.62 : 0.42)
  const y = isAlone ? middle.y : middle.y + box.height * 0.22
  context.save()
  context.translate(middle.x - side / 2, y - side / 2)
  context.scale(side / 24, side / 24)
  context.strokeStyle = inkOf(place, colors)
  context.lineWidth = place.status === 'disputed' ? 5 : place.status === 'verified' ? 3.6 : 2.6
  context.stroke(path)
  context.restore()
}

function paintLabel({ context, colors }: Painting, place: PaintedPlace): void {
  const { slot, box, middle, status } = place
  const size = Math.min((box.width * 0.84) / (Math.max(slot.slot_id.length, 3) * 0.6), box.height * 0.37)
  context.font = `650 ${size}px system-ui, sans-serif`
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  const y = markOf[status] ? middle.y - box.height * 0.19 : middle.y
  if (status === 'disputed') {
    context.strokeStyle = colors.dangerGround
    context.lineWidth = size * 0.22
    context.strokeText(slot.slot_id, middle.x, y)
  }
  context.fillStyle = status === 'empty' ? colors.muted : status === 'verified' ? inkOf(place, colors) : colors.text
  context.fillText(slot.slot_id, middle.x, y)
}

/** Paints a triangle in the corner of each slot about which the ledger contradicts itself. */
function paintOdd({ context, colors, px, unitPx }: Painting, places: readonly PaintedPlace[]): void {
  if (places.length === 0) return
  const side = Math.max(6, Math.min(unitPx * 0.36, 26)) * px
  context.beginPath()
  for (const { box } of places) {
    const [right, top] = [box.x + box.width, box.y]
    outline(context, [
      { x: right, y: top },
      { x: right, y: top + side },
      { x: right - side, y: top },
    ])
  }
  context.fillStyle = colors.warn
  context.strokeStyle = colors.surface
  context.lineWidth = 1.5 * px
  context.stroke()
  context.fill()
}

/** Paints the names of zones, each on its own ground. */
export function paintNames(context: CanvasRenderingContext2D, names: Iterable<PlacedName>, colors: Colors): void {
  context.textAlign = 'left'
  context.textBaseline = 'alphabetic'
  for (const { name, x, y, width, height, font, base } of names) {
    context.font = font
    context.fillStyle = colors.sunken
    context.fillRect(x, y, width, height)
    context.fillStyle = colors.text
    context.fillText(name, x + 5, y + base)
  }
}
