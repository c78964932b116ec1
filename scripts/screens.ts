/**
 * `npm run screens`: takes a picture of every view in both themes: src/console/screens/NAME-THEME.webp.
 *
 * - `--folder PATH`: another folder
 * - `--screen NAME`: desktop (default), tablet or handheld; the pages for handhelds and the wall have their own size with
 *   desktop
 * - `--only NAME,…`: some of the views, by the names of their files
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser, open, signIn } from '../test/support/browser.ts'
import { heldPhoto, type Person, people, type TestGateway } from '../test/support/gateway.ts'
import { liveYard } from '../test/support/live-yard.ts'
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
  find: 'find/340123450000000017',
  todo: 'todo',
  verify: 'verify?slot=SLOT',
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
}
const pallets = ['340123450000000017', '340123450000000024', '340123450000000031']
const handheldViews = ['scan', 'training', 'trust']
const wallSize = { width: 1280, height: 720 }

const isAsked = (name: string): boolean => only === undefined || only.includes(name)

/** A pallet with four boxes in front of a rack, as a photo of an entry would have it. */
const pallet = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 480" width="640" height="480">
  <rect width="640" height="480" fill="#8d979d"/><rect y="330" width="640" height="150" fill="#6f7478"/>
  <path d="M40 0v340M600 0v340" stroke="#2f5d8c" stroke-width="22"/><path d="M0 70h640" stroke="#c96a1b" stroke-width="26"/>
  <path d="M110 372h420v14H110zM110 412h420v14H110zM120 386h40v26h-40zM300 386h40v26h-40zM480 386h40v26h-40z" fill="#a9804c"/>
  ${[
    [130, 238],
    [322, 238],
    [130, 104],
    [322, 104],
  ]
    .map(
      ([x = 0, y = 0]) =>
        `<rect x="${x}" y="${y}" width="188" height="130" fill="#b98c58" stroke="#8a6436" stroke-width="3"/>` +
        `<path d="M${x} ${y + 60}h188" stroke="#d9c09a" stroke-width="12"/>`,
    )
    .join('')}
  <rect x="356" y="256" width="96" height="68" fill="#fff"/>
  <path d="M366 266v34M372 266v34M380 266v34M385 266v34M394 266v34M404 266v34M409 266v34M418 266v34M426 266v34M438 266v34"
    stroke="#111" stroke-width="3"/>
  <path d="M366 312h60" stroke="#111" stroke-width="5"/>
</svg>`

/** Returns the drawing above as a picture. */
async function pictureOfPallet(browser: Browser): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 640, height: 480 } })
  await page.setContent(`<body style="margin:0">${pallet}`)
  const picture = await page.screenshot()
  await page.close()
  return picture
}

/** A pallet of a registered lot that was moved, and two more of that lot. */
async function lot(gateway: TestGateway, picture: Buffer): Promise<void> {
  const record = (body: object, by: Person = people.olga) => {
    gateway.clock.advance(37_000)
    return gateway.ask('POST', '/api/whms/events', { by, body })
  }
  for (const [n, asset_id] of pallets.entries()) {
    const goods = { type: 'pallet', gtin: '04012345678901', lot: 'L-2611', weight_kg: 412.5 }
    await gateway.ask('POST', '/api/whms/assets', { by: people.ada, body: { asset_id, ...goods } })
    for (const slot_code of n === 0 ? ['003-05', '006-05'] : [`0${n === 1 ? '09' : '12'}-08`]) {
      const photo_url = await heldPhoto(gateway, Number(slot_code.replace('-', '')), picture)
      const where = { slot_code, asset_barcode: asset_id }
      await record({ event_type: 'PLACED', ...where, photo_url, scale_weight_kg: 412.5 })
    }
  }
  await record({ event_type: 'VERIFIED', slot_code: '006-05', asset_barcode: pallets[0] }, people.sven)
}

/** The sign-in over a view in which something is typed. */
async function takeSignInAgain(page: Page, view: string): Promise<void> {
  await page.goto(view)
  await isReady(page)
  await page.getByLabel('Note').fill('The wrap is torn.')
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Dispute' }).click()
  await page.getByRole('dialog', { name: 'Sign in' }).waitFor()
  await take(page, 'sign-in-again')
  await signIn(page, 'ada')
  await page.getByRole('dialog', { name: 'Sign in' }).waitFor({ state: 'detached' })
  await page.getByLabel('Note').fill('')
}

/** Takes the view of a driver who scans the code of a receipt, on a phone that is not signed in. */
async function takeReceipt(browser: Browser, gateway: TestGateway, url: string, unit: string): Promise<void> {
  const path = `/api/whms/transport-units/${unit}/receipt-link`
  const { body } = await gateway.ask('GET', path, { by: people.olga })
  const { pathname, search } = new URL(body.url)
  const context = await browser.newContext(screens.handheld)
  const page = await context.newPage()
  await page.goto(`${url.replace(/\/$/, '')}${pathname}${search}`)
  await isReady(page)
  await take(page, 'receipt')
  await context.close()
}

/** Names of the cameras, in place of their numbers. */
const cameraNames = ['', 'Dock door 1', 'Aisle 3', 'Ramp', 'Gate', 'Cold store', 'Workshop']
/** So that the line of the day has something on it. */
const watchedMs = 45_000

/** The cameras, real ones: their pictures move, and one of them does not answer. */
async function takeCameras(t: { teardown(end: () => unknown): void }, browser: Browser): Promise<void> {
  const named = (line: string) =>
    line
      .replace(/Camera (\d)/, (_, id) => cameraNames[Number(id)] ?? '')
      .replace('motion: { enabled: false }', 'motion: { preRecordSeconds: 1 }')
  const { daemon } = await liveYard(t, named)
  const { page } = await open(t, browser, `${daemon.url}/`, { ...screen, reducedMotion: 'reduce' })
  await signIn(page, 'ada')
  await page.locator('main').waitFor()
  await page.waitForTimeout(watchedMs)
  for (const [name, view] of [
    ['cameras', 'cameras'],
    ['camera', 'cameras/1'],
  ] as const) {
    await page.goto(`${daemon.url}/${view}`)
    await isReady(page)
    await page.waitForTimeout(3000)
    await take(page, name)
  }
  await page.context().close()
}

/** Waits until the page shows its data. */
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
  const picture = await pictureOfPallet(browser)
  const { gateway, url } = await livelyHall(t, picture)
  await lot(gateway, picture)
  const { page } = await open(t, browser, url, { ...screen, reducedMotion: 'reduce' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await take(page, 'sign-in')
  await signIn(page, 'ada')
  await page.locator('#floor').waitFor()
  const { body: units } = await gateway.ask('GET', '/api/whms/transport-units', { by: people.ada })
  const { body: toVerify } = await gateway.ask('GET', '/api/whms/slots/009-08', { by: people.ada })
  for (const [name, view] of Object.entries(everyView)) {
    if (!isAsked(name)) continue
    await page.goto(`${url}${view.replace('UNIT', units.data.at(-1).id).replace('SLOT', `${toVerify.id}`)}`)
    await isReady(page)
    await take(page, name)
  }
  if (isAsked('sign-in-again')) await takeSignInAgain(page, `${url}verify?slot=${toVerify.id}`)
  if (isAsked('receipt')) await takeReceipt(browser, gateway, url, units.data.at(-1).id)
  if (isUsual) await page.setViewportSize(screens.handheld.viewport)
  for (const view of handheldViews.filter(isAsked)) {
    await page.goto(`${url}${view}`)
    await isReady(page)
    await take(page, view)
  }
  if (isAsked('cameras') || isAsked('camera')) await takeCameras(t, browser)
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
