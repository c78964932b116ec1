import { type AgentOptions, Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Cam, CamProfile } from 'onvif'
import { errorMessage } from '../../platform/faults.ts'
import { answerBounds, type Clock } from '../../platform/index.ts'
import type { OnvifAddress, OnvifCredentials, OnvifFailure, OnvifNews, OnvifTask } from './messages.ts'

/**
 * Speaks ONVIF by the package `onvif`. Runs in a thread with a deadline and little memory. The package parses data from the network
 * in one go and bounds neither time nor size. This is the only file that knows it.
 */
export type OnvifClient = (task: OnvifTask, tell: (news: OnvifNews) => void) => Promise<void>

const mostProfiles = 128

/** Resolves with a client when the package is loaded. `clock` measures the clock of the device. */
export async function onvifClient(clock: Clock): Promise<OnvifClient> {
  await theirs()
  return async (task, tell) => {
    switch (task.kind) {
      case 'search':
        return search(task.interfaceName, task.seconds, tell)
      case 'clock':
        return asked(task.device, null, tell, (call, cam) => tellClock(call, cam, clock, tell))
      case 'ask':
        return asked(task.device, task.credentials, tell, (call, cam) => tellAll(call, cam, clock, tell))
    }
  }
}

/** Sends a probe at once and after a third of the time: datagrams get lost. */
async function search(interfaceName: string, seconds: number, tell: (news: OnvifNews) => void): Promise<void> {
  const { Discovery } = await theirs()
  // An answer that cannot be read is no device. Without a listener it would end the thread.
  Discovery.on('error', () => {})
  Discovery.on('device', (device, { address }) => {
    const match = (device as ProbeAnswer).probeMatches?.probeMatch
    const sighting = { from: address, xaddrs: String(match?.XAddrs ?? ''), scopes: textOf(match?.scopes) }
    tell({ kind: 'sighting', sighting })
  })
  const probe = (ms: number) =>
    new Promise<void>((resolve) => {
      Discovery.probe({ device: interfaceName, timeout: ms, resolve: false }, () => resolve())
    })
  const later = (seconds * 1000) / 3
  const again = new Promise<void>((resolve) => setTimeout(() => resolve(probe(seconds * 1000 - later)), later))
  await Promise.all([probe(seconds * 1000), again])
}

type ProbeAnswer = {
  readonly probeMatches?: { readonly probeMatch?: { readonly XAddrs?: unknown; readonly scopes?: unknown } }
}

async function asked(
  device: OnvifAddress,
  credentials: OnvifCredentials | null,
  tell: (news: OnvifNews) => void,
  questions: (call: Call, cam: Cam) => Promise<void>,
): Promise<void> {
  const tooLarge = Promise.withResolvers<never>()
  tooLarge.promise.catch(() => {})
  const cam = await camOf(device, credentials, () => tooLarge.reject(new TooLarge()))
  const call = <T>(method: (done: (error: unknown, data?: T, xml?: string) => void) => void) =>
    Promise.race([answerOf(method), tooLarge.promise])
  try {
    await questions(call, cam)
  } catch (error) {
    tell({ kind: 'failed', failure: failureOf(error) })
  }
}

type Answer<T> = { readonly data: T | undefined; readonly xml: string }
type Call = <T>(method: (done: (error: unknown, data?: T, xml?: string) => void) => void) => Promise<Answer<T>>

async function tellAll(call: Call, cam: Cam, clock: Clock, tell: (news: OnvifNews) => void): Promise<void> {
  await tellClock(call, cam, clock, tell)
  const services = await call<unknown>((done) => cam.getServices(false, done)).catch(unlessFinal)
  if (!services) await call<unknown>((done) => cam.getCapabilities(done))
  await tellModel(call, cam, tell)
  await tellProfiles(call, cam, tell)
}

async function tellClock(call: Call, cam: Cam, clock: Clock, tell: (news: OnvifNews) => void): Promise<void> {
  const sentAt = clock.now()
  const { data, xml } = await call<Date>((done) => cam.getSystemDateAndTime(done))
  const roundTripMs = clock.now() - sentAt
  const middle = sentAt + roundTripMs / 2
  // Without UTC the package takes the local time, or the time of this box.
  const known = /UTCDateTime/.test(xml) && data && !Number.isNaN(data.getTime())
  // The answer leaves the fraction of the second out: on average half a second.
  tell({ kind: 'clock', aheadSeconds: known ? (data.getTime() + 500 - middle) / 1000 : null, roundTripMs })
}

async function tellModel(call: Call, cam: Cam, tell: (news: OnvifNews) => void): Promise<void> {
  const { data } = await call<Record<string, unknown>>((done) => cam.getDeviceInformation(done))
  const { manufacturer, model, firmwareVersion } = data ?? {}
  tell({ kind: 'model', manufacturer: textOf(manufacturer), model: textOf(model), firmware: textOf(firmwareVersion) })
}

async function tellProfiles(call: Call, cam: Cam, tell: (news: OnvifNews) => void): Promise<void> {
  const { data } = await call<CamProfile[]>((done) => cam.getProfiles(done))
  for (const profile of (data ?? []).slice(0, mostProfiles)) {
    const encoder = profile.videoEncoderConfiguration
    const profileToken = textOf(profile['$']?.token)
    if (!encoder || profileToken === '') continue
    const stream = await call<{ uri: string }>((done) =>
      cam.getStreamUri({ protocol: 'RTSP', profileToken }, done),
    ).catch(unlessFinal)
    const url = textOf(stream?.data?.uri)
    if (url === '') continue
    tell({
      kind: 'profile',
      profile: {
        name: textOf(profile.name),
        source: textOf(profile.videoSourceConfiguration?.sourceToken),
        codec: textOf(encoder.encoding),
        width: numberOf(encoder.resolution?.width) ?? 0,
        height: numberOf(encoder.resolution?.height) ?? 0,
        picturesPerSecond: numberOf(encoder.rateControl?.frameRateLimit),
        url,
      },
    })
  }
}

/** Loaded only where it is used: the daemon's threads go without it. */
async function theirs(): Promise<typeof import('onvif')> {
  // A CommonJS package: its exports are the default.
  return (await import('onvif')).default as unknown as typeof import('onvif')
}

async function camOf(
  { host, port, path, secure }: OnvifAddress,
  credentials: OnvifCredentials | null,
  onTooLarge: () => void,
): Promise<Cam> {
  const { Cam } = await theirs()
  return new Cam({
    hostname: host,
    port,
    path,
    useSecure: secure,
    // Cameras make their certificates themselves; credentials are sent as digests only.
    secureOpts: { rejectUnauthorized: false },
    agent: secure ? new BoundHttpsAgent(onTooLarge) : new BoundHttpAgent(onTooLarge),
    timeout: answerBounds.onvif.totalMs,
    autoconnect: false,
    // A device may name any host as the address of a service, so only its path is used.
    preserveAddress: true,
    ...(credentials ?? {}),
  })
}

function answerOf<T>(method: (done: (error: unknown, data?: T, xml?: string) => void) => void): Promise<Answer<T>> {
  return new Promise((resolve, reject) => {
    method((error, data, xml) => {
      if (error) reject(error instanceof Error ? error : new Error(String(error)))
      else resolve({ data, xml: xml ?? '' })
    })
  })
}

class TooLarge extends Error {}

function failureOf(error: unknown): OnvifFailure {
  if (error instanceof TooLarge) return 'too-large'
  const message = errorMessage(error)
  if (/not ?authorized|unauthorized|authentication|\b401\b/i.test(message)) return 'refused'
  return /ECONN|EHOST|ENET|ENOTFOUND|EAI_AGAIN|timeout|socket hang up/i.test(message) ? 'no-answer' : 'unreadable'
}

/** Passes over a failure of one operation that the device may not have. Others are rethrown. */
function unlessFinal(error: unknown): undefined {
  if (failureOf(error) !== 'unreadable') throw error
  return undefined
}

/** The package gives numbers and dates for texts that look like one. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map(textOf).join(' ')
  return value !== null && typeof value === 'object' && '_' in value ? textOf(value._) : ''
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** Ends a connection that brings more than the limit. */
function bound<S extends Duplex | null | undefined>(socket: S, onTooLarge: () => void): S {
  let bytes = 0
  socket?.on('data', (data: Buffer) => {
    bytes += data.length
    if (bytes <= answerBounds.onvif.bytes) return
    onTooLarge()
    socket.destroy()
  })
  return socket
}

class BoundHttpAgent extends HttpAgent {
  readonly #onTooLarge: () => void

  constructor(onTooLarge: () => void) {
    super({ keepAlive: false } satisfies AgentOptions)
    this.#onTooLarge = onTooLarge
  }

  override createConnection(...given: Parameters<HttpAgent['createConnection']>): Duplex | null | undefined {
    return bound(super.createConnection(...given), this.#onTooLarge)
  }
}

class BoundHttpsAgent extends HttpsAgent {
  readonly #onTooLarge: () => void

  constructor(onTooLarge: () => void) {
    super({ keepAlive: false } satisfies AgentOptions)
    this.#onTooLarge = onTooLarge
  }

  override createConnection(...given: Parameters<HttpsAgent['createConnection']>): Duplex | null | undefined {
    return bound(super.createConnection(...given), this.#onTooLarge)
  }
}
