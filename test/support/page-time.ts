import type { Page } from 'playwright-core'
import { until } from './cloud.ts'
import { patienceMs } from './waiting.ts'

/** The requests to the gateway that a page waits for, without its stream. To be called before they begin. */
export function openRequests(page: Page): ReadonlySet<unknown> {
  const open = new Set<unknown>()
  page.on('request', (request) => /\/api\/(?!stream)/.test(request.url()) && open.add(request))
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))
  return open
}

/** Lets the time of a page (`page.clock`) go on until it has all that it asked for. What is on its way is not what a message is applied to. */
export async function settle(page: Page, open: ReadonlySet<unknown>): Promise<void> {
  for (let quiet = 0; quiet < 3; ) {
    await until(() => open.size === 0)
    await page.clock.runFor(200)
    quiet = open.size === 0 ? quiet + 1 : 0
  }
}

/**
 * Lets the time of a page go on until it asks for nothing of a kind in 16 s, because the stream tells it what changes: without
 * the stream it asks every 15 s, with it once a minute. That the gateway has the connection says nothing of it: the page hears it
 * later, and asks once more for what came before.
 */
export async function untilQuiet(page: Page, open: ReadonlySet<unknown>, isAbout: RegExp): Promise<void> {
  const endMs = performance.now() + patienceMs
  let asked = 0
  const count = (request: { url(): string }) => {
    if (isAbout.test(new URL(request.url()).pathname)) asked += 1
  }
  page.on('request', count)
  do {
    if (performance.now() > endMs) throw new Error('The page asks again and again.')
    await settle(page, open)
    asked = 0
    await page.clock.runFor(16_000)
  } while (asked > 0)
  page.off('request', count)
}
