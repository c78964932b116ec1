import { useState } from 'preact/hooks'
import { Refused, Unreachable } from '../data/ask.ts'
import { Said } from '../i18n/said.tsx'
import { factorTexts } from './factor-texts.ts'
import { openProvider } from './provider.tsx'
import { providerTexts as words } from './provider-texts.ts'

/** Asks a person of an OpenID provider to sign in there again. The page comes back to this view. */
export const AtProvider = ({ provider, onCancel }: { provider: string; onCancel: () => void }) => {
  const [problem, setProblem] = useState('')
  const open = async () => {
    try {
      await openProvider('/api/session/provider/step-up', {})
    } catch (error) {
      const isKnown = error instanceof Refused || error instanceof Unreachable
      setProblem(isKnown ? `${error.message}.` : words.failed.unreachable)
    }
  }
  return (
    <div class="gate-card">
      <h2 id="step-up-title">{words.again}</h2>
      <p class="muted">{words.why(provider)}</p>
      <p class="problem" role="alert">
        <Said words={problem} />
      </p>
      <button type="button" class="strong" onClick={open}>
        {words.signIn(provider)}
      </button>
      <button type="button" class="plain" onClick={onCancel}>
        {factorTexts.cancel}
      </button>
    </div>
  )
}
