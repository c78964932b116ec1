import { useEffect, useRef, useState } from 'preact/hooks'
import { CameraButton, useCamera } from '../codes/camera-button.tsx'
import { readEnrolment } from '../codes/enrolment-code.ts'
import { listenForScans } from '../codes/scan-keys.ts'
import { get } from '../data/api.ts'
import { ask, keepCsrfToken, Refused } from '../data/ask.ts'
import type { Session } from '../data/shapes.ts'
import { Said } from '../i18n/said.tsx'
import { PairingCode } from './pairing.tsx'
import { wallTexts as words } from './texts.ts'

type Credential = { readonly username: string; readonly secret: string }

const keptAs = 'gatehouse.wall'

/**
 * Returns the session of this screen, begun with what is kept here; undefined when it is not enrolled. The session of a person
 * who signed in on this browser ends: no one's rights stay on a screen in the hall.
 */
export async function signInScreen(): Promise<Session | undefined> {
  const session = await get('/api/session', {})
  keepCsrfToken(session.csrfToken)
  const kept = keptCredential()
  if (!kept) return undefined
  const screen = { username: kept.username, instance: session.instance }
  if (session.caller && isSame(session.caller, screen)) return session
  const begun = await ask<Session>('/api/session', { method: 'POST', body: kept })
  keepCsrfToken(begun.csrfToken)
  return begun
}

type Name = { readonly username: string; readonly instance: string }

const isSame = (one: Name, other: Name): boolean =>
  JSON.stringify([one.instance, one.username]) === JSON.stringify([other.instance, other.username])

function keptCredential(): Credential | undefined {
  try {
    return (JSON.parse(localStorage.getItem(keptAs) ?? 'null') as Credential | null) ?? undefined
  } catch {
    return undefined
  }
}

/** Says whether this browser keeps what it is given: a code works once, so that has to be known before. */
function isKeeping(): boolean {
  try {
    localStorage.setItem(`${keptAs}.try`, '1')
    localStorage.removeItem(`${keptAs}.try`)
    return true
  } catch {
    return false
  }
}

/** Exchanges a code for the secret of this screen, and keeps it. Returns what is wrong, in words; '' when it is enrolled. */
async function enrol(text: string): Promise<string> {
  const { code, url } = readEnrolment(text)
  if (url !== undefined && url !== location.origin) return words.elsewhere(url)
  if (!isKeeping()) return words.noStore
  try {
    const made = await ask<Credential & { role: string }>('/api/devices/enrol', { method: 'POST', body: { code } })
    if (made.role !== 'viewer') return words.handheld
    // The address of the gateway is not kept: it may change, and the gateway knows its own.
    localStorage.setItem(keptAs, JSON.stringify({ username: made.username, secret: made.secret }))
    void navigator.storage?.persist?.().catch(() => undefined)
    return ''
  } catch (error) {
    if (!(error instanceof Refused)) return words.unreachable
    return error.status === 400 || error.status === 401 ? words.wrong : error.message
  }
}

/** The screen without an enrolment: takes its code by a scanner, by the camera of the screen, or by typing. */
export const EnrolScreen = ({ problem: before, onDone }: { problem: string; onDone: () => void }) => {
  const [problem, setProblem] = useState(before)
  const field = useRef<HTMLInputElement>(null)
  const camera = useCamera(setProblem)
  const take = (text: string) => {
    void enrol(text).then((wrong) => {
      setProblem(wrong)
      if (wrong === '') onDone()
    })
  }
  useEffect(
    () =>
      listenForScans(({ code }) => {
        if (field.current) field.current.value = code
        take(code)
      }),
    [],
  )
  return (
    <main class="wall-gate">
      <form
        class="card"
        onSubmit={(event: Event) => {
          event.preventDefault()
          take(field.current?.value ?? '')
        }}
      >
        <h1>{words.notEnrolled}</h1>
        <PairingCode onCode={take} />
        <p>{words.steps}</p>
        <label for="wall-code">{words.code}</label>
        <input id="wall-code" ref={field} type="text" autocomplete="off" autocapitalize="off" spellcheck={false} />
        <CameraButton camera={camera} words />
        {camera.View ? (
          <camera.View
            onCode={(code) => {
              camera.close()
              if (field.current) field.current.value = code
              take(code)
            }}
            onEnd={(words) => {
              camera.close()
              setProblem(words)
            }}
          />
        ) : null}
        <p class="problem" role="alert">
          <Said words={problem} />
        </p>
        <button type="submit" class="strong">
          {words.enrol}
        </button>
      </form>
    </main>
  )
}
