import { useRef, useState } from 'hono/jsx/dom'
import { useEffect } from './effect.ts'
import { Said } from './said.tsx'
import type { Code } from './scan-codes.ts'
import type { Handheld } from './scan-handheld.ts'
import { signal } from './scan-signals.ts'
import { scanTexts as texts } from './scan-texts.ts'

/** Takes the codes while no one is signed in. */
export type Taker = { current: ((code: Code) => void) | null | undefined }
type SignInProps = { handheld: Handheld; taker: Taker; onDone: () => void }

/** Takes the codes as long as the view is shown. */
function useTaker(taker: Taker, take: (code: Code) => void): void {
  useEffect(() => {
    taker.current = take
    return () => {
      if (taker.current === take) taker.current = undefined
    }
  }, [])
}

/** Makes this browser a handheld of the gateway. */
export const Enrol = ({ handheld, taker, onDone }: SignInProps) => {
  const field = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState('')
  useTaker(taker, ({ text }) => {
    if (field.current) field.current.value = text
  })
  const submit = async (event: Event) => {
    event.preventDefault()
    const words = await handheld.enrol(field.current?.value ?? '')
    setProblem(words)
    if (words === '') onDone()
  }
  return (
    <form onSubmit={submit}>
      <h2>{texts.enrol.title}</h2>
      <p>{texts.enrol.help}</p>
      <label>
        {texts.enrol.label}
        <input ref={field} type="text" autocomplete="off" autocapitalize="off" spellcheck={false} />
      </label>
      <p class="problem" role="alert">
        <Said words={problem} />
      </p>
      <button type="submit" class="strong">
        {texts.enrol.go}
      </button>
      <a href="/training">{texts.signIn.training}</a>
    </form>
  )
}

/** Signs a person in by badge and PIN. */
export const SignIn = ({ handheld, taker, onDone }: SignInProps) => {
  const [badge, pin] = [useRef<HTMLInputElement>(null), useRef<HTMLInputElement>(null)]
  const [problem, setProblem] = useState('')
  useTaker(taker, ({ text }) => {
    if (badge.current) badge.current.value = text
    pin.current?.focus()
  })
  const submit = async (event: Event) => {
    event.preventDefault()
    const words = await handheld.signIn(badge.current?.value ?? '', pin.current?.value ?? '')
    setProblem(words)
    if (words === '') onDone()
    else signal(false)
  }
  return (
    <form onSubmit={submit}>
      <h2>{texts.signIn.title}</h2>
      <label>
        {texts.signIn.badge}
        <input ref={badge} type="text" autocomplete="off" autocapitalize="off" spellcheck={false} />
      </label>
      <label>
        {texts.signIn.pin}
        <input ref={pin} type="password" inputmode="numeric" autocomplete="off" maxlength={8} />
      </label>
      <p class="problem" role="alert">
        <Said words={problem} />
      </p>
      <button type="submit" class="strong">
        {texts.signIn.go}
      </button>
      <a href="/training">{texts.signIn.training}</a>
    </form>
  )
}
