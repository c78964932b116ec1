import { useEffect, useRef, useState } from 'preact/hooks'
import { pushTexts as words } from '../push/push-texts.ts'
import { canGetMessages, isSubscribed, subscribe, unsubscribe } from '../push/subscribe.ts'
import { type Act, actsOf } from './codes.ts'
import { type Credential, call, post } from './gateway.ts'
import type { Remarks } from './remarks.ts'
import { scanTexts as texts } from './texts.ts'

/** The acts that a role may record. */
export const Tiles = ({ role, onAct }: { role: string; onAct: (act: Act) => void }) => {
  const acts = actsOf(role)
  if (acts.length === 0) return <p class="blank">{texts.mayOnlyLook}</p>
  return (
    <nav class="scan-tiles" aria-label={texts.title}>
      {acts.map((act) => (
        <button key={act} type="button" onClick={() => onAct(act)}>
          {texts.acts[act]}
        </button>
      ))}
    </nav>
  )
}

type EntryProps = {
  readonly onCode: (text: string) => void
  /** Unused text in the field: it stays when somebody chooses an act. */
  readonly typed: { current: string | null }
}

/** The field for typed codes, and for handhelds that write by an input method. */
export const Entry = ({ onCode, typed }: EntryProps) => {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (!matchMedia('(pointer: coarse)').matches || !field.current) return
    field.current.inputMode = 'none'
    field.current.focus({ preventScroll: true })
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    const text = field.current?.value.trim() ?? ''
    if (field.current) field.current.value = ''
    typed.current = ''
    if (text !== '') onCode(text)
  }
  return (
    <form class="scan-entry" onSubmit={submit}>
      <input
        ref={field}
        type="text"
        aria-label={texts.type}
        placeholder={texts.code}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        maxlength={256}
        value={typed.current ?? ''}
        onInput={() => {
          typed.current = field.current?.value ?? ''
        }}
        onPointerDown={() => {
          if (field.current) field.current.inputMode = 'text'
        }}
      />
      <button type="submit">{texts.use}</button>
    </form>
  )
}

const pushPath = '/api/push-subscriptions'

/** Turns messages about alerts on and off on this handheld. They belong to the device, since people come and go. */
export const AlertMessages = ({ device, remarks }: { device: Credential; remarks: Remarks }) => {
  const [isOn, setOn] = useState<boolean | undefined>(undefined)
  useEffect(() => {
    void isSubscribed().then(setOn)
  }, [device])
  if (!canGetMessages() || isOn === undefined) return null
  const change = async () => {
    const problem = isOn ? await stop() : await start(device)
    if (problem !== '') return remarks.problem(problem)
    setOn(!isOn)
    remarks.good(isOn ? words.stopped : words.started)
  }
  return (
    <button
      type="button"
      onClick={() => void change().catch((error) => remarks.problem(error instanceof Error ? error.message : ''))}
    >
      {isOn ? words.stop : words.start}
    </button>
  )
}

/** Returns the problem; '' when messages arrive. Rejects with words for the person. */
async function start(device: Credential): Promise<string> {
  const state = await call(pushPath, device)
  if (state.kind !== 'acknowledged') return problemOf(state)
  const { publicKey } = state.answer
  if (typeof publicKey !== 'string') return words.none
  const stored = await post(pushPath, device, await subscribe(publicKey))
  if (stored.kind === 'acknowledged') return ''
  await unsubscribe()
  return problemOf(stored)
}

async function stop(): Promise<string> {
  await unsubscribe()
  return ''
}

const problemOf = (
  outcome: { readonly kind: 'sign-in' } | { readonly kind: string; readonly words: string },
): string => ('words' in outcome ? outcome.words : texts.signIn.wrong)
