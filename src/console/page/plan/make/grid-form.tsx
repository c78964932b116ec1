import { useEffect, useState } from 'preact/hooks'
import { sendList, whyOf } from '../../data/slot-list.ts'
import { Said } from '../../i18n/said.tsx'
import { textOf } from '../../kit/field.ts'
import type { PlanZone } from '../draft.ts'
import { type GridOrder, gridOf, listOfPlaces, type NewPlace, zoneOfAisle } from './grid.ts'
import { planMakeTexts as words } from './make-texts.ts'
import { TypeChoice } from './zone.tsx'

type Props = {
  readonly warehouseId: number
  readonly zones: readonly PlanZone[]
  /** Labels of all slots of the gateway: a label names one slot in all. */
  readonly taken: ReadonlySet<string>
  /** Where there is room below everything, in metres. */
  readonly below: number
  readonly onProposed: (places: readonly NewPlace[]) => void
  readonly onStored: () => Promise<void>
}

type Numbers = Exclude<keyof GridOrder, 'labels' | 'isDown'>
type Typed = Pick<GridOrder, 'labels' | 'isDown'> & Readonly<Record<Numbers, string>>

/** Name and type of the zone of the new slots; `isForEach`: each aisle gets its own. */
type ZoneChoice = { readonly name: string; readonly type: string; readonly isForEach: boolean }

const usual = {
  labels: '',
  levels: '1',
  x: '0',
  width: '1.2',
  depth: '1',
  gap: '0.2',
  isDown: false,
  aisles: '1',
  step: '4',
} as const

const number = (text: string) => (text.trim() === '' ? Number.NaN : Number(text.replace(',', '.')))

const orderOf = ({ labels, isDown, ...typed }: Typed): GridOrder => ({
  labels,
  isDown,
  levels: number(typed.levels),
  x: number(typed.x),
  y: number(typed.y),
  aisles: number(typed.aisles),
  step: number(typed.step),
  width: number(typed.width),
  depth: number(typed.depth),
  gap: number(typed.gap),
})

/** Makes slots in a grid by their labels; they are shown in the plan before they are stored. */
export const GridForm = ({ warehouseId, zones, taken, below, onProposed, onStored }: Props) => {
  const [typed, setTyped] = useState<Typed>({ ...usual, y: String(below) })
  const [zone, setZone] = useState<ZoneChoice>({ name: '', type: 'storage', isForEach: false })
  const made = gridOf(orderOf(typed))
  const places = 'places' in made ? made.places : []
  const [first, last] = [places[0], places.at(-1)]
  const hasAisles = number(typed.aisles) !== 1
  const name = zone.name.trim()
  const areApart = hasAisles && zone.isForEach
  const zoneOf = ({ aisle }: NewPlace) => (areApart ? zoneOfAisle(name, first?.aisle ?? '', aisle) : name)
  useEffect(() => onProposed(places), [JSON.stringify(typed)])
  const faultNow = (): string => {
    const known = places.find(({ slot_id }) => taken.has(slot_id.toLowerCase()))
    if ('fault' in made) return words.faults[made.fault]
    if (known) return words.taken(known.slot_id)
    return name === '' ? words.zoneNeeded : ''
  }
  const send = async () => {
    const known = new Set(zones.map((one) => one.name.toLowerCase()))
    const list = listOfPlaces(places, (place) => {
      const of = zoneOf(place)
      return [of, known.has(of.toLowerCase()) ? '' : zone.type]
    })
    const { created } = await sendList(new Blob([list]), warehouseId, false)
    setTyped({ ...typed, labels: '' })
    return created
  }
  const { note, problem, isBusy, store } = useStore(faultNow, send, onStored)
  const preview = first && last ? words.gridPreview(places.length, first.slot_id, last.slot_id) : ''
  const zonesNamed = first && last && areApart && name !== '' ? words.zonesOf(zoneOf(first), zoneOf(last)) : ''
  return (
    <form class="plan-make" onSubmit={store}>
      <p class="muted">{words.gridHelp}</p>
      <LabelFields {...{ typed, zone, zones }} onTyped={setTyped} onZone={setZone} />
      <SizeFields typed={typed} onTyped={setTyped} />
      <div class="plan-choices">
        <NumberField name="aisles" label={words.aisles} typed={typed} onTyped={setTyped} />
        {hasAisles ? <NumberField name="step" label={words.step} typed={typed} onTyped={setTyped} /> : null}
        {hasAisles ? (
          <label class="plan-check">
            <input
              type="checkbox"
              checked={zone.isForEach}
              onInput={() => setZone({ ...zone, isForEach: !zone.isForEach })}
            />{' '}
            {words.zoneEach}
          </label>
        ) : null}
      </div>
      <p class="muted">{words.aislesHelp}</p>
      <p role="status">
        {note} {preview} {zonesNamed}
      </p>
      <p role="alert" class="problem">
        <Said words={problem} />
      </p>
      <button type="submit" aria-disabled={isBusy ? 'true' : 'false'}>
        {words.add(places.length)}
      </button>
    </form>
  )
}

/**
 * Stores the slots unless there is a fault. `send` resolves to the number of new slots. A fault is shown from the first try on, and
 * goes when it is mended.
 */
function useStore(faultNow: () => string, send: () => Promise<number>, onStored: () => Promise<void>) {
  const [note, setNote] = useState('')
  const [failure, setFailure] = useState('')
  const [isTried, setTried] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const store = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setNote('')
    setFailure('')
    setTried(true)
    if (faultNow() !== '') return
    setTried(false)
    setBusy(true)
    try {
      setNote(words.added(await send()))
      await onStored()
    } catch (error) {
      setFailure(words.failed(whyOf(error)))
    }
    setBusy(false)
  }
  return { note, problem: failure || (isTried ? faultNow() : ''), isBusy, store }
}

type TypedProps = { typed: Typed; onTyped: (typed: Typed) => void }

const NumberField = ({ name, label, typed, onTyped }: TypedProps & { name: Numbers; label: string }) => (
  <label>
    <span>{label}</span>
    <input
      inputmode="decimal"
      value={typed[name]}
      onInput={(event: Event) => onTyped({ ...typed, [name]: textOf(event) })}
    />
  </label>
)

type LabelProps = TypedProps & {
  zone: ZoneChoice
  zones: readonly PlanZone[]
  onZone: (zone: ZoneChoice) => void
}

/** Fields that name the slots and their zone. */
const LabelFields = ({ typed, zone, zones, onTyped, onZone }: LabelProps) => (
  <>
    <div class="plan-choices">
      <label>
        <span>{words.labels}</span>
        <input
          value={typed.labels}
          aria-describedby="grid-labels-help"
          autocomplete="off"
          onInput={(event: Event) => onTyped({ ...typed, labels: textOf(event) })}
        />
      </label>
      <NumberField name="levels" label={words.levels} typed={typed} onTyped={onTyped} />
      <label>
        <span>{words.zone}</span>
        <input
          value={zone.name}
          list="grid-zones"
          autocomplete="off"
          maxlength={200}
          onInput={(event: Event) => onZone({ ...zone, name: textOf(event) })}
        />
        <datalist id="grid-zones">
          {zones.map(({ id, name }) => (
            <option key={id} value={name} />
          ))}
        </datalist>
      </label>
      <TypeChoice words={words.zoneType} value={zone.type} onType={(type) => onZone({ ...zone, type })} />
    </div>
    <p class="muted" id="grid-labels-help">
      {words.labelsHelp}
    </p>
  </>
)

/** Fields for the size and the place of the grid. */
const SizeFields = ({ typed, onTyped }: TypedProps) => {
  const field = (name: Numbers, label: string) => <NumberField {...{ name, label, typed, onTyped }} />
  return (
    <div class="plan-choices">
      {field('width', words.slotWidth)}
      {field('depth', words.slotDepth)}
      {field('gap', words.gap)}
      {field('x', words.left)}
      {field('y', words.top)}
      <label>
        <span>{words.direction}</span>
        <select onInput={(event: Event) => onTyped({ ...typed, isDown: textOf(event) === 'down' })}>
          <option value="right" selected={!typed.isDown}>
            {words.right}
          </option>
          <option value="down" selected={typed.isDown}>
            {words.down}
          </option>
        </select>
      </label>
    </div>
  )
}
