import type { Page } from 'playwright-core'
import { waitUntil } from './waiting.ts'

type Which = (path: string) => boolean

/** A page that follows the stream, with its time in the hands of the test. */
export type LivePage = {
  readonly page: Page
  /** Paths of its requests to the API, except for its session and the stream. */
  readonly asked: string[]
  /** Resolves after so many messages of a kind since it was followed. An open stream at the gateway proves less. */
  hears(kind: string, count?: number): Promise<void>
  /** Stops its time. From now on only `goOn`, and functions that use it, move it. */
  stop(): Promise<void>
  /** Lets so much of its time pass, in small steps, so that answers of the network arrive in between. */
  goOn(ms: number): Promise<void>
  /** Lets its time go on until all its requests are answered. */
  settle(): Promise<void>
  /**
   * Stops its time. Then lets it pass until the page has the stream and has sent no request of this kind for 16 s. The page repeats
   * requests from before the stream. Without a stream a page asks every 15 s, with it once a minute.
   */
  rest(which?: Which): Promise<void>
}

const stepMs = 19
const quietMs = 16_000
const mostLooks = 5

/** Follows a page from before its sign-in on, so that nothing is missed. */
export async function followed(page: Page): Promise<LivePage> {
  const heard = new Map<string, number>()
  const chrome = await page.context().newCDPSession(page)
  await chrome.send('Network.enable')
  chrome.on('Network.eventSourceMessageReceived', ({ eventName }) =>
    heard.set(eventName, (heard.get(eventName) ?? 0) + 1),
  )
  const asked: string[] = []
  const open = new Set<object>()
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (!pathname.startsWith('/api/') || /^\/api\/(stream|session)$/.test(pathname)) return
    asked.push(pathname)
    open.add(request)
  })
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))
  await page.clock.install()
  const hears = (kind: string, count = 1) =>
    waitUntil(`the page hears ${count} × ${kind}`, () => (heard.get(kind) ?? 0) >= count)
  const stop = async () => page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 1000)
  const goOn = async (ms: number) => {
    for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) await page.clock.runFor(Math.min(stepMs, leftMs))
  }
  const settle = async () => {
    for (let quiet = 0; quiet < 3; ) {
      await waitUntil('the page has what it asked for', () => open.size === 0)
      await goOn(5 * stepMs)
      quiet = open.size === 0 ? quiet + 1 : 0
    }
  }
  const rest = async (which: Which = () => true) => {
    await hears('hello')
    await stop()
    for (let looks = 0; looks < mostLooks; looks += 1) {
      await settle()
      const before = asked.filter(which).length
      await page.clock.runFor(quietMs)
      await settle()
      if (asked.filter(which).length === before) return
    }
    throw new Error(`The page asks again and again: ${asked.slice(-20).join(' ')}`)
  }
  return { page, asked, hears, stop, goOn, settle, rest }
}
