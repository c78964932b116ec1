import { AuditTrail } from '../../src/journal/index.ts'
import { People } from '../../src/log/index.ts'
import { secretBox, silentLogger, systemRandom, uuidv7Maker } from '../../src/platform/index.ts'
import { Pacing } from '../../src/webhooks/delivery/pacing.ts'
import { DeliveryWorker } from '../../src/webhooks/delivery/worker.ts'
import type { Abandoned, Outcome } from '../../src/webhooks/sending/sender.ts'
import type { SignedMessage } from '../../src/webhooks/sending/signature.ts'
import { oneOf } from './plain-sql.ts'
import { WebhookYard } from './webhook-yard.ts'

export type Mood = 'up' | 'down' | 'offline' | 'flaky' | 'busy'

/** One attempt as the other end of the line sees it; times are monotonic. */
export type Sent = {
  readonly url: string
  readonly type: string
  readonly deliveryId: string
  readonly startedMs: number
  /** Undefined: it was cut by a crash. */
  endedMs?: number
  kind?: Outcome['kind']
  /** The Retry-After of the answer. */
  readonly retryAfterMs: number
  /** Attempts under way at this endpoint when it began, without itself. */
  readonly beside: number
  /** State of its endpoint in the database then. */
  readonly status: string
  /** Failed attempts in a row that the database had counted by then. */
  readonly failures: number
}

const key = Buffer.alloc(32, 7)

/**
 * The delivery worker on a real database, with simulated time and a simulated network: whole days of outages in a
 * second. Endpoints have moods; attempts take the time they are given.
 */
export class SimulatedDelivery {
  readonly yard: WebhookYard
  readonly sent: Sent[] = []
  readonly moods = new Map<string, Mood>()
  /** How long the next attempt takes, and whether a flaky endpoint takes it. */
  readonly #latencyMs: () => number
  readonly #luck: () => boolean
  readonly #underWay = new Map<string, number>()
  #generation = 0
  worker!: DeliveryWorker

  constructor(options: {
    settings: ConstructorParameters<typeof WebhookYard>[0]
    latencyMs: () => number
    luck: () => boolean
  }) {
    this.yard = new WebhookYard(options.settings)
    this.#latencyMs = options.latencyMs
    this.#luck = options.luck
    this.#start()
  }

  /** Registers an endpoint by a public address that no one asks for. */
  async register(name: string): Promise<string> {
    const url = `https://198.41.0.4/${name}`
    this.moods.set(url, 'up')
    const reply = await this.yard.call('POST', '/api/webhooks', { url, events: ['whms.placement'] })
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
    return url
  }

  /** Plays kill -9 and a start: attempts under way are lost. */
  async crash(): Promise<void> {
    await this.quiet()
    this.#generation += 1
    this.#underWay.clear()
    this.yard.crash()
    this.#start()
    await this.quiet()
  }

  /** Lets time pass, timer by timer. */
  async pass(ms: number): Promise<void> {
    const { clock } = this.yard
    const endMs = clock.monotonic() + ms
    for (;;) {
      await this.quiet()
      const leftMs = endMs - clock.monotonic()
      const stepMs = clock.nextInMs ?? leftMs
      if (stepMs > leftMs) break
      clock.advance(stepMs)
    }
    clock.advance(endMs - clock.monotonic())
    await this.quiet()
  }

  /** Until nothing happens without time. */
  async quiet(): Promise<void> {
    for (let turn = 0; turn < 25; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }

  async end(): Promise<void> {
    const stopped = this.worker.stop()
    for (let second = 0; second < 15; second += 1) {
      await this.quiet()
      this.yard.clock.advance(1000)
    }
    await stopped
    await this.yard.end()
  }

  #start(): void {
    const { yard } = this
    const { clock, work, settings, outbox } = yard
    const generation = this.#generation
    this.worker = new DeliveryWorker({
      work,
      clock,
      random: systemRandom,
      makeId: uuidv7Maker(clock, systemRandom),
      site: { siteId: 'dc-7', warehouseId: 1 },
      newestCheckpoint: () => undefined,
      box: secretBox(key, systemRandom),
      outbox,
      audit: new AuditTrail({
        people: new People({ random: systemRandom, log: { number: 1, logId: 'a-log', siteId: 'a-site' } }),
        clock,
      }),
      pacing: new Pacing({ clock, settings: () => settings }),
      settings: () => settings,
      log: silentLogger(),
      sender: { send: (url, message) => this.#send(url, message, generation), abandon: () => {} },
    })
    this.worker.start()
  }

  #send(url: string, message: SignedMessage, generation: number): Promise<Outcome | Abandoned> {
    const { clock } = this.yard
    const mood = this.moods.get(url) ?? 'up'
    const beside = this.#underWay.get(url) ?? 0
    const busyMs = mood === 'busy' ? 90_000 : 0
    const row = this.yard.work.read((tx) =>
      oneOf<{ status: string; failures: number }>(
        tx,
        'SELECT status, consecutive_failures AS failures FROM webhook WHERE url = ?',
        [url],
      ),
    )
    const sent: Sent = {
      url,
      type: message.type,
      deliveryId: message.deliveryId,
      startedMs: clock.monotonic(),
      retryAfterMs: busyMs,
      beside,
      status: row?.status ?? 'gone',
      failures: row?.failures ?? 0,
    }
    this.sent.push(sent)
    this.#underWay.set(url, beside + 1)
    const outcome = this.#outcomeOf(mood, busyMs)
    return new Promise((resolve) => {
      clock.after(this.#latencyMs(), () => {
        if (generation !== this.#generation) return
        this.#underWay.set(url, (this.#underWay.get(url) ?? 1) - 1)
        Object.assign(sent, { endedMs: clock.monotonic(), kind: outcome.kind })
        resolve(outcome)
      })
    })
  }

  #outcomeOf(mood: Mood, busyMs: number): Outcome {
    const durationMs = 5
    if (mood === 'offline') return { kind: 'offline', status: null, error: 'ENETUNREACH', durationMs }
    if (mood === 'up' || (mood === 'flaky' && this.#luck())) return { kind: 'delivered', status: 204, durationMs }
    const retryAfter = busyMs > 0 ? { retryAfter: String(busyMs / 1000) } : {}
    return { kind: 'failed', status: busyMs > 0 ? 429 : 500, error: 'HTTP', durationMs, ...retryAfter }
  }
}
