import { texts } from '../i18n/texts.ts'
import { viewAt } from './views.ts'

type Shown = { readonly pathname: string; readonly siteId: string; readonly isSignedIn: boolean }

/** Returns the title of the tab: the thing and the view, the site, the product. Before a sign-in only the site. */
export function titleOf({ pathname, siteId, isSignedIn }: Shown): string {
  const parts = isSignedIn ? [...thingOf(pathname), siteId] : [siteId]
  return [...parts, 'Gatehouse'].join(' · ')
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

/** Returns a part of an address as text; as it is when it cannot be decoded. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
