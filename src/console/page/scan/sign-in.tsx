import { useEffect, useRef, useState } from 'preact/hooks'
import { isEnrolment } from '../codes/enrolment-code.ts'
import { Said } from '../i18n/said.tsx'
import type { Code } from './codes.ts'
import type { Handheld } from './handheld.ts'
import { signal } from './signals.ts'
import { scanTexts as texts } from './texts.ts'

/** Takes the codes while no one is signed in. */
export type Taker = { current: ((code: Code) => void) | null | undefined }
type Props = { handheld: Handheld; taker: Taker; onEnrolled: () => void; onSignedIn: () => void }
type EnrolProps = Omit<Props, 'onSignedIn'> & { onBack?: (() => void) | undefined }
type SignInProps = Props & { onAgain: () => void }

/**
 * The view of a device while no one is signed in: the sign-in, or the enrolment. A device that was revoked, or has a new code, is
 * enrolled again here: its waiting items would be lost with the browser's data.
 */
export const Arrival = (props: Props) => {
  const { handheld, onEnrolled } = props
  const [isAgain, setAgain] = useState(false)
  if (handheld.device && !isAgain) return <SignIn {...props} onAgain={() => setAgain(true)} />
  return (
    <Enrol
      {...props}
      onEnrolled={() => {
        setAgain(false)
        onEnrolled()
      }}
      onBack={handheld.device ? () => setAgain(false) : undefined}
    />
  )
}

/** Takes the codes as long as the view is shown. */
function useTaker(taker: Taker, take: (code: Code) => void): void {
  useEffect(() => {
    taker.current = take
    return () => {
      if (taker.current === take) taker.current = undefined
    }
  }, [])
}

async function enrolBy(
  text: string,
  handheld: Handheld,
  setProblem: (words: string) => void,
  onEnrolled: () => void,
): Promise<void> {
  const words = await handheld.enrol(text)
  setProblem(words)
  if (words === '') onEnrolled()
  else signal(false)
}

/** Makes this browser a handheld of the gateway. */
const Enrol = ({ handheld, taker, onEnrolled, onBack }: EnrolProps) => {
  const field = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState('')
  const enrol = (text: string) => enrolBy(text, handheld, setProblem, onEnrolled)
  useTaker(taker, ({ text }) => {
    if (field.current) field.current.value = text
    if (isEnrolment(text)) void enrol(text)
  })
  const submit = (event: Event) => {
    event.preventDefault()
    void enrol(field.current?.value ?? '')
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
      {onBack ? (
        <button type="button" onClick={onBack}>
          {texts.back}
        </button>
      ) : null}
      <a href="/training">{texts.signIn.training}</a>
    </form>
  )
}

/** Signs a person in by badge and PIN. */
const SignIn = ({ handheld, taker, onEnrolled, onSignedIn, onAgain }: SignInProps) => {
  const [badge, pin] = [useRef<HTMLInputElement>(null), useRef<HTMLInputElement>(null)]
  const [problem, setProblem] = useState('')
  useTaker(taker, ({ text }) => {
    if (isEnrolment(text)) return void enrolBy(text, handheld, setProblem, onEnrolled)
    if (badge.current) badge.current.value = text
    pin.current?.focus()
  })
  const submit = async (event: Event) => {
    event.preventDefault()
    const words = await handheld.signIn(badge.current?.value ?? '', pin.current?.value ?? '')
    setProblem(words)
    if (words === '') return onSignedIn()
    signal(false)
    pin.current?.select()
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
      <button type="button" onClick={onAgain}>
        {texts.enrol.again}
      </button>
      <a href="/training">{texts.signIn.training}</a>
    </form>
  )
}
