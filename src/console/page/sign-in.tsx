import { useEffect, useRef, useState } from 'hono/jsx/dom'
import type { Session } from './answers.ts'
import { ask, Refused, Unreachable } from './ask.ts'
import { Icon } from './icons.tsx'
import { hostOf } from './words.ts'

type Props = { session: Session; notice: string; onSignedIn: (session: Session) => void }

/**
 * Shows the sign-in form, which exchanges user name and secret for the session cookie. The form alone holds the secret.
 */
export const SignIn = ({ session, notice, onSignedIn }: Props) => {
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [isShown, setShown] = useState(false)
  const username = useRef<HTMLInputElement>(null)
  const secret = useRef<HTMLInputElement>(null)
  const instance = useRef<HTMLSelectElement>(null)
  useEffect(() => username.current?.focus(), [])

  const signIn = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setProblem('')
    const named = { username: username.current?.value ?? '', secret: secret.current?.value ?? '' }
    const body = { ...named, instance: instance.current?.value ?? session.instance }
    try {
      onSignedIn(await ask<Session>('/api/session', { method: 'POST', body }))
    } catch (error) {
      setBusy(false)
      setProblem(inWords(error))
      if (error instanceof Refused && error.status === 401) secret.current?.select()
    }
  }

  return (
    <main class="gate">
      <form class="gate-card" onSubmit={signIn} aria-labelledby="gate-title">
        <p class="brand">
          <Icon name="logo" /> Gatehouse
        </p>
        <h1 id="gate-title">Sign in</h1>
        <p class="muted">
          Gateway <strong>{session.siteId}</strong> at {hostOf(session.instance)}
        </p>
        {notice && !problem ? (
          <p class="note" role="status">
            {notice}
          </p>
        ) : null}
        {session.storageInstances.length > 0 ? (
          <>
            <label for="instance">Account of</label>
            <select id="instance" name="instance" ref={instance}>
              {session.storageInstances.map((url) => (
                <option key={url} value={url}>
                  {withoutScheme(url)}
                </option>
              ))}
              <option value={session.instance}>this gateway</option>
            </select>
          </>
        ) : null}
        <label for="username">User name</label>
        <input
          id="username"
          name="username"
          ref={username}
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          maxlength={128}
          required
        />
        <label for="secret">{session.storageInstances.length > 0 ? 'Secret or application password' : 'Secret'}</label>
        <div class="with-button">
          <input
            id="secret"
            name="secret"
            ref={secret}
            type={isShown ? 'text' : 'password'}
            autocomplete="current-password"
            autocapitalize="none"
            spellcheck={false}
            maxlength={1024}
            required
          />
          <button
            type="button"
            class="plain"
            aria-controls="secret"
            aria-pressed={isShown ? 'true' : 'false'}
            onClick={() => setShown(!isShown)}
          >
            {isShown ? 'Hide' : 'Show'}
            <span class="unseen"> secret</span>
          </button>
        </div>
        <p class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
    </main>
  )
}

const withoutScheme = (url: string): string => url.replace(/^https?:\/\//, '')

/** Returns the wait in words: seconds up to two minutes, then minutes. */
function waitOf({ retryAfterSeconds: s }: Refused): string {
  return s <= 120 ? `${Math.max(s, 1)} s` : `${Math.ceil(s / 60)} min`
}

function inWords(error: unknown): string {
  if (error instanceof Unreachable) return 'The gateway can’t be reached. Is this device still on the network?'
  if (!(error instanceof Refused)) return 'Something went wrong on this page. Load it again.'
  switch (error.code) {
    case 'INVALID_CREDENTIALS':
      return 'User name or secret is wrong.'
    case 'USER_MISMATCH':
      return 'This secret belongs to another user name. Check the user name that you typed.'
    case 'AUTH_BACKEND_UNREACHABLE':
      return `The storage server doesn’t answer, so nobody can say who you are. Try again in ${waitOf(error)}.`
    case 'SIGN_IN_TRIES_SPENT':
      return `Too many wrong passwords were typed at this gateway, so the storage server takes no more of them for now. An application password works at once. Or try again in ${waitOf(error)}.`
    case 'RATE_LIMITED':
      return `Too many attempts. Try again in ${waitOf(error)}.`
    case 'VALIDATION_ERROR':
      return 'That can’t be a user name and a secret.'
    default:
      return `${error.message}.`
  }
}
