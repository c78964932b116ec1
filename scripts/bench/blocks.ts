import { setTimeout as pause } from 'node:timers/promises'
import { hashSecret, type LocalAccount } from '../../src/auth/index.ts'
import { systemRandom } from '../../src/platform/index.ts'
import { type Description, everyRead, type Span } from '../../test/support/every-read.ts'
import { SimulatedClock } from '../../test/support/simulated-clock.ts'
import { type Figure, millis, thousands } from './figure.ts'
import { openRooms, siteUrl } from './rooms.ts'
import { furnish, History, keepPhoto } from './seed.ts'
import { stateOf, writeConfig } from './site.ts'
import type { LoopDelay, Watch } from './watched-gateway.ts'
import type { Workshop } from './workshop.ts'

const hallSlots = 10_000
const hallPallets = 8_000
/** Recorded one by one; the rest is filled in, which is ten times as fast. */
const recordedOnes = 10_000
/** The machine is shared: a block counts when it comes in each of so many tries. */
const tries = 3
const limitMs = 15
const shownBlocks = 5
/** An export of everything is left after this time; a client that goes away ends it. */
const longestMs = 500

/** The callers: an admin, and a person from whom half of the hall is hidden. */
const secret = 'the-secret-of-the-bench'
const names = ['ada', 'sven'] as const

/** Measures the longest time that one GET blocks the others, with any one filter, by any caller. */
export async function measureBlocks(workshop: Workshop, events: number): Promise<Figure[]> {
  const folder = workshop.newFolder('blocks')
  const span = await makeHall(stateOf(folder), events)
  const secretHash = await hashSecret(secret, systemRandom)
  const account = (username: string, role: LocalAccount['role']): LocalAccount => ({ username, role, secretHash })
  const config = writeConfig(folder, account('ada', 'admin'), {
    auth: { users: [account('ada', 'admin'), account('sven', 'supervisor')] },
    warehouses: [{ id: 2, viewers: ['ada'] }],
  })
  const gateway = workshop.start('watched-gateway')
  const { url } = await gateway.ask<{ url: string }>({ start: config } satisfies Watch)
  const description = (await (await fetch(`${url}/api/openapi`, { headers: headersOf('ada') })).json()) as Description
  await pause(500)
  const idle = await idleMs(gateway)
  const blocks: { what: string; ms: number }[] = []
  for (const path of everyRead(description, span)) {
    for (const name of names) {
      let least = Number.POSITIVE_INFINITY
      for (let n = 0; n < tries && least > limitMs / 3; n += 1)
        least = Math.min(least, await blockOf(gateway, url, path, name))
      blocks.push({ what: `${path} (${name})`, ms: least })
    }
  }
  await gateway.end()
  const worst = blocks.toSorted((a, b) => b.ms - a.ms)
  const longest = worst[0] ?? { what: 'nothing was asked', ms: 0 }
  return [
    {
      id: `blocks-${span.events}`,
      what: `Longest block of the main thread by any GET, any filter, any caller (${thousands(span.events)} events)`,
      value: longest.ms,
      unit: 'ms',
      target: { limit: limitMs, sense: 'at most' },
      raw: `${blocks.length} requests, idle ${millis(idle)}; the longest: ${worst
        .slice(0, shownBlocks)
        .map(({ what, ms }) => `${what} ${millis(ms)}`)
        .join(' · ')}`,
      numbers: { longestMs: longest.ms, idleMs: idle, requests: blocks.length },
    },
  ]
}

const headersOf = (name: string) => ({
  Authorization: `Bearer ${secret}`,
  'X-Storage-Instance': siteUrl,
  'X-Storage-Username': name,
})

async function makeHall(dataDir: string, events: number): Promise<Span> {
  const fromMs = Date.now() - (events + 3600) * 1000
  const clock = new SimulatedClock(fromMs)
  const rooms = openRooms(dataDir, clock)
  rooms.db.pragma('synchronous = OFF')
  await furnish(rooms, hallSlots, hallPallets, 2)
  const photoUrl = await keepPhoto(rooms)
  const history = new History({ rooms, clock, slots: hallSlots, pallets: hallPallets, photoUrl })
  await history.growTo(Math.min(events, recordedOnes))
  if (events > recordedOnes) history.fillTo(rooms, events)
  rooms.close()
  return { fromMs, toMs: clock.now(), events }
}

async function idleMs(gateway: { ask<A>(message: object): Promise<A> }): Promise<number> {
  await gateway.ask({ readOff: true })
  await pause(2000)
  return (await gateway.ask<LoopDelay>({ readOff: true })).maxMs
}

async function blockOf(
  gateway: { ask<A>(message: object): Promise<A> },
  url: string,
  path: string,
  name: string,
): Promise<number> {
  await gateway.ask({ readOff: true })
  const answer = await fetch(`${url}${path}`, {
    headers: headersOf(name),
    signal: AbortSignal.timeout(longestMs),
  }).catch(() => undefined)
  await answer?.arrayBuffer().catch(() => undefined)
  return (await gateway.ask<LoopDelay>({ readOff: true })).maxMs
}
