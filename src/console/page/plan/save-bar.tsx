import type { Warehouse } from '../data/shapes.ts'
import { Said } from '../i18n/said.tsx'
import type { PlanSlot, PlanZone } from './draft.ts'
import { csvOf } from './make/csv.ts'
import { planTexts as words } from './texts.ts'
import type { Unsaved } from './use-unsaved.ts'

type Props = {
  readonly warehouse: Warehouse
  readonly zones: readonly PlanZone[]
  readonly slots: readonly PlanSlot[]
  readonly work: Unsaved
}

/** Saves, takes back or discards what is changed, and says what became of it. */
export const SaveBar = ({ warehouse, zones, slots, work }: Props) => {
  const { changes, slotChanges, isSaving, note, refusals } = work
  const areSlots = changes === slotChanges
  const off = (is: boolean) => (is || isSaving ? 'true' : 'false')
  const pending = areSlots ? words.pending(changes) : words.pendingMixed(changes)
  return (
    <>
      <div class="plan-acts">
        <button type="button" class="strong" aria-disabled={off(changes === 0)} onClick={work.save}>
          {areSlots ? words.save(changes) : words.saveMixed(changes)}
        </button>
        <button type="button" aria-disabled={off(!work.mayUndo)} onClick={work.undo}>
          {words.undo}
        </button>
        <button type="button" aria-disabled={off(!work.mayRedo)} onClick={work.redo}>
          {words.redo}
        </button>
        <button
          type="button"
          aria-disabled={off(!work.isUnsaved)}
          onClick={() => !isSaving && work.isUnsaved && work.discard()}
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

/** Gives a text to the browser as a file. */
function download(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
