import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import { browserShell, wholeBrowser } from '../../scripts/machine.ts'
import { HttpListener } from '../../src/http/index.ts'
import { heldPhoto, people, type TestGateway, testGateway } from './gateway.ts'
import { needs } from './needs.ts'
import { SimulatedClock } from './simulated-clock.ts'
import { patienceMs } from './waiting.ts'

/** For tests of what the other one lacks: the cameras of the device. */
export { wholeBrowser }
/** Chromium without its windows needs two thirds of the processor. */
export const executablePath = existsSync(browserShell) ? browserShell : wholeBrowser
export const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** For tests that need Chromium. */
export const inBrowser = needs('chromium-headless-shell')

type Test = { teardown(work: () => unknown): void }
export type Place = { readonly gateway: TestGateway; readonly url: string }

/** One browser for all tests of a file. Undefined where there is none. */
export async function launchBrowser(
  more: readonly string[] = [],
  program: string = executablePath,
): Promise<Browser | undefined> {
  if (!existsSync(program)) return undefined
  return chromium.launch({ executablePath: program, args: [...flags, ...more] })
}

/** A gateway that listens, with the browser's own time: ages on the page are counted from the Date of its answers. */
export async function place(t: Test, config: Record<string, unknown> = {}): Promise<Place> {
  return placeOf(t, await testGateway({ clock: new SimulatedClock(Date.now()), config }))
}

/** Lets a gateway listen. */
export async function placeOf(t: Test, gateway: TestGateway): Promise<Place> {
  const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, gateway.api)
  const port = await listener.start()
  t.teardown(async () => {
    await listener.stop()
    gateway.end()
  })
  return { gateway, url: `http://127.0.0.1:${port}/` }
}

/** Records an event whose photo the gateway holds. */
export async function record(
  gateway: TestGateway,
  event: Record<string, unknown>,
  by: (typeof people)[keyof typeof people] = people.olga,
): Promise<void> {
  const photo_url = await heldPhoto(gateway)
  gateway.clock.advance(100)
  const answer = await gateway.ask('POST', '/api/whms/events', { by, body: { photo_url, ...event } })
  if (answer.status !== 201) throw new Error(answer.text)
}

/** A page that remembers all that went wrong in it. */
export async function open(
  t: Test,
  browser: Browser | undefined,
  url: string,
  context: BrowserContextOptions = {},
): Promise<{ page: Page; faults: string[] }> {
  if (!browser) throw new Error(`${executablePath} is missing`)
  const own = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...context })
  t.teardown(() => own.close())
  const page = await own.newPage()
  page.setDefaultTimeout(patienceMs)
  const faults: string[] = []
  page.on('console', (message) => {
    const isAbsent = /status of 404/.test(message.text()) && /\/api\/iot\//.test(message.location().url)
    if ((message.type() === 'error' || message.type() === 'warning') && !isAbsent) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  await page.goto(url)
  return { page, faults }
}

/** Signs in, in English or German. */
export async function signIn(page: Page, name: string, secret = `${name}-secret`): Promise<void> {
  await page.getByLabel(/^(User name|Benutzername)$/).fill(name)
  await page.getByLabel(/^(Secret( or application password)?|Geheimnis( oder App-Passwort)?)$/).fill(secret)
  await page.getByRole('button', { name: /^(Sign in|Anmelden)$/ }).click()
}

/** The slot on the plan. */
export const slot = (page: Page, label: string): Locator => page.getByRole('button', { name: `Slot ${label}, zone` })
