import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { notifications } from '../../src/app/notifications.ts'
import { type Permission, permissions } from '../../src/config/index.ts'
import { databaseFile, openReader, openWriter, UnitOfWork } from '../../src/database/index.ts'
import type { AppError } from '../../src/errors/index.ts'
import { type Api, type Caller, jsonBodies, newRoot } from '../../src/http/index.ts'
import {
  AuditTrail,
  type CheckpointNote,
  Idempotency,
  type Inspect,
  Outbox,
  type PublishedEvent,
} from '../../src/journal/index.ts'
import { People } from '../../src/log/index.ts'
import { secretBox, silentLogger, systemRandom, uuidv7Maker } from '../../src/platform/index.ts'
import {
  type AttemptReport,
  createWebhooks,
  type Resolve,
  type WebhookSettings,
  type Webhooks,
} from '../../src/webhooks/index.ts'
import { oneOf } from './plain-sql.ts'
import { type Receiver, type ReceiverOptions, startReceiver } from './receiver.ts'
import { SimulatedClock } from './simulated-clock.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Json = any

export type Reply = { readonly status: number; readonly headers: Headers; readonly body: Json }

export type YardOptions = {
  readonly settings?: Partial<WebhookSettings>
  readonly resolve?: Resolve
  readonly permissions?: readonly Permission[]
  /** Receives each published notification. */
  readonly inspect?: Inspect
  /** The wall clock at the beginning. */
  readonly startMs?: number
}

const key = Buffer.alloc(32, 7)
const month = 30 * 24 * 60 * 60 * 1000

/**
 * The webhooks room on a real database, under a simulated clock, with an API that takes everybody for `ada`. Everything
 * happens when it happens: tests wait for commits and requests, never for time.
 */
export class WebhookYard {
  readonly folder: string
  readonly clock: SimulatedClock
  readonly settings: { -readonly [K in keyof WebhookSettings]: WebhookSettings[K] }
  /** Every recorded attempt, in order. */
  readonly attempts: AttemptReport[] = []
  /** When set, no write reaches the database. */
  writesFail: AppError | undefined
  /** The newest one, for webhooks that want it. */
  checkpoint: CheckpointNote | undefined
  /** How many did not. */
  refusedWrites = 0
  work!: UnitOfWork
  db!: Database
  outbox!: Outbox
  webhooks!: Webhooks
  api!: Api
  readonly #options: YardOptions
  readonly #makeId: () => string
  readonly #watchers = new Set<() => void>()
  readonly #receivers: Receiver[] = []
  #close = () => {}

  constructor(options: YardOptions = {}) {
    this.#options = options
    this.folder = mkdtempSync(join(tmpdir(), 'gatehouse-webhooks-'))
    this.clock = new SimulatedClock(options.startMs)
    this.#makeId = uuidv7Maker(this.clock, systemRandom)
    const minute = 60_000
    this.settings = {
      allowNetworks: ['127.0.0.0/8'],
      timeoutMs: 30_000,
      retryScheduleMs: [0, minute, 5 * minute, 30 * minute, 120 * minute, 720 * minute],
      ...options.settings,
    }
    this.open()
  }

  /** Opens the folder's database with a new room; the worker is not started. */
  open(): void {
    const { db, close } = openWriter({ dataDir: this.folder, nowMs: this.clock.now() })
    const reader = openReader(databaseFile(this.folder))
    this.db = db
    this.work = this.#watched(new UnitOfWork({ writer: db, reader }))
    this.#build()
    const { work } = this
    this.#close = () => {
      work.close()
      reader.close()
      close()
    }
  }

  /** State after kill -9: the files as they are, and no later work of the old room reaches them. */
  crash(): void {
    this.#close()
    this.open()
  }

  async end(): Promise<void> {
    for (const receiver of this.#receivers) await receiver.stop()
    await this.webhooks.worker.stop()
    this.#close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** A receiver whose certificate the gateway trusts. */
  async receiver(options: Partial<ReceiverOptions> = {}): Promise<Receiver> {
    const receiver = await startReceiver({ secret: 'a secret that both know', ...options })
    this.#receivers.push(receiver)
    this.settings.caFile = join(this.folder, 'receivers.pem')
    writeFileSync(this.settings.caFile, this.#receivers.map(({ caPem }) => caPem).join('\n'))
    return receiver
  }

  /** Registers the receiver for the events and returns the webhook's id. */
  async register(receiver: Receiver, events: string[] = ['whms.placement'], more: Json = {}): Promise<string> {
    const body = { url: receiver.url, events, secret: 'a secret that both know', ...more }
    const reply = await this.call('POST', '/api/webhooks', body)
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
    return reply.body.id
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const json = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const response = await this.api.request(path, { method, headers: { ...type, ...headers }, ...json })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }

  /** Publishes so many events of the type in one commit, numbered in `data.n`. */
  publish(count = 1, type: PublishedEvent['type'] = 'whms.placement'): Promise<void> {
    return this.work.write((tx) => {
      for (let n = 1; n <= count; n += 1) {
        this.outbox.publish(tx, { type, eventId: this.#makeId(), timestampMs: this.clock.now(), data: { n } })
      }
    })
  }

  async deliveries(webhookId: string, query = ''): Promise<Json[]> {
    return (await this.call('GET', `/api/webhooks/${webhookId}/deliveries${query}`)).body.data
  }

  async webhook(webhookId: string): Promise<Json> {
    return (await this.call('GET', `/api/webhooks/${webhookId}`)).body
  }

  /** Resolves once `count` attempts have been recorded in all. */
  attempted(count: number): Promise<void> {
    return this.until(() => this.attempts.length >= count)
  }

  /** Resolves when the condition holds; checked after each commit and each recorded attempt. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!condition()) return
        this.#watchers.delete(look)
        resolve()
      }
      this.#watchers.add(look)
      look()
    })
  }

  /** Lets time pass once all pending work has ended, and waits for the work that follows. */
  async pass(ms: number): Promise<void> {
    await this.webhooks.worker.settled()
    this.clock.advance(ms)
    await this.webhooks.worker.settled()
  }

  /**
   * Lets time pass in steps of 100 ms between turns of the event loop, for code that waits for the network and then for
   * time.
   */
  async passUntil(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise((resolve) => setImmediate(resolve))
      this.clock.advance(100)
    }
  }

  /** A month and a day. */
  passMonth(): Promise<void> {
    return this.pass(month + 24 * 60 * 60 * 1000)
  }

  count(table: string): number {
    return this.work.read((tx) => oneOf<{ n: number }>(tx, `SELECT count(*) AS n FROM ${table}`)?.n ?? 0)
  }

  #watched(work: UnitOfWork): UnitOfWork {
    const write = work.write.bind(work)
    work.write = (async (...args: Parameters<typeof write>) => {
      if (this.writesFail) {
        this.refusedWrites += 1
        this.#look()
        throw this.writesFail
      }
      return write(...args)
    }) as typeof work.write
    work.onCommit(() => this.#look())
    return work
  }

  #build(): void {
    const { clock, work } = this
    const people = new People({ random: systemRandom, log: { number: 1, logId: 'a-log', siteId: 'dc-7' } })
    const audit = new AuditTrail({ people, clock })
    const site = { siteId: 'dc-7', warehouseId: 1 }
    const { inspect } = this.#options
    this.outbox = new Outbox({ ...site, makeId: this.#makeId, isOwed: () => true, ...(inspect && { inspect }) })
    this.webhooks = createWebhooks({
      work,
      clock,
      random: systemRandom,
      makeId: this.#makeId,
      box: secretBox(key, systemRandom),
      outbox: this.outbox,
      notifications,
      audit,
      idempotency: new Idempotency({ clock, visibleTo: () => [] }),
      settings: () => this.settings,
      site,
      newestCheckpoint: () => this.checkpoint,
      version: '1.2.3',
      log: silentLogger(),
      onAttempt: (report) => {
        this.attempts.push(report)
        this.#look()
      },
      ...(this.#options.resolve && { resolve: this.#options.resolve }),
    })
    this.api = apiFor(this.webhooks, this.#makeId, this.#options.permissions ?? permissions)
  }

  #look(): void {
    for (const look of this.#watchers) look()
  }
}

function apiFor(webhooks: Webhooks, makeRequestId: () => string, granted: readonly Permission[]): Api {
  const root = newRoot({ log: silentLogger(), makeRequestId, addressOf: () => '10.1.2.3' })
  const ada: Caller = {
    username: 'ada',
    instance: 'https://box.example',
    role: 'admin',
    groups: [],
    permissions: new Set(granted),
    authMode: 'local',
  }
  root.use('/api/*', async (c, next) => {
    c.set('caller', ada)
    await next()
  })
  root.use(
    '/api/*',
    jsonBodies(() => false),
  )
  webhooks.routes(root)
  return root
}
