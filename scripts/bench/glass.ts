import { setTimeout as pause } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser } from '../../test/support/browser.ts'
import { type Footage, footage } from '../../test/support/footage.ts'
import { type RtspServer, startRtspServer } from '../../test/support/rtsp/server.ts'
import { waitUntil } from '../../test/support/waiting.ts'
import { type Figure, millis } from './figure.ts'
import { signedInContext } from './first-paint.ts'
import { serveGateway } from './served.ts'
import { makeAccount } from './site.ts'
import { median, quantile } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const watchedSeconds = 30
/** The player finds its pace in the first seconds. */
const settleMs = 5000

/** Chromium decodes without a graphics card here: of a large picture that is a large part of the way. */
const streams = {
  small: { name: 'counted-gop-1', words: '320×180 at 15 a second' },
  large: { name: 'counted-8mbit', words: '1080p at 25 a second and 8 Mb/s, decoded without a graphics card' },
} as const
type Size = keyof typeof streams

/** A picture on the screen: the number that is painted into it, and when it came there by the wall clock. */
type Seen = { readonly number: number; readonly shownAt: number }

/**
 * Notes each picture of the player when the browser puts it on the screen. Reads its number from 16 blocks at the top edge,
 * white for 1.
 */
const eye = `(() => {
  const video = document.querySelector('.live video')
  const strip = new OffscreenCanvas(video.videoWidth, 1)
  const context = strip.getContext('2d', { willReadFrequently: true })
  window.seen = []
  const look = (_, { expectedDisplayTime }) => {
    const line = video.videoHeight / 72
    context.drawImage(video, 0, line, video.videoWidth, 1, 0, 0, strip.width, 1)
    const { data } = context.getImageData(0, 0, strip.width, 1)
    let number = 0
    for (let bit = 0; bit < 16; bit += 1) {
      const x = Math.floor(((bit + 0.5) * strip.width) / 16)
      number = number * 2 + (data[4 * x] > 127 ? 1 : 0)
    }
    window.seen.push({ number, shownAt: performance.timeOrigin + expectedDisplayTime })
    video.requestVideoFrameCallback(look)
  }
  video.requestVideoFrameCallback(look)
})()`

/**
 * Measures from glass to glass: from the moment at which the camera takes a picture until a browser shows it, on loopback. The
 * number of each picture is read back from the screen of Chromium. Empty without Chromium.
 */
export async function measureGlass(workshop: Workshop): Promise<Figure[]> {
  const browser = await launchBrowser()
  if (!browser) return []
  const figures: Figure[] = []
  try {
    for (const size of ['small', 'large'] as const) figures.push(await measured(workshop, browser, size))
  } finally {
    await browser.close()
  }
  return figures
}

async function measured(workshop: Workshop, browser: Browser, size: Size): Promise<Figure> {
  const scene = await footage(streams[size].name)
  const rtsp = await startRtspServer({ streams: { door: scene } })
  try {
    const cameras = [{ id: 1, url: rtsp.url('door') }]
    const served = await serveGateway(workshop, workshop.newFolder(`glass-${size}`), await makeAccount(), { cameras })
    const context = await signedInContext(browser, served.url)
    const seen = await watch(await context.newPage(), `${served.url}/cameras/1`)
    await context.close()
    await served.end()
    return figureOf(
      size,
      seen.map((one) => wayMs(one, rtsp, scene)),
    )
  } finally {
    await rtsp.stop()
  }
}

async function watch(page: Page, url: string): Promise<readonly Seen[]> {
  await page.goto(url)
  await waitUntil('pictures', () => page.evaluate<boolean>(`document.querySelector('.live video')?.videoWidth > 0`))
  await pause(settleMs)
  await page.evaluate(eye)
  await pause(watchedSeconds * 1000)
  return page.evaluate<readonly Seen[]>('window.seen')
}

/** How long ago the newest picture with this number had been taken. */
function wayMs({ number, shownAt }: Seen, rtsp: RtspServer, { timesMs }: Footage): number {
  const positionMs = timesMs[number]
  if (positionMs === undefined) throw new Error(`the camera has no picture ${number}: it was not read well`)
  const takenAt = Math.max(...rtsp.takenAt('door', positionMs).filter((ms) => ms <= shownAt))
  return shownAt - takenAt
}

function figureOf(size: Size, ways: readonly number[]): Figure {
  const [middle, most] = [median(ways), quantile(ways, 0.95)]
  return {
    id: `glass-to-glass-${size}`,
    what: `Glass to glass on loopback, from the camera to the screen of Chromium, 95th percentile: ${streams[size].words}`,
    value: most,
    unit: 'ms',
    target: { limit: 1000, sense: 'at most' },
    raw: `${ways.length} pictures in ${watchedSeconds} s, half of them within ${millis(middle)}`,
    numbers: { medianMs: middle, p95Ms: most, mostMs: Math.max(...ways), pictures: ways.length },
  }
}
