import { Worker } from 'node:worker_threads'
import { workerEntry } from '../../platform/bundle.ts'
import type { Clock } from '../../platform/index.ts'
import {
  addressOf,
  deviceOf,
  type OnvifAddress,
  type OnvifCredentials,
  type OnvifDevice,
  type OnvifNews,
  type OnvifTask,
  type Sighting,
} from '../../video/index.ts'

export type OnvifNeeds = {
  readonly clock: Clock
  /** Ends every thread at once. */
  readonly signal: AbortSignal
}

/** A device may take this long for all of its answers. */
const askMs = 12_000
const askClockMs = 6000
const askedAtOnce = 4
const mostDevices = 256
/** A thread needs about 10 MB; a hostile answer can make it want much more. */
const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 }

/**
 * Looks for devices on these interfaces for some seconds. Returns one sighting for each service; an interface that cannot be
 * used gives none.
 */
export async function searchDevices(
  needs: OnvifNeeds,
  interfaces: readonly string[],
  seconds: number,
): Promise<Sighting[]> {
  const task = (interfaceName: string) => ({ kind: 'search', interfaceName, seconds }) as const
  const searches = interfaces.map((name) => heard(needs, task(name), seconds * 1000 + 3000, mostDevices))
  const sightings = (await Promise.all(searches)).flatMap(({ news }) =>
    news.flatMap((one) => (one.kind === 'sighting' ? [one.sighting] : [])),
  )
  // One device answers each probe, and on each of its interfaces.
  const places = new Map(sightings.map((sighting) => [JSON.stringify(addressOf(sighting)), sighting]))
  return [...places.values()].slice(0, mostDevices)
}

/** Asks devices, some at a time, in the order of the list. Each answers on its own: a bad one takes nothing from the others. */
export async function askDevices(
  needs: OnvifNeeds,
  sightings: readonly (Sighting | OnvifAddress)[],
  credentials: OnvifCredentials | null,
): Promise<OnvifDevice[]> {
  const devices: OnvifDevice[] = []
  const waiting = [...sightings.entries()]
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      devices[next[0]] = await askDevice(needs, next[1], credentials)
    }
  }
  await Promise.all(Array.from({ length: askedAtOnce }, work))
  return devices
}

async function askDevice(
  needs: OnvifNeeds,
  found: Sighting | OnvifAddress,
  credentials: OnvifCredentials | null,
): Promise<OnvifDevice> {
  const device = 'from' in found ? addressOf(found) : found
  const { news, ended } = await heard(needs, { kind: 'ask', device, credentials }, askMs, 1000)
  return deviceOf(device, 'from' in found ? found.scopes : '', news, { ended, withCredentials: credentials !== null })
}

/** Asks a device for its time. Resolves with null when the device does not report it. */
export async function askDeviceClock(
  needs: OnvifNeeds,
  device: OnvifAddress,
): Promise<{ aheadSeconds: number; roundTripMs: number } | null> {
  const { news } = await heard(needs, { kind: 'clock', device }, askClockMs, 10)
  const clockNews = news.find((one) => one.kind === 'clock')
  const aheadSeconds = clockNews?.aheadSeconds ?? null
  return clockNews && aheadSeconds !== null ? { aheadSeconds, roundTripMs: clockNews.roundTripMs } : null
}

/**
 * Runs a thread for one task. Resolves with the messages that it sent, when it is done, has failed, sent too much, or the time is
 * over. Rejects when it fails before it has begun, which is no fault of a device.
 */
function heard(
  { clock, signal }: OnvifNeeds,
  task: OnvifTask,
  withinMs: number,
  mostNews: number,
): Promise<{ news: OnvifNews[]; ended: boolean }> {
  return new Promise((resolve, reject) => {
    const news: OnvifNews[] = []
    let hasBegun = false
    // The package prints text from the network, so its output is not passed on.
    const worker = new Worker(workerEntry('onvif'), { workerData: task, resourceLimits, stdout: true, stderr: true })
    const end = (ended: boolean) => {
      cancel()
      void worker.terminate().then(() => resolve({ news, ended }))
    }
    const cancel = clock.after(withinMs, () => end(false))
    signal.addEventListener('abort', () => end(false), { once: true })
    worker.on('error', (error) => {
      if (!hasBegun) reject(new Error(`the thread that speaks ONVIF does not start: ${error.message}`))
      news.push({ kind: 'failed', failure: 'unreadable' })
      end(true)
    })
    worker.on('message', (one: OnvifNews) => {
      if (one.kind === 'begun') hasBegun = true
      else if (one.kind === 'done' || news.length >= mostNews) end(true)
      else news.push(one)
    })
  })
}
