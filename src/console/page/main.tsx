import { render, useEffect, useState } from 'hono/jsx/dom'
import { useAddress } from './address.ts'
import type { Session } from './answers.ts'
import { ask, keepCsrfToken, Unreachable } from './ask.ts'
import { CameraPage } from './camera-page.tsx'
import { Console } from './console.tsx'
import { FindPage } from './find-page.tsx'
import { Icon } from './icons.tsx'
import { startScanning } from './scan-field.tsx'
import { SignIn } from './sign-in.tsx'

const retryMs = 2000

const App = () => {
  const [session, setSession] = useState<Session | undefined>(undefined)
  const [trouble, setTrouble] = useState('')
  const [notice, setNotice] = useState('')
  const { pathname, search } = useAddress()
  const keep = (next: Session) => {
    keepCsrfToken(next.csrfToken)
    setTrouble('')
    setSession(next)
  }
  const look = () => {
    ask<Session>('/api/session').then(keep, (error: Error) => {
      setTrouble(error instanceof Unreachable ? 'No connection to the gateway. Trying again …' : error.message)
      setTimeout(look, retryMs)
    })
  }
  useEffect(look, [])
  useEffect(() => {
    document.title = session ? `${session.siteId} · Gatehouse` : 'Gatehouse'
  }, [session])

  const leave = (why: string) => {
    setNotice(why)
    setSession(undefined)
    look()
  }
  useEffect(() => (session?.caller ? startScanning(session.instance) : undefined), [session])
  if (!session) return <Waiting trouble={trouble} />
  const asked = new URLSearchParams(search)
  const [isFind, code] = /^\/find(?:\/([^/]+))?\/?$/.exec(pathname) ?? []
  const find = { code: decoded(code), at: asked.get('at') ?? undefined, siteId: session.siteId, onLeft: leave }
  const signed = asked.get('signed') ?? undefined
  if (!session.caller && isFind && signed !== undefined) return <FindPage {...find} signed={signed} />
  if (!session.caller) {
    return (
      <SignIn
        session={session}
        notice={notice}
        onSignedIn={(next) => {
          setNotice('')
          keep(next)
        }}
      />
    )
  }
  if (isFind) return <FindPage {...find} signed={undefined} />
  if (/^\/cameras(\/|$)/.test(pathname)) return <CameraPage siteId={session.siteId} onLeft={leave} />
  return <Console siteId={session.siteId} caller={session.caller} slot={numberOf(asked.get('slot'))} onLeft={leave} />
}

const numberOf = (text: string | null) => (text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined)

/** Returns the code of an address; as it is when it cannot be decoded. */
function decoded(segment: string | undefined): string | undefined {
  try {
    return segment === undefined ? undefined : decodeURIComponent(segment)
  } catch {
    return segment
  }
}

const Waiting = ({ trouble }: { trouble: string }) => (
  <main class="gate">
    <div class="gate-wait">
      <Icon name={trouble ? 'lost' : 'logo'} />
      <h1>Gatehouse</h1>
      <p role="status">{trouble || 'Asking the gateway …'}</p>
    </div>
  </main>
)

const place = document.getElementById('app')
if (place) render(<App />, place)
