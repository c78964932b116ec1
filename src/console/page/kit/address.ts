import { useEffect, useState } from 'preact/hooks'
import { membersOf } from '../data/parsing.ts'

/** Where the page is: path and query of its address. */
export type Address = { readonly pathname: string; readonly search: string }

const listeners = new Set<() => void>()

function tell(): void {
  shown = location.pathname
  for (const listener of listeners) listener()
}

/** The path of the view that is shown, and how many steps of this page are before it. */
let shown = location.pathname
let step = stepOf(history.state) ?? 0
history.replaceState({ step }, '')

function stepOf(state: unknown): number | undefined {
  const known = membersOf(state)['step']
  return typeof known === 'number' ? known : undefined
}

/** `isUnsaved`: whether it would lose something when this path is opened; '' is another page. */
type Keeper = { readonly asks: () => boolean; readonly isUnsaved: (path: string) => boolean }

const keepers = new Set<Keeper>()

/**
 * Asks before a link of the console, the back button or the browser leaves a view with something unsaved. A scan leaves
 * no such view. Returns a function that ends it.
 */
export function keepsUnsaved(asks: () => boolean, isUnsaved: Keeper['isUnsaved'] = () => true): () => void {
  const mine = { asks, isUnsaved }
  const hold = (event: BeforeUnloadEvent) => isUnsaved('') && event.preventDefault()
  keepers.add(mine)
  addEventListener('beforeunload', hold)
  return () => {
    keepers.delete(mine)
    removeEventListener('beforeunload', hold)
  }
}

const pathOf = (to: string) => new URL(to, location.origin).pathname
const isOtherView = (to: string) => pathOf(to) !== shown
const losing = (to: string) => (isOtherView(to) ? [...keepers].filter(({ isUnsaved }) => isUnsaved(pathOf(to))) : [])

/** Says whether something unsaved is lost when this address is opened. */
export const losesUnsaved = (to: string): boolean => losing(to).length > 0

/** Says whether the view has something that is not sent. */
export const hasUnsaved = (): boolean => [...keepers].some(({ isUnsaved }) => isUnsaved(''))

/** Asks for all that is lost when this address is opened. */
const mayOpen = (to: string): boolean => losing(to).every(({ asks }) => asks())

/** Asks for all that is lost when no view is left, as by a sign-out. */
export const mayEnd = (): boolean => [...keepers].filter(({ isUnsaved }) => isUnsaved('')).every(({ asks }) => asks())

let isTakenBack = false
addEventListener('popstate', ({ state }) => {
  if (isTakenBack) {
    isTakenBack = false
    return
  }
  const next = stepOf(state)
  // A link within the view makes a separate step.
  if (next === undefined) history.replaceState({ step: step + 1 }, '')
  if (next !== undefined && next !== step && !mayOpen(location.pathname)) {
    isTakenBack = true
    history.go(step - next)
    return
  }
  step = next ?? step + 1
  tell()
})

/** Opens another view of the console without loading the page again, so that no key of a scanner is lost. */
export function go(to: string): void {
  if (!mayOpen(to)) return
  goSent(to)
}

/** Opens what a form has made: what was typed there is sent, so no one is asked. */
export function goSent(to: string): void {
  if (to === location.pathname + location.search) return
  const isOther = isOtherView(to)
  step += 1
  history.pushState({ step }, '', to)
  tell()
  if (isOther) scrollTo(0, 0)
}

/** Changes the address in its place, without a step for the back button. */
export function goInstead(to: string): void {
  history.replaceState({ step }, '', to)
  tell()
}

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
  event.preventDefault()
  go(link.pathname + link.search)
}

/** Returns the address of a code's page. */
export const pageOfCode = (code: string, atMs?: string): string =>
  `/find/${encodeURIComponent(code)}${atMs === undefined ? '' : `?at=${encodeURIComponent(atMs)}`}`

/** Reads an id of an address; undefined for what is none. */
export const numberOf = (text: string | null): number | undefined =>
  text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
