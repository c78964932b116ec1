import { useEffect, useState } from 'preact/hooks'
import { Refused } from '../data/ask.ts'
import { askPatiently } from '../data/asking.ts'
import type { List } from '../data/shapes.ts'
import { texts } from '../i18n/texts.ts'
import { Bar } from '../kit/bar.tsx'
import { TroubleStrip } from '../kit/trouble-strip.tsx'
import type { ViewProps } from '../kit/views.ts'
import type { PlanSlot, PlanZone } from './draft.ts'
import { Drawing } from './drawing.tsx'
import { WarehouseChoice } from './fields.tsx'
import type { NewPlace } from './make/grid.ts'
import { Makers } from './make/makers.tsx'
import { ModeChoice, ModeFields, ModeMarks, ModeTools } from './mode-parts.tsx'
import { SaveBar } from './save-bar.tsx'
import type { PlanWarehouse } from './shapes.ts'
import { planTexts as words } from './texts.ts'
import { useEditing } from './use-editing.ts'
import type { Edited } from './use-unsaved.ts'

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

type EditorProps = Edited & {
  warehouses: readonly PlanWarehouse[]
  taken: ReadonlySet<string>
  onWarehouse: (id: number) => void
}

const Editor = ({ warehouses, taken, onWarehouse, ...edited }: EditorProps) => {
  const { warehouse, zones, slots, onSaved } = edited
  const editing = useEditing(edited)
  const { work, mode, around, frame, image } = editing
  const { draft, isSaving } = work
  const [proposed, setProposed] = useState<readonly NewPlace[]>([])
  const isEmpty = !frame.box && proposed.length === 0 && around.length === 0 && mode === 'slots'
  return (
    <section class="card plan-editor" aria-label={words.plan(warehouse.name)}>
      <div class="plan-choices">
        <WarehouseChoice
          {...{ warehouse, warehouses }}
          onWarehouse={(id) => (!work.isUnsaved || (!isSaving && work.agrees())) && onWarehouse(id)}
        />
      </div>
      <ModeChoice mode={mode} onMode={editing.setMode} />
      <ModeTools edited={edited} editing={editing} />
      {isEmpty ? null : (
        <Drawing
          {...{ warehouse, zones, slots, proposed, draft, around }}
          name={frame.name}
          imagePlace={image.live ?? image.place}
          box={frame.box}
          onBox={frame.put}
          over={(screen) => <ModeMarks editing={editing} screen={screen} />}
          onTap={editing.tap}
        />
      )}
      <ModeFields editing={editing} />
      <SaveBar {...{ warehouse, zones, slots, work }} />
      <Makers
        {...{ zones, slots, draft, taken, isSaving }}
        isUnsaved={work.changes > 0}
        warehouseId={warehouse.id}
        onProposed={setProposed}
        onSaved={onSaved}
      />
    </section>
  )
}
