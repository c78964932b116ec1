import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, onStepUp, Refused, Unreachable } from '../data/ask.ts'
import { Said } from '../i18n/said.tsx'
import { AtProvider } from './at-provider.tsx'
import { FactorField } from './factor-field.tsx'
import { factorTexts as words } from './factor-texts.ts'
import { canUsePasskeys, shownPasskey } from './passkey.ts'
import { providerOf } from './provider.tsx'

/** Asks for the second factor again, over the view, before an act that gives secrets or footage away. */
export const StepUp = ({ caller }: { caller: { readonly instance: string } | null }) => {
  const [isOpen, setOpen] = useState(false)
  const [problem, setProblem] = useState('')
  const dialog = useRef<HTMLDialogElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const settle = useRef<((isShown: boolean) => void) | undefined>(undefined)
  useEffect(
    () =>
      onStepUp(
        () =>
          new Promise((resolve) => {
            settle.current?.(false)
            settle.current = resolve
            setProblem('')
            setOpen(true)
          }),
      ),
    [],
  )
  useEffect(() => {
    if (isOpen && dialog.current && !dialog.current.open) dialog.current.showModal()
  }, [isOpen])
  const end = (isShown: boolean) => {
    setOpen(false)
    settle.current?.(isShown)
    settle.current = undefined
  }
  const show = async (factor: () => Promise<object> | object) => {
    try {
      await ask('/api/session/step-up', { method: 'POST', body: await factor() })
      end(true)
    } catch (error) {
      setProblem(error instanceof Refused || error instanceof Unreachable ? `${error.message}.` : words.stopped)
    }
  }
  const submit = (event: Event) => {
    event.preventDefault()
    return show(() => ({ code: new FormData(form.current ?? undefined).get('code') }))
  }
  const provider = caller ? providerOf(caller) : undefined
  if (!isOpen) return null
  if (provider !== undefined)
    return (
      <dialog class="gate again" aria-labelledby="step-up-title" ref={dialog} onClose={() => end(false)}>
        <AtProvider provider={provider} onCancel={() => end(false)} />
      </dialog>
    )
  return (
    <dialog class="gate again" aria-labelledby="step-up-title" ref={dialog} onClose={() => end(false)}>
      <form class="gate-card" ref={form} onSubmit={submit}>
        <h2 id="step-up-title">{words.title}</h2>
        <p class="muted">{words.why}</p>
        <FactorField />
        <p class="problem" role="alert">
          <Said words={problem} />
        </p>
        <button type="submit" class="strong">
          {words.go}
        </button>
        {canUsePasskeys() ? (
          <button type="button" class="plain" onClick={() => show(async () => ({ passkey: await shownPasskey() }))}>
            {words.withPasskey}
          </button>
        ) : null}
        <button type="button" class="plain" onClick={() => end(false)}>
          {words.cancel}
        </button>
      </form>
    </dialog>
  )
}
