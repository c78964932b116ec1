import type { ComponentChildren } from 'preact'
import { Corners } from './corners.tsx'
import { boxOf, placeOf } from './draft.ts'
import type { Screen } from './drawing.tsx'
import { BoxFields, PartChoice, SlotState } from './fields.tsx'
import { ImageFrame } from './image-frame.tsx'
import { ImageFields, ImageTools } from './image-tools.tsx'
import { planMakeTexts } from './make/make-texts.ts'
import { DrawnOutline, OutlineFields, OutlineTools } from './outlines.tsx'
import { RulerMarks, RulerTools } from './ruler.tsx'
import { planShapeTexts } from './shape-texts.ts'
import { outlineOf } from './shapes.ts'
import { planTexts as words } from './texts.ts'
import { type Editing, type Mode, modes } from './use-editing.ts'
import type { Edited } from './use-unsaved.ts'

export const ModeChoice = ({ mode, onMode }: { mode: Mode; onMode: (mode: Mode) => void }) => (
  <fieldset class="plan-modes">
    <legend>{planShapeTexts.mode}</legend>
    {modes.map((one) => (
      <label key={one}>
        <input type="radio" name="plan-mode" value={one} checked={one === mode} onInput={() => onMode(one)} />
        {planShapeTexts.modes[one]}
      </label>
    ))}
  </fieldset>
)

type PartProps = { edited: Edited; editing: Editing }

/** Help and tools of the mode, above the plan. */
export const ModeTools = ({ edited, editing }: PartProps) => {
  const { work, mode, part, outline } = editing
  if (mode === 'slots') {
    const { names, zoneName, inZone, slotId, slot, box, choose, setSlot } = part
    return (
      <SlotHelp hasSlots={box !== undefined} hasCorners={slot !== undefined}>
        <PartChoice {...{ names, zoneName, inZone, slotId }} onZone={choose} onSlot={setSlot} />
      </SlotHelp>
    )
  }
  if (mode === 'outlines')
    return (
      <OutlineTools
        zones={edited.zones}
        slots={edited.slots}
        zone={outline.zone}
        draft={work.draft}
        sketch={work.sketch}
        copied={outline.copied}
        hall={boxOf(edited.slots, work.draft)}
        isLocked={work.isSaving}
        onZone={work.setOutlined}
        onCopy={outline.setCopied}
        onSketch={work.setSketch}
        onDraft={work.put}
      />
    )
  const { image, place, ruler, setRuler, put } = editing.image
  return (
    <>
      <ImageTools warehouse={edited.warehouse} isLocked={work.isSaving} onStored={edited.onSaved} />
      {image && place ? (
        <RulerTools {...{ image, place, ruler }} isLocked={work.isSaving} onRuler={setRuler} onPlace={put} />
      ) : null}
    </>
  )
}

/** Corners and marks that can be dragged on the plan. */
export const ModeMarks = ({ editing, screen }: { editing: Editing; screen: Screen }) => {
  const { work, mode, part, outline } = editing
  if (mode === 'slots') {
    const { slot, name } = part
    if (!slot) return null
    const points = placeOf(slot, work.draft)
    return <Corners {...{ name, points }} {...screen} onPoints={(to) => part.putCorners(slot, to)} />
  }
  if (mode === 'outlines') {
    const { zone, putPoints } = outline
    if (!zone) return null
    const points = outlineOf(zone, work.draft)
    return <DrawnOutline {...{ zone, points, screen }} sketch={work.sketch} onPoints={putPoints} />
  }
  const { image, place, live, setLive, ruler, setRuler, put } = editing.image
  if (ruler) return <RulerMarks points={ruler} screen={screen} onPoints={setRuler} />
  if (!image || !place) return null
  return <ImageFrame image={image} place={live ?? place} screen={screen} onLive={setLive} onPlace={put} />
}

/** Numbers of what is chosen, below the plan. */
export const ModeFields = ({ editing }: { editing: Editing }) => {
  const { work, mode, part, outline } = editing
  const isLocked = work.isSaving
  if (mode === 'image') {
    const { place, put } = editing.image
    return place ? <ImageFields place={place} isLocked={isLocked} onPlace={put} /> : null
  }
  if (mode === 'outlines') {
    const { zone, box, points, putBox, putPoints } = outline
    if (!zone || !box) return null
    return (
      <>
        <BoxFields key={`outline ${zone.id}`} box={box} isLocked={isLocked} onBox={putBox} />
        <OutlineFields zone={zone} points={points} isLocked={isLocked} onPoints={putPoints} />
      </>
    )
  }
  const { box, name, slot, putBox } = part
  return (
    <>
      {box ? <BoxFields key={name} box={box} isLocked={isLocked} onBox={putBox} /> : null}
      {slot ? <SlotState slot={slot} draft={work.draft} onDraft={work.put} /> : null}
    </>
  )
}

const SlotHelp = (props: { hasSlots: boolean; hasCorners: boolean; children: ComponentChildren }) => (
  <>
    {props.hasSlots ? <div class="plan-choices">{props.children}</div> : null}
    {props.hasSlots ? (
      <p class="muted">{words.help}</p>
    ) : (
      <p>
        {words.empty} {words.emptyNext}
      </p>
    )}
    {props.hasCorners ? <p class="muted">{planMakeTexts.cornerHelp}</p> : null}
  </>
)
