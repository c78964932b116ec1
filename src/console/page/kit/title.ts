import { useEffect } from 'preact/hooks'
import { decoded } from '../data/parsing.ts'
import type { Session } from '../data/shapes.ts'
import { texts } from '../i18n/texts.ts'
import { viewAt } from './views.ts'

/** Gives the tab a title: the thing or view, the site, the product. Before a sign-in it names the site alone. */
export function useTitle(session: Session | undefined, pathname: string): void {
  useEffect(() => {
    const thing = session?.caller ? thingOf(pathname) : []
    document.title = [...thing, ...(session ? [session.siteId] : []), 'Gatehouse'].join(' · ')
  }, [session, pathname])
}

/** Returns what an address is of: a code, or the id and the name of a view. */
function thingOf(pathname: string): readonly string[] {
  const [, code] = /^\/find\/([^/]+)\/?$/.exec(pathname) ?? []
  if (code !== undefined) return [decoded(code)]
  const view = viewAt(pathname)
  if (view === undefined) return []
  const [, , id] = pathname.split('/')
  return id === undefined || id === '' ? [texts.views[view]] : [`${texts.views[view]} ${decoded(id)}`]
}
