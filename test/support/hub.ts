/** A head office in this process, on a real PostgreSQL, asked through its whole API. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, type ZstdOptions, zstdDecompressSync } from 'node:zlib'
import { stringify } from 'yaml'
import { type HubConfig, loadHubConfig } from '../../src/config/index.ts'
import { HttpListener, initTls } from '../../src/http/index.ts'
import { authorityOf } from '../../src/hub/authority.ts'
import { composeHub, type Hub } from '../../src/hub/compose.ts'
import { migrateHub } from '../../src/hub/store/migrate.ts'
import { type Logger, silentLogger, systemRandom } from '../../src/platform/index.ts'
import type { TestLog } from './evidence/forge.ts'
import { naiveTree } from './evidence/merkle.ts'
import type { Answer } from './gateway.ts'
import { ownerOf, type TestPostgres } from './postgres.ts'
import { SimulatedClock } from './simulated-clock.ts'

export type TestHub = Hub & {
  readonly config: HubConfig
  readonly clock: SimulatedClock
  readonly folder: string
  /** Name of its database. */
  readonly database: string
  ask(method: string, path: string, ask?: HubAsk): Promise<Answer>
  /** Asks the database as its superuser. */
  rows(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  /** Address over HTTPS; only with `listens`. */
  readonly url: string
  /** Its certificate authority, PEM file. */
  readonly caFile: string
  /** A code for a site, as `gatehouse hub enrol` prints it. */
  code(siteId: string): Promise<string>
  /** Closes the listener, as when the head office is away; `up` opens it again at the same port. */
  down(): Promise<void>
  up(): Promise<void>
  /** Enrols a log and returns its token. */
  enrol(log: Pick<TestLog, 'siteId' | 'logId' | 'signers'>): Promise<string>
}

export type HubAsk = {
  readonly token?: string
  readonly body?: unknown
  readonly bytes?: Uint8Array
  /** Gzipped JSON that comes by and by. */
  readonly stream?: ReadableStream<Uint8Array>
  readonly headers?: Record<string, string>
}

export type HubOptions = {
  /** More of the section `hub`. */
  readonly hub?: Record<string, unknown>
  /** The section `http`. */
  readonly http?: Record<string, unknown>
  readonly log?: Logger
  /** Accounts of the config. */
  readonly users?: readonly object[]
  /** Groups of the storage servers, and the servers. */
  readonly groups?: readonly object[]
  readonly instances?: readonly object[]
  /** A database that is there already, instead of a new one. */
  readonly database?: string
  /** Over HTTPS, with its own authority. */
  readonly listens?: boolean
}

let databases = 0
/** The database of each server, by its folder, that has all tables and nothing in them. */
const templates = new Map<string, Promise<string>>()

const migrate = (connectionString: string) =>
  migrateHub({ connection: { connectionString }, engine: 'postgresql', appPassword: null, grows: false })

/** Makes a database with the tables of a head office. To migrate each would take longer than to copy one. */
async function migratedDatabase(postgres: TestPostgres, name: string): Promise<(user: string) => string> {
  const made = templates.get(postgres.folder) ?? makeTemplate(postgres)
  templates.set(postgres.folder, made)
  return postgres.database(name, await made)
}

async function makeTemplate(postgres: TestPostgres): Promise<string> {
  const name = 'hub_template'
  const addressOf = await postgres.database(name)
  await migrate(ownerOf(addressOf))
  return name
}

/** Makes a head office on a separate database. */
export async function testHub(
  t: { teardown(work: () => unknown): void },
  postgres: TestPostgres,
  {
    hub = {},
    http = {},
    log = silentLogger(),
    listens = false,
    users = [],
    groups = [],
    instances = [],
    database: known,
  }: HubOptions = {},
): Promise<TestHub> {
  databases += 1
  const database = known ?? `hub${databases}`
  const addressOf = known === undefined ? await migratedDatabase(postgres, database) : postgres.addressOf(database)
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-hub-'))
  const file = join(folder, 'hub.yaml')
  const tls = await initTls({ dir: folder, names: ['127.0.0.1'], days: 9, nowMs: Date.now(), force: false })
  const addresses = { url: addressOf('hub_app'), ownerUrl: ownerOf(addressOf) }
  const settings = {
    site: { id: 'head-office', url: 'https://hub.example' },
    listen: [{ host: '127.0.0.1', port: 0, tls: { certFile: tls.certFile, keyFile: tls.keyFile } }],
    dataDir: 'state',
    auth: { users, groups },
    storage: { instances },
    http,
    hub: { database: addresses, regions: { north: ['dc-8'] }, ...hub },
  }
  writeFileSync(file, stringify(settings))
  const { config } = loadHubConfig(file)
  if (known !== undefined) await migrate(ownerOf(addressOf))
  const clock = new SimulatedClock()
  const composed = await composeHub(config, { clock, random: systemRandom, log })
  let listener: HttpListener | undefined
  let port = 0
  const up = async () => {
    const at = { host: '127.0.0.1', port, tls: { certFile: tls.certFile, keyFile: tls.keyFile } }
    listener = new HttpListener(at, composed.api)
    port = await listener.start()
  }
  const down = async () => {
    await listener?.stop()
    listener = undefined
  }
  if (listens) await up()
  const codeOf = async (siteId: string) => {
    const site = { siteId, name: `Site ${siteId}` }
    return (await composed.enrolments.makeCode(site, authorityOf(config.listen)?.fingerprint ?? '')).code
  }
  t.teardown(async () => {
    await down()
    await composed.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const ask = (method: string, path: string, options?: HubAsk) => askHub(composed, method, path, options)
  return {
    ...composed,
    ...{
      config,
      clock,
      folder,
      database,
      ask,
      up,
      down,
      code: codeOf,
      url: `https://127.0.0.1:${port}`,
      caFile: tls.caFile ?? '',
    },
    rows: (sql, values) => postgres.ask(database, sql, values),
    enrol: async ({ siteId, logId, signers }) => {
      const code = await codeOf(siteId)
      const vkeys = signers.map(({ vkey }) => vkey)
      const body = { code, siteId, name: siteId, timezone: 'Europe/Berlin', logId, vkeys }
      return (await ask('POST', '/api/hub/v1/enrol', { body })).body.token
    },
  }
}

async function askHub(hub: Hub, method: string, path: string, ask: HubAsk = {}): Promise<Answer> {
  const packed = ask.stream ?? ask.bytes ?? (ask.body === undefined ? undefined : gzipSync(JSON.stringify(ask.body)))
  const response = await hub.api.request(path, {
    method,
    headers: {
      ...(ask.token !== undefined && { Authorization: `Bearer ${ask.token}` }),
      ...(packed && { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }),
      ...(path.endsWith('/enrol') && { 'Content-Encoding': 'identity' }),
      ...ask.headers,
    },
    ...(packed && { body: path.endsWith('/enrol') ? JSON.stringify(ask.body) : packed, duplex: 'half' }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
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

/** The body of a feed of leaves `from` to before `end` of a log, under its checkpoint of this size. */
export function feedOf(log: TestLog, from: number, end: number, size = end): Record<string, unknown> {
  return {
    checkpoint: log.checkpoint(size),
    from,
    leaves: log.leaves.slice(from, end).map((leaf) => leaf.toString('base64')),
    ...(size > end && { consistency: log.tree.proof(end, size).map((hash) => hash.toString('base64')) }),
  }
}

export type HeldBody = {
  readonly body: ReadableStream<Uint8Array>
  /** Resolves when somebody reads it. */
  readonly isRead: Promise<void>
  /** Lets it come. */
  release(): void
}

/** A body that does not come before it is released. */
export function heldBody(value: unknown): HeldBody {
  const read = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    read.resolve()
    await released.promise
    controller.enqueue(gzipSync(JSON.stringify(value)))
    controller.close()
  }
  const body = new ReadableStream({ pull }, { highWaterMark: 0 })
  return { body, isRead: read.promise, release: () => released.resolve() }
}

/** The parts of a stored bundle, each unpacked. */
export function partsOf(packed: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < packed.length; ) {
    const read = zstdDecompressSync(packed.subarray(at), { info: true } as ZstdOptions) as unknown as {
      buffer: Buffer
      engine: { bytesWritten: number }
    }
    parts.push(read.buffer)
    at += read.engine.bytesWritten
  }
  return parts
}

/** Roots of the complete subtrees of the tree over the first leaves, the largest first. */
export function peaksOf(leaves: readonly Buffer[], size: number): string[] {
  const peaks: string[] = []
  let at = 0
  for (let width = 2 ** 20; width >= 1; width /= 2) {
    if (size - at < width) continue
    peaks.push(
      naiveTree(leaves.slice(at, at + width))
        .root()
        .toString('base64'),
    )
    at += width
  }
  return peaks
}

export const feedPathOf = ({ logId }: Pick<TestLog, 'logId'>): string => `/api/hub/v1/logs/${logId}/feed`
