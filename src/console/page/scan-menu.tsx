import { useRef } from 'hono/jsx/dom'
import { useEffect } from './effect.ts'
import { type Act, actsOf } from './scan-codes.ts'
import { scanTexts as texts } from './scan-texts.ts'

/** What a role may record. */
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

/** The field for typed codes, and for handhelds that write by an input method. */
export const Entry = ({ onCode }: { onCode: (text: string) => void }) => {
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
        onPointerDown={() => {
          if (field.current) field.current.inputMode = 'text'
        }}
      />
      <button type="submit">{texts.use}</button>
    </form>
  )
}
