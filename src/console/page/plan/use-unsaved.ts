import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Person } from '../data/shapes.ts'
import { useOnceKey } from '../data/use-once-key.ts'
import { exactTime } from '../i18n/words.ts'
import { keepsUnsaved } from '../kit/address.ts'
import { changesOf, type PlanSlot, type PlanZone, unchanged, withoutSaved } from './draft.ts'
import { type Back, keep, keptAs, readBack } from './kept.ts'
import { type Refusal, saveAll } from './save.ts'
import { type PlanWarehouse, shapeChanges, withoutShapes } from './shapes.ts'
import { useSteps } from './steps.ts'
import { planTexts as words } from './texts.ts'

/** A hall as the gateway has it, and who edits it. */
export type Edited = {
  readonly caller: Person
  readonly warehouse: PlanWarehouse
  readonly zones: readonly PlanZone[]
  readonly slots: readonly PlanSlot[]
  readonly onStored: (stored: ReadonlyMap<string, unknown>) => void
  readonly onSaved: () => Promise<void>
}

export type Unsaved = ReturnType<typeof useUnsaved>

/** Changes of a hall that are not saved yet. */
export function useUnsaved(edited: Edited) {
  const { warehouse, zones, slots, onStored, onSaved } = edited
  const [isSaving, setSaving] = useState(false)
  // A change during the save would be lost.
  const drawing = useStored(edited, isSaving)
  const { draft, sketch, beginWith } = drawing
  const [note, setNote] = useState(drawing.note)
  const [refusals, setRefusals] = useState<readonly Refusal[]>([])
  const once = useOnceKey()
  const ofSlots = changesOf(draft, slots)
  const ofShapes = shapeChanges(draft, zones, warehouse)
  const changes = ofSlots.length + ofShapes.length
  const isUnsaved = changes > 0 || sketch !== undefined
  const agrees = () => confirm(drawing.isKept() ? words.leaveKept : words.leave)
  useLayoutEffect(() => (isUnsaved ? keepsUnsaved(agrees) : undefined), [isUnsaved])
  const save = async () => {
    if (isSaving || changes === 0) return
    setSaving(true)
    setRefusals([])
    const { stored, refused, isStopped } = await saveAll(ofSlots, ofShapes, once, setNote)
    onStored(stored)
    // After a sign-out, reading again would show the sign-in, and lose unsaved changes.
    if (!isStopped) await onSaved()
    const keys = new Set(stored.keys())
    const ids = ofSlots.map(({ slot: { id } }) => id).filter((id) => keys.has(`slot ${id}`))
    beginWith(withoutShapes(withoutSaved(draft, new Set(ids)), keys))
    setRefusals(refused)
    setNote(ids.length === keys.size ? words.saved(keys.size) : words.savedMixed(keys.size))
    setSaving(false)
  }
  const discard = () => {
    drawing.put(unchanged)
    drawing.setSketch(undefined)
    setNote('')
  }
  return {
    ...drawing,
    isSaving,
    /** Result of the last save, or text about drawings that were stored in this browser. */
    note,
    refusals,
    changes,
    slotChanges: ofSlots.length,
    /** Whether something would be lost: a change, or the beginning of an outline. */
    isUnsaved,
    /** Asks whether it may be lost. */
    agrees,
    save,
    discard,
  }
}

/** The drawings, and their storage in this browser for the account. `note`: text about restored drawings. */
function useStored({ caller, warehouse, zones, slots }: Edited, isSaving: boolean) {
  const plan = { warehouse, zones, slots }
  const place = keptAs(caller, plan)
  const [back] = useState(() => readBack(place, plan))
  const steps = useSteps(isSaving, back?.draft)
  const [outlined, setOutlined] = useState(back?.outlined ?? 0)
  const [sketch, setSketch] = useState(back?.sketch)
  const isKept = useRef(true)
  const { draft } = steps
  const isEmpty = !sketch && changesOf(draft, slots).length === 0 && shapeChanges(draft, zones, warehouse).length === 0
  useEffect(() => {
    // A restored drawing keeps its time until it is changed.
    if (!isEmpty && draft === back?.draft && sketch === back.sketch) return
    isKept.current = keep(place, isEmpty ? undefined : { draft, outlined, sketch }, plan)
  }, [draft, outlined, sketch])
  const [note] = useState(() => (back ? backWords(back, isEmpty, warehouse.timezone) : ''))
  return { ...steps, outlined, setOutlined, sketch, setSketch, note, isKept: () => isKept.current === true }
}

function backWords({ at, leftOut }: Back, isEmpty: boolean, timeZone: string): string {
  const back = isEmpty ? '' : words.back(exactTime(at, timeZone))
  return `${back} ${leftOut.length === 0 ? '' : words.leftOut(leftOut.join(', '))}`.trim()
}
