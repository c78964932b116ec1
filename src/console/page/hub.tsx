import { useEffect, useState } from 'preact/hooks'
import { ask, keepCsrfToken } from './data/ask.ts'
import { decoded, keysOf } from './data/parsing.ts'
import type { Session } from './data/shapes.ts'
import { draw } from './drawing.ts'
import { HubAlerts } from './hub/alerts.tsx'
import { problemOf } from './hub/ask.ts'
import { HubFind } from './hub/find.tsx'
import { HubFloor } from './hub/floor.tsx'
import { HubLog } from './hub/log.tsx'
import { HubRecall } from './hub/recall.tsx'
import { HubSites } from './hub/sites.tsx'
import { hubTexts as words } from './hub/texts.ts'
import { language } from './i18n/language.ts'
import { LanguageChoice } from './i18n/language-choice.tsx'
import { follow, useAddress } from './kit/address.ts'
import { Icon } from './kit/icons.tsx'
import { SignIn } from './sign-in/sign-in.tsx'

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
    ask<Session>('/api/session').then(keep, (error: unknown) => {
      setTrouble(problemOf(error))
      setTimeout(look, retryMs)
    })
  }
  useEffect(look, [])
  useEffect(() => {
    document.title = session ? `${session.siteId} · ${words.title}` : words.title
  }, [session])
  if (!session) return <Waiting trouble={trouble} />
  const leave = () => {
    setNotice(words.signedOut)
    setSession(undefined)
    look()
  }
  const enter = (next: Session) => {
    setNotice('')
    keep(next)
  }
  if (!session.caller) {
    return <SignIn session={session} notice={notice} onSignedIn={enter} texts={words.signIn} />
  }
  return <Office session={session} onLeft={leave} />
}

const Office = ({ session, onLeft }: { session: Session; onLeft: () => void }) => {
  const { pathname, search } = useAddress()
  const query = new URLSearchParams(search)
  const [, site] = /^\/sites\/([^/]+)\/?$/.exec(pathname) ?? []
  const view = site === undefined ? pathname : '/'
  return (
    <>
      <a class="skip" href="#main">
        {words.views.nav}
      </a>
      <Bar session={session} here={view} onLeft={onLeft} />
      {site === undefined ? (
        <View pathname={pathname} query={query} onLeft={onLeft} />
      ) : (
        <HubFloor key={site} siteId={decoded(site)} at={query.get('at') ?? ''} onLeft={onLeft} />
      )}
    </>
  )
}

type ViewProps = { pathname: string; query: URLSearchParams; onLeft: () => void }

const View = ({ pathname, query, onLeft }: ViewProps) => {
  const [, log] = /^\/logs\/([^/]+)\/?$/.exec(pathname) ?? []
  if (log !== undefined) {
    const before = Number.parseInt(query.get('before') ?? '', 10)
    const older = Number.isSafeInteger(before) ? before : undefined
    return <HubLog key={log} logId={decoded(log)} before={older} onLeft={onLeft} />
  }
  switch (pathname) {
    case '/find':
      return <HubFind code={query.get('code') ?? ''} onLeft={onLeft} />
    case '/recall':
      return <HubRecall gtin={query.get('gtin') ?? ''} lot={query.get('lot') ?? ''} onLeft={onLeft} />
    case '/alerts':
      return <HubAlerts onLeft={onLeft} />
    case '/':
      return <HubSites query={query} onLeft={onLeft} />
    default:
      return <Missing pathname={pathname} />
  }
}

/** Said at an address that belongs to no view. */
const Missing = ({ pathname }: { pathname: string }) => (
  <main class="hub" id="main">
    <h1>{words.missing.title}</h1>
    <p class="card">
      {words.missing.said(pathname)}{' '}
      <a href="/" onClick={follow}>
        {words.sites.toSites}
      </a>
    </p>
  </main>
)

const addresses = { sites: '/', find: '/find', recall: '/recall', alerts: '/alerts' } as const

const Bar = ({ session, here, onLeft }: { session: Session; here: string; onLeft: () => void }) => {
  const leave = () => {
    ask('/api/session', { method: 'DELETE' }).then(() => location.assign('/'), onLeft)
  }
  return (
    <header class="bar">
      <p class="brand">
        <Icon name="logo" /> <span class="brand-name">Gatehouse</span>
      </p>
      <p class="site">{session.siteId}</p>
      <nav class="views" aria-label={words.views.nav}>
        {keysOf(addresses).map((view) => (
          <a
            key={view}
            href={addresses[view]}
            aria-current={here === addresses[view] ? 'page' : undefined}
            onClick={follow}
          >
            {words.views[view]}
          </a>
        ))}
      </nav>
      <div class="hub-person">
        <LanguageChoice />
        <span class="muted">{session.caller?.username}</span>
        <button type="button" class="plain" onClick={leave}>
          {words.signOut}
        </button>
      </div>
    </header>
  )
}

const Waiting = ({ trouble }: { trouble: string }) => (
  <main class="gate">
    <div class="gate-wait">
      <Icon name={trouble ? 'lost' : 'logo'} />
      <h1>{words.title}</h1>
      <p role="status">{trouble || words.asking}</p>
    </div>
  </main>
)

document.documentElement.lang = language
draw(<App />, { home: '/' })
