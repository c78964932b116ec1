import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { tellSignedInAgain } from '../data/again.ts'
import { get } from '../data/api.ts'
import { onForbidden } from '../data/ask.ts'
import type { Session } from '../data/shapes.ts'
import { texts } from '../i18n/texts.ts'
import { hasUnsaved } from '../kit/address.ts'

const everyMs = 60_000
const leastMs = 2000

type Needs = {
  readonly session: Session | undefined
  readonly pathname: string
  readonly isSignedIn: boolean
  readonly keep: (next: Session) => void
  /** Begins the view anew. */
  readonly anew: () => void
  readonly leave: (why: string) => void
}

type Rights = {
  /** Says that the role was changed; null while it was not. */
  readonly notice: JSX.Element | null
  /** Continues after the same person has signed in again over a view that stays. */
  readonly goOn: (next: Session) => void
}

/** Follows the permissions of the caller. Another role counts at once; with unsent text, it counts when that view is left. */
export function useRights({ session, pathname, isSignedIn, keep, anew, leave }: Needs): Rights {
  const [later, setLater] = useState<Session | undefined>(undefined)
  const [changed, setChanged] = useState('')
  const take = (next: Session) => {
    const isOther = rightsOf(next) !== rightsOf(session)
    const waits = isOther && hasUnsaved()
    setLater(waits ? next : undefined)
    if (!isOther) return
    const role = texts.roles[next.caller?.role ?? ''] ?? next.caller?.role ?? ''
    setChanged(waits ? texts.roleWaits(role) : texts.roleChanged(role))
    if (waits) return
    anew()
    keep(next)
  }
  const goOn = (next: Session) => {
    if (session) keep({ ...next, caller: session.caller })
    take(next)
    tellSignedInAgain()
  }
  const look = useRef(() => {})
  look.current = () => {
    get('/api/session', {}).then(
      (next) => {
        if (!next.caller) leave(texts.signedOut)
        else if (personOf(next) === personOf(session)) take(next)
      },
      () => {},
    )
  }
  useEffect(() => (isSignedIn ? watchRights(() => look.current?.()) : undefined), [isSignedIn])
  useEffect(() => {
    setChanged('')
    if (!later) return
    setLater(undefined)
    keep(later)
  }, [pathname])
  const notice =
    changed === '' ? null : (
      <p class="role-changed" role="alert">
        {changed}
      </p>
    )
  return { notice, goOn }
}

/** Calls `look` each minute, when the page is seen again, and when the gateway has refused something. A hidden page asks nothing. */
function watchRights(look: () => void): () => void {
  let lookedMs = Number.NEGATIVE_INFINITY
  const soon = () => {
    if (document.hidden || performance.now() - lookedMs < leastMs) return
    lookedMs = performance.now()
    look()
  }
  const timer = setInterval(soon, everyMs)
  document.addEventListener('visibilitychange', soon)
  const unhear = onForbidden(soon)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', soon)
    unhear()
  }
}

/** Tells persons apart, also two of one name at two instances. */
export const personOf = (session: Session | undefined): string =>
  JSON.stringify([session?.caller?.instance, session?.caller?.username])

/** Rights of a session: the role, the permissions, and those withheld for a while. */
const rightsOf = (session: Session | undefined): string =>
  JSON.stringify([session?.caller?.role, session?.caller?.permissions.toSorted(), session?.caller?.withheld])
