import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { waitUntil } from '../../test/support/waiting.ts'
import { secret } from './site.ts'
import { median } from './statistics.ts'

const rounds = 7

/** Notes when the plan with its slots is on the screen: the first frame after the drawing one. */
const probe = `new MutationObserver((_, observer) => {
  if (!document.getElementById('plan-cursor')?.getAttribute('aria-label')) return
  observer.disconnect()
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => { window.usefulMs = performance.now() }
    port2.postMessage(0)
  })
}).observe(document, { subtree: true, childList: true, attributes: true })`

export type Loaded = {
  readonly usefulMs: number
  readonly scriptBytes: number
  readonly allBytes: number
}

/** Resolves when the plan with its slots is on the screen. */
export const isUseful = (page: Page): Promise<void> =>
  waitUntil('the plan is on the screen', () => page.evaluate<boolean>('window.usefulMs !== undefined'))

/** Gives the browser a session of the one account. */
export async function signedInContext(browser: Browser, url: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' })
  const data = { username: 'ada', secret }
  const answer = await context.request.post(`${url}/api/session`, { data })
  if (answer.status() !== 201) throw new Error(`the sign-in answered ${answer.status()}: ${await answer.text()}`)
  await context.addInitScript(probe)
  return context
}

/** Loads the page again and again without its cache; returns the medians. `slower`: how many times the processor is slowed down. */
export async function loaded(context: BrowserContext, url: string, slower: number): Promise<Loaded> {
  const page = await context.newPage()
  const chrome = await context.newCDPSession(page)
  await chrome.send('Network.setCacheDisabled', { cacheDisabled: true })
  if (slower > 1) await chrome.send('Emulation.setCPUThrottlingRate', { rate: slower })
  const all: Loaded[] = []
  for (let round = 0; round <= rounds; round += 1) {
    await page.goto('about:blank')
    const one = await loadedOnce(page, url)
    // The first round fills caches of the gateway.
    if (round > 0) all.push(one)
  }
  await page.close()
  const last = all.at(-1) as Loaded
  return { ...last, usefulMs: median(all.map(({ usefulMs }) => usefulMs)) }
}

async function loadedOnce(page: Page, url: string): Promise<Loaded> {
  await page.goto(url)
  await isUseful(page)
  return page.evaluate<Loaded>(`(() => {
    const files = performance.getEntriesByType('resource').filter(({ responseEnd }) => responseEnd <= window.usefulMs)
    const [document] = performance.getEntriesByType('navigation')
    const bytes = (all) => all.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
    return {
      usefulMs: window.usefulMs,
      scriptBytes: bytes(files.filter(({ name }) => new URL(name).pathname.endsWith('.js'))),
      allBytes: bytes([...files, document]),
    }
  })()`)
}

/** The floor as it is on the screen, as one file without scripts. */
export async function frozen(context: BrowserContext, url: string): Promise<string> {
  const page = await context.newPage()
  await loadedOnce(page, url)
  const text = await page.evaluate<string>(`(async () => {
    for (const sheet of document.querySelectorAll('link[rel=stylesheet]')) {
      const style = document.createElement('style')
      style.textContent = await (await fetch(sheet.href)).text()
      sheet.replaceWith(style)
    }
    for (const script of document.querySelectorAll('script, link')) script.remove()
    return document.documentElement.outerHTML
  })()`)
  await page.close()
  return `<!doctype html>${text}`
}

/**
 * Serves a gzipped page as the peer of a page that fetches `bytes` in all. A comment in its head that cannot be compressed fills it
 * up to that size. Returns its address, and a function that ends it.
 */
export async function serveStatic(page: string, bytes: number): Promise<{ url: string; end: () => Promise<void> }> {
  const padding = Math.max(0, bytes - gzipSync(page).length)
  // Base64 of chance shrinks to its three quarters again.
  const noise = Array.from({ length: Math.ceil(padding / 65_536) }, () =>
    crypto.getRandomValues(new Uint8Array(65_536)),
  )
  const comment = Buffer.concat(noise).subarray(0, padding).toString('base64')
  const body = gzipSync(page.replace('<head>', `<head><!--${comment}-->`))
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Encoding': 'gzip' })
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    end: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
