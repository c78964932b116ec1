import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, Refused, Unreachable } from '../data/ask.ts'
import type { Session } from '../data/shapes.ts'
import { LanguageChoice } from '../i18n/language-choice.tsx'
import { Said } from '../i18n/said.tsx'
import { hostOf } from '../i18n/words.ts'
import { focusFirst } from '../kit/first-focus.ts'
import { Icon } from '../kit/icons.tsx'
import { FactorField } from './factor-field.tsx'
import { factorTexts } from './factor-texts.ts'
import { keepAccount, keptAccount } from './kept-account.ts'
import { canUsePasskeys, shownPasskey } from './passkey.ts'
import { failedSignIn, ProviderButtons } from './provider.tsx'
import { type SignInTexts, signInTexts } from './sign-in-texts.ts'

type Props = {
  session: Session
  notice: string
  onSignedIn: (session: Session) => void
  isOver?: boolean
  /** Whether a passkey may sign in: not at the head office. */
  hasPasskeys?: boolean
  /** Where it says another thing than at a gateway. */
  texts?: Partial<SignInTexts>
}

/** The sign-in over a view whose session has ended: the view below keeps its typed text. */
export const SignInAgain = (props: Props) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const open = () => {
    if (dialog.current?.isConnected && !dialog.current.open) dialog.current.showModal()
  }
  useEffect(() => {
    const before = document.activeElement
    const shown = dialog.current
    open()
    // The person continues where the work was left. The open dialog would keep the focus to itself.
    return () => {
      shown?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog class="gate again" aria-labelledby="gate-title" ref={dialog} onClose={open}>
      <SignIn {...props} hasPasskeys isOver />
    </dialog>
  )
}

/**
 * Shows the sign-in form, alone on its page or (`isOver`) in a dialog over a view. It exchanges user name and secret for the session cookie. The form alone holds the secret.
 */
export const SignIn = ({ session, notice, onSignedIn, isOver, hasPasskeys = false, texts }: Props) => {
  const words = { ...signInTexts, ...texts }
  const form = useRef<HTMLFormElement>(null)
  const { problem, setProblem, isBusy, needsFactor, signIn, withPasskey } = useSignIn(form, session, words, onSignedIn)
  useEffect(() => focusFirst(form.current?.querySelector<HTMLInputElement>('#username') ?? null), [])
  const hasServers = session.storageInstances.length > 0
  const card = (
    <form class="gate-card" ref={form} onSubmit={signIn} aria-labelledby="gate-title">
      <p class="brand">
        <Icon name="logo" /> Gatehouse
      </p>
      {isOver ? <h2 id="gate-title">{words.title}</h2> : <h1 id="gate-title">{words.title}</h1>}
      <p class="muted">
        {words.gateway} <strong>{session.siteId}</strong> {words.at} {hostOf(session.instance)}
      </p>
      {notice && !problem ? (
        <p class="note" role="status">
          <Said words={notice} />
        </p>
      ) : null}
      {hasServers ? <AccountField session={session} words={words} /> : null}
      <label for="username">{words.username}</label>
      <input
        id="username"
        name="username"
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        maxlength={128}
        required
      />
      <label for="secret">{hasServers ? words.secretOrPassword : words.secret}</label>
      <SecretField words={words} />
      {needsFactor ? <FactorField /> : null}
      <p class="problem" role="alert">
        <Said words={problem} />
      </p>
      <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
        {isBusy ? words.busy : words.title}
      </button>
      {hasPasskeys && canUsePasskeys() ? (
        <button type="button" class="plain" onClick={withPasskey}>
          {factorTexts.withPasskey}
        </button>
      ) : null}
      <ProviderButtons issuers={session.providers} siteUrl={session.instance} onProblem={setProblem} />
      {/* Choosing loads the page again, and what was typed into the view below would be lost. */}
      {isOver ? null : <LanguageChoice />}
    </form>
  )
  return isOver ? card : <main class="gate">{card}</main>
}

/** The requests of the sign-in form, and what the person sees of them. */
function useSignIn(
  form: RefObject<HTMLFormElement | null>,
  session: Session,
  words: SignInTexts,
  onSignedIn: (session: Session) => void,
) {
  const [problem, setProblem] = useState(failedSignIn)
  const [isBusy, setBusy] = useState(false)
  // The secret was right, and the account has a second factor.
  const [needsFactor, setNeedsFactor] = useState(false)
  const typed = (name: string): string | undefined => {
    const value = new FormData(form.current ?? undefined).get(name)
    return typeof value === 'string' ? value : undefined
  }
  const send = async (factor: object) => {
    if (isBusy) return
    setBusy(true)
    setProblem('')
    const chosen = typed('instance')
    const named = { username: typed('username') ?? '', secret: typed('secret') ?? '' }
    const body = { ...named, ...factor, instance: chosen ?? session.instance }
    try {
      const signedIn = await ask<Session>('/api/session', { method: 'POST', body })
      if (chosen !== undefined) keepAccount(body.instance)
      onSignedIn(signedIn)
    } catch (error) {
      setBusy(false)
      if (error instanceof Refused && error.code === 'SECOND_FACTOR_REQUIRED') return setNeedsFactor(true)
      const isWrong = error instanceof Refused && error.code === 'INVALID_CREDENTIALS'
      const other = isWrong && chosen !== undefined ? ` ${words.otherAccount(nameOf(body.instance, session))}` : ''
      setProblem(inWords(error, words) + other)
      if (error instanceof Refused && error.status === 401 && !needsFactor)
        form.current?.querySelector<HTMLInputElement>('#secret')?.select()
    }
  }
  const signIn = (event: Event) => {
    event.preventDefault()
    return send(needsFactor ? { code: typed('code') ?? null } : {})
  }
  const withPasskey = async () => {
    if (isBusy) return
    setProblem('')
    try {
      const passkey = await shownPasskey()
      if (needsFactor) return await send({ passkey })
      onSignedIn(await ask<Session>('/api/session/passkey', { method: 'POST', body: { passkey } }))
    } catch (error) {
      setProblem(inWords(error, words))
    }
  }
  return { problem, setProblem, isBusy, needsFactor, signIn, withPasskey }
}

/** The choice between the accounts of storage servers and those of this gateway. */
const AccountField = ({ session, words }: { session: Session; words: SignInTexts }) => {
  const account = keptAccount([...session.storageInstances, session.instance])
  return (
    <>
      <label for="instance">{words.account}</label>
      <select id="instance" name="instance">
        {session.storageInstances.map((url) => (
          <option key={url} value={url} selected={url === account}>
            {withoutScheme(url)}
          </option>
        ))}
        <option value={session.instance} selected={session.instance === account}>
          {words.here}
        </option>
      </select>
    </>
  )
}

const SecretField = ({ words }: { words: SignInTexts }) => {
  const [isShown, setShown] = useState(false)
  return (
    <div class="with-button">
      <input
        id="secret"
        name="secret"
        {...(isShown ? { type: 'text' } : { type: 'password' })}
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
        {isShown ? words.hide : words.show}
        <span class="unseen"> {words.theSecret}</span>
      </button>
    </div>
  )
}

const withoutScheme = (url: string): string => url.replace(/^https?:\/\//, '')

const nameOf = (instance: string, session: Session): string =>
  instance === session.instance ? signInTexts.here : withoutScheme(instance)

/** Returns the wait as text: seconds up to two minutes, then minutes. */
function waitOf({ retryAfterSeconds: s }: Refused): string {
  return s <= 120 ? signInTexts.seconds(Math.max(s, 1)) : signInTexts.minutes(Math.ceil(s / 60))
}

function inWords(error: unknown, words: SignInTexts): string {
  if (error instanceof Unreachable) return words.unreachable
  if (!(error instanceof Refused)) return words.broken
  switch (error.code) {
    case 'INVALID_CREDENTIALS':
      return words.wrong
    case 'USER_MISMATCH':
      return words.otherUser
    case 'AUTH_BACKEND_UNREACHABLE':
      return words.storageSilent(waitOf(error))
    case 'SIGN_IN_TRIES_SPENT':
      return words.triesSpent(waitOf(error))
    case 'RATE_LIMITED':
      return words.tooMany(waitOf(error))
    case 'VALIDATION_ERROR':
      return words.invalid
    case 'SECOND_FACTOR_WRONG':
      return factorTexts.wrong
    default:
      return `${error.message}.`
  }
}
