import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { checkFile, startScanning } from './codes/scan-field.tsx'
import { get } from './data/api.ts'
import { keepCsrfToken, Unreachable } from './data/ask.ts'
import { decoded } from './data/decoded.ts'
import type { Session } from './data/shapes.ts'
import { draw } from './drawing.ts'
import { Console } from './floor/console.tsx'
import { language } from './i18n/language.ts'
import { Said } from './i18n/said.tsx'
import { texts } from './i18n/texts.ts'
import { numberOf, useAddress } from './kit/address.ts'
import { Icon } from './kit/icons.tsx'
import { useTitle } from './kit/title.ts'
import { mayUse, viewAt } from './kit/views.ts'
import { forgetOldPlans } from './plan/forget.ts'
import { personOf, useRights } from './sign-in/rights.tsx'
import { SignIn, SignInAgain } from './sign-in/sign-in.tsx'
import { StepUp } from './sign-in/step-up.tsx'
import {
  findFile,
  isReplaced,
  keepFile,
  knownFile,
  type Load,
  missingFile,
  pairFile,
  receiptFile,
  viewFiles,
  wallFile,
} from './view-files.ts'

const retryMs = 2000
const fetchAheadMs = 3000
const fetchAhead = () => Promise.all([keepFile(findFile), checkFile()]).catch(() => {})

const App = () => {
  const [session, setSession] = useState<Session | undefined>(undefined)
  const [trouble, setTrouble] = useState('')
  const [notice, setNotice] = useState('')
  // After the sign-in has ended: the facts for signing in again. The view stays below, with all typed text.
  const [ended, setEnded] = useState<Session | undefined>(undefined)
  const isEnding = useRef(false)
  const [round, setRound] = useState(0)
  const { pathname, search } = useAddress()
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
  useTitle(session, pathname)

  /** Continues for the same person. The floor and views with fields stay as they are; other views begin anew. */
  const goOn = (next: Session) => {
    const isSame = personOf(next) === personOf(session)
    const stays = isSame && document.querySelector('main :is(input, textarea)') !== null
    if (!stays) setRound((n) => n + 1)
    setNotice('')
    keep(next)
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
    if (why === texts.signedOut) {
      if (isEnding.current) return
      isEnding.current = true
      lookAgain()
      return
    }
    // A sign-out leaves nothing on the screen.
    setEnded(undefined)
    isEnding.current = false
    setSession(undefined)
    look()
  }
  const isSignedIn = session?.caller !== undefined && session.caller !== null && !ended
  useEffect(() => (isSignedIn && session ? startScanning(session.instance) : undefined), [session, isSignedIn])
  const rights = useRights({ session, pathname, isSignedIn, keep, leave, anew: () => setRound((n) => n + 1) })
  // The first scan can then open its view at once.
  useEffect(() => {
    if (!session?.caller) return
    const timer = setTimeout(fetchAhead, fetchAheadMs)
    return () => clearTimeout(timer)
  }, [session?.caller === undefined])
  if (!session) return <Waiting trouble={trouble} />
  const asked = new URLSearchParams(search)
  const [isFind, code] = /^\/find(?:\/([^/]+))?\/?$/.exec(pathname) ?? []
  const find = {
    ...{ code: code && decoded(code), at: asked.get('at') ?? undefined, siteId: session.siteId, onLeft: leave },
    caller: session.caller ?? undefined,
  }
  const signed = asked.get('signed') ?? undefined
  if (!session.caller && isFind && signed !== undefined) return <Loaded file={findFile} props={{ ...find, signed }} />
  const [, paired] = /^\/pair\/([^/]+)$/.exec(pathname) ?? []
  const isSettingUp = session.caller?.secondFactor === 'missing'
  const at = isSettingUp ? 'people' : pathname === '/sign-in' ? 'floor' : viewAt(pathname)
  if (!isFind && !at && paired === undefined)
    return (
      <Loaded file={missingFile} props={{ siteId: session.siteId, caller: session.caller, pathname, onLeft: leave }} />
    )
  if (!session.caller) {
    return (
      <SignIn
        session={session}
        hasPasskeys
        notice={notice}
        onSignedIn={(next) => {
          setNotice('')
          keep(next)
        }}
      />
    )
  }
  const again = ended ? <SignInAgain session={ended} notice={notice} onSignedIn={goOn} /> : null
  const withSignIn = (view: JSX.Element) => (
    <>
      {rights.notice}
      {view}
      {again}
      <StepUp caller={session.caller} />
    </>
  )
  if (isFind && !isSettingUp)
    return withSignIn(<Loaded key={round} file={findFile} props={{ ...find, signed: undefined }} />)
  const view = { siteId: session.siteId, caller: session.caller, onLeft: leave }
  if (paired !== undefined && !isSettingUp)
    return withSignIn(<Loaded key={round} file={pairFile} props={{ ...view, code: decoded(paired) }} />)
  if (at && !mayUse(at, session.caller))
    return withSignIn(<Loaded key={round} file={missingFile} props={{ ...view, pathname, view: at }} />)
  const file = viewFiles[at ?? 'floor']
  if (file) return withSignIn(<Loaded key={round} file={file} props={{ ...view, pathname, asked }} />)
  return withSignIn(<Console key={round} {...view} slot={numberOf(asked.get('slot'))} at={timeOf(asked.get('at'))} />)
}

type LoadedProps<Props> = { readonly file: Load<Props>; readonly props: Props }

/** A view whose file is loaded at its first visit. */
const Loaded = <Props extends object>({ file, props }: LoadedProps<Props>) => {
  const [, setLoads] = useState(0)
  const [trouble, setTrouble] = useState('')
  useEffect(() => {
    let isWanted = true
    const load = () => {
      keepFile(file).then(
        () => isWanted && setLoads((n) => n + 1),
        async () => {
          if (await isReplaced()) return location.reload()
          if (!isWanted) return
          setTrouble(texts.unreachable)
          setTimeout(load, retryMs)
        },
      )
    }
    if (!knownFile(file)) load()
    return () => {
      isWanted = false
    }
  }, [file])
  const View = knownFile(file)?.View
  return View ? <View {...props} /> : <Waiting trouble={trouble} />
}

/** Returns a time of an address; undefined for an invalid one. */
const timeOf = (text: string | null) => (text !== null && Number.isFinite(Date.parse(text)) ? text : undefined)

const Waiting = ({ trouble }: { trouble: string }) => (
  <main class="gate">
    <div class="gate-wait">
      <Icon name={trouble ? 'lost' : 'logo'} />
      <h1>Gatehouse</h1>
      <p role="status">
        <Said words={trouble || texts.asking} />
      </p>
    </div>
  </main>
)

/** A receipt needs no session. */
const [isReceipt, unit] = /^\/receipt\/([^/]+)\/?$/.exec(location.pathname) ?? []
const signed = new URLSearchParams(location.search).get('signed') ?? undefined
const receipt = { unit: decoded(unit ?? ''), signed }
document.documentElement.lang = language
/** A screen on the wall signs in without a person. */
const isWall = /^\/wall\/?$/.test(location.pathname)
const page = isReceipt ? (
  <Loaded file={receiptFile} props={receipt} />
) : isWall ? (
  <Loaded file={wallFile} props={{}} />
) : (
  <App />
)
forgetOldPlans(Date.now())
// Without a session the first page is none for a driver.
draw(page, { ...(!isReceipt && !isWall && { home: '/' }), isAlone: isWall })
