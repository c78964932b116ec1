import { useEffect, useMemo, useRef, useState } from 'hono/jsx/dom'
import { keepsUnsaved } from './address.ts'
import type { List, Point, Warehouse, Zone } from './answers.ts'
import { Refused } from './ask.ts'
import { askPatiently } from './asking.ts'
import { Bar } from './bar.tsx'
import {
  boxOf,
  type Change,
  changesOf,
  csvOf,
  type Draft,
  fitted,
  isRetired,
  leastSide,
  type PlanSlot,
  type PlanZone,
  placeOf,
  unchanged,
  withoutSaved,
  withRetired,
} from './plan-draft.ts'
import { type Box, boxAround } from './plan-geometry.ts'
import { planTexts as words } from './plan-texts.ts'
import { onScreen, type View as PlanView, type Size, wholeHall } from './plan-view.ts'
import { rounded } from './polygon-edit.ts'
import { fallbackColor, safeColor } from './slot-marks.tsx'
import { texts } from './texts.ts'
import type { ViewProps } from './views.ts'

type Floor = {
  readonly warehouses: readonly Warehouse[]
  readonly zones: readonly PlanZone[]
  readonly slots: readonly PlanSlot[]
}

/** Metres that an arrow key moves; ten times as far with Shift. */
const stepM = 0.1
const planHeightPx = 520
/** Room around the hall, so that what is dragged outward stays in the picture. */
const roomShare = 0.06
const handlePx = 24

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
      <div class="trouble" role="alert">
        {problem === '' ? null : <p>{texts.notAsked(problem)}</p>}
      </div>
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
  onWarehouse: (id: number) => void
  onStored: (stored: ReadonlyMap<number, PlanSlot>) => void
  onSaved: () => Promise<void>
}

type Refusal = { readonly label: string; readonly why: string }

const Editor = ({ warehouse, warehouses, zones, slots, onWarehouse, onStored, onSaved }: EditorProps) => {
  const [drafts, setDrafts] = useState<readonly Draft[]>([unchanged])
  const [zoneName, setZone] = useState(slots[0]?.zone ?? '')
  const [slotId, setSlot] = useState<number | undefined>(undefined)
  const [told, setTold] = useState('')
  const [refusals, setRefusals] = useState<readonly Refusal[]>([])
  const [isSaving, setSaving] = useState(false)
  const draft = drafts.at(-1) ?? unchanged
  const changes = changesOf(draft, slots)
  const names = [...new Set(slots.map(({ zone }) => zone))].toSorted()
  const inZone = slots.filter(({ zone }) => zone === zoneName)
  const slot = inZone.find(({ id }) => id === slotId)
  const selection = slot ? [slot] : inZone
  const name = slot ? slot.slot_id : zoneName
  // What changes while it is being saved would be lost.
  const put = (next: Draft) => !isSaving && setDrafts((before) => [...before, next])
  const fit = (box: Box) => put(fitted(draft, selection, box))

  const isUnsaved = changes.length > 0
  useEffect(() => (isUnsaved ? keepsUnsaved(() => confirm(words.leave)) : undefined), [isUnsaved])
  const otherWarehouse = (id: number) => {
    if (!isUnsaved || (!isSaving && confirm(words.leave))) onWarehouse(id)
  }

  const save = async () => {
    if (isSaving || changes.length === 0) return
    setSaving(true)
    setRefusals([])
    const stored = new Map<number, PlanSlot>()
    const refused: Refusal[] = []
    let isStopped = false
    for (const [i, change] of changes.entries()) {
      setTold(words.saving(i, changes.length))
      try {
        const answer = await store(change, (seconds) => setTold(words.waiting(seconds)))
        if (typeof answer === 'string') refused.push({ label: change.slot.slot_id, why: answer })
        else stored.set(change.slot.id, answer)
      } catch (error) {
        // The gateway does not answer, or the sign-in has ended: the others would wait for nothing.
        refused.push({ label: change.slot.slot_id, why: (error as Error).message })
        isStopped = true
        break
      }
    }
    onStored(stored)
    // Reading anew would show the sign-in to who was signed out, and lose what is not saved.
    if (!isStopped) await onSaved()
    setDrafts([withoutSaved(draft, new Set(stored.keys()))])
    setRefusals(refused)
    setTold(words.saved(stored.size))
    setSaving(false)
  }
  if (slots.length === 0)
    return (
      <section class="card">
        <WarehouseChoice {...{ warehouse, warehouses, onWarehouse }} />
        <p>{words.empty}</p>
        <p class="muted">{words.emptyNext}</p>
      </section>
    )
  const box = boxOf(selection, draft)
  return (
    <section class="card plan-editor" aria-label={words.plan(warehouse.name)}>
      <div class="plan-choices">
        <WarehouseChoice {...{ warehouse, warehouses }} onWarehouse={otherWarehouse} />
        <label>
          <span>{words.zone}</span>
          <select
            value={zoneName}
            onChange={(event: Event) => {
              setZone((event.target as HTMLSelectElement).value)
              setSlot(undefined)
            }}
          >
            {names.map((one) => (
              <option key={one} value={one} selected={one === zoneName}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>{words.part}</span>
          <select onChange={(event: Event) => setSlot(Number((event.target as HTMLSelectElement).value) || undefined)}>
            <option value="0" selected={slotId === undefined}>
              {words.wholeZone(inZone.length)}
            </option>
            {inZone.map(({ id, slot_id }) => (
              <option key={id} value={id} selected={id === slotId}>
                {slot_id}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p class="muted">{words.help}</p>
      <Drawing
        {...{ warehouse, zones, slots, draft, box, name }}
        onBox={fit}
        onChoose={(one) => {
          setZone(one.zone)
          setSlot(undefined)
        }}
      />
      <BoxFields key={name} box={box} isLocked={isSaving} onBox={fit} />
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
    </section>
  )
}

const WarehouseChoice = ({
  warehouse,
  warehouses,
  onWarehouse,
}: Pick<EditorProps, 'warehouse' | 'warehouses' | 'onWarehouse'>) => (
  <label>
    <span>{words.warehouse}</span>
    <select
      onChange={(event: Event) => {
        const list = event.target as HTMLSelectElement
        const id = Number(list.value)
        // Until it is changed, which may be refused.
        list.value = String(warehouse.id)
        onWarehouse(id)
      }}
    >
      {warehouses.map(({ id, name }) => (
        <option key={id} value={id} selected={id === warehouse.id}>
          {name}
        </option>
      ))}
    </select>
  </label>
)

/**
 * Stores one slot; returns it, or why not. Waits while the rate of the caller is used up. Throws when the gateway does not answer,
 * takes nothing now, or knows the caller no longer.
 */
async function store({ slot, body }: Change, onWait: (seconds: number) => void): Promise<PlanSlot | string> {
  try {
    const options = { method: 'PUT', body, ifMatch: slot.version }
    return await askPatiently<PlanSlot>(`/api/whms/slots/${slot.id}`, options, onWait)
  } catch (error) {
    if (!(error instanceof Refused) || error.isSignedOut || error.status >= 500) throw error
    return error.code === 'VERSION_MISMATCH' ? words.changedElsewhere : error.message
  }
}

function download(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

const SlotState = ({ slot, draft, onDraft }: { slot: PlanSlot; draft: Draft; onDraft: (draft: Draft) => void }) => {
  const isOut = isRetired(slot, draft)
  return (
    <div class="plan-slot">
      {slot.isOccupied ? <p>{words.occupied(slot.assetBarcode ?? '')}</p> : null}
      {isOut ? <p>{words.retiredNow}</p> : null}
      <button type="button" onClick={() => onDraft(withRetired(draft, slot, !isOut))}>
        {isOut ? words.restore : words.retire}
      </button>
    </div>
  )
}

type BoxProps = { box: Box; isLocked: boolean; onBox: (box: Box) => void }

/** What is typed counts when the field is left, or by Enter: half a number is no place. */
const BoxFields = ({ box, isLocked, onBox }: BoxProps) => {
  const take = (side: keyof Box, input: HTMLInputElement) => {
    const value = input.valueAsNumber
    const isSize = side === 'width' || side === 'height'
    const isPlace = Number.isFinite(value) && (!isSize || value >= leastSide)
    const next = rounded(isPlace ? value : box[side], 3)
    input.value = String(next)
    if (next !== rounded(box[side], 3)) onBox({ ...box, [side]: next })
  }
  const field = (side: keyof Box, label: string) => (
    <label>
      <span>{label}</span>
      <input
        type="number"
        step={0.001}
        readonly={isLocked}
        value={rounded(box[side], 3)}
        onBlur={(event: Event) => take(side, event.currentTarget as HTMLInputElement)}
        onKeyDown={(event: KeyboardEvent) => {
          if (event.key === 'Enter') take(side, event.currentTarget as HTMLInputElement)
        }}
      />
    </label>
  )
  return (
    <fieldset class="plan-fields">
      <legend>{words.fields}</legend>
      {field('x', words.x)}
      {field('y', words.y)}
      {field('width', words.width)}
      {field('height', words.height)}
    </fieldset>
  )
}

type DrawingProps = {
  warehouse: Warehouse
  zones: readonly Zone[]
  slots: readonly PlanSlot[]
  draft: Draft
  box: Box
  name: string
  onBox: (box: Box) => void
  onChoose: (slot: PlanSlot) => void
}

const steps: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -stepM, y: 0 },
  ArrowRight: { x: stepM, y: 0 },
  ArrowUp: { x: 0, y: -stepM },
  ArrowDown: { x: 0, y: stepM },
}

const Drawing = ({ warehouse, zones, slots, draft, box, name, onBox, onChoose }: DrawingProps) => {
  const canvas = useRef<HTMLCanvasElement>(null)
  const overlay = useRef<SVGSVGElement>(null)
  const [width, setWidth] = useState(800)
  const [dragged, setDragged] = useState<Box | undefined>(undefined)
  const drag = useRef<{ readonly kind: 'move' | 'size'; readonly from: Point; readonly box: Box } | null>(null)
  const size: Size = { width, height: planHeightPx }
  // The picture stays where it is while something is dragged, and fits again afterwards.
  const hall = useMemo(() => {
    const around = boxAround(slots.flatMap((slot) => placeOf(slot, draft)))
    const room = Math.max(around.width, around.height, 1) * roomShare
    const wide = {
      x: around.x - room,
      y: around.y - room,
      width: around.width + 2 * room,
      height: around.height + 2 * room,
    }
    return { box: wide, unit: 1 }
  }, [slots, draft])
  const view: PlanView = wholeHall(hall, size)
  useEffect(() => {
    const place = overlay.current
    if (!place) return
    const sizes = new ResizeObserver(() => setWidth(place.clientWidth || 800))
    sizes.observe(place)
    return () => sizes.disconnect()
  }, [])
  const paint = () => canvas.current && drawSlots(canvas.current, { slots, zones, draft, view, size })
  useEffect(() => {
    paint()
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', paint)
    return () => dark.removeEventListener('change', paint)
  }, [slots, zones, draft, width])
  const pointAt = (event: PointerEvent): Point => {
    const { left, top } = (overlay.current as SVGSVGElement).getBoundingClientRect()
    return { x: (event.clientX - left - view.x) / view.scale, y: (event.clientY - top - view.y) / view.scale }
  }
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return
    const at = pointAt(event)
    const kind = (event.target as SVGElement).getAttribute('data-kind')
    if (kind === 'move' || kind === 'size') {
      drag.current = { kind, from: at, box }
      overlay.current?.setPointerCapture(event.pointerId)
      return
    }
    const hit = slots.find((slot) => isIn(at, boxAround(placeOf(slot, draft))))
    if (hit) onChoose(hit)
  }
  const boxNow = (event: PointerEvent): Box | undefined => {
    const now = drag.current
    if (!now) return undefined
    const at = pointAt(event)
    const by = { x: rounded(at.x - now.from.x, 2), y: rounded(at.y - now.from.y, 2) }
    return stepped(now.box, now.kind, by)
  }
  const up = (event: PointerEvent) => {
    const next = boxNow(event)
    drag.current = null
    setDragged(undefined)
    if (next && (next.x !== box.x || next.y !== box.y || next.width !== box.width || next.height !== box.height))
      onBox(next)
  }
  const press = (event: KeyboardEvent, kind: 'move' | 'size') => {
    const step = steps[event.key]
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const times = event.shiftKey ? 10 : 1
    onBox(stepped(box, kind, { x: step.x * times, y: step.y * times }))
  }
  const shown = onScreen(dragged ?? box, view)
  return (
    <div class="edit-drawing">
      <canvas ref={canvas} />
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no fieldset. */}
      <svg
        ref={overlay}
        role="group"
        aria-label={words.plan(warehouse.name)}
        onPointerDown={down}
        onPointerMove={(event: PointerEvent) => setDragged(boxNow(event))}
        onPointerUp={up}
        onPointerCancel={() => {
          drag.current = null
          setDragged(undefined)
        }}
      >
        {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of HTML. */}
        <rect
          class="frame"
          role="button"
          tabindex={0}
          aria-label={words.frame(name)}
          data-kind="move"
          x={shown.x}
          y={shown.y}
          width={Math.max(shown.width, 1)}
          height={Math.max(shown.height, 1)}
          onKeyDown={(event: KeyboardEvent) => press(event, 'move')}
        />
        {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of HTML. */}
        <rect
          class="corner"
          role="button"
          tabindex={0}
          aria-label={words.corner(name)}
          data-kind="size"
          x={shown.x + shown.width}
          y={shown.y + shown.height}
          width={handlePx}
          height={handlePx}
          rx={5}
          onKeyDown={(event: KeyboardEvent) => press(event, 'size')}
        />
      </svg>
    </div>
  )
}

const stepped = (box: Box, kind: 'move' | 'size', by: Point): Box =>
  kind === 'move'
    ? { ...box, x: rounded(box.x + by.x, 3), y: rounded(box.y + by.y, 3) }
    : {
        ...box,
        width: Math.max(leastSide, rounded(box.width + by.x, 3)),
        height: Math.max(leastSide, rounded(box.height + by.y, 3)),
      }

const isIn = ({ x, y }: Point, box: Box): boolean =>
  x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height

type Picture = {
  readonly slots: readonly PlanSlot[]
  readonly zones: readonly Zone[]
  readonly draft: Draft
  readonly view: PlanView
  readonly size: Size
}

function drawSlots(canvas: HTMLCanvasElement, { slots, zones, draft, view, size }: Picture): void {
  const scale = devicePixelRatio
  canvas.width = Math.round(size.width * scale)
  canvas.height = Math.round(size.height * scale)
  const to = canvas.getContext('2d')
  if (!to) return
  to.scale(scale, scale)
  const style = getComputedStyle(canvas)
  const colors = new Map(zones.map(({ name, color }) => [name, safeColor(color)]))
  to.font = `12px ${style.fontFamily}`
  to.textAlign = 'center'
  to.textBaseline = 'middle'
  for (const slot of slots) {
    const points = placeOf(slot, draft)
    to.beginPath()
    for (const { x, y } of points) to.lineTo(view.x + x * view.scale, view.y + y * view.scale)
    to.closePath()
    to.globalAlpha = isRetired(slot, draft) ? 0.15 : 0.45
    to.fillStyle = colors.get(slot.zone) ?? fallbackColor
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
}
