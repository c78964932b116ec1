import { useRef, useState } from 'preact/hooks'
import { ask, Refused } from '../data/ask.ts'
import type { Act } from '../kit/acts.tsx'
import { Field, SureButton } from '../kit/box-frame.tsx'
import { Qr } from '../kit/qr-code.tsx'
import { canUsePasskeys, madePasskey } from '../sign-in/passkey.ts'
import type { OwnAccount } from './people-data.ts'
import { peopleTexts as words } from './people-texts.ts'

type Codes = { readonly recoveryCodes: readonly string[] }
type Begun = { readonly secret: string; readonly qr: string }
type Props = { state: OwnAccount['secondFactor']; isBusy: boolean; onAct: Act }

/** The own second factors: app, passkeys, recovery codes. */
export const OwnFactors = ({ state, isBusy, onAct }: Props) => {
  const [begun, setBegun] = useState<Begun | undefined>(undefined)
  const [codes, setCodes] = useState<readonly string[]>([])
  const name = useRef<HTMLInputElement>(null)
  const { required, factors, recoveryCodes } = state
  const named = () => name.current?.value.trim() || words.factorName
  const begin = async () => setBegun(await ask<Begun>('/api/own-account/totp', { method: 'POST' }))
  const added = ({ recoveryCodes: made }: Codes) => {
    setCodes(made)
    setBegun(undefined)
  }
  const passkey = async () => {
    const body = { name: named(), passkey: await madePasskey() }
    added(await ask<Codes>('/api/own-account/passkeys', { method: 'POST', body }))
  }
  const renew = async () =>
    setCodes((await ask<Codes>('/api/own-account/recovery-codes', { method: 'POST' })).recoveryCodes)
  return (
    <section aria-labelledby="own-factors">
      <h3 id="own-factors">{words.second}</h3>
      {codes.length > 0 ? <CodesCard codes={codes} onDone={() => finish(required, () => setCodes([]))} /> : null}
      {factors.length === 0 ? <p>{required ? words.secondNeeded : words.secondNone}</p> : null}
      <p class="muted">{words.secondPrograms}</p>
      <ul class="box-list">
        {factors.map((factor) => (
          <li key={factor.id} class="ok">
            <p class="box-what">
              {factor.name} <span class="muted">{words.kinds[factor.kind]}</span>
            </p>
            <p class="box-acts">
              <SureButton
                words={words.remove}
                of={factor.name}
                sure={words.removeSure(factor.name)}
                isBusy={isBusy}
                onSure={() =>
                  onAct(() => ask(`/api/own-account/factors/${factor.id}`, { method: 'DELETE' }), words.removed)
                }
              />
            </p>
          </li>
        ))}
      </ul>
      {begun ? <AppForm {...{ begun, isBusy, onAct }} name={named} onAdded={added} /> : null}
      <Field name="factor-name" label={words.factorName}>
        {(field) => <input {...field} ref={name} type="text" autocomplete="off" maxlength={64} />}
      </Field>
      <p class="box-acts">
        <button type="button" onClick={() => onAct(begin, '')}>
          {words.addApp}
        </button>
        {canUsePasskeys() ? (
          <button type="button" onClick={() => onAct(passkey, words.factorAdded)}>
            {words.addPasskey}
          </button>
        ) : null}
        {factors.length > 0 ? (
          <button type="button" onClick={() => onAct(renew, words.codesMade)}>
            {words.newCodes}
          </button>
        ) : null}
      </p>
      {factors.length > 0 ? <p class="muted">{words.codesLeft(recoveryCodes)}</p> : null}
    </section>
  )
}

/** Loads the page again where the role waited for the factor: everything works now. */
function finish(isRequired: boolean, hide: () => void): void {
  if (isRequired) location.assign('/')
  else hide()
}

const CodesCard = ({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) => (
  <section class="card" aria-label={words.codes}>
    <h4>{words.codes}</h4>
    <p>{words.codesHelp}</p>
    <ul>
      {codes.map((code) => (
        <li key={code} class="code">
          {code}
        </li>
      ))}
    </ul>
    <p class="box-acts">
      <button type="button" class="strong" onClick={onDone}>
        {words.codesDone}
      </button>
    </p>
  </section>
)

type AppProps = Omit<Props, 'state'> & { begun: Begun; name: () => string; onAdded: (codes: Codes) => void }

const AppForm = ({ begun, name, isBusy, onAct, onAdded }: AppProps) => {
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const code = useRef<HTMLInputElement>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    const body = { code: code.current?.value ?? '', name: name() }
    const confirm = async () => {
      try {
        onAdded(await ask<Codes>('/api/own-account/totp/confirm', { method: 'POST', body }))
      } catch (error) {
        setProblem(error instanceof Refused ? error.fields.get('code') : undefined)
        throw error
      }
    }
    await onAct(confirm, words.factorAdded)
  }
  return (
    <form aria-label={words.addApp} onSubmit={submit}>
      <p>{words.scanApp}</p>
      <Qr svg={begun.qr} label={words.appQr} />
      <p class="code">{begun.secret}</p>
      <Field name="app-code" label={words.code} problem={problem}>
        {(field) => <input {...field} ref={code} type="text" inputmode="numeric" autocomplete="one-time-code" />}
      </Field>
      <p class="box-acts">
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {words.confirm}
        </button>
      </p>
    </form>
  )
}
