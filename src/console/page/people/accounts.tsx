import { useRef, useState } from 'preact/hooks'
import { ask, Refused } from '../data/ask.ts'
import { texts } from '../i18n/texts.ts'
import type { Act } from '../kit/acts.tsx'
import { Field, SureButton } from '../kit/box-frame.tsx'
import { type Account, groupsIn, type MadeAccount } from './people-data.ts'
import { peopleTexts as words } from './people-texts.ts'

type Shared = {
  isBusy: boolean
  onAct: Act
  /** Address of the gateway, as the config names its groups. */
  url: string
  onSecret: (made: MadeAccount) => void
}

const roles = Object.keys(texts.roles)

type Described = { id: string; name: string; 'aria-describedby': string; 'aria-invalid': 'true' | 'false' }

const RoleChoice = ({ chosen, ...field }: Described & { chosen: string }) => (
  <select {...field}>
    {roles.map((role) => (
      <option key={role} value={role} selected={role === chosen}>
        {texts.roles[role]}
      </option>
    ))}
  </select>
)

/** Role and groups as a form has them. */
const typedIn = (form: HTMLFormElement): { role: string; groups: string[] } => {
  const typed = new FormData(form)
  const field = (start: string) => String([...typed].find(([name]) => name.startsWith(start))?.[1] ?? '')
  return { role: field('role'), groups: groupsIn(field('groups')) }
}

type RowProps = Shared & { account: Account; onLook: (name: string) => void }

export const AccountRow = ({ account, isBusy, onAct, url, onSecret, onLook }: RowProps) => {
  const { username, source, role, groups, status, sessions } = account
  const [isChanging, setChanging] = useState(false)
  const path = `/api/accounts/${encodeURIComponent(username)}`
  const post = (act: string) => ask(`${path}/${act}`, { method: 'POST' })
  const look = status === 'active'
  return (
    <li class={status === 'active' ? 'ok' : 'warn'}>
      <p class="box-what">
        {username} <span class={`chip ${status === 'active' ? 'ok' : 'warn'}`}>{words.states[status]}</span>
      </p>
      <p class="muted">
        {texts.roles[role] ?? role} · {words.sources[source]}
        {groups.length > 0 ? ` · ${words.groups(groups.join(', '))}` : ''} · {words.sessions(sessions)} ·{' '}
        {words.factors(account.factors)}
        {account.passkeyAlone ? ` · ${words.aloneIs}` : ''}
      </p>
      {isChanging ? <ChangeForm {...{ account, isBusy, onAct, url, path }} onDone={() => setChanging(false)} /> : null}
      <p class="box-acts">
        {look ? (
          <button type="button" aria-label={`${words.look} ${username}`} onClick={() => onLook(username)}>
            {words.look}
          </button>
        ) : null}
        {account.factors > 0 && status === 'active' ? (
          <SureButton
            words={words.removeFactors}
            of={username}
            sure={words.removeFactorsSure(username)}
            isBusy={isBusy}
            onSure={() => onAct(() => post('remove-factors'), words.saved(username))}
          />
        ) : null}
        {source === 'database' && status !== 'overridden' ? (
          <DatabaseActs {...{ account, isBusy, onAct, onSecret, path, isChanging }} onChanging={setChanging} />
        ) : null}
      </p>
    </li>
  )
}

type ActsProps = Omit<Shared, 'url'> & {
  account: Account
  path: string
  isChanging: boolean
  onChanging: (isChanging: boolean) => void
}

/** The acts on an account of the database. */
const DatabaseActs = ({ account, isBusy, onAct, onSecret, path, isChanging, onChanging }: ActsProps) => {
  const { username, status } = account
  const post = (act: string) => ask(`${path}/${act}`, { method: 'POST' })
  const reset = async () => onSecret(await ask<MadeAccount>(`${path}/reset`, { method: 'POST' }))
  const alone = { passkeyAlone: !account.passkeyAlone }
  return (
    <>
      <button
        type="button"
        aria-label={`${words.change}: ${username}`}
        aria-expanded={isChanging ? 'true' : 'false'}
        onClick={() => onChanging(!isChanging)}
      >
        {words.change}
      </button>
      <SureButton
        words={words.reset}
        of={username}
        sure={words.resetSure(username)}
        isBusy={isBusy}
        onSure={() => onAct(reset, words.resetDone(username))}
      />
      <button
        type="button"
        aria-label={`${account.passkeyAlone ? words.notAlone : words.alone}: ${username}`}
        onClick={() => onAct(() => ask(path, { method: 'PATCH', body: alone }), words.saved(username))}
      >
        {account.passkeyAlone ? words.notAlone : words.alone}
      </button>
      {status === 'active' ? (
        <SureButton
          words={words.disable}
          of={username}
          sure={words.disableSure(username)}
          isBusy={isBusy}
          onSure={() => onAct(() => post('disable'), words.disabled(username))}
        />
      ) : (
        <button
          type="button"
          aria-label={`${words.enable}: ${username}`}
          onClick={() => onAct(() => post('enable'), words.enabled(username))}
        >
          {words.enable}
        </button>
      )}
    </>
  )
}

type ChangeProps = Omit<Shared, 'onSecret'> & { account: Account; path: string; onDone: () => void }

const ChangeForm = ({ account: { username, role, groups }, path, url, isBusy, onAct, onDone }: ChangeProps) => {
  const form = useRef<HTMLFormElement>(null)
  const save = async (event: Event) => {
    event.preventDefault()
    if (!form.current) return
    const body = typedIn(form.current)
    if (await onAct(() => ask(path, { method: 'PATCH', body }), words.saved(username))) onDone()
  }
  return (
    <form ref={form} aria-label={`${words.change}: ${username}`} onSubmit={save}>
      <Field name={`role-of-${username}`} label={words.role}>
        {(field) => <RoleChoice {...field} chosen={role} />}
      </Field>
      <Field name={`groups-of-${username}`} label={words.groupField} help={words.groupHelp(url)}>
        {(field) => <input {...field} type="text" autocomplete="off" spellcheck={false} value={groups.join(', ')} />}
      </Field>
      <p class="box-acts">
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {words.save}
        </button>
      </p>
    </form>
  )
}

export const NewAccount = ({ isBusy, onAct, url, onSecret }: Shared) => {
  const [fields, setFields] = useState<ReadonlyMap<string, string>>(new Map())
  const form = useRef<HTMLFormElement>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!form.current) return
    const username = String(new FormData(form.current).get('username') ?? '').trim()
    const body = { username, ...typedIn(form.current) }
    const make = async () => {
      try {
        onSecret(await ask<MadeAccount>('/api/accounts', { method: 'POST', body }))
        setFields(new Map())
      } catch (error) {
        setFields(error instanceof Refused ? error.fields : new Map())
        throw error
      }
    }
    if (await onAct(make, words.made(username))) form.current?.reset()
  }
  return (
    <form class="card" ref={form} aria-labelledby="account-new" onSubmit={submit}>
      <h2 id="account-new">{words.add}</h2>
      <Field name="username" label={words.name} problem={fields.get('username')}>
        {(field) => <input {...field} type="text" autocomplete="off" autocapitalize="off" spellcheck={false} />}
      </Field>
      <Field name="role" label={words.role} problem={fields.get('role')}>
        {(field) => <RoleChoice {...field} chosen="operator" />}
      </Field>
      <Field name="groups" label={words.groupField} help={words.groupHelp(url)} problem={fields.get('groups')}>
        {(field) => <input {...field} type="text" autocomplete="off" spellcheck={false} />}
      </Field>
      <p class="box-acts">
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {words.make}
        </button>
      </p>
    </form>
  )
}
