import { useState } from 'preact/hooks'
import { ask } from '../../data/ask.ts'
import { whyOf } from '../../data/slot-list.ts'
import { Said } from '../../i18n/said.tsx'
import { zoneTypes } from '../../i18n/words.ts'
import { textOf } from '../../kit/field.ts'
import type { PlanZone } from '../draft.ts'
import { planMakeTexts as words } from './make-texts.ts'

const newColor = '#2b6cb0'

type Props = {
  readonly zones: readonly PlanZone[]
  readonly warehouseId: number
  readonly isLocked: boolean
  readonly onStored: () => Promise<void>
}

/** Makes a zone, or gives one another name, type or color. */
export const ZoneForm = ({ zones, warehouseId, isLocked, onStored }: Props) => {
  const [id, setId] = useState(0)
  const [typed, setTyped] = useState<{ name?: string; zone_type?: string; color?: string }>({})
  const [note, setNote] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const zone = zones.find((one) => one.id === id)
  const { name = zone?.name ?? '', zone_type = zone?.zone_type ?? 'storage', color = zone?.color ?? newColor } = typed
  const isOff = isBusy || isLocked
  const store = async (event: Event) => {
    event.preventDefault()
    if (isOff) return
    setBusy(true)
    setNote('')
    setProblem('')
    try {
      const body = { name, zone_type, color, warehouseId }
      if (zone) await ask(`/api/whms/zones/${zone.id}`, { method: 'PUT', body, ifMatch: zone.version })
      else await ask('/api/whms/zones', { method: 'POST', body })
      setTyped({})
      setNote(words.zoneStored(name))
      await onStored()
    } catch (error) {
      setProblem(words.failed(whyOf(error)))
    }
    setBusy(false)
  }
  return (
    <form class="plan-make" onSubmit={store}>
      <p class="muted">{words.zoneHelp}</p>
      <div class="plan-choices">
        <label>
          <span>{words.whichZone}</span>
          <select
            onInput={(event: Event) => {
              setId(Number(textOf(event)))
              setTyped({})
            }}
          >
            <option value="0" selected={id === 0}>
              {words.newZone}
            </option>
            {zones.map((one) => (
              <option key={one.id} value={one.id} selected={one.id === id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>{words.name}</span>
          <input
            value={name}
            required
            maxlength={200}
            onInput={(event: Event) => setTyped({ ...typed, name: textOf(event) })}
          />
        </label>
        <TypeChoice words={words.type} value={zone_type} onType={(next) => setTyped({ ...typed, zone_type: next })} />
        <label>
          <span>{words.color}</span>
          <input type="color" value={color} onInput={(event: Event) => setTyped({ ...typed, color: textOf(event) })} />
        </label>
        <button type="submit" aria-disabled={isOff ? 'true' : 'false'}>
          {words.storeZone}
        </button>
      </div>
      <p role="status">{note}</p>
      <p role="alert" class="problem">
        <Said words={problem} />
      </p>
    </form>
  )
}

type TypeProps = { readonly words: string; readonly value: string; readonly onType: (type: string) => void }

/** A list of the types of a zone, with its label. */
export const TypeChoice = ({ words: label, value, onType }: TypeProps) => (
  <label>
    <span>{label}</span>
    <select onInput={(event: Event) => onType(textOf(event))}>
      {Object.entries(zoneTypes).map(([key, text]) => (
        <option key={key} value={key} selected={key === value}>
          {text}
        </option>
      ))}
    </select>
  </label>
)
