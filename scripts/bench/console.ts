import { setTimeout as pause } from 'node:timers/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { systemClock } from '../../src/platform/index.ts'
import { launchBrowser, wholeBrowser } from '../../test/support/browser.ts'
import { waitUntil } from '../../test/support/waiting.ts'
import { type Figure, millis, rounded } from './figure.ts'
import { frozen, isUseful, loaded, serveStatic, signedInContext } from './first-paint.ts'
import { framesInWords, type MainThread, mainThreadOf, traceCategories } from './main-thread.ts'
import { openRooms, origin } from './rooms.ts'
import { furnish, keepPhoto, palletOf, turn } from './seed.ts'
import { type Served, serveGateway } from './served.ts'
import { jsonHeaders, makeAccount, stateOf } from './site.ts'
import { median, quantile } from './statistics.ts'
import { cpuMs, type Workshop } from './workshop.ts'

const usualHall = 1000
const largeHall = 10_000
const panSteps = 240
const panPx = 12
const eventsSeen = 20
const screens = 30
const eventsASecond = 5
const watchedMs = 20_000

/** Measures the floor page in a real Chromium: its start, its movement, and the load of its screens on the gateway. */
export async function measureConsole(workshop: Workshop): Promise<Figure[]> {
  const browser = await launchBrowser([], wholeBrowser)
  if (!browser) return [absent]
  try {
    const usual = await hall(workshop, usualHall)
    const paints = await measurePaint(browser, usual.gateway.url)
    const seen = await measureEvents(browser, usual)
    const cost = await measureScreens(browser, usual)
    await usual.gateway.end()
    const large = await hall(workshop, largeHall)
    const pan = await measurePan(browser, large)
    await large.gateway.end()
    return [...paints, ...pan, seen, cost]
  } finally {
    await browser.close()
  }
}

const absent: Figure = {
  ...{ id: 'console', what: 'The console in a browser', value: null, unit: 'ms' },
  ...{ raw: 'Chromium is not installed', numbers: {} },
}

type Hall = { readonly gateway: Served; readonly slots: number; readonly photoUrl: string }

/** Returns the `n`th place without a pallet. */
const freePlace = (n: number): number => 3 * n

/** A daemon over a hall in which two of three slots hold a pallet. */
async function hall(workshop: Workshop, slots: number): Promise<Hall> {
  const folder = workshop.newFolder(`console-${slots}`)
  const rooms = openRooms(stateOf(folder), systemClock)
  let photoUrl: string
  try {
    await furnish(rooms, slots, slots)
    photoUrl = await keepPhoto(rooms)
    const asked = { by: origin, claim: undefined, deviceTimeMs: undefined }
    const places = Array.from({ length: slots }, (_, n) => n).filter((n) => n % 3 > 0)
    for (let from = 0; from < places.length; from += 1000)
      await Promise.all(
        places.slice(from, from + 1000).map((n) => rooms.ledger.record(turn(2 * n, slots, photoUrl), asked)),
      )
  } finally {
    rooms.close()
  }
  return { gateway: await serveGateway(workshop, folder, await makeAccount()), slots, photoUrl }
}

async function measurePaint(browser: Browser, url: string): Promise<Figure[]> {
  const context = await signedInContext(browser, url)
  const ours = await loaded(context, `${url}/`, 1)
  const slowed = await loaded(context, `${url}/`, 4)
  const peer = await serveStatic(await frozen(context, `${url}/`), ours.allBytes)
  const still = await loaded(context, peer.url, 1)
  await peer.end()
  await context.close()
  const kB = (bytes: number) => `${rounded(bytes / 1000)} kB`
  return [
    {
      id: 'console-first-paint',
      what: `First useful paint of the floor (${usualHall} slots), against a static page of the same bytes`,
      ...{ value: ours.usefulMs / still.usefulMs, unit: '×' },
      raw: `${millis(ours.usefulMs)} against ${millis(still.usefulMs)}; ${kB(ours.allBytes)} against ${kB(still.allBytes)}`,
      numbers: { oursMs: ours.usefulMs, staticMs: still.usefulMs, oursBytes: ours.allBytes },
    },
    {
      id: 'console-first-paint-slowed',
      what: 'First useful paint of the floor with a processor 4 × slower',
      ...{ value: slowed.usefulMs, unit: 'ms', target: { limit: 1200, sense: 'at most' } },
      ...{ raw: `median of 7`, numbers: { slowedMs: slowed.usefulMs } },
    },
    {
      id: 'console-script',
      what: 'Script of the floor, gzipped',
      ...{ value: ours.scriptBytes / 1000, unit: 'kB', target: { limit: 60, sense: 'at most' } },
      ...{ raw: 'what the browser fetched before the first useful paint', numbers: { bytes: ours.scriptBytes } },
    },
  ]
}

/** Drags the plan to and fro, while one event a second comes. */
async function measurePan(browser: Browser, { gateway, slots, photoUrl }: Hall): Promise<Figure[]> {
  const context = await signedInContext(browser, gateway.url)
  const page = await context.newPage()
  await page.goto(`${gateway.url}/`)
  await isUseful(page)
  const box = await page.locator('#plan').boundingBox()
  if (!box) throw new Error('the plan is not on the page')
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  await page.mouse.move(x, y)
  for (let n = 0; n < 4; n += 1) await page.mouse.wheel(0, -300)
  await pause(1500)
  const panned = await traced(browser, page, () => drag(page, x, y))
  const events = await traced(browser, page, async () => {
    for (let n = 0; n < 5; n += 1) {
      await post(gateway.url, turn(2 * freePlace(n), slots, photoUrl))
      await pause(1000)
    }
  })
  await context.close()
  return [
    {
      id: 'console-pan',
      what: `Main thread for a frame while the plan of ${slots} slots is moved, 95th percentile`,
      ...{ value: quantile(panned.frameMs, 0.95), unit: 'ms', target: { limit: 4, sense: 'at most' } },
      raw: framesInWords(panned),
      numbers: { p50Ms: median(panned.frameMs), p95Ms: quantile(panned.frameMs, 0.95) },
    },
    {
      id: 'console-longest-task',
      what: `Longest task while the plan of ${slots} slots is moved, and while events come`,
      value: Math.max(panned.longestTaskMs, events.longestTaskMs),
      ...{ unit: 'ms', target: { limit: 50, sense: 'at most' } },
      raw: `${millis(panned.longestTaskMs)} while it is moved, ${millis(events.longestTaskMs)} while events come`,
      numbers: { movedMs: panned.longestTaskMs, eventsMs: events.longestTaskMs },
    },
  ]
}

async function drag(page: Page, x: number, y: number): Promise<void> {
  await page.mouse.move(x, y)
  await page.mouse.down()
  for (let step = 1; step <= panSteps; step += 1) {
    // A round of 60 steps to each side.
    const turnedAt = Math.abs(((step + 30) % 120) - 60) - 30
    await page.mouse.move(x - turnedAt * panPx, y - (turnedAt * panPx) / 3)
  }
  await page.mouse.up()
}

async function traced(browser: Browser, page: Page, work: () => Promise<void>): Promise<MainThread> {
  await browser.startTracing(page, { categories: traceCategories })
  await work()
  return mainThreadOf(await browser.stopTracing())
}

/** From the answer to a POST until its pallet is on the screen. */
async function measureEvents(browser: Browser, { gateway, slots, photoUrl }: Hall): Promise<Figure> {
  const context = await signedInContext(browser, gateway.url)
  const page = await context.newPage()
  await page.goto(`${gateway.url}/`)
  await page.locator('.events .event').first().waitFor()
  const waits: number[] = []
  for (let n = 0; n < eventsSeen; n += 1) {
    const pallet = palletOf(freePlace(n))
    const first = `document.querySelector('.events .event')?.textContent.includes('${pallet}')`
    const isSeen = () => page.evaluate<boolean>(first)
    const seen = waitUntil(`${pallet} is on the screen`, isSeen, { everyMs: 5 }).then(() => performance.now())
    await post(gateway.url, turn(2 * freePlace(n), slots, photoUrl))
    const answeredMs = performance.now()
    waits.push(Math.max(0, (await seen) - answeredMs))
  }
  await context.close()
  return {
    id: 'console-event',
    what: 'From the answer to a POST until its event is on another screen',
    ...{ value: quantile(waits, 0.95), unit: 'ms', target: { limit: 500, sense: 'at most' } },
    raw: `p50 ${millis(median(waits))}, most ${millis(Math.max(...waits))} of ${waits.length}`,
    numbers: { p50Ms: median(waits), mostMs: Math.max(...waits) },
  }
}

/** Measures the load of open floor pages on the gateway, without the events themselves. */
async function measureScreens(browser: Browser, hall: Hall): Promise<Figure> {
  const alone = await underEvents(hall, eventsSeen)
  // Each is a separate device: pages of one browser share six connections to a gateway, and each keeps one for the stream.
  const contexts: BrowserContext[] = []
  for (let n = 0; n < screens; n += 1) {
    const context = await signedInContext(browser, hall.gateway.url)
    contexts.push(context)
    const page = await context.newPage()
    await page.goto(`${hall.gateway.url}/`)
    await isUseful(page)
  }
  await pause(5000)
  const watched = await underEvents(hall, 10 * eventsSeen)
  for (const context of contexts) await context.close()
  return {
    id: 'console-screens',
    what: `Processor time of the gateway for ${screens} open screens at ${eventsASecond} events a second`,
    ...{ value: watched - alone, unit: '%', target: { limit: 5, sense: 'at most' } },
    raw: `${rounded(watched)} % of a core with them, ${rounded(alone)} % without`,
    numbers: { watchedPercent: watched, alonePercent: alone },
  }
}

/** Per cent of a core that the gateway uses while pallets come to free places, from the `first` on, and go. */
async function underEvents({ gateway, slots, photoUrl }: Hall, first: number): Promise<number> {
  const [startedMs, usedMs] = [performance.now(), cpuMs(gateway.pid)]
  for (let n = 0; performance.now() - startedMs < watchedMs; n += 1) {
    await post(gateway.url, turn(2 * freePlace(first + Math.floor(n / 2)) + (n % 2), slots, photoUrl))
    await pause(Math.max(0, startedMs + (n + 1) * (1000 / eventsASecond) - performance.now()))
  }
  return ((cpuMs(gateway.pid) - usedMs) / (performance.now() - startedMs)) * 100
}

async function post(url: string, event: object): Promise<void> {
  const options = { method: 'POST', headers: jsonHeaders, body: JSON.stringify(event) }
  const answer = await fetch(`${url}/api/whms/events`, options)
  if (answer.status !== 201) throw new Error(`an event answered ${answer.status}: ${await answer.text()}`)
}
