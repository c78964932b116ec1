import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Outbox } from '../../src/journal/index.ts'
import { systemClock } from '../../src/platform/index.ts'
import { isAnyoneOwed } from '../../src/webhooks/index.ts'
import { dataOf } from './delivered-event.ts'
import { type Figure, millis, rounded, thousands } from './figure.ts'
import type { FarmCounts, FarmRequest, Opened } from './receiver-farm.ts'
import { openRooms, siteId } from './rooms.ts'
import { type Served, serveGateway } from './served.ts'
import { jsonHeaders, makeAccount, stateOf } from './site.ts'
import type { PostsRequest } from './undici-peer.ts'
import { memoryOf, type Workshop } from './workshop.ts'

const deliveriesInRace = 3000
const lanesPerEndpoint = 4
const eventsPerCommit = 1000
const lookEveryMs = 100
const megabyte = 1024 * 1024

/** Sustained deliveries a second to one and to ten endpoints, against undici alone; and a long backlog. */
export async function measureDeliveries(workshop: Workshop, backlog: number): Promise<Figure[]> {
  const account = await makeAccount()
  const race = (endpoints: number) =>
    drain(workshop, { name: `race-${endpoints}`, endpoints, events: deliveriesInRace / endpoints, account })
  const [one, ten] = [await race(1), await race(10)]
  const long = await drain(workshop, { name: 'backlog', endpoints: 1, events: backlog, account })
  return [raceFigure(one, 1), raceFigure(ten, 10), backlogFigure(long, backlog)]
}

type Drained = {
  readonly perSecond: number
  /** Rate of undici alone, to the same receivers. */
  readonly peerPerSecond: number
  /** From the start of the process to its first answer, without anything that waits. */
  readonly emptyStartMs: number
  /** The same over the whole backlog. */
  readonly fullStartMs: number
  /** Own memory before draining, at most while the first tenth went out, and at most in all. */
  readonly memoryBefore: number
  readonly memoryEarly: number
  readonly memoryMost: number
  readonly counts: FarmCounts
}

type TimedAsk = {
  readonly name: string
  readonly endpoints: number
  readonly events: number
  readonly account: Awaited<ReturnType<typeof makeAccount>>
}

async function drain(workshop: Workshop, { name, endpoints, events, account }: TimedAsk): Promise<Drained> {
  const folder = workshop.newFolder(name)
  const farm = workshop.start('receiver-farm')
  const { urls, caPem } = await farm.ask<Opened>({ open: endpoints } satisfies FarmRequest)
  const caFile = join(folder, 'receivers.pem')
  writeFileSync(caFile, caPem)
  const webhooks = { allowNetworks: ['127.0.0.0/8'], caFile, drainPerSecond: 10_000 }
  const serve = () => serveGateway(workshop, folder, account, { webhooks })
  let gateway = await serve()
  const emptyStartMs = gateway.answeredAfterMs
  const ids = await Promise.all(urls.map((url) => register(gateway, url)))
  await gateway.end()
  await publish(folder, events)

  gateway = await serve()
  const total = events * endpoints
  await until(async () => (await pending(gateway)) === total)
  await gateway.end()
  gateway = await serve()
  const fullStartMs = gateway.answeredAfterMs
  const memoryBefore = memoryOf(gateway.pid).ownBytes
  let memoryMost = memoryBefore
  let memoryEarly = memoryBefore
  const startedMs = performance.now()
  await Promise.all(ids.map((id) => call(gateway, 'POST', `/api/webhooks/${id}/enable`)))
  let counts: FarmCounts
  do {
    await pause(lookEveryMs)
    memoryMost = Math.max(memoryMost, memoryOf(gateway.pid).ownBytes)
    counts = await farm.ask<FarmCounts>({ tell: true } satisfies FarmRequest)
    if (counts.distinct < total / 10) memoryEarly = memoryMost
  } while (counts.distinct < total)
  const perSecond = total / ((performance.now() - startedMs) / 1000)
  await gateway.end()

  const peer = workshop.start('undici-peer')
  const count = Math.min(deliveriesInRace, total) / endpoints
  const asked: PostsRequest = { urls, caPem, count, atOnce: lanesPerEndpoint }
  const { seconds } = await peer.ask<{ seconds: number }>(asked)
  await Promise.all([peer.end(), farm.end()])
  const peerPerSecond = (count * endpoints) / seconds
  return { perSecond, peerPerSecond, emptyStartMs, fullStartMs, memoryBefore, memoryEarly, memoryMost, counts }
}

/** Publishes more than a day's events through the outbox itself: this part is not measured. */
async function publish(folder: string, events: number): Promise<void> {
  const rooms = openRooms(stateOf(folder), systemClock)
  const outbox = new Outbox({ siteId, warehouseId: 1, makeId: rooms.makeId, isOwed: isAnyoneOwed })
  for (let from = 0; from < events; from += eventsPerCommit) {
    await rooms.work.write((tx) => {
      for (let n = from; n < Math.min(from + eventsPerCommit, events); n += 1) {
        const timestampMs = systemClock.now()
        outbox.announce(tx, { type: 'whms.placement', eventId: rooms.makeId(), timestampMs, data: dataOf(n) })
      }
    })
  }
  rooms.close()
}

async function register(gateway: Served, url: string): Promise<string> {
  const { id } = await call(gateway, 'POST', '/api/webhooks', {
    ...{ url, events: ['whms.placement'], active: false, hold: true },
  })
  return String(id)
}

async function call(gateway: Served, method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const json = body ? { body: JSON.stringify(body) } : {}
  const response = await fetch(`${gateway.url}${path}`, { method, headers: jsonHeaders, ...json })
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

async function pending(gateway: Served): Promise<number> {
  const response = await fetch(`${gateway.url}/api/metrics`, { headers: jsonHeaders })
  return Number((await response.text()).match(/^gatehouse_webhook_deliveries_pending (\d+)/m)?.[1])
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(lookEveryMs)
}

function raceFigure({ perSecond, peerPerSecond, counts }: Drained, endpoints: number): Figure {
  const to = endpoints === 1 ? 'one endpoint' : `${endpoints} endpoints`
  return {
    id: `deliveries-${endpoints}`,
    what: `Deliveries a second to ${to}, each signed and its attempt on disk, against undici alone`,
    value: perSecond / peerPerSecond,
    unit: '×',
    target: { limit: 0.35, sense: 'at least' },
    raw: `${thousands(perSecond)} a second, undici ${thousands(peerPerSecond)}; ${lanesPerEndpoint} at a time to each endpoint; ${thousands(counts.distinct)} deliveries`,
    numbers: { perSecond, peerPerSecond, deliveries: counts.distinct },
  }
}

function backlogFigure(drained: Drained, backlog: number): Figure {
  const { perSecond, emptyStartMs, fullStartMs, memoryBefore, memoryEarly, memoryMost, counts } = drained
  const numbers = {
    backlog,
    perSecond,
    emptyStartMs,
    fullStartMs,
    memoryBeforeBytes: memoryBefore,
    memoryEarlyBytes: memoryEarly,
    memoryMostBytes: memoryMost,
    received: counts.received,
    distinct: counts.distinct,
    furthestFromPlace: counts.furthestFromPlace,
  }
  const mebibytes = (bytes: number) => rounded(bytes / megabyte)
  const memory = `memory ${mebibytes(memoryBefore)} MiB before, at most ${mebibytes(memoryEarly)} MiB over the first tenth and ${mebibytes(memoryMost)} MiB over all`
  const order = `no delivery further than ${counts.furthestFromPlace} from its place, ${thousands(counts.received - counts.distinct)} sent twice`
  return {
    id: 'backlog',
    what: `Start of a gateway with ${thousands(backlog)} deliveries waiting, against an empty one`,
    value: fullStartMs / emptyStartMs,
    unit: '×',
    raw: `${millis(fullStartMs)} against ${millis(emptyStartMs)}; drained at ${thousands(perSecond)} a second, ${order}; ${memory}`,
    numbers,
  }
}
