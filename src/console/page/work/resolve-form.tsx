import { useState } from 'preact/hooks'
import { ask } from '../data/ask.ts'
import type { Resolving } from '../data/todo-list.ts'
import { useOnceKey } from '../data/use-once-key.ts'
import { todoTexts } from '../i18n/todo-texts.ts'
import { type Act, Field } from '../kit/acts.tsx'
import { useTyped } from '../kit/typed.ts'

type Props = { remedy: Resolving; isBusy: boolean; onAct: Act; onCancel: () => void }

/** Ends a dispute with a note. The note stays in its field until the gateway has it. */
export const ResolveForm = ({ remedy: { id, slot }, isBusy, onAct, onCancel }: Props) => {
  useTyped()
  const [note, setNote] = useState('')
  const once = useOnceKey()
  const submit = (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    const path = `/api/whms/discrepancies/${encodeURIComponent(id)}/resolve`
    const body = { note }
    void onAct(() => ask(path, { method: 'POST', body, onceKey: once.of(body) }), todoTexts.resolved(slot.label))
  }
  return (
    <form class="register-form" aria-label={todoTexts.resolveTitle(slot.label)} onSubmit={submit}>
      <Field id={`note-${id}`} words={todoTexts.note} value={note} onText={setNote} rows={3} most={4000} required />
      <div class="task-acts">
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {todoTexts.resolveSure}
        </button>
        <button type="button" class="plain" onClick={onCancel}>
          {todoTexts.cancel}
        </button>
      </div>
    </form>
  )
}
