import { useState } from 'hono/jsx/dom'
import { mayEnd } from './address.ts'
import { ask, Refused } from './ask.ts'
import { Icon } from './icons.tsx'
import { texts } from './texts.ts'

/** The button that ends the session. */
export const SignOut = ({ onLeft }: { onLeft: (why: string) => void }) => {
  const [problem, setProblem] = useState('')
  const signOut = async () => {
    if (!mayEnd()) return
    try {
      await ask('/api/session', { method: 'DELETE' })
      onLeft(texts.signOut.done)
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
