import { useEffect, useRef } from 'preact/hooks'
import { type Act, actsOf } from './codes.ts'
import { scanTexts as texts } from './texts.ts'

/** The acts that a role may record. */
export const Tiles = ({ role, onAct }: { role: string; onAct: (act: Act) => void }) => {
  const acts = actsOf(role)
  if (acts.length === 0) return <p class="blank">{texts.mayOnlyLook}</p>
  return (
    <nav class="scan-tiles" aria-label={texts.title}>
      {acts.map((act) => (
        <button key={act} type="button" onClick={() => onAct(act)}>
          {texts.acts[act]}
        </button>
      ))}
    </nav>
  )
}

type EntryProps = {
  readonly onCode: (text: string) => void
  /** Unused text in the field: it stays when somebody chooses an act. */
  readonly typed: { current: string | null }
}

/** The field for typed codes, and for handhelds that write by an input method. */
export const Entry = ({ onCode, typed }: EntryProps) => {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (!matchMedia('(pointer: coarse)').matches || !field.current) return
    field.current.inputMode = 'none'
    field.current.focus({ preventScroll: true })
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    const text = field.current?.value.trim() ?? ''
    if (field.current) field.current.value = ''
    typed.current = ''
    if (text !== '') onCode(text)
  }
  return (
    <form class="scan-entry" onSubmit={submit}>
      <input
        ref={field}
        type="text"
        aria-label={texts.type}
        placeholder={texts.code}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        maxlength={256}
        value={typed.current ?? ''}
        onInput={() => {
          typed.current = field.current?.value ?? ''
        }}
        onPointerDown={() => {
          if (field.current) field.current.inputMode = 'text'
        }}
      />
      <button type="submit">{texts.use}</button>
    </form>
  )
}
