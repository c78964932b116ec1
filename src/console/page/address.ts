import { useEffect, useState } from 'hono/jsx/dom'
import { isFloorPage } from './floor-pages.ts'

/** Where the page is: path and query of its address. */
export type Address = { readonly pathname: string; readonly search: string }

const listeners = new Set<() => void>()
addEventListener('popstate', () => tell())

function tell(): void {
  for (const listener of listeners) listener()
}

let mayLeave: (() => boolean) | undefined

/**
 * Asks before a link of the console, or the browser, leaves a page with something unsaved. The back button asks nothing. Returns a
 * function that ends it.
 */
export function keepsUnsaved(asks: () => boolean): () => void {
  const hold = (event: BeforeUnloadEvent) => event.preventDefault()
  mayLeave = asks
  addEventListener('beforeunload', hold)
  return () => {
    mayLeave = undefined
    removeEventListener('beforeunload', hold)
  }
}

/** Opens another view of the console without loading the page again, so that no key of a scanner is lost. */
export function go(to: string): void {
  if (to === location.pathname + location.search) return
  const isOtherView = new URL(to, location.origin).pathname !== location.pathname
  if (isOtherView && mayLeave && !mayLeave()) return
  history.pushState(null, '', to)
  tell()
  if (isOtherView) scrollTo(0, 0)
}

/** Changes the address in its place, without a step for the back button. */
export function goInstead(to: string): void {
  history.replaceState(null, '', to)
  tell()
}

/** The pages of the floor are those of another version than the rest: a link between the two is loaded whole. */
const hasTwoLayouts = document.documentElement.dataset['layouts'] === 'two'

const here = (): Address => ({ pathname: location.pathname, search: location.search })

/** Returns the address, and draws again when it changes. */
export function useAddress(): Address {
  const [address, setAddress] = useState(here())
  useEffect(() => {
    const look = () => setAddress(here())
    listeners.add(look)
    return () => {
      listeners.delete(look)
    }
  }, [])
  return address
}

/** Takes a plain click on a link of the console: it changes the view without loading the page. */
export function follow(event: MouseEvent): void {
  const link = event.currentTarget
  if (!(link instanceof HTMLAnchorElement) || event.button !== 0) return
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  if (hasTwoLayouts && isFloorPage(link.pathname) !== isFloorPage(location.pathname)) return
  event.preventDefault()
  go(link.pathname + link.search)
}

/** Returns the address of a code's page. */
export const pageOfCode = (code: string, atMs?: string): string =>
  `/find/${encodeURIComponent(code)}${atMs === undefined ? '' : `?at=${encodeURIComponent(atMs)}`}`

/** Reads an id of an address; undefined for what is none. */
export const numberOf = (text: string | null): number | undefined =>
  text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
