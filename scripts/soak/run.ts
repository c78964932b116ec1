import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { stringify } from 'yaml'
import { cheapHash, tinyPng } from '../../test/support/gateway.ts'
import { type Daemon, startDaemon } from '../../test/support/process.ts'
import type { SlotState } from '../../test/support/replay.ts'
import { freePort } from '../demo-parts/ports.ts'
import { Acknowledged } from './acknowledged.ts'
import { check, type Findings, type Said } from './check.ts'
import type { Plan } from './plan.ts'
import type { Progress, ScannersStart } from './scanners.ts'

export type SoakOptions = {
  /** Empty; the gateway's data come into it. */
  readonly folder: string
  readonly events: number
  /** How often the gateway is killed, evenly over the run. */
  readonly kills: number
  readonly scanners: number
  readonly slots: number
  readonly seed: number
  /** After so long the run fails, whatever it is at. */
  readonly patienceMs: number
  readonly say?: (line: string) => void
}

export type SoakReport = Findings &
  Pick<Progress, 'retries' | 'repeats' | 'wrong'> & {
    readonly kills: number
    readonly seconds: number
    readonly perSecond: number
    /** From each kill until the gateway was up again. */
    readonly backAfterMs: readonly number[]
  }

const site = { id: 'soak', url: 'http://127.0.0.1:8480' }
const headers = {
  Authorization: 'Bearer ada-secret',
  'X-Storage-Instance': site.url,
  'X-Storage-Username': 'ada',
  'Content-Type': 'application/json',
}
const askedPallets = 200

/**
 * Simulated scanners post until each event is answered, while their gateway is killed again and again with kill -9.
 * Then the ledger is compared with every answer, verified, and replayed.
 */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { folder, say = () => {} } = options
  const configFile = writeConfig(folder, await freePort())
  const gateway = new Killable(() => startDaemon(['--config', configFile], { cwd: folder }))
  let scanners: ChildProcess | undefined
  const late = setTimeout(() => {
    scanners?.kill('SIGKILL')
    gateway.daemon?.child.kill('SIGKILL')
  }, options.patienceMs)
  try {
    const { url } = await gateway.start()
    const plan = await furnish(url, options)
    const answersFile = join(folder, 'answers')
    scanners = fork(new URL('./scanners.ts', import.meta.url), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const startedMs = performance.now()
    const progress = await follow(scanners, { plan, url, headers, answersFile }, async ({ acknowledged }) => {
      const due = ((gateway.kills + 1) * options.events) / (options.kills + 1)
      if (gateway.kills >= options.kills || acknowledged < due) return
      await gateway.killAndStart()
      say(`killed at ${acknowledged} events, back after ${Math.round(gateway.backAfterMs.at(-1) ?? 0)} ms`)
    })
    const seconds = (performance.now() - startedMs) / 1000
    say(`all events are answered after ${seconds.toFixed(1)} s; looking at the ledger`)
    const said = await ask(url, plan)
    await gateway.daemon?.end('SIGTERM')
    const found = check(join(folder, 'state'), plan, Acknowledged.read(answersFile), said)
    const { retries, repeats, wrong } = progress
    const { kills, backAfterMs } = gateway
    return { ...found, retries, repeats, wrong, kills, seconds, perSecond: options.events / seconds, backAfterMs }
  } finally {
    clearTimeout(late)
    scanners?.kill('SIGKILL')
    if (gateway.daemon?.child.exitCode === null) gateway.daemon.child.kill('SIGKILL')
  }
}

class Killable {
  readonly #start: () => Promise<Daemon>
  readonly backAfterMs: number[] = []
  daemon: Daemon | undefined

  constructor(start: () => Promise<Daemon>) {
    this.#start = start
  }

  get kills(): number {
    return this.backAfterMs.length
  }

  async start(): Promise<Daemon> {
    this.daemon = await this.#start()
    return this.daemon
  }

  async killAndStart(): Promise<void> {
    const killedMs = performance.now()
    await this.daemon?.end('SIGKILL')
    await this.start()
    this.backAfterMs.push(performance.now() - killedMs)
  }
}

/** Lets the scanners work; calls `look` with how far they are, one call at a time. Rejects when they end before. */
async function follow(
  scanners: ChildProcess,
  start: ScannersStart,
  look: (progress: Progress) => Promise<void>,
): Promise<Progress> {
  let newest: Progress | undefined
  scanners.on('message', (progress: Progress) => {
    newest = progress
  })
  const ended = once(scanners, 'exit')
  scanners.send(start)
  while (!newest?.done) {
    if (scanners.exitCode !== null || scanners.signalCode !== null) throw new Error('the scanners ended too early')
    if (newest) await look(newest)
    await Promise.race([pause(10), ended])
  }
  return newest
}

function writeConfig(folder: string, port: number): string {
  const file = join(folder, 'gatehouse.yaml')
  const config = {
    site,
    listen: [{ host: '127.0.0.1', port }],
    dataDir: 'state',
    runtimeDir: 'run',
    auth: { users: [{ username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') }] },
    rateLimit: { requestsPerMinute: 1_000_000 },
  }
  writeFileSync(file, stringify(config))
  return file
}

async function furnish(url: string, { events, scanners, slots, seed }: SoakOptions): Promise<Plan> {
  const startMs = Date.now()
  await post(`${url}/api/whms/warehouses`, { name: 'Hall', timezone: 'Europe/Berlin' })
  await post(`${url}/api/whms/zones`, { name: 'S', zone_type: 'storage', warehouseId: 1 })
  const corner = (x: number, y: number) => ({ x, y })
  const floor_plan_polygon = [corner(0, 0), corner(1, 0), corner(1, 1)]
  for (let n = 0; n < slots; n += 1) {
    await post(`${url}/api/whms/slots`, { slot_id: `S-${n}`, zone: 'S', floor_plan_polygon })
  }
  const photo = await fetch(`${url}/api/whms/evidence/photos`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'image/png' },
    body: new Uint8Array(tinyPng),
  })
  const photoUrl = (await answered(photo))['url'] as string
  return { seed, scanners, events, slots, pallets: 2 * slots, startMs, photoUrl }
}

/** Reads the state of all slots and of some pallets, once no scanner sends. */
async function ask(url: string, plan: Plan): Promise<Said> {
  const slots = new Map<number, SlotState>()
  const list = (await get(`${url}/api/whms/slots`))['data'] as (SlotState & { id: number })[]
  for (const { id, isOccupied, assetBarcode, isVerified, isDisputed } of list) {
    slots.set(id, { isOccupied, assetBarcode, ...(isOccupied && { isVerified, isDisputed }) } as SlotState)
  }
  const pallets = new Map<string, number | null>()
  for (let n = 0; n < Math.min(askedPallets, plan.pallets); n += 1) {
    const response = await fetch(`${url}/api/whms/assets/PALLET-${n}/location`, { headers })
    if (response.status === 404) continue
    pallets.set(`PALLET-${n}`, ((await answered(response))['slot'] as { id: number } | null)?.id ?? null)
  }
  return { slots, pallets }
}

async function get(url: string): Promise<Record<string, unknown>> {
  return answered(await fetch(url, { headers }))
}

async function post(url: string, body: object): Promise<Record<string, unknown>> {
  return answered(await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }))
}

async function answered(response: Response): Promise<Record<string, unknown>> {
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}
