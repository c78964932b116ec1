import { writeFileSync } from 'node:fs'
import type { ClientRequest } from 'node:http'
import { join } from 'node:path'
import got, { type Got, type Request } from 'got'
import { AuditTrail, Outbox } from '../../src/journal/index.ts'
import { secretBox, silentLogger, systemClock, systemRandom } from '../../src/platform/index.ts'
import { Pacing } from '../../src/webhooks/delivery/pacing.ts'
import { DeliveryWorker } from '../../src/webhooks/delivery/worker.ts'
import { contextOf } from '../../src/webhooks/secrets.ts'
import { parseNetworks } from '../../src/webhooks/sending/address-guard.ts'
import { Authorities } from '../../src/webhooks/sending/authorities.ts'
import { GuardedAgent, systemResolve } from '../../src/webhooks/sending/guarded-agent.ts'
import { GuardedAgents } from '../../src/webhooks/sending/guarded-agents.ts'
import { type Abandoned, type Outcome, Sender } from '../../src/webhooks/sending/sender.ts'
import { headersOf, type Secrets, type SignedMessage } from '../../src/webhooks/sending/signature.ts'
import type { WebhookSettings } from '../../src/webhooks/settings.ts'
import { insertWebhook, isAnyoneOwed } from '../../src/webhooks/store.ts'
import { dataOf } from './delivered-event.ts'
import { type Figure, rounded } from './figure.ts'
import type { FarmRequest, Opened } from './receiver-farm.ts'
import { openRooms, siteId } from './rooms.ts'
import { stateOf } from './site.ts'
import { median } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const rounds = 6
const deliveries = 2000
const bodyLimitBytes = 64 * 1024
const bodyLimitMs = 2000
const version = 'bench'
const kinds = ['node:https', 'got'] as const
type Kind = (typeof kinds)[number]

/** A delivery by the sender and by one on got, in turns within one process: signed, to one receiver, each attempt on disk. */
export async function measureSenders(workshop: Workshop): Promise<Figure[]> {
  const farm = workshop.start('receiver-farm')
  const { urls, caPem } = await farm.ask<Opened>({ open: 1 } satisfies FarmRequest)
  const caFile = join(workshop.folder, 'receivers.pem')
  writeFileSync(caFile, caPem)
  const taken: Record<Kind, Taken[]> = { 'node:https': [], got: [] }
  // The first round warms up both.
  for (let round = 0; round <= rounds; round += 1) {
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
      const one = await drain(workshop.newFolder(`${kind.replace(':', '-')}-${round}`), kind, urls[0] ?? '', caFile)
      if (round > 0) taken[kind].push(one)
    }
  }
  await farm.end()
  return [figureOf(taken)]
}

/** Time of one delivery, in microseconds. */
type Taken = { readonly wallUs: number; readonly processorUs: number }

async function drain(folder: string, kind: Kind, url: string, caFile: string): Promise<Taken> {
  const rooms = openRooms(stateOf(folder), systemClock)
  const { work, makeId, people } = rooms
  // The writer of the notifications is not measured: nothing inspects them.
  const outbox = new Outbox({ siteId, warehouseId: 1, makeId, isOwed: isAnyoneOwed })
  const clock = systemClock
  const box = secretBox(Buffer.alloc(32, 7), systemRandom)
  const id = makeId()
  const settings: WebhookSettings = {
    ...{ allowNetworks: ['127.0.0.0/8'], caFile, timeoutMs: 30_000, retryScheduleMs: [0], drainPerSecond: 100_000 },
  }
  await work.write((tx) =>
    insertWebhook(tx, {
      ...{ id, url, events: ['whms.placement'], active: true, hold: false, checkpoint: false },
      ...{ sealedSecret: box.seal('a secret that both know', contextOf(id)), nowMs: clock.now() },
    }),
  )
  await work.write((tx) => {
    for (let n = 0; n < deliveries; n += 1) {
      const event = { eventId: makeId(), timestampMs: clock.now(), data: dataOf(n) }
      outbox.announce(tx, { type: 'whms.placement', ...event })
    }
  })
  const done = Promise.withResolvers<void>()
  let delivered = 0
  const worker = new DeliveryWorker({
    ...{ work, clock, random: systemRandom, makeId, box, outbox, log: silentLogger() },
    site: { siteId, warehouseId: 1 },
    newestCheckpoint: () => undefined,
    audit: new AuditTrail({ people, clock }),
    pacing: new Pacing({ clock, settings: () => settings }),
    settings: () => settings,
    sender: senderOf(kind, settings),
    onAttempt: ({ outcome }) => {
      if (outcome === 'delivered') delivered += 1
      else done.reject(new Error('a delivery failed'))
      if (delivered === deliveries) done.resolve()
    },
  })
  const [startedMs, before] = [performance.now(), process.cpuUsage()]
  worker.start()
  await done.promise
  const used = process.cpuUsage(before)
  const wallUs = ((performance.now() - startedMs) * 1000) / deliveries
  await worker.stop()
  rooms.close()
  return { wallUs, processorUs: (used.user + used.system) / deliveries }
}

function senderOf(kind: Kind, settings: WebhookSettings): Pick<Sender, 'send' | 'abandon'> {
  const needs = { clock: systemClock, settings: () => settings, log: silentLogger() }
  const authorities = new Authorities(needs)
  const uplink = { wasDown: async () => false, abandon: () => {} }
  return kind === 'got'
    ? new GotSender(settings, authorities)
    : new Sender({
        ...needs,
        agents: new GuardedAgents({ ...needs, resolve: systemResolve, authorities }),
        version,
        uplink,
      })
}

/** The sender on got's streams, with the same agent and limits. Its options are merged once, which is got's fastest way. */
class GotSender {
  readonly #agent: GuardedAgent
  readonly #got: Got

  constructor({ allowNetworks }: WebhookSettings, authorities: Authorities) {
    const { secureContext } = authorities.current()
    this.#agent = new GuardedAgent({ named: parseNetworks(allowNetworks), resolve: systemResolve, secureContext })
    this.#got = got.extend({
      agent: { https: this.#agent },
      retry: { limit: 0 },
      followRedirect: false,
      throwHttpErrors: false,
      decompress: false,
      https: { rejectUnauthorized: true },
    })
  }

  abandon(): void {
    this.#agent.destroy()
  }

  async send(url: string, message: SignedMessage, secrets: Secrets): Promise<Outcome | Abandoned> {
    const startedMs = systemClock.monotonic()
    const request = this.#got.stream.post(url, {
      body: message.body,
      headers: headersOf(message, secrets, version, systemClock.now()),
    })
    const status = await statusOf(request)
    const durationMs = Math.round(systemClock.monotonic() - startedMs)
    return typeof status === 'number' && status >= 200 && status < 300
      ? { kind: 'delivered', status, durationMs }
      : { kind: 'failed', status: null, error: String(status), durationMs }
  }
}

/** Waits 30 s for the headers, then for the body up to its limits; a repeat over a stale connection is left out. */
function statusOf(request: Request): Promise<number | Error> {
  return new Promise((resolve) => {
    let status: number | undefined
    let size = 0
    const settle = (result: number | Error) => {
      cancel()
      if (status === undefined || size > bodyLimitBytes) request.destroy()
      resolve(result)
    }
    let cancel = systemClock.after(30_000, () => settle(new Error('no answer')))
    request.once('request', (sent: ClientRequest) => sent.once('socket', () => sent.reusedSocket))
    request.once('response', (response: { statusCode: number }) => {
      cancel()
      status = response.statusCode
      cancel = systemClock.after(bodyLimitMs, () => settle(response.statusCode))
    })
    request.on('data', (part: Buffer) => {
      size += part.length
      if (size > bodyLimitBytes) settle(status ?? new Error('no status'))
    })
    request.once('end', () => settle(status ?? new Error('no status')))
    request.on('error', settle)
  })
}

function figureOf(taken: Record<Kind, readonly Taken[]>): Figure {
  const each = (kind: Kind, what: keyof Taken) => taken[kind].map((one) => one[what])
  // The load of the machine changes from round to round, so each round is compared with itself.
  const ratioOf = (what: keyof Taken) => {
    const https = each('node:https', what)
    return median(each('got', what).map((one, round) => one / (https[round] ?? 0)))
  }
  const numbers = {
    httpsWallUs: median(each('node:https', 'wallUs')),
    gotWallUs: median(each('got', 'wallUs')),
    httpsProcessorUs: median(each('node:https', 'processorUs')),
    gotProcessorUs: median(each('got', 'processorUs')),
    processorRatio: ratioOf('processorUs'),
  }
  const words = (what: keyof Taken) =>
    kinds.map((kind) => `${kind} ${each(kind, what).map(rounded).join(', ')} µs`).join('; ')
  return {
    id: 'senders',
    what: 'A delivery with got in the place of node:https, both in turns',
    value: ratioOf('wallUs'),
    unit: '×',
    raw: `${words('wallUs')}; processor time ${rounded(numbers.processorRatio)} ×: ${words('processorUs')}; ${rounds} rounds of ${deliveries} deliveries each`,
    numbers,
  }
}
