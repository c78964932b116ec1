import { scryptSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { compose, type Gateway } from '../../src/app/compose.ts'
import type { Outside } from '../../src/app/outside.ts'
import { loadConfig, type Role } from '../../src/config/index.ts'
import type { Heat } from '../../src/health/index.ts'
import { type Logger, type RandomBytes, silentLogger, systemRandom } from '../../src/platform/index.ts'
import { putNewDatabase } from './new-database.ts'
import { SimulatedClock } from './simulated-clock.ts'

export const siteUrl = 'http://127.0.0.1:8480'

/** A person of the test's site; the secret is `NAME-secret`. */
export type Person = { readonly username: string; readonly role: Role }

export const people = {
  vera: { username: 'vera', role: 'viewer' },
  olga: { username: 'olga', role: 'operator' },
  sven: { username: 'sven', role: 'supervisor' },
  ada: { username: 'ada', role: 'admin' },
} as const satisfies Record<string, Person>

/** Headers of a request by this person. */
export function signedIn(person: Person, extra: Record<string, string> = {}): Record<string, string> {
  return {
    Authorization: `Bearer ${person.username}-secret`,
    'X-Storage-Instance': siteUrl,
    'X-Storage-Username': person.username,
    ...extra,
  }
}

/** The hash that the config holds, with the least work that scrypt can do: tests make hundreds of these. */
export function cheapHash(secret: string): string {
  const salt = Buffer.from('a salt of tests')
  return `scrypt:2:1:1:${salt.toString('base64url')}:${scryptSync(secret, salt, 32, { N: 2, r: 1, p: 1 }).toString('base64url')}`
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
export type Answer = { status: number; headers: Headers; body: any; text: string; bytes: Buffer }

export type TestGateway = Gateway & {
  readonly clock: SimulatedClock
  readonly folder: string
  /** A request through the whole of the API, as `person` (none: without credentials). */
  ask(method: string, path: string, options?: Ask): Promise<Answer>
  /** Closes it and opens the same folder again, as a restart does. */
  restart(): Promise<TestGateway>
  /** Closes it and removes its folder. */
  end(): void
}

export type Ask = {
  readonly by?: Person
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is. */
  readonly bytes?: Uint8Array | string
  readonly headers?: Record<string, string>
}

export type TestGatewayOptions = {
  readonly clock?: SimulatedClock
  readonly config?: Record<string, unknown>
  readonly people?: readonly Person[]
  readonly folder?: string
  /** Default: none. */
  readonly log?: Logger
  /** Notifications are written only while an endpoint is registered, as outside of tests; else always. */
  readonly onlyWhenOwed?: boolean
  /** The time services of the machine, with their answers. `clockSync.look()` asks them. */
  readonly timeServices?: Outside['timeServices']
  /** How hot the box is. Default: it is cool, whatever this machine is. */
  readonly heat?: Outside['heat']
  /** The system image that the box runs. Default: none, whatever this machine runs. */
  readonly image?: Outside['image']
  /** The version that it says it is. */
  readonly version?: string
  /** Source of random bytes; the system's unless a test must know them. */
  readonly random?: RandomBytes
}

/** Heat of a cool box at full speed. */
export const coolBox: Heat = {
  temperatureCelsius: 45,
  throttled: false,
  wasThrottled: false,
  underVoltage: false,
  count: null,
}

/** A gateway without listeners and workers, on a real database in a separate folder, under a simulated clock. */
export async function testGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const clock = options.clock ?? new SimulatedClock()
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'gatehouse-test-'))
  const file = join(folder, 'gatehouse.yaml')
  const users = (options.people ?? Object.values(people)).map(({ username, role }) => ({
    username,
    role,
    secretHash: cheapHash(`${username}-secret`),
  }))
  const config = {
    site: { id: 'test-site', url: siteUrl },
    dataDir: 'state',
    runtimeDir: 'run',
    auth: { users },
    rateLimit: { requestsPerMinute: 1_000_000 },
    retention: { minFreeBytes: '1B', ledgerReserveBytes: '1B' },
    ...options.config,
  }
  writeFileSync(file, stringify(config))
  const onMismatch = (type: string, problem: string) => {
    throw new Error(`${type} is not as documented: ${problem}`)
  }
  const outside = {
    clock,
    random: options.random ?? systemRandom,
    log: options.log ?? silentLogger(),
    version: options.version ?? '0.0.0-test',
    configFile: file,
    onMismatch,
    heat: options.heat ?? (async () => coolBox),
    image: options.image ?? (() => undefined),
    ...(options.timeServices && { timeServices: options.timeServices }),
    ...(!options.onlyWhenOwed && { isOwed: () => true }),
  }
  const loaded = loadConfig(file).config
  putNewDatabase(loaded.dataDir)
  const gateway = await compose(loaded, outside, false)
  return {
    ...gateway,
    clock,
    folder,
    ask: (method, path, ask = {}) => askApi(gateway, method, path, ask),
    restart: () => {
      gateway.close()
      return testGateway({ ...options, clock, folder })
    },
    end: () => {
      gateway.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function askApi(gateway: Gateway, method: string, path: string, ask: Ask): Promise<Answer> {
  const headers = {
    ...(ask.by && signedIn(ask.by)),
    ...(ask.body !== undefined && { 'Content-Type': 'application/json' }),
    ...ask.headers,
  }
  const body = ask.body === undefined ? ask.bytes : JSON.stringify(ask.body)
  const response = await gateway.api.request(path, {
    method,
    headers,
    ...(body !== undefined && { body: body as string }),
  })
  const bytes = await bytesOf(response)
  const text = bytes.toString('utf8')
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : undefined,
    text,
    bytes,
  }
}

/** For a stream, reads only the first chunk, because it has no end. */
async function bytesOf(response: Response): Promise<Buffer> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body)
    return Buffer.from(await response.arrayBuffer())
  const reader = response.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return Buffer.from(value ?? [])
}

/** The smallest file that is a PNG by its first bytes. */
export const tinyPng = Buffer.from(
  '89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738550000000049454e44ae426082',
  'hex',
)

/** One warehouse, one storage zone S, and a slot for each label. */
export async function furnish(
  gateway: TestGateway,
  labels: readonly string[],
  slot: Record<string, unknown> = {},
): Promise<void> {
  const by = people.ada
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Hall', timezone: 'Europe/Berlin' } })
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'S', zone_type: 'storage', warehouseId: 1 } })
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  for (const slot_id of labels) {
    await gateway.ask('POST', '/api/whms/slots', { by, body: { slot_id, zone: 'S', floor_plan_polygon, ...slot } })
  }
}

/** The address of a photo that the gateway holds; another `n` is another photo of the same picture, a PNG. */
export async function heldPhoto(gateway: TestGateway, n = 0, picture: Uint8Array = tinyPng): Promise<string> {
  const stored = await gateway.ask('POST', '/api/whms/evidence/photos', {
    by: people.ada,
    bytes: n === 0 ? picture : Buffer.concat([picture, Buffer.from(`${n}`)]),
    headers: { 'Content-Type': 'image/png' },
  })
  return stored.body.url
}
