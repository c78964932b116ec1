import { useState } from 'hono/jsx/dom'
import { type Draft, unchanged } from './plan-draft.ts'

/** What was drawn step by step, the newest last, and what was taken back, the newest first. */
type Steps = { readonly drafts: readonly Draft[]; readonly undone: readonly Draft[] }

const begun = (draft: Draft): Steps => ({ drafts: [draft], undone: [] })

const takenBack = ({ drafts, undone }: Steps): Steps =>
  drafts.length < 2 ? { drafts, undone } : { drafts: drafts.slice(0, -1), undone: [...drafts.slice(-1), ...undone] }

const doneAgain = ({ drafts, undone }: Steps): Steps => ({
  drafts: [...drafts, ...undone.slice(0, 1)],
  undone: undone.slice(1),
})

/**
 * Keeps what is drawn until it is saved. Ctrl+Z takes a step back, Ctrl+Shift+Z or Ctrl+Y does it again; in a field they are
 * about what is typed. Nothing changes while it is locked.
 */
export function useSteps(isLocked: boolean) {
  const [{ drafts, undone }, set] = useState<Steps>(begun(unchanged))
  const undo = () => !isLocked && set(takenBack)
  const redo = () => !isLocked && set(doneAgain)
  const press = (event: KeyboardEvent) => {
    const key = event.key.toLowerCase()
    const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey && (key === 'z' || key === 'y')
    if (!isCommand || (event.target instanceof Element && event.target.matches('input, textarea'))) return
    event.preventDefault()
    if (key === 'y' || event.shiftKey) redo()
    else undo()
  }
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
    press,
  }
}
