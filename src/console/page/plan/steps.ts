import { useEffect, useRef, useState } from 'preact/hooks'
import { type Draft, unchanged } from './draft.ts'

/** Drafts step by step, the newest last, and the undone ones, the newest first. */
type Steps = { readonly drafts: readonly Draft[]; readonly undone: readonly Draft[] }

const begun = (...drafts: readonly Draft[]): Steps => ({ drafts, undone: [] })

/** Fields in which Ctrl+Z undoes typing. */
const typedIn = 'textarea, input:not([type=radio], [type=checkbox], [type=color], [type=range], [type=file])'

const takenBack = ({ drafts, undone }: Steps): Steps =>
  drafts.length < 2 ? { drafts, undone } : { drafts: drafts.slice(0, -1), undone: [...drafts.slice(-1), ...undone] }

const doneAgain = ({ drafts, undone }: Steps): Steps => ({
  drafts: [...drafts, ...undone.slice(0, 1)],
  undone: undone.slice(1),
})

/**
 * Keeps the drawing until it is saved. Ctrl+Z undoes a step, Ctrl+Shift+Z or Ctrl+Y redoes it, wherever the focus is; in a
 * field they are about typing. Nothing changes while it is locked. `kept`: the draft to begin with.
 */
export function useSteps(isLocked: boolean, kept: Draft | undefined) {
  const [{ drafts, undone }, set] = useState<Steps>(kept ? begun(unchanged, kept) : begun(unchanged))
  const undo = () => !isLocked && set(takenBack)
  const redo = () => !isLocked && set(doneAgain)
  const press = (event: KeyboardEvent) => {
    const key = event.key.toLowerCase()
    const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey && (key === 'z' || key === 'y')
    if (!isCommand || (event.target instanceof Element && event.target.matches(typedIn))) return
    if (document.querySelector('dialog:modal')) return
    event.preventDefault()
    if (key === 'y' || event.shiftKey) redo()
    else undo()
  }
  const newest = useRef(press)
  newest.current = press
  useEffect(() => {
    const listen = (event: KeyboardEvent) => newest.current?.(event)
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
  return {
    draft: drafts.at(-1) ?? unchanged,
    mayUndo: drafts.length > 1,
    mayRedo: undone.length > 0,
    put: (next: Draft) => {
      if (!isLocked) set((before) => ({ drafts: [...before.drafts, next], undone: [] }))
    },
    beginWith: (draft: Draft) => set(begun(draft)),
    undo,
    redo,
  }
}
