import { render, useEffect, useState } from 'hono/jsx/dom'
import type { Session } from './answers.ts'
import { ask, keepCsrfToken, Unreachable } from './ask.ts'
import { CameraPage } from './camera-page.tsx'
import { Console } from './console.tsx'
import { Icon } from './icons.tsx'
import { SignIn } from './sign-in.tsx'

const retryMs = 2000

const App = () => {
  const [session, setSession] = useState<Session | undefined>(undefined)
  const [trouble, setTrouble] = useState('')
  const [notice, setNotice] = useState('')
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
  if (!session) return <Waiting trouble={trouble} />
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
  if (/^\/cameras(\/|$)/.test(location.pathname)) return <CameraPage siteId={session.siteId} onLeft={leave} />
  return <Console siteId={session.siteId} caller={session.caller} onLeft={leave} />
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
