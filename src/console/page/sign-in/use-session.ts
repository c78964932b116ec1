import { useEffect, useRef, useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { keepCsrfToken, Unreachable } from '../data/ask.ts'
import type { Session } from '../data/shapes.ts'
import { texts } from '../i18n/texts.ts'
import { personOf, useRights } from './rights.tsx'

const retryMs = 2000

/** The session of this browser, from the first question to the gateway until the person leaves. */
export function useSession(pathname: string) {
  const [session, setSession] = useState<Session | undefined>(undefined)
  const [trouble, setTrouble] = useState('')
  const [notice, setNotice] = useState('')
  // After the sign-in has ended: the facts for signing in again. The view stays below, with all typed text.
  const [ended, setEnded] = useState<Session | undefined>(undefined)
  const isEnding = useRef(false)
  const [round, setRound] = useState(0)
  const anew = () => setRound((n) => n + 1)
  const keep = (next: Session) => {
    keepCsrfToken(next.csrfToken)
    setTrouble('')
    setEnded(undefined)
    isEnding.current = false
    setSession(next)
  }
  const look = () => {
    get('/api/session', {}).then(keep, (error: Error) => {
      setTrouble(error instanceof Unreachable ? texts.unreachable : error.message)
      setTimeout(look, retryMs)
    })
  }
  useEffect(look, [])
  const signIn = (next: Session) => {
    setNotice('')
    keep(next)
  }
  /** Continues for the same person. The floor and views with fields stay as they are; other views begin anew. */
  const goOn = (next: Session) => {
    const isSame = personOf(next) === personOf(session)
    const stays = isSame && document.querySelector('main :is(input, textarea)') !== null
    if (!stays) anew()
    signIn(next)
    if (stays) rights.goOn(next)
  }
  /** Asks for the current session: the person may have signed in again in another tab. */
  const lookAgain = () => {
    get('/api/session', {}).then(
      (next) => (next.caller ? goOn(next) : setEnded(next)),
      () => setTimeout(lookAgain, retryMs),
    )
  }
  const leave = (why: string) => {
    setNotice(why)
    if (why !== texts.signedOut) return begin()
    if (isEnding.current) return
    isEnding.current = true
    lookAgain()
  }
  /** A sign-out leaves nothing on the screen. */
  const begin = () => {
    setEnded(undefined)
    isEnding.current = false
    setSession(undefined)
    look()
  }
  const isSignedIn = session?.caller !== undefined && session.caller !== null && !ended
  const rights = useRights({ session, pathname, isSignedIn, keep, leave, anew })
  return { session, trouble, notice, ended, round, isSignedIn, changed: rights.notice, signIn, goOn, leave }
}
