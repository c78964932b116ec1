import { useState } from 'preact/hooks'
import { ask, Refused } from '../data/ask.ts'
import { texts } from '../i18n/texts.ts'
import { mayEnd } from '../kit/address.ts'
import { Icon } from '../kit/icons.tsx'

/** The button that ends the session. */
export const SignOut = ({ onLeft }: { onLeft: (why: string) => void }) => {
  const [problem, setProblem] = useState('')
  const signOut = async () => {
    if (!mayEnd()) return
    try {
      // People of an OpenID provider sign out there too.
      const path = '/api/session/provider/sign-out'
      const ended = await ask<{ location: string | null }>(path, { method: 'POST', body: {} })
      if (ended.location === null) onLeft(texts.signOut.done)
      else location.assign(ended.location)
    } catch (error) {
      if (error instanceof Refused && error.isSignedOut) return onLeft(texts.signOut.done)
      // A sign-in in another tab replaced the session: this page still has the old token.
      if (error instanceof Refused && error.code === 'CSRF_TOKEN_WRONG') return location.reload()
      setProblem(texts.signOut.failed)
    }
  }
  return (
    <div class="sign-out">
      <span class="problem" role="alert">
        {problem}
      </span>
      <button type="button" class="plain" onClick={signOut}>
        <Icon name="out" /> <span>{texts.signOut.button}</span>
      </button>
    </div>
  )
}
