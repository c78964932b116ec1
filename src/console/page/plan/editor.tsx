import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Refused } from '../data/ask.ts'
import { askPatiently } from '../data/asking.ts'
import type { ImagePlace, List, Person, Point } from '../data/shapes.ts'
import { useOnceKey } from '../data/use-once-key.ts'
import { type Box, boxAround } from '../hall/geometry.ts'
import { imageCorners } from '../hall/image.ts'
import { texts } from '../i18n/texts.ts'
import { exactTime } from '../i18n/words.ts'
import { keepsUnsaved } from '../kit/address.ts'
import { Bar } from '../kit/bar.tsx'
import { TroubleStrip } from '../kit/trouble-strip.tsx'
import type { ViewProps } from '../kit/views.ts'
import { Corners } from './corners.tsx'
import {
  boxOf,
  changesOf,
  fitted,
  type PlanSlot,
  type PlanZone,
  placeOf,
  stretched,
  unchanged,
  withoutSaved,
  withPlace,
} from './draft.ts'
import { Drawing, type Screen, type Tap } from './drawing.tsx'
import { BoxFields, PartChoice, SlotState, WarehouseChoice } from './fields.tsx'
import { ImageFrame } from './image-frame.tsx'
import { ImageFields, ImageTools } from './image-tools.tsx'
import { type Back, keep, keptAs, readBack } from './kept.ts'
import type { NewPlace } from './make/grid.ts'
import { planMakeTexts } from './make/make-texts.ts'
import { Makers } from './make/makers.tsx'
import { type CopiedOutline, DrawnOutline, drawnOn, OutlineFields, OutlineTools } from './outlines.tsx'
import { RulerMarks, RulerTools } from './ruler.tsx'
import { type Refusal, saveAll } from './save.ts'
import { SaveBar } from './save-bar.tsx'
import { planShapeTexts } from './shape-texts.ts'
import { isInside, outlineOf, type PlanWarehouse, shapeChanges, withOutline, withoutShapes } from './shapes.ts'
import { useSteps } from './steps.ts'
import { planTexts as words } from './texts.ts'

type Floor = {
  readonly warehouses: readonly PlanWarehouse[]
  readonly zones: readonly PlanZone[]
  readonly slots: readonly PlanSlot[]
}

async function load(): Promise<Floor> {
  const [warehouses, zones, slots] = await Promise.all([
    askPatiently<List<PlanWarehouse>>('/api/whms/warehouses'),
    askPatiently<List<PlanZone>>('/api/whms/zones'),
    askPatiently<List<PlanSlot>>('/api/whms/slots'),
  ])
  return { warehouses: warehouses.data, zones: zones.data, slots: slots.data }
}

/** The plan editor at `/plan`: zones and slots, outlines of zones, and the picture of the hall below them. */
export const View = ({ siteId, caller, onLeft }: ViewProps) => {
  const [floor, setFloor] = useState<Floor | undefined>(undefined)
  const [problem, setProblem] = useState('')
  const [chosen, setChosen] = useState<number | undefined>(undefined)
  const read = () =>
    load().then(
      (found) => {
        setFloor(found)
        setProblem('')
      },
      (error: Error) => {
        if (error instanceof Refused && error.isSignedOut) onLeft(texts.signedOut)
        else setProblem(error.message)
      },
    )
  useEffect(() => {
    void read()
  }, [])
  const warehouse = floor?.warehouses.find(({ id }) => id === chosen) ?? floor?.warehouses[0]
  return (
    <>
      <Bar here="plan" siteId={siteId} caller={caller} onLeft={onLeft} />
      <TroubleStrip unasked={problem} />
      <main class="plan-page">
        <h1 tabindex={-1}>{words.title}</h1>
        {!floor ? <p class="muted">{texts.loading}</p> : null}
        {floor && !warehouse ? <p class="card">{words.noWarehouse}</p> : null}
        {floor && warehouse ? (
          <Editor
            key={warehouse.id}
            warehouse={warehouse}
            warehouses={floor.warehouses}
            caller={caller}
            zones={floor.zones.filter(({ warehouseId }) => warehouseId === warehouse.id)}
            taken={new Set(floor.slots.map(({ slot_id }) => slot_id.toLowerCase()))}
            slots={floor.slots.filter(({ warehouseId }) => warehouseId === warehouse.id)}
            onWarehouse={setChosen}
            onStored={(stored) => {
              // Shown as the gateway answered, also when the whole plan cannot be read anew.
              const now = <T,>(key: string, one: T) => (stored.get(key) as T | undefined) ?? one
              setFloor({
                slots: floor.slots.map((slot) => now(`slot ${slot.id}`, slot)),
                zones: floor.zones.map((zone) => now(`zone ${zone.id}`, zone)),
                warehouses: floor.warehouses.map((one) => (one.id === warehouse.id ? now('image', one) : one)),
              })
            }}
            onSaved={read}
          />
        ) : null}
      </main>
    </>
  )
}

type EditorProps = Floor & {
  caller: Person
  warehouse: PlanWarehouse
  taken: ReadonlySet<string>
  onWarehouse: (id: number) => void
  onStored: (stored: ReadonlyMap<string, unknown>) => void
  onSaved: () => Promise<void>
}

const modes = ['slots', 'outlines', 'image'] as const
type Mode = (typeof modes)[number]

const Editor = (props: EditorProps) => {
  const { warehouse, warehouses, zones, slots, taken, onWarehouse, onStored, onSaved } = props
  const [isSaving, setSaving] = useState(false)
  // A change during the save would be lost.
  const { draft, put, beginWith, mayUndo, mayRedo, undo, redo, ...unsaved } = useUnsaved(props, isSaving)
  const { outlined, setOutlined, sketch, setSketch } = unsaved
  const [mode, setMode] = useState<Mode>(sketch ? 'outlines' : 'slots')
  const [copied, setCopied] = useState<CopiedOutline | undefined>(undefined)
  const [chosenZone, setZone] = useState('')
  const [ruler, setRuler] = useState<readonly Point[] | undefined>(undefined)
  const [live, setLive] = useState<ImagePlace | undefined>(undefined)
  const [proposed, setProposed] = useState<readonly NewPlace[]>([])
  const [slotId, setSlot] = useState<number | undefined>(undefined)
  const [note, setNote] = useState(unsaved.note)
  const [refusals, setRefusals] = useState<readonly Refusal[]>([])
  const once = useOnceKey()
  const ofSlots = changesOf(draft, slots)
  const ofShapes = shapeChanges(draft, zones, warehouse)
  const changed = ofSlots.length + ofShapes.length
  const names = [...new Set(slots.map(({ zone }) => zone))].toSorted()
  // A zone that was renamed, or whose last slot was moved, cannot be chosen any more.
  const zoneName = names.includes(chosenZone) ? chosenZone : (slots[0]?.zone ?? '')
  const inZone = slots.filter(({ zone }) => zone === zoneName)
  const slot = inZone.find(({ id }) => id === slotId)
  const selection = slot ? [slot] : inZone
  const name = slot ? slot.slot_id : zoneName
  const zone = zones.find(({ id }) => id === outlined) ?? zones[0]
  const image = warehouse.floorPlanImage
  const place = image ? (draft.image ?? image.place) : undefined
  const choose = (next: string) => {
    setZone(next)
    setSlot(undefined)
  }
  const putOutline = (points: readonly Point[]) => zone && put(withOutline(draft, zone, points))
  const putImage = (next: ImagePlace) => put({ ...draft, image: next })

  const propose = useCallback((places: readonly NewPlace[]) => setProposed(places), [])
  const isUnsaved = changed > 0 || sketch !== undefined
  const agrees = () => confirm(unsaved.isKept() ? words.leaveKept : words.leave)
  useLayoutEffect(() => (isUnsaved ? keepsUnsaved(agrees) : undefined), [isUnsaved])

  const save = async () => {
    if (isSaving || changed === 0) return
    setSaving(true)
    setRefusals([])
    const { stored, refused, isStopped } = await saveAll(ofSlots, ofShapes, once, setNote)
    onStored(stored)
    // After a sign-out, reading again would show the sign-in, and lose unsaved changes.
    if (!isStopped) await onSaved()
    const keys = new Set(stored.keys())
    const ids = ofSlots.map(({ slot: { id } }) => id).filter((id) => keys.has(`slot ${id}`))
    beginWith(withoutShapes(withoutSaved(draft, new Set(ids)), keys))
    setRefusals(refused)
    setNote(ids.length === keys.size ? words.saved(keys.size) : words.savedMixed(keys.size))
    setSaving(false)
  }
  const tap = ({ at, reach, slot: hit }: Tap) => {
    // The frame lies over the current selection.
    if (mode === 'slots' && hit && (hit.zone !== zoneName || (slot && hit.id !== slot.id))) choose(hit.zone)
    if (mode === 'image' && ruler && ruler.length < 2) setRuler([...ruler, at])
    if (mode !== 'outlines' || isSaving) return
    if (!sketch) {
      const under = zones.find((one) => isInside(outlineOf(one, draft), at))
      setOutlined(under?.id ?? hit?.zoneId ?? zone?.id ?? 0)
      return
    }
    const { points, isWhole } = drawnOn(sketch, { at, reach }, slots, draft)
    if (isWhole) putOutline(points)
    setSketch(isWhole ? undefined : points)
  }
  const over = (screen: Screen) => {
    if (mode === 'image' && ruler) return <RulerMarks points={ruler} screen={screen} onPoints={setRuler} />
    if (mode === 'image')
      return image && place ? (
        <ImageFrame image={image} place={live ?? place} screen={screen} onLive={setLive} onPlace={putImage} />
      ) : null
    if (mode === 'outlines')
      return zone ? (
        <DrawnOutline {...{ zone, sketch, screen }} points={outlineOf(zone, draft)} onPoints={putOutline} />
      ) : null
    return slot ? (
      <Corners
        name={name}
        points={placeOf(slot, draft)}
        {...screen}
        onPoints={(points) => put(withPlace(draft, slot, points))}
      />
    ) : null
  }
  // While it is dragged the plan keeps its size.
  const around = useMemo(
    () => [
      ...zones.flatMap((one) => outlineOf(one, draft)),
      ...(mode === 'image' && image && place ? imageCorners(image, place) : []),
    ],
    [zones, draft, mode, image],
  )
  const box = slots.length === 0 ? undefined : boxOf(selection, draft)
  const outline = zone && mode === 'outlines' && !sketch ? outlineOf(zone, draft) : []
  const outlineBox = outline.length > 0 ? boxAround(outline) : undefined
  const putOutlineBox = (to: Box) => outlineBox && putOutline(stretched(outline, outlineBox, to))
  const isEmpty = !box && proposed.length === 0 && around.length === 0 && mode === 'slots'
  return (
    <section class="card plan-editor" aria-label={words.plan(warehouse.name)}>
      <div class="plan-choices">
        <WarehouseChoice
          {...{ warehouse, warehouses }}
          onWarehouse={(id) => (!isUnsaved || (!isSaving && agrees())) && onWarehouse(id)}
        />
      </div>
      <ModeChoice
        mode={mode}
        onMode={(next) => {
          setMode(next)
          setRuler(undefined)
        }}
      />
      {mode === 'slots' ? (
        <SlotHelp hasSlots={box !== undefined} hasCorners={slot !== undefined}>
          <PartChoice {...{ names, zoneName, inZone, slotId }} onZone={choose} onSlot={setSlot} />
        </SlotHelp>
      ) : null}
      {mode === 'outlines' ? (
        <OutlineTools
          {...{ zones, zone, slots, draft, sketch, copied }}
          hall={boxOf(slots, draft)}
          isLocked={isSaving}
          onZone={setOutlined}
          onCopy={setCopied}
          onSketch={setSketch}
          onDraft={put}
        />
      ) : null}
      {mode === 'image' ? <ImageTools warehouse={warehouse} isLocked={isSaving} onStored={onSaved} /> : null}
      {mode === 'image' && image && place ? (
        <RulerTools {...{ image, place, ruler }} isLocked={isSaving} onRuler={setRuler} onPlace={putImage} />
      ) : null}
      {isEmpty ? null : (
        <Drawing
          {...{ warehouse, zones, slots, proposed, draft, around, over }}
          name={outlineBox && zone ? planShapeTexts.outline(zone.name) : name}
          imagePlace={live ?? place}
          box={mode === 'slots' ? box : outlineBox}
          onBox={(to: Box) => (outlineBox ? putOutlineBox(to) : put(fitted(draft, selection, to)))}
          onTap={tap}
        />
      )}
      {mode === 'image' && place ? <ImageFields place={place} isLocked={isSaving} onPlace={putImage} /> : null}
      {zone && outlineBox ? (
        <>
          <BoxFields key={`outline ${zone.id}`} box={outlineBox} isLocked={isSaving} onBox={putOutlineBox} />
          <OutlineFields zone={zone} points={outline} isLocked={isSaving} onPoints={putOutline} />
        </>
      ) : null}
      {mode === 'slots' && box ? (
        <BoxFields key={name} box={box} isLocked={isSaving} onBox={(to: Box) => put(fitted(draft, selection, to))} />
      ) : null}
      {mode === 'slots' && slot ? <SlotState slot={slot} draft={draft} onDraft={put} /> : null}
      <SaveBar
        {...{ warehouse, zones, slots, note, refusals, isSaving }}
        slotChanges={ofSlots.length}
        changes={changed}
        {...{ mayUndo, mayRedo }}
        mayDiscard={isUnsaved}
        onSave={save}
        onUndo={undo}
        onRedo={redo}
        onDiscard={() => {
          put(unchanged)
          setSketch(undefined)
          setNote('')
        }}
      />
      <Makers
        {...{ zones, slots, draft, taken, isSaving }}
        isUnsaved={changed > 0}
        warehouseId={warehouse.id}
        onProposed={propose}
        onSaved={onSaved}
      />
    </section>
  )
}

/** Unsaved drawings, and their storage in this browser for the account. `note`: text about restored drawings. */
function useUnsaved({ caller, warehouse, zones, slots }: EditorProps, isSaving: boolean) {
  const plan = { warehouse, zones, slots }
  const place = keptAs(caller, plan)
  const [back] = useState(() => readBack(place, plan))
  const steps = useSteps(isSaving, back?.draft)
  const [outlined, setOutlined] = useState(back?.outlined ?? 0)
  const [sketch, setSketch] = useState(back?.sketch)
  const isKept = useRef(true)
  const { draft } = steps
  const isEmpty = !sketch && changesOf(draft, slots).length === 0 && shapeChanges(draft, zones, warehouse).length === 0
  useEffect(() => {
    // A restored drawing keeps its time until it is changed.
    if (!isEmpty && draft === back?.draft && sketch === back.sketch) return
    isKept.current = keep(place, isEmpty ? undefined : { draft, outlined, sketch }, plan)
  }, [draft, outlined, sketch])
  const [note] = useState(() => (back ? backWords(back, isEmpty, warehouse.timezone) : ''))
  return { ...steps, outlined, setOutlined, sketch, setSketch, note, isKept: () => isKept.current === true }
}

function backWords({ at, leftOut }: Back, isEmpty: boolean, timeZone: string): string {
  const back = isEmpty ? '' : words.back(exactTime(at, timeZone))
  return `${back} ${leftOut.length === 0 ? '' : words.leftOut(leftOut.join(', '))}`.trim()
}

const ModeChoice = ({ mode, onMode }: { mode: Mode; onMode: (mode: Mode) => void }) => (
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
