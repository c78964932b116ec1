import type { Warehouse } from '../data/shapes.ts'
import { Said } from '../i18n/said.tsx'
import { download } from './download.ts'
import type { PlanSlot, PlanZone } from './draft.ts'
import { csvOf } from './make/csv.ts'
import type { Refusal } from './save.ts'
import { planTexts as words } from './texts.ts'

type Props = {
  readonly warehouse: Warehouse
  readonly zones: readonly PlanZone[]
  readonly slots: readonly PlanSlot[]
  /** How many changes there are, and how many of them are of slots. */
  readonly changes: number
  readonly slotChanges: number
  /** Whether there is something to discard: a change, or the beginning of an outline. */
  readonly mayDiscard: boolean
  readonly mayUndo: boolean
  readonly mayRedo: boolean
  readonly isSaving: boolean
  readonly note: string
  readonly refusals: readonly Refusal[]
  readonly onSave: () => void
  readonly onUndo: () => void
  readonly onRedo: () => void
  readonly onDiscard: () => void
}

/** Saves, takes back or discards what is changed, and says what became of it. */
export const SaveBar = (props: Props) => {
  const { warehouse, zones, slots, changes, slotChanges, mayDiscard, mayUndo, mayRedo, isSaving, note, refusals } =
    props
  const areSlots = changes === slotChanges
  const off = (is: boolean) => (is || isSaving ? 'true' : 'false')
  const pending = areSlots ? words.pending(changes) : words.pendingMixed(changes)
  return (
    <>
      <div class="plan-acts">
        <button type="button" class="strong" aria-disabled={off(changes === 0)} onClick={props.onSave}>
          {areSlots ? words.save(changes) : words.saveMixed(changes)}
        </button>
        <button type="button" aria-disabled={off(!mayUndo)} onClick={props.onUndo}>
          {words.undo}
        </button>
        <button type="button" aria-disabled={off(!mayRedo)} onClick={props.onRedo}>
          {words.redo}
        </button>
        <button
          type="button"
          aria-disabled={off(!mayDiscard)}
          onClick={() => !isSaving && mayDiscard && props.onDiscard()}
        >
          {words.discard}
        </button>
        <button type="button" onClick={() => download(`${warehouse.name} slots.csv`, csvOf(slots, zones))}>
          {words.csv}
        </button>
      </div>
      <p role="status">
        {note} {isSaving ? '' : changes === 0 ? words.nothing : pending}
      </p>
      <div role="alert">
        {refusals.length === 0 ? null : (
          <>
            <p class="problem">{areSlots ? words.refused(refusals.length) : words.refusedMixed(refusals.length)}</p>
            <ul>
              {refusals.map(({ label, why }) => (
                <li key={label}>
                  <strong>{label}</strong>: <Said words={why} />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <p class="muted">
        {words.eachAlone} {words.csvHelp}
      </p>
    </>
  )
}
