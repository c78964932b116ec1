import { decoded } from './data/parsing.ts'
import type { SignedIn } from './data/shapes.ts'
import { mayUse, type ViewName, viewAt } from './kit/views.ts'

type Page =
  /** An expiring link, which needs no sign-in. */
  | { readonly kind: 'link'; readonly code: string | undefined; readonly signed: string }
  /** The address of nothing. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'sign-in' }
  | { readonly kind: 'find'; readonly code: string | undefined }
  | { readonly kind: 'pair'; readonly code: string }
  /** A view for which this person has no permission. */
  | { readonly kind: 'withheld'; readonly view: ViewName }
  | { readonly kind: 'view'; readonly view: ViewName }

/** Returns the page of an address for this person. Pure. */
export function pageAt(caller: SignedIn | undefined, pathname: string, asked: URLSearchParams): Page {
  const [isFind, found] = /^\/find(?:\/([^/]+))?\/?$/.exec(pathname) ?? []
  const code = found && decoded(found)
  const signed = asked.get('signed')
  if (!caller && isFind && signed !== null) return { kind: 'link', code, signed }
  const [, paired] = /^\/pair\/([^/]+)$/.exec(pathname) ?? []
  const isSettingUp = caller?.secondFactor === 'missing'
  const view = isSettingUp ? 'people' : pathname === '/sign-in' ? 'floor' : viewAt(pathname)
  if (!isFind && !view && paired === undefined) return { kind: 'nothing' }
  if (!caller) return { kind: 'sign-in' }
  if (isFind && !isSettingUp) return { kind: 'find', code }
  if (paired !== undefined && !isSettingUp) return { kind: 'pair', code: decoded(paired) }
  return view && !mayUse(view, caller) ? { kind: 'withheld', view } : { kind: 'view', view: view ?? 'floor' }
}
