import { useEffect, useRef } from 'preact/hooks'
import type { SignedIn } from './data/shapes.ts'
import { texts } from './i18n/texts.ts'
import { follow } from './kit/address.ts'
import { Bar } from './kit/bar.tsx'
import { focusFirst } from './kit/first-focus.ts'
import type { ViewName } from './kit/views.ts'
import { missingTexts as words } from './missing-texts.ts'

export type MissingProps = {
  readonly siteId: string
  readonly caller: SignedIn | null
  readonly pathname: string
  /** The view of the address, when there is one that the caller may not use. */
  readonly view?: ViewName | undefined
  readonly onLeft: (why: string) => void
}

/** Said at an address without a view for the caller: what is wrong, what to do, and the way home. */
export const View = ({ siteId, caller, pathname, view, onLeft }: MissingProps) => {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => focusFirst(title.current), [])
  const role = texts.roles[caller?.role ?? ''] ?? caller?.role ?? ''
  const isWaiting = view !== undefined && caller?.withheld !== undefined
  const [heading, about] = view
    ? [(isWaiting ? words.notNow : words.notYours)(texts.views[view]), isWaiting ? words.confirming : words.whichRole]
    : [words.title, () => words.said(pathname)]
  const said = (
    <>
      <h1 tabindex={-1} ref={title}>
        {heading}
      </h1>
      <p class="missing-path">{about(caller?.username ?? '', role)}</p>
    </>
  )
  if (!caller)
    return (
      <main class="gate">
        <div class="gate-card">
          {said}
          <p>
            <a class="missing-way" href="/" onClick={follow}>
              {words.signIn}
            </a>
          </p>
        </div>
      </main>
    )
  return (
    <>
      <Bar here={undefined} siteId={siteId} caller={caller} onLeft={onLeft} />
      <main class="missing-page">
        <div class="card">
          {said}
          {view ? null : <p>{words.scan}</p>}
          <p class="missing-ways">
            {/* Loads the page anew, with the role that the caller has by then. */}
            {isWaiting ? (
              <a class="missing-way" href={pathname}>
                {words.again}
              </a>
            ) : null}
            <a class="missing-way" href="/" onClick={follow}>
              {words.home}
            </a>
            <a class="missing-way" href="/todo" onClick={follow}>
              {words.todo}
            </a>
          </p>
        </div>
      </main>
    </>
  )
}
