import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { startPostgres, type TestPostgres } from '../../test/support/postgres.ts'
import { Office } from '../demo-parts/hub/office.ts'
import { freePort } from '../demo-parts/ports.ts'
import { check } from './check.ts'
import { enrolSites, type Wanted } from './enrol.ts'
import { Lags } from './lags.ts'
import { MemoryWatch } from './memory.ts'
import type { SiteReport } from './site.ts'
import type { Order, Said } from './sites.ts'

export type SimulateOptions = Wanted & {
  /** A gatehouse command. */
  readonly command: string
  /** Empty; logs and keys of the head office come into it. */
  readonly folder: string
  /** Processes in which the gateways run. */
  readonly processes: number
  /** Least time between two feeds of a gateway. */
  readonly intervalMs: number
  /** 95 of 100 leaves that are made while nothing is being killed have to be acknowledged within it. */
  readonly lagMs: number
  readonly say?: (line: string) => void
  /** Runs at the end, while everything is there; `again` checks once more. */
  readonly inspect?: (postgres: TestPostgres, again: () => Promise<string[]>) => Promise<void>
}

export type SimulateReport = {
  readonly sites: number
  readonly leaves: number
  readonly leavesPerSecond: number
  readonly feeds: number
  readonly retries: number
  readonly forked: number
  readonly restarts: { readonly hubMs: number; readonly postgresMs: number }
  readonly lagMs: Readonly<Record<'calm' | 'disturbed', { p50: number | null; p95: number | null; p99: number | null }>>
  readonly memory: { readonly mostMiB: number; readonly fromMiB: number | null; readonly toMiB: number | null }
  readonly bytesPerLeaf: number
  readonly wrong: readonly string[]
}

/** How long something that was killed stays away, and how long the rest of the leaves may take. */
const awayMs = 2000
const drainLimitMs = 180_000
/** When the head office and its database are killed, as shares of the run. */
const kills = { hub: 0.3, postgres: 0.6 } as const

/**
 * Many simulated gateways feed a real head office on a real PostgreSQL over HTTPS. Both are killed meanwhile, and some gateways
 * continue with another history. Then every log is compared with its gateway.
 */
export async function simulate(options: SimulateOptions): Promise<SimulateReport> {
  const { folder, say = () => {} } = options
  const endings: (() => unknown)[] = []
  try {
    const postgres = await startPostgres({ teardown: (ending) => endings.push(ending) }, { isDurable: true })
    mkdirSync(folder, { recursive: true })
    const office = new Office({ command: options.command, bare: false, folder, port: await freePort() })
    endings.push(() => office.close())
    const { account } = await office.prepare(postgres)
    const plans = await enrolSites(office.configFile, options)
    say(`${plans.length} gateways are enrolled`)
    await office.start()
    const processes = begin(options, plans, office)
    endings.push(() => processes.kill())
    const memory = new MemoryWatch(() => (office.isRunning ? office.pid : undefined))
    endings.push(() => memory.stop())
    const restarts = await disturb(options, { office, postgres, processes, memory })
    const leaves = await drained(processes, say)
    const bytes = await diskOf(postgres)
    memory.stop()
    const { sites, lags } = await processes.report()
    const again = async () => {
      const { data } = await office.get(account, '/api/hub/alerts')
      const forks = data.filter(({ type }: { type: string }) => type === 'log.forked')
      return check(postgres, sites, [...new Set<string>(forks.map(({ siteId }: { siteId: string }) => siteId))])
    }
    say('everything is sent; looking at the database')
    const wrong = await again()
    await options.inspect?.(postgres, again)
    return reportOf({ options, sites, lags, memory, restarts, wrong, leaves, bytes })
  } finally {
    for (const end of endings.toReversed()) await end()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Played = {
  readonly office: Office
  readonly postgres: TestPostgres
  readonly processes: SiteProcesses
  readonly memory: MemoryWatch
}

/** Lets the run go on for its time, and kills the head office and the database in the midst of it. */
async function disturb({ seconds, say = () => {} }: SimulateOptions, { office, postgres, processes, memory }: Played) {
  const startedMs = performance.now()
  const until = (share: number) => pause(Math.max(0, startedMs + share * seconds * 1000 - performance.now()))
  const kill = async (what: { kill(): Promise<void>; start(): Promise<void> }) => {
    processes.tell({ kind: 'disturbed' })
    await what.kill()
    await pause(awayMs)
    const fromMs = performance.now()
    await what.start()
    processes.tell({ kind: 'calm' })
    return Math.round(performance.now() - fromMs)
  }
  await until(kills.hub)
  const hubMs = await kill(office)
  memory.restarted()
  say(`the head office was killed after ${processes.acknowledged} leaves, and is back after ${hubMs} ms`)
  await until(kills.postgres)
  const postgresMs = await kill(postgres)
  say(`PostgreSQL was killed after ${processes.acknowledged} leaves, and is back after ${postgresMs} ms`)
  await until(1)
  return { hubMs, postgresMs }
}

async function drained(processes: SiteProcesses, say: (line: string) => void): Promise<number> {
  processes.tell({ kind: 'drain' })
  say(`${processes.waiting} leaves wait for their acknowledgement`)
  const untilMs = performance.now() + drainLimitMs
  // Progress from before the order does not count.
  for (await processes.heard(); processes.waiting > 0; await processes.heard()) {
    if (performance.now() > untilMs) throw new Error(`${processes.waiting} leaves are not acknowledged yet`)
  }
  return processes.acknowledged
}

async function diskOf(postgres: TestPostgres): Promise<number> {
  const [row] = await postgres.ask(
    'hub',
    `SELECT sum(pg_total_relation_size(c.oid))::text AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND n.nspname = 'public'`,
  )
  return Number(row?.['bytes'])
}

/** The processes of the gateways, seen as one. */
class SiteProcesses {
  readonly #children: readonly ChildProcess[]
  readonly #progress: Extract<Said, { kind: 'progress' }>[]

  constructor(children: readonly ChildProcess[]) {
    this.#children = children
    this.#progress = children.map(() => ({ kind: 'progress', made: 0, waiting: 0, acknowledged: 0 }))
    for (const [i, child] of children.entries()) {
      child.on('message', (said: Said) => {
        if (said.kind === 'progress') this.#progress[i] = said
      })
    }
  }

  get acknowledged(): number {
    return this.#progress.reduce((sum, { acknowledged }) => sum + acknowledged, 0)
  }

  get waiting(): number {
    return this.#progress.reduce((sum, { waiting }) => sum + waiting, 0)
  }

  tell(order: Order): void {
    for (const child of this.#children) child.send(order)
  }

  /** Resolves after two progress messages of each process: before the second one it has read every earlier order. */
  async heard(): Promise<void> {
    for (let i = 0; i < 2; i += 1) await Promise.all(this.#children.map((child) => said(child, 'progress')))
  }

  async report() {
    const reports = Promise.all(this.#children.map((child) => said(child, 'report')))
    this.tell({ kind: 'end' })
    const all = await reports
    return {
      sites: all.flatMap(({ sites }) => sites),
      lags: { calm: Lags.from(all.map(({ calm }) => calm)), disturbed: Lags.from(all.map((one) => one.disturbed)) },
    }
  }

  kill(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }
}

/** The next message of a kind. Rejects when the process ends instead. */
function said<K extends Said['kind']>(child: ChildProcess, kind: K): Promise<Extract<Said, { kind: K }>> {
  const { promise, resolve, reject } = Promise.withResolvers<Extract<Said, { kind: K }>>()
  const hear = (message: Said) => {
    if (message.kind === kind) resolve(message as Extract<Said, { kind: K }>)
  }
  const end = () => reject(new Error('a process with gateways ended by itself'))
  child.on('message', hear)
  child.once('exit', end)
  return promise.finally(() => {
    child.off('message', hear)
    child.off('exit', end)
  })
}

function begin(
  { processes, intervalMs }: SimulateOptions,
  plans: Awaited<ReturnType<typeof enrolSites>>,
  office: Office,
) {
  const children = Array.from({ length: Math.min(processes, plans.length) }, () =>
    fork(new URL('./sites.ts', import.meta.url), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  )
  const address = { url: office.url, caFile: office.caFile }
  for (const [i, child] of children.entries()) {
    const order: Order = {
      kind: 'begin',
      address,
      intervalMs,
      plans: plans.filter((_, n) => n % children.length === i),
    }
    child.send(order)
  }
  return new SiteProcesses(children)
}

type Found = {
  readonly options: SimulateOptions
  readonly sites: readonly SiteReport[]
  readonly lags: Readonly<Record<'calm' | 'disturbed', Lags>>
  readonly memory: MemoryWatch
  readonly restarts: SimulateReport['restarts']
  readonly wrong: readonly string[]
  readonly leaves: number
  readonly bytes: number
}

function reportOf({ options, sites, lags, memory, restarts, wrong, leaves, bytes }: Found): SimulateReport {
  const sum = (of: (site: SiteReport) => number) => sites.reduce((total, site) => total + of(site), 0)
  const growth = memory.growth()
  const mebi = (size: number) => Math.round(size / 2 ** 20)
  const calmP95 = lags.calm.within(0.95)
  const quantiles = (of: Lags) => ({ p50: of.within(0.5), p95: of.within(0.95), p99: of.within(0.99) })
  return {
    ...{ sites: sites.length, leaves, leavesPerSecond: Math.round(leaves / options.seconds), restarts },
    ...{ feeds: sum(({ feeds }) => feeds), retries: sum(({ retries }) => retries) },
    forked: sites.filter(({ fork: how }) => how !== 'none').length,
    lagMs: { calm: quantiles(lags.calm), disturbed: quantiles(lags.disturbed) },
    memory: {
      mostMiB: mebi(memory.most),
      fromMiB: growth ? mebi(growth.from) : null,
      toMiB: growth ? mebi(growth.to) : null,
    },
    bytesPerLeaf: Math.round(bytes / Math.max(1, leaves)),
    wrong: [
      ...wrong,
      ...(calmP95 !== null && calmP95 > options.lagMs ? [`the lag is ${calmP95} ms (95th percentile)`] : []),
      ...(growth && !growth.isFlat ? ['the memory of the head office grows'] : []),
    ],
  }
}
