/**
 * `npm run screens`: takes a picture of every view in both themes, for the README: src/console/screens/NAME-THEME.webp.
 *   --folder PATH   somewhere else
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { launchBrowser, open, signIn } from '../test/support/browser.ts'
import { livelyHall } from '../test/support/lively-hall.ts'
import { themes } from '../test/support/screens.ts'

const { values } = parseArgs({
  options: { folder: { type: 'string', default: join(import.meta.dirname, '../src/console/screens') } },
})
const folder = resolve(values.folder)
const quality = 78
const everyView = [
  ...[
    '',
    'find/P-002-02',
    'todo',
    'verify',
    'cameras',
    'units',
    'counts',
    'labels',
    'incidents',
    'reports',
    'audit',
    'plan',
  ],
  ...['alerts', 'system', 'devices', 'webhooks', 'uploads'],
]

/** Waits until the page shows what it has. */
async function isReady(page: Page): Promise<void> {
  await page.locator('main').waitFor()
  await page.waitForLoadState('networkidle', { timeout: 5000 }).catch(() => {})
  await page.evaluate('document.fonts.ready')
  await page.waitForTimeout(400)
}

async function take(page: Page, name: string): Promise<void> {
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme })
    await page.waitForTimeout(200)
    const chrome = await page.context().newCDPSession(page)
    const { data } = await chrome.send('Page.captureScreenshot', { format: 'webp', quality })
    writeFileSync(join(folder, `${name}-${colorScheme}.webp`), Buffer.from(data, 'base64'))
  }
}

const ends: (() => unknown)[] = []
const browser = await launchBrowser()
if (!browser) throw new Error('no Chromium here: apt-get install chromium')
mkdirSync(folder, { recursive: true })
try {
  const t = { teardown: (work: () => unknown) => void ends.unshift(work) }
  const { url } = await livelyHall(t)
  const context = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' } as const
  const { page } = await open(t, browser, url, context)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await take(page, 'sign-in')
  await signIn(page, 'ada')
  await page.locator('#floor').waitFor()
  for (const view of everyView) {
    await page.goto(`${url}${view}`)
    await isReady(page)
    await take(page, view === '' ? 'floor' : view.replaceAll(/\W+/g, '-').toLowerCase())
  }
  for (const view of ['scan', 'training', 'trust']) {
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${url}${view}`)
    await isReady(page)
    await take(page, view)
  }
} finally {
  for (const end of ends) await end()
  await browser.close()
}
