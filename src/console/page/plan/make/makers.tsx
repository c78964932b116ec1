import { useState } from 'preact/hooks'
import { boxOf, type Draft, type PlanSlot, type PlanZone } from '../draft.ts'
import type { NewPlace } from './grid.ts'
import { GridForm } from './grid-form.tsx'
import { ListForm } from './list.tsx'
import { planMakeTexts } from './make-texts.ts'
import { ZoneForm } from './zone.tsx'

/** Room between the slots of the plan and new aisles, in meters. */
const aisleGap = 2.4

type Props = {
  readonly warehouseId: number
  readonly zones: readonly PlanZone[]
  readonly slots: readonly PlanSlot[]
  readonly draft: Draft
  readonly taken: ReadonlySet<string>
  readonly isUnsaved: boolean
  readonly isSaving: boolean
  readonly onProposed: (places: readonly NewPlace[]) => void
  readonly onSaved: () => Promise<void>
}

/** Tools that make new slots and zones, each behind its title. */
export const Makers = (props: Props) => {
  const { warehouseId, zones, slots, draft, taken, isUnsaved, isSaving, onProposed, onSaved } = props
  // It stays open with its result for the first slots.
  const [isOpen] = useState(slots.length === 0)
  const everything = boxOf(slots, draft)
  const below = slots.length === 0 ? 0 : Math.ceil((everything.y + everything.height + aisleGap) * 10) / 10
  return (
    <>
      <details open={isOpen}>
        <summary>{planMakeTexts.grid}</summary>
        <GridForm {...{ zones, below, taken, warehouseId, onProposed }} onStored={onSaved} />
      </details>
      <details>
        <summary>{planMakeTexts.list}</summary>
        <ListForm {...{ warehouseId, isUnsaved }} onStored={onSaved} />
      </details>
      <details>
        <summary>{planMakeTexts.zones}</summary>
        <ZoneForm {...{ zones, warehouseId }} isLocked={isSaving} onStored={onSaved} />
      </details>
    </>
  )
}
