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

/** Makes slots in a grid by their labels; they are shown in the plan before they are stored. */
export const GridForm = ({ warehouseId, zones, taken, below, onProposed, onStored }: Props) => {
  const [typed, setTyped] = useState<Typed>({ ...usual, y: String(below) })
  const [zone, setZone] = useState('')
  const [zoneType, setZoneType] = useState('storage')
  const [areApart, setApart] = useState(false)
  const [note, setNote] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const number = (text: string) => (text.trim() === '' ? Number.NaN : Number(text.replace(',', '.')))
  const { levels, x, y, width, depth, gap, aisles, step, ...rest } = typed
  const made = gridOf({
    ...rest,
    levels: number(levels),
    x: number(x),
    y: number(y),
    aisles: number(aisles),
    step: number(step),
    width: number(width),
    depth: number(depth),
    gap: number(gap),
  })
  const places = 'places' in made ? made.places : []
  const [first, last] = [places[0], places.at(-1)]
  const hasAisles = number(aisles) !== 1
  const zoneOf = ({ aisle }: NewPlace) =>
    hasAisles && areApart ? zoneOfAisle(zone.trim(), first?.aisle ?? '', aisle) : zone.trim()
  useEffect(() => onProposed(places), [JSON.stringify(typed)])
  const store = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setNote('')
    const known = places.find(({ slot_id }) => taken.has(slot_id.toLowerCase()))
    const fault = 'fault' in made ? words.faults[made.fault] : known ? words.taken(known.slot_id) : ''
    setProblem(fault !== '' || zone.trim() !== '' ? fault : words.zoneNeeded)
    if (fault !== '' || zone.trim() === '') return
    setBusy(true)
    try {
      const known = new Set(zones.map(({ name }) => name.toLowerCase()))
      const list = listOfPlaces(places, (place) => {
        const name = zoneOf(place)
        return [name, known.has(name.toLowerCase()) ? '' : zoneType]
      })
      const { created } = await sendList(new Blob([list]), warehouseId, false)
      setTyped({ ...typed, labels: '' })
      setNote(words.added(created))
      await onStored()
    } catch (error) {
      setProblem(words.failed(whyOf(error)))
    }
    setBusy(false)
  }
  const field = (name: Numbers, label: string) => (
    <label>
      <span>{label}</span>
      <input
        inputmode="decimal"
        value={typed[name]}
        onInput={(event: Event) => setTyped({ ...typed, [name]: textOf(event) })}
      />
    </label>
  )
  return (
    <form class="plan-make" onSubmit={store}>
      <p class="muted">{words.gridHelp}</p>
      <div class="plan-choices">
        <label>
          <span>{words.labels}</span>
          <input
            value={typed.labels}
            aria-describedby="grid-labels-help"
            autocomplete="off"
            onInput={(event: Event) => setTyped({ ...typed, labels: textOf(event) })}
          />
        </label>
        {field('levels', words.levels)}
        <label>
          <span>{words.zone}</span>
          <input
            value={zone}
            list="grid-zones"
            autocomplete="off"
            maxlength={200}
            onInput={(event: Event) => setZone(textOf(event))}
          />
          <datalist id="grid-zones">
            {zones.map(({ id, name }) => (
              <option key={id} value={name} />
            ))}
          </datalist>
        </label>
        <TypeChoice words={words.zoneType} value={zoneType} onType={setZoneType} />
      </div>
      <p class="muted" id="grid-labels-help">
        {words.labelsHelp}
      </p>
      <div class="plan-choices">
        {field('width', words.slotWidth)}
        {field('depth', words.slotDepth)}
        {field('gap', words.gap)}
        {field('x', words.left)}
        {field('y', words.top)}
        <label>
          <span>{words.direction}</span>
          <select onInput={(event: Event) => setTyped({ ...typed, isDown: textOf(event) === 'down' })}>
            <option value="right" selected={!typed.isDown}>
              {words.right}
            </option>
            <option value="down" selected={typed.isDown}>
              {words.down}
            </option>
          </select>
        </label>
      </div>
      <div class="plan-choices">
        {field('aisles', words.aisles)}
        {hasAisles ? field('step', words.step) : null}
        {hasAisles ? (
          <label class="plan-check">
            <input type="checkbox" checked={areApart} onInput={() => setApart(!areApart)} /> {words.zoneEach}
          </label>
        ) : null}
      </div>
      <p class="muted">{words.aislesHelp}</p>
      <p role="status">
        {note} {first && last ? words.gridPreview(places.length, first.slot_id, last.slot_id) : ''}{' '}
        {first && last && areApart && hasAisles && zone.trim() !== '' ? words.zonesOf(zoneOf(first), zoneOf(last)) : ''}
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
