import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../demo-parts/ports.ts'
import { type Figure, rounded, thousands } from '../figure.ts'
import type { LoadResult } from '../load.ts'
import { Postgres, postgresBin } from '../postgres.ts'
import { prepareHall, turns } from '../seed.ts'
import { serve, serveGateway } from '../served.ts'
import { jsonHeaders, makeAccount, stateOf } from '../site.ts'
import { median } from '../statistics.ts'
import { cpuMs, type Helper, type Workshop, writtenBytes } from '../workshop.ts'
import { peerSlots } from './stores.ts'

const rounds = 5
const secondsEach = 2
const pageBytes = 4096
const program = fileURLToPath(new URL('./server.ts', import.meta.url))

/** Processor time, and bytes that were written to the disk, of all its processes since their start. */
type Spent = { readonly cpuMs: number; readonly bytes: number }

type Side = {
  readonly url: string
  readonly bodies: readonly string[]
  readonly spent: () => Spent
  readonly end: () => Promise<void>
}

type Sample = { readonly perSecond: number; readonly p50Ms: number; readonly cpuMicros: number; readonly pages: number }
type Name = 'gatehouse' | 'sqlite' | 'postgres'

/**
 * Measures one event beside the two programs that a team would write in place of gatehouse. Every event has an Idempotency-Key, and
 * a webhook that wants other events is registered. The sides take turns. Without Debian's package `postgresql`, SQLite is alone.
 */
export async function measurePeers(workshop: Workshop): Promise<Figure[]> {
  const folder = workshop.newFolder('peers')
  const bodies = turns(peerSlots, await prepareHall(stateOf(folder), peerSlots))
  const sides = new Map<Name, Side>([
    ['gatehouse', await gatehouse(workshop, folder, bodies)],
    ['sqlite', await peerOnSqlite(workshop, bodies)],
  ])
  const bin = postgresBin()
  if (bin) sides.set('postgres', await peerOnPostgres(workshop, bin, bodies))
  const load = workshop.start('load')
  const figures: Figure[] = []
  for (const clients of [64, 1]) figures.push(...figuresOf(await inTurns(load, sides, clients), clients))
  await Promise.all([load.end(), ...[...sides.values()].map((side) => side.end())])
  return figures
}

async function gatehouse(workshop: Workshop, folder: string, bodies: readonly string[]): Promise<Side> {
  const webhooks = { allowNetworks: ['127.0.0.0/8'] }
  const { url, pid, end } = await serveGateway(workshop, folder, await makeAccount(), { webhooks })
  const hook = { url: 'https://127.0.0.1:9/', events: ['incident.created'] }
  const init = { method: 'POST', headers: jsonHeaders, body: JSON.stringify(hook) }
  const response = await fetch(`${url}/api/webhooks`, init)
  if (response.status !== 201) throw new Error(`the webhook was answered ${response.status}: ${await response.text()}`)
  return { url, bodies, end, spent: () => spentBy(pid) }
}

const spentBy = (pid: number): Spent => ({ cpuMs: cpuMs(pid), bytes: writtenBytes(pid) })

async function peerOnSqlite(workshop: Workshop, bodies: readonly string[]): Promise<Side> {
  const folder = workshop.newFolder('peer-sqlite')
  const { url, pid, end } = await peer(workshop, folder, ['sqlite', join(folder, 'peer.db')])
  return { url, bodies, end, spent: () => spentBy(pid) }
}

async function peerOnPostgres(workshop: Workshop, bin: string, bodies: readonly string[]): Promise<Side> {
  const postgres = await Postgres.start(workshop, bin)
  const { url, pid, end } = await peer(workshop, workshop.newFolder('peer-postgres'), ['postgres', postgres.folder])
  const spent = () => {
    const own = spentBy(pid)
    return { cpuMs: own.cpuMs + postgres.cpuMs(), bytes: own.bytes + postgres.writtenBytes() }
  }
  const endBoth = async () => {
    await end()
    await postgres.stop()
  }
  return { url, bodies, spent, end: endBoth }
}

async function peer(workshop: Workshop, folder: string, about: readonly string[]) {
  const port = await freePort()
  const args = ['--disable-warning=ExperimentalWarning', program, ...about, String(port)]
  return serve(workshop, { command: process.execPath, args, folder, port, path: '/api/ping' })
}

/** Every side in turn, forwards and backwards. The first round fills caches. */
async function inTurns(load: Helper, sides: ReadonlyMap<Name, Side>, clients: number): Promise<Map<Name, Sample[]>> {
  const samples = new Map<Name, Sample[]>([...sides.keys()].map((name) => [name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, side] of round % 2 === 0 ? sides : [...sides].toReversed()) {
      const sample = await measured(load, side, clients)
      if (round > 0) samples.get(name)?.push(sample)
    }
  }
  return samples
}

async function measured(load: Helper, { url, bodies, spent }: Side, clients: number): Promise<Sample> {
  const before = spent()
  const asked = { url: `${url}/api/whms/events`, method: 'POST', headers: jsonHeaders, bodies, keyed: true }
  const result = await load.ask<LoadResult>({ ...asked, clients, seconds: secondsEach })
  if (result.failures > 0 || result.answers === 0) throw new Error(`${result.failures} failed at ${url}`)
  const after = spent()
  return {
    perSecond: result.perSecond,
    p50Ms: result.p50Ms,
    cpuMicros: ((after.cpuMs - before.cpuMs) * 1000) / result.answers,
    pages: (after.bytes - before.bytes) / pageBytes / result.answers,
  }
}

function figuresOf(taken: ReadonlyMap<Name, readonly Sample[]>, clients: number): Figure[] {
  const names = [...taken.keys()]
  const of = (name: Name, key: keyof Sample) => median((taken.get(name) ?? []).map((one) => one[key]))
  const all = (key: keyof Sample, unit: string) =>
    names
      .map((name) => `${name} ${key === 'perSecond' ? thousands(of(name, key)) : rounded(of(name, key))}${unit}`)
      .join(', ')
  const numbers = Object.fromEntries(
    names.flatMap((name) =>
      (['cpuMicros', 'perSecond', 'pages', 'p50Ms'] as const).map((key) => [`${name}-${key}`, of(name, key)]),
    ),
  )
  const by = clients === 1 ? 'one client' : `${clients} clients`
  const isOne = clients === 1
  const figure = (id: string, what: string, rest: Pick<Figure, 'value' | 'unit' | 'raw' | 'target'>): Figure => ({
    id: `peers-${id}-${clients}`,
    what: `${what}, ${by}`,
    ...rest,
    numbers,
  })
  const figures = [
    figure('cpu', 'Processor time of an event', {
      ...{ value: of('gatehouse', 'cpuMicros'), unit: 'µs', raw: all('cpuMicros', ' µs') },
      ...(!isOne && { target: { limit: 250, sense: 'at most' } }),
    }),
    figure('cpu-sqlite', 'The same, against Fastify on SQLite', {
      ...{ value: of('gatehouse', 'cpuMicros') / of('sqlite', 'cpuMicros'), unit: '×', raw: all('cpuMicros', ' µs') },
      ...(isOne && { target: { limit: 1.5, sense: 'at most' } }),
    }),
    figure('pages', 'Pages of 4 KiB written for an event', {
      ...{ value: of('gatehouse', 'pages'), unit: 'pages', raw: all('pages', '') },
      ...(isOne && { target: { limit: 12, sense: 'at most' } }),
    }),
  ]
  if (!taken.has('postgres')) return figures
  const rate = figure('rate-postgres', 'Events a second, against Fastify on PostgreSQL', {
    value: of('gatehouse', 'perSecond') / of('postgres', 'perSecond'),
    unit: '×',
    target: { limit: isOne ? 1 : 4, sense: 'at least' },
    raw: all('perSecond', ' a second'),
  })
  return [...figures, rate]
}
