import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, Refused, Unreachable } from '../data/ask.ts'
import { locale } from '../i18n/language.ts'
import { formatted } from '../i18n/words.ts'
import type { Site } from './list.ts'
import { hubTexts as words } from './texts.ts'

/** Returns the problem in the page's language; in the server's words where only the server knows it. */
export function problemOf(error: unknown): string {
  if (error instanceof Unreachable) return words.unreachable
  if (!(error instanceof Refused)) return words.failed(String(error))
  if (error.code === 'RATE_LIMITED') return words.tooMany(error.retryAfterSeconds)
  return words.failed(error.message)
}

/** `fields`: problem of each value of the question, by its name. */
export type Asked<T> = {
  readonly answer: T | undefined
  readonly problem: string
  readonly code: string
  readonly fields: ReadonlyMap<string, string>
}

/**
 * Requests a path, and again every `everyMs` while the page is visible and at once when it is visible again. Keeps the last answer
 * when the next request fails. Without a path it requests nothing.
 */
export function useAnswer<T>(path: string | undefined, onLeft: () => void, everyMs?: number): Asked<T> {
  const [asked, setAsked] = useState<Asked<T> & { readonly path?: string | undefined }>(nothing)
  const wanted = useRef(path)
  wanted.current = path
  useEffect(() => {
    if (path === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    let isAsking = false
    const round = async () => {
      if (isAsking) return
      isAsking = true
      clearTimeout(timer)
      await look()
      isAsking = false
      if (!isOver && everyMs !== undefined) timer = setTimeout(roundIfSeen, everyMs)
    }
    const roundIfSeen = () => {
      if (!document.hidden) void round()
    }
    const look = async () => {
      try {
        const answer = await ask<T>(path)
        if (!isOver) setAsked({ ...nothing, answer, path })
      } catch (error) {
        if (isOver) return
        if (error instanceof Refused && error.isSignedOut) return onLeft()
        const { code, fields } = error instanceof Refused ? error : nothing
        const now = { problem: problemOf(error), code, fields, path }
        setAsked((before) => ({ ...(before.path === path ? before : nothing), ...now }))
      }
    }
    // The first answer comes also to a page in the background.
    void round()
    if (everyMs !== undefined) document.addEventListener('visibilitychange', roundIfSeen)
    return () => {
      isOver = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', roundIfSeen)
    }
  }, [path])
  return asked.path === path ? asked : nothing
}

const nothing = { answer: undefined, problem: '', code: '', fields: new Map<string, string>() } as const

const short = new Intl.RelativeTimeFormat(locale, { style: 'short', numeric: 'always' })

/** Returns how long ago, in one unit. */
export function agoOf(seconds: number): string {
  if (seconds < 120) return short.format(-seconds, 'second')
  if (seconds < 2 * 3600) return short.format(-Math.floor(seconds / 60), 'minute')
  if (seconds < 48 * 3600) return short.format(-Math.floor(seconds / 3600), 'hour')
  return short.format(-Math.floor(seconds / 86_400), 'day')
}

/** Says a time by the clock of the site where it was. */
export type SiteClock = (siteId: string, iso: string) => string

/** Facts of the sites that views add to their own answers. */
export type SiteFacts = {
  readonly timeAt: SiteClock
  /** The name of a site; its id as long as that is all that is known. */
  readonly nameOf: (siteId: string) => string
  /** Whether this account may do something at a site: its role there may be another one than elsewhere. */
  readonly may: (siteId: string, permission: string) => boolean
}

/** Returns the known facts of the sites. Times of an unknown site are in UTC, as received. */
export function useSiteFacts(isWanted: boolean, onLeft: () => void): SiteFacts {
  const { answer } = useAnswer<{ data: readonly Site[] }>(isWanted ? '/api/hub/sites' : undefined, onLeft)
  const sites = new Map(answer?.data.map((site) => [site.siteId, site]))
  return {
    timeAt: (siteId, iso) => {
      const zone = sites.get(siteId)?.timezone
      return zone === undefined ? iso : timeOf(iso, zone)
    },
    nameOf: (siteId) => sites.get(siteId)?.name ?? siteId,
    may: (siteId, permission) => sites.get(siteId)?.permissions.includes(permission) ?? false,
  }
}

/** Returns a site as the list has it, and asks again every `everyMs`; undefined until it is known. */
export function useSite(siteId: string | undefined, onLeft: () => void, everyMs?: number): Site | undefined {
  const { answer } = useAnswer<{ data: readonly Site[] }>('/api/hub/sites', onLeft, everyMs)
  return answer?.data.find((one) => one.siteId === siteId)
}

/** Returns a time of day with its date, in the zone of a site, or this device's. */
export const timeOf = (iso: string, timeZone?: string): string =>
  formatted(Date.parse(iso), timeZone, { dateStyle: 'medium', timeStyle: 'short' })
