import type { Warehouse } from '../data/shapes.ts'
import type { Box } from '../hall/geometry.ts'
import { rounded } from '../hall/polygon-edit.ts'
import { textOf } from '../kit/field.ts'
import { type Draft, isRetired, leastSide, type PlanSlot, withRetired } from './draft.ts'
import { PlanNumberField } from './number-field.tsx'
import { planTexts as words } from './texts.ts'

type ChoiceProps = {
  readonly warehouse: Warehouse
  readonly warehouses: readonly Warehouse[]
  readonly onWarehouse: (id: number) => void
}

export const WarehouseChoice = ({ warehouse, warehouses, onWarehouse }: ChoiceProps) => (
  <label>
    <span>{words.warehouse}</span>
    <select
      onInput={(event: Event) => {
        const list = event.target
        if (!(list instanceof HTMLSelectElement)) return
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

type PartProps = {
  readonly names: readonly string[]
  readonly zoneName: string
  readonly inZone: readonly PlanSlot[]
  readonly slotId: number | undefined
  readonly onZone: (name: string) => void
  readonly onSlot: (id: number | undefined) => void
}

/** Chooses what is moved: a zone, which is all of its slots, or one slot. */
export const PartChoice = ({ names, zoneName, inZone, slotId, onZone, onSlot }: PartProps) => (
  <>
    <label>
      <span>{words.zone}</span>
      <select value={zoneName} onInput={(event: Event) => onZone(textOf(event))}>
        {names.map((one) => (
          <option key={one} value={one} selected={one === zoneName}>
            {one}
          </option>
        ))}
      </select>
    </label>
    <label>
      <span>{words.part}</span>
      <select onInput={(event: Event) => onSlot(Number(textOf(event)) || undefined)}>
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
  </>
)

export const SlotState = ({
  slot,
  draft,
  onDraft,
}: {
  slot: PlanSlot
  draft: Draft
  onDraft: (draft: Draft) => void
}) => {
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

/** Where a part lies and how large it is, as numbers. */
export const BoxFields = ({ box, isLocked, onBox }: BoxProps) => {
  const take = (side: keyof Box, input: HTMLInputElement) => {
    const value = input.valueAsNumber
    const isSize = side === 'width' || side === 'height'
    const isPlace = Number.isFinite(value) && (!isSize || value >= leastSide)
    const next = rounded(isPlace ? value : box[side], 3)
    input.value = String(next)
    if (next !== rounded(box[side], 3)) onBox({ ...box, [side]: next })
  }
  const field = (side: keyof Box, label: string) => (
    <PlanNumberField
      label={label}
      value={rounded(box[side], 3)}
      isLocked={isLocked}
      onTyped={(input) => take(side, input)}
    />
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
