import { useCallback, useEffect, useState } from 'hono/jsx/dom'
import { keepsUnsaved } from './address.ts'
import type { List, Warehouse } from './answers.ts'
import { Refused } from './ask.ts'
import { askPatiently } from './asking.ts'
import { Bar } from './bar.tsx'
import { csvOf } from './plan-csv.ts'
import {
  boxOf,
  changesOf,
  type Draft,
  fitted,
  type PlanSlot,
  type PlanZone,
  placeOf,
  unchanged,
  withoutSaved,
  withPlace,
} from './plan-draft.ts'
import { Drawing } from './plan-drawing.tsx'
import { BoxFields, PartChoice, SlotState, WarehouseChoice } from './plan-fields.tsx'
import type { Box } from './plan-geometry.ts'
import type { NewPlace } from './plan-grid.ts'
import { GridForm } from './plan-grid-form.tsx'
import { ListForm } from './plan-list.tsx'
import { planMakeTexts } from './plan-make-texts.ts'
import { download, type Refusal, saveAll } from './plan-save.ts'
import { planTexts as words } from './plan-texts.ts'
import { ZoneForm } from './plan-zone.tsx'
import { texts } from './texts.ts'
import { TroubleStrip } from './trouble-strip.tsx'
import type { ViewProps } from './views.ts'

type Floor = {
  readonly warehouses: readonly Warehouse[]
  readonly zones: readonly PlanZone[]
  readonly slots: readonly PlanSlot[]
}

/** Between what is on the plan and new aisles, in metres. */
const aisleGap = 2.4

async function load(): Promise<Floor> {
  const [warehouses, zones, slots] = await Promise.all([
    askPatiently<List<Warehouse>>('/api/whms/warehouses'),
    askPatiently<List<PlanZone>>('/api/whms/zones'),
    askPatiently<List<PlanSlot>>('/api/whms/slots'),
  ])
  return { warehouses: warehouses.data, zones: zones.data, slots: slots.data }
}

/** The plan editor at `/plan`: moves and resizes zones and slots, retires and restores slots. */
export const View = ({ siteId, caller, onLeft }: ViewProps) => {
  const [floor, setFloor] = useState<Floor | undefined>(undefined)
  const [problem, setProblem] = useState('')
  const [chosen, setChosen] = useState<number | undefined>(undefined)
  const mayChange = caller.permissions.includes('whms:write')
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
    if (mayChange) void read()
  }, [])
  const warehouse = floor?.warehouses.find(({ id }) => id === chosen) ?? floor?.warehouses[0]
  return (
    <>
      <Bar here="plan" siteId={siteId} caller={caller} onLeft={onLeft} />
      <TroubleStrip unasked={problem} />
      <main class="plan-page">
        <h1 tabindex={-1}>{words.title}</h1>
        {mayChange ? null : <p class="card">{words.forbidden}</p>}
        {mayChange && !floor ? <p class="muted">{texts.loading}</p> : null}
        {floor && !warehouse ? <p class="card">{words.noWarehouse}</p> : null}
        {floor && warehouse ? (
          <Editor
            key={warehouse.id}
            warehouse={warehouse}
            warehouses={floor.warehouses}
            zones={floor.zones.filter(({ warehouseId }) => warehouseId === warehouse.id)}
            taken={new Set(floor.slots.map(({ slot_id }) => slot_id.toLowerCase()))}
            slots={floor.slots.filter(({ warehouseId }) => warehouseId === warehouse.id)}
            onWarehouse={setChosen}
            onStored={(stored) => {
              // Shown as the gateway answered, also when the whole plan cannot be read anew.
              const slots = floor.slots.map((slot) => stored.get(slot.id) ?? slot)
              setFloor({ ...floor, slots })
            }}
            onSaved={read}
          />
        ) : null}
      </main>
    </>
  )
}

type EditorProps = Floor & {
  warehouse: Warehouse
  taken: ReadonlySet<string>
  onWarehouse: (id: number) => void
  onStored: (stored: ReadonlyMap<number, PlanSlot>) => void
  onSaved: () => Promise<void>
}

const Editor = ({ warehouse, warehouses, zones, slots, taken, onWarehouse, onStored, onSaved }: EditorProps) => {
  const [drafts, setDrafts] = useState<readonly Draft[]>([unchanged])
  const [chosenZone, setZone] = useState('')
  const [proposed, setProposed] = useState<readonly NewPlace[]>([])
  const [slotId, setSlot] = useState<number | undefined>(undefined)
  const [told, setTold] = useState('')
  const [refusals, setRefusals] = useState<readonly Refusal[]>([])
  const [isSaving, setSaving] = useState(false)
  const draft = drafts.at(-1) ?? unchanged
  const changes = changesOf(draft, slots)
  const names = [...new Set(slots.map(({ zone }) => zone))].toSorted()
  // A zone that was renamed, or whose last slot went elsewhere, is no choice any more.
  const zoneName = names.includes(chosenZone) ? chosenZone : (slots[0]?.zone ?? '')
  const inZone = slots.filter(({ zone }) => zone === zoneName)
  const slot = inZone.find(({ id }) => id === slotId)
  const selection = slot ? [slot] : inZone
  const name = slot ? slot.slot_id : zoneName
  const choose = (zone: string) => {
    setZone(zone)
    setSlot(undefined)
  }
  // What changes while it is being saved would be lost.
  const put = (next: Draft) => !isSaving && setDrafts((before) => [...before, next])
  const fit = (box: Box) => put(fitted(draft, selection, box))

  const propose = useCallback((places: readonly NewPlace[]) => setProposed(places), [])
  const isUnsaved = changes.length > 0
  useEffect(() => (isUnsaved ? keepsUnsaved(() => confirm(words.leave)) : undefined), [isUnsaved])
  const otherWarehouse = (id: number) => {
    if (!isUnsaved || (!isSaving && confirm(words.leave))) onWarehouse(id)
  }

  const save = async () => {
    if (isSaving || changes.length === 0) return
    setSaving(true)
    setRefusals([])
    const { stored, refused, isStopped } = await saveAll(changes, setTold)
    onStored(stored)
    // Reading anew would show the sign-in to who was signed out, and lose what is not saved.
    if (!isStopped) await onSaved()
    setDrafts([withoutSaved(draft, new Set(stored.keys()))])
    setRefusals(refused)
    setTold(words.saved(stored.size))
    setSaving(false)
  }
  const box = slots.length === 0 ? undefined : boxOf(selection, draft)
  const everything = boxOf(slots, draft)
  const below = slots.length === 0 ? 0 : Math.ceil((everything.y + everything.height + aisleGap) * 10) / 10
  return (
    <section class="card plan-editor" aria-label={words.plan(warehouse.name)}>
      <div class="plan-choices">
        <WarehouseChoice {...{ warehouse, warehouses }} onWarehouse={otherWarehouse} />
        {box ? <PartChoice {...{ names, zoneName, inZone, slotId }} onZone={choose} onSlot={setSlot} /> : null}
      </div>
      {box ? (
        <p class="muted">{words.help}</p>
      ) : (
        <p>
          {words.empty} {words.emptyNext}
        </p>
      )}
      {slot ? <p class="muted">{planMakeTexts.cornerHelp}</p> : null}
      {box || proposed.length > 0 ? (
        <Drawing
          {...{ warehouse, zones, slots, proposed, draft, box, name }}
          corners={slot && placeOf(slot, draft)}
          onBox={fit}
          onCorners={(points) => slot && put(withPlace(draft, slot, points))}
          onChoose={({ zone }) => choose(zone)}
        />
      ) : null}
      {box ? <BoxFields key={name} box={box} isLocked={isSaving} onBox={fit} /> : null}
      {slot ? <SlotState slot={slot} draft={draft} onDraft={put} /> : null}
      <div class="plan-acts">
        <button
          type="button"
          class="strong"
          aria-disabled={changes.length === 0 || isSaving ? 'true' : 'false'}
          onClick={save}
        >
          {words.save(changes.length)}
        </button>
        <button
          type="button"
          aria-disabled={drafts.length < 2 || isSaving ? 'true' : 'false'}
          onClick={() => !isSaving && setDrafts((before) => (before.length < 2 ? before : before.slice(0, -1)))}
        >
          {words.undo}
        </button>
        <button
          type="button"
          aria-disabled={changes.length === 0 || isSaving ? 'true' : 'false'}
          onClick={() => !isSaving && put(unchanged)}
        >
          {words.discard}
        </button>
        <button type="button" onClick={() => download(`${warehouse.name} slots.csv`, csvOf(slots, zones))}>
          {words.csv}
        </button>
      </div>
      <p role="status">
        {told} {isSaving ? '' : changes.length === 0 ? words.nothing : words.pending(changes.length)}
      </p>
      <div role="alert">
        {refusals.length === 0 ? null : (
          <>
            <p class="problem">{words.refused(refusals.length)}</p>
            <ul>
              {refusals.map(({ label, why }) => (
                <li key={label}>
                  <strong>{label}</strong>: {why}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <p class="muted">
        {words.eachAlone} {words.csvHelp}
      </p>
      <details open={slots.length === 0}>
        <summary>{planMakeTexts.grid}</summary>
        <GridForm {...{ zones, below, taken }} warehouseId={warehouse.id} onProposed={propose} onStored={onSaved} />
      </details>
      <details>
        <summary>{planMakeTexts.list}</summary>
        <ListForm warehouseId={warehouse.id} isUnsaved={isUnsaved} onStored={onSaved} />
      </details>
      <details>
        <summary>{planMakeTexts.zones}</summary>
        <ZoneForm zones={zones} warehouseId={warehouse.id} isLocked={isSaving} onStored={onSaved} />
      </details>
    </section>
  )
}
