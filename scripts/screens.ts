/**
 * `npm run screens`: takes a picture of every view in both themes, for the README: src/console/screens/NAME-THEME.webp.
 *   --folder PATH   somewhere else
 *   --screen NAME   desktop (default), tablet or handheld; the pages for handhelds and the wall have their own size with desktop
 *   --only NAME,…   some of the views, by the names of their files
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { launchBrowser, open, signIn } from '../test/support/browser.ts'
import { people } from '../test/support/gateway.ts'
import { livelyHall } from '../test/support/lively-hall.ts'
import { screens, themes } from '../test/support/screens.ts'

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: join(import.meta.dirname, '../src/console/screens') },
    screen: { type: 'string', default: 'desktop' },
    only: { type: 'string' },
  },
})
const folder = resolve(values.folder)
if (!Object.hasOwn(screens, values.screen))
  throw new Error(`--screen takes ${Object.keys(screens).join(', ')}, not ${values.screen}`)
const screen = screens[values.screen as keyof typeof screens]
const isUsual = values.screen === 'desktop'
const only = values.only?.split(',')
const quality = 78

/** By the name of the picture, the address. */
const everyView: Readonly<Record<string, string>> = {
  floor: '',
  'find-p-002-02': 'find/P-002-02',
  todo: 'todo',
  verify: 'verify',
  cameras: 'cameras',
  camera: 'cameras/1',
  units: 'units',
  unit: 'units/UNIT',
  counts: 'counts',
  labels: 'labels',
  incidents: 'incidents',
  reports: 'reports',
  audit: 'audit',
  plan: 'plan',
  alerts: 'alerts',
  system: 'system',
  devices: 'devices',
  webhooks: 'webhooks',
  uploads: 'uploads',
  receipt: 'receipt/UNIT',
}
const handheldViews = ['scan', 'training', 'trust']
const wallSize = { width: 1280, height: 720 }

const isAsked = (name: string): boolean => only === undefined || only.includes(name)

/** Waits until the page shows what it has. */
async function isReady(page: Page): Promise<void> {
  await page.locator('main').waitFor()
  await page.waitForLoadState('networkidle', { timeout: 5000 }).catch(() => {})
  await page.evaluate('document.fonts.ready')
  await page.waitForTimeout(400)
}

async function take(page: Page, name: string): Promise<void> {
  if (!isAsked(name)) return
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
  const { gateway, url } = await livelyHall(t)
  const { page } = await open(t, browser, url, { ...screen, reducedMotion: 'reduce' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await take(page, 'sign-in')
  await signIn(page, 'ada')
  await page.locator('#floor').waitFor()
  const { body: units } = await gateway.ask('GET', '/api/whms/transport-units', { by: people.ada })
  for (const [name, view] of Object.entries(everyView)) {
    if (!isAsked(name)) continue
    await page.goto(`${url}${view.replace('UNIT', units.data.at(-1).id)}`)
    await isReady(page)
    await take(page, name)
  }
  if (isUsual) await page.setViewportSize(screens.handheld.viewport)
  for (const view of handheldViews.filter(isAsked)) {
    await page.goto(`${url}${view}`)
    await isReady(page)
    await take(page, view)
  }
  if (isAsked('wall')) {
    const device = await gateway.ask('POST', '/api/devices', {
      by: people.ada,
      body: { name: 'wall-1', kind: 'kiosk' },
    })
    if (isUsual) await page.setViewportSize(wallSize)
    await page.goto(`${url}wall`)
    await isReady(page)
    await take(page, 'wall-enrolment')
    await page.getByRole('textbox').fill(device.body.enrolment.code)
    await page.getByRole('button', { name: 'Enrol this screen' }).click()
    await page.locator('.wall-figures').waitFor()
    await isReady(page)
    await take(page, 'wall')
  }
} finally {
  for (const end of ends) await end()
  await browser.close()
}
