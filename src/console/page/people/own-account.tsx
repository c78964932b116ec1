import { useRef, useState } from 'preact/hooks'
import { ask, Refused } from '../data/ask.ts'
import { texts } from '../i18n/texts.ts'
import type { Act } from '../kit/acts.tsx'
import { Field } from '../kit/box-frame.tsx'
import { OwnFactors } from './own-factors.tsx'
import type { OwnAccount } from './people-data.ts'
import { peopleTexts as words } from './people-texts.ts'

type Props = { own: OwnAccount | undefined; isBusy: boolean; onAct: Act; onLeft: (why: string) => void }

/** The account of the caller, and its password. */
export const OwnAccountCard = ({ own, isBusy, onAct, onLeft }: Props) => (
  <section class="card" aria-labelledby="own-account">
    <h2 id="own-account">{words.own}</h2>
    {own === undefined ? (
      <p>{words.ownElsewhere}</p>
    ) : (
      <>
        <p>{words.ownSays(own.username, texts.roles[own.role] ?? own.role)}</p>
        {own.canChangePassword ? <PasswordForm {...{ isBusy, onAct, onLeft }} /> : <p>{words.ownConfig}</p>}
        <OwnFactors {...{ isBusy, onAct }} state={own.secondFactor} />
      </>
    )}
  </section>
)

const PasswordForm = ({ isBusy, onAct, onLeft }: Omit<Props, 'own'>) => {
  const [fields, setFields] = useState<ReadonlyMap<string, string>>(new Map())
  const form = useRef<HTMLFormElement>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!form.current) return
    const typed = new FormData(form.current)
    const body = { current: typed.get('current'), password: typed.get('password') }
    const change = async () => {
      try {
        await ask('/api/own-account/password', { method: 'PUT', body })
      } catch (error) {
        setFields(error instanceof Refused ? error.fields : new Map())
        throw error
      }
      form.current?.reset()
      onLeft(words.passwordSet)
    }
    await onAct(change, words.passwordSet)
  }
  return (
    <form ref={form} aria-label={words.setPassword} onSubmit={submit}>
      <Field name="current" label={words.current} problem={fields.get('current')}>
        {(field) => <input {...field} type="password" autocomplete="current-password" maxlength={1024} required />}
      </Field>
      <Field name="password" label={words.password} help={words.passwordHelp} problem={fields.get('password')}>
        {(field) => <input {...field} type="password" autocomplete="new-password" maxlength={1024} required />}
      </Field>
      <p class="box-acts">
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {words.setPassword}
        </button>
      </p>
    </form>
  )
}
