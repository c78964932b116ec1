import { useEffect } from 'preact/hooks'
import { checkFile, startScanning } from './codes/scan-field.tsx'
import { decoded } from './data/parsing.ts'
import type { Person, Session } from './data/shapes.ts'
import { draw } from './drawing.ts'
import { Console } from './floor/console.tsx'
import { language } from './i18n/language.ts'
import { numberOf, useAddress } from './kit/address.ts'
import { useTitle } from './kit/title.ts'
import { Loaded, Waiting } from './loaded.tsx'
import { pageAt } from './page-at.ts'
import { forgetOldPlans } from './plan/forget.ts'
import { SignIn, SignInAgain } from './sign-in/sign-in.tsx'
import { StepUp } from './sign-in/step-up.tsx'
import { useSession } from './sign-in/use-session.ts'
import { findFile, keepFile, missingFile, pairFile, receiptFile, viewFiles, wallFile } from './view-files.ts'

const fetchAheadMs = 3000
const fetchAhead = () => Promise.all([keepFile(findFile), checkFile()]).catch(() => {})

const App = () => {
  const { pathname, search } = useAddress()
  const { session, trouble, notice, ended, round, isSignedIn, changed, signIn, goOn, leave } = useSession(pathname)
  useTitle(session, pathname)
  useScanning(session, isSignedIn)
  if (!session) return <Waiting trouble={trouble} />
  const { siteId } = session
  const caller = session.caller ?? undefined
  const asked = new URLSearchParams(search)
  const page = pageAt(caller, pathname, asked)
  if (page.kind === 'link') {
    const { code, signed } = page
    const at = asked.get('at') ?? undefined
    return <Loaded file={findFile} props={{ siteId, caller, code, at, signed, onLeft: leave }} />
  }
  if (page.kind === 'nothing')
    return <Loaded file={missingFile} props={{ siteId, caller: session.caller, pathname, onLeft: leave }} />
  if (page.kind === 'sign-in' || !caller)
    return <SignIn session={session} hasPasskeys notice={notice} onSignedIn={signIn} />
  return (
    <>
      {changed}
      <Signed key={round} {...{ page, pathname, asked, siteId, caller }} onLeft={leave} />
      {ended ? <SignInAgain session={ended} notice={notice} onSignedIn={goOn} /> : null}
      <StepUp caller={caller} />
    </>
  )
}

/** Takes scans while somebody is signed in, and has the first of them open its view at once. */
function useScanning(session: Session | undefined, isSignedIn: boolean): void {
  useEffect(() => (isSignedIn && session ? startScanning(session.instance) : undefined), [session, isSignedIn])
  useEffect(() => {
    if (!session?.caller) return
    const timer = setTimeout(fetchAhead, fetchAheadMs)
    return () => clearTimeout(timer)
  }, [session?.caller === undefined])
}

type SignedProps = {
  page: Exclude<ReturnType<typeof pageAt>, { kind: 'link' | 'nothing' | 'sign-in' }>
  pathname: string
  asked: URLSearchParams
  siteId: string
  caller: Person
  onLeft: (why: string) => void
}

/** The page of a person who is signed in. */
const Signed = ({ page, pathname, asked, ...view }: SignedProps) => {
  const at = asked.get('at') ?? undefined
  if (page.kind === 'find')
    return <Loaded file={findFile} props={{ ...view, code: page.code, at, signed: undefined }} />
  if (page.kind === 'pair') return <Loaded file={pairFile} props={{ ...view, code: page.code }} />
  if (page.kind === 'withheld') return <Loaded file={missingFile} props={{ ...view, pathname, view: page.view }} />
  const file = viewFiles[page.view]
  if (file) return <Loaded file={file} props={{ ...view, pathname, asked }} />
  return <Console {...view} slot={numberOf(asked.get('slot'))} at={isTime(at) ? at : undefined} />
}

/** Says whether an address has a time that is one. */
const isTime = (text: string | undefined) => Number.isFinite(Date.parse(text ?? ''))

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
