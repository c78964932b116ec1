import { useMemo, useState } from 'preact/hooks'
import type { ImagePlace, Point } from '../data/shapes.ts'
import { type Box, boxAround } from '../hall/geometry.ts'
import { imageCorners } from '../hall/image.ts'
import { boxOf, fitted, type PlanSlot, stretched, withPlace } from './draft.ts'
import type { Tap } from './drawing.tsx'
import { type CopiedOutline, drawnOn } from './outlines.tsx'
import { planShapeTexts } from './shape-texts.ts'
import { isInside, outlineOf, withOutline } from './shapes.ts'
import { type Edited, type Unsaved, useUnsaved } from './use-unsaved.ts'

export const modes = ['slots', 'outlines', 'image'] as const
export type Mode = (typeof modes)[number]

export type Editing = ReturnType<typeof useEditing>

/** The editor of a hall: its changes, and what of it is chosen in each mode. */
export function useEditing(edited: Edited) {
  const work = useUnsaved(edited)
  const [mode, setMode] = useState<Mode>(work.sketch ? 'outlines' : 'slots')
  const part = useSlotPart(edited, work)
  const outline = useOutline(edited, work, mode)
  const image = useImage(edited, work)
  // While it is dragged the plan keeps its size.
  const around = useMemo(
    () => [
      ...edited.zones.flatMap((one) => outlineOf(one, work.draft)),
      ...(mode === 'image' && image.image && image.place ? imageCorners(image.image, image.place) : []),
    ],
    [edited.zones, work.draft, mode, image.image],
  )
  const tap = (at: Tap) => {
    if (mode === 'slots') part.tap(at)
    if (mode === 'image') image.tap(at)
    if (mode === 'outlines' && !work.isSaving) outline.tap(at)
  }
  /** The frame on the plan: around the selection, or around the outline. */
  const frame = outline.box
    ? { name: outline.name, box: outline.box, put: outline.putBox }
    : { name: part.name, box: mode === 'slots' ? part.box : undefined, put: part.putBox }
  return {
    work,
    mode,
    setMode: (next: Mode) => {
      setMode(next)
      image.setRuler(undefined)
    },
    part,
    outline,
    image,
    around,
    frame,
    tap,
  }
}

/** The zone or the slot that is moved. */
function useSlotPart({ slots }: Edited, { draft, put }: Unsaved) {
  const [chosenZone, setZone] = useState('')
  const [slotId, setSlot] = useState<number | undefined>(undefined)
  const names = [...new Set(slots.map(({ zone }) => zone))].toSorted()
  // A zone that was renamed, or whose last slot was moved, cannot be chosen any more.
  const zoneName = names.includes(chosenZone) ? chosenZone : (slots[0]?.zone ?? '')
  const inZone = slots.filter(({ zone }) => zone === zoneName)
  const slot = inZone.find(({ id }) => id === slotId)
  const selection = slot ? [slot] : inZone
  const choose = (next: string) => {
    setZone(next)
    setSlot(undefined)
  }
  return {
    names,
    zoneName,
    inZone,
    slotId,
    slot,
    name: slot ? slot.slot_id : zoneName,
    /** Undefined when the hall has no slots. */
    box: slots.length === 0 ? undefined : boxOf(selection, draft),
    putBox: (to: Box) => put(fitted(draft, selection, to)),
    putCorners: (of: PlanSlot, points: readonly Point[]) => put(withPlace(draft, of, points)),
    choose,
    setSlot,
    tap: ({ slot: hit }: Tap) => {
      // The frame lies over the current selection.
      if (hit && (hit.zone !== zoneName || (slot && hit.id !== slot.id))) choose(hit.zone)
    },
  }
}

/** The zone whose outline is drawn. `points`, `box`: its outline while it can be changed. */
function useOutline({ zones, slots }: Edited, work: Unsaved, mode: Mode) {
  const { draft, put, sketch, setSketch, outlined, setOutlined } = work
  const [copied, setCopied] = useState<CopiedOutline | undefined>(undefined)
  const zone = zones.find(({ id }) => id === outlined) ?? zones[0]
  const points = zone && mode === 'outlines' && !sketch ? outlineOf(zone, draft) : []
  const box = points.length > 0 ? boxAround(points) : undefined
  const putPoints = (to: readonly Point[]) => zone && put(withOutline(draft, zone, to))
  const tap = ({ at, reach, slot: hit }: Tap) => {
    if (!sketch) {
      const under = zones.find((one) => isInside(outlineOf(one, draft), at))
      setOutlined(under?.id ?? hit?.zoneId ?? zone?.id ?? 0)
      return
    }
    const { points: drawn, isWhole } = drawnOn(sketch, { at, reach }, slots, draft)
    if (isWhole) putPoints(drawn)
    setSketch(isWhole ? undefined : drawn)
  }
  return {
    zone,
    name: planShapeTexts.outline(zone?.name ?? ''),
    points,
    box,
    putPoints,
    putBox: (to: Box) => {
      if (box) putPoints(stretched(points, box, to))
    },
    copied,
    setCopied,
    tap,
  }
}

/** The picture of the hall. `live`: its place while it is dragged. `ruler`: points that are measured on it. */
function useImage({ warehouse }: Edited, { draft, put }: Unsaved) {
  const [ruler, setRuler] = useState<readonly Point[] | undefined>(undefined)
  const [live, setLive] = useState<ImagePlace | undefined>(undefined)
  const image = warehouse.floorPlanImage
  return {
    image,
    place: image ? (draft.image ?? image.place) : undefined,
    put: (next: ImagePlace) => put({ ...draft, image: next }),
    live,
    setLive,
    ruler,
    setRuler,
    tap: ({ at }: Tap) => {
      if (ruler && ruler.length < 2) setRuler([...ruler, at])
    },
  }
}
