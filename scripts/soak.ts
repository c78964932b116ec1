/**
 * `npm run soak -- floor`: simulated scanners against the real daemon, which is killed with kill -9 while they post. It ends
 * when all events are answered. Exits with 1 when an acknowledged event is lost, doubled or changed.
 *
 * - `--events N`: default 1,000,000
 * - `--kills N`: number of kills; default 12
 * - `--scanners N`: default 64
 * - `--seed N`: seed of all random choices; default 1
 * - `--minutes N`: time limit; default 30
 *
 * `npm run soak -- cameras`: a wall of simulated cameras against the real daemon. One freezes, one drops its connections, all
 * lose the network twice. Exits with 1 when an event is missed, a detection is false, or more than one picture in a thousand
 * is late. Exits with 1 also when a camera has two connections, or reconnects later than 3 s after its port answers.
 *
 * - `--cameras N`: default 16
 * - `--minutes N`: default 10
 *
 * `npm run soak -- power`: records lives of a gateway and cuts its power at many points, in two models of a disk. Each rest must
 * start and have all that was acknowledged. Exits with 1 after a loss. It needs a C compiler.
 *
 * - `--points N`: default 20,000
 * - `--seed N`: default 1
 * - `--break NAME`: breaks the code on purpose, and exits with 0 when that is found; `synchronous-off`, `synchronous-normal`,
 *   `no-folder-sync` or `no-content-sync`
 *
 * `npm run soak -- fuzz`: changed input for each parser, and hostile requests to a gateway. Exits with 1 for an error that no
 * documentation names, and for a 500.
 *
 * - `--inputs N`: for each parser, and of requests; default 100,000
 * - `--seed N`: default 1
 *
 * `npm run soak -- simulate …`: the same as `npm run simulate -- …`, which has its own page.
 *
 * All take:
 *
 * - `--folder PATH`: parent of the temporary folder; default var
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Workshop } from './bench/workshop.ts'
import { soakCameras } from './soak/cameras.ts'
import { soakFuzz } from './soak/fuzz.ts'
import { breakOf, soakPower } from './soak/power.ts'
import { soak } from './soak/run.ts'

const slots = 2000
const backWithinMs = 3000
const say = (line: string) => process.stderr.write(`soak: ${line}\n`)

if (process.argv[2] === 'simulate') {
  process.argv.splice(2, 1)
  // It has other options, and ends this process.
  await import('./simulate.ts')
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    events: { type: 'string', default: '1000000' },
    kills: { type: 'string', default: '12' },
    scanners: { type: 'string', default: '64' },
    seed: { type: 'string', default: '1' },
    cameras: { type: 'string', default: '16' },
    minutes: { type: 'string' },
    points: { type: 'string' },
    break: { type: 'string' },
    inputs: { type: 'string' },
    folder: { type: 'string', default: join(import.meta.dirname, '..', 'var') },
  },
})

type Numeric = 'events' | 'kills' | 'scanners' | 'seed' | 'cameras' | 'minutes' | 'points' | 'inputs'

function whole(name: Numeric, least: number, most: number, otherwise?: number): number {
  const value = Number(values[name] ?? otherwise)
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new Error(`--${name} takes a whole number from ${least} to ${most}, not ${values[name]}`)
}

const runs: Readonly<Record<string, () => Promise<{ report: object; isClean: boolean }>>> = {
  ...{ floor, cameras, power, fuzz },
}

async function floor() {
  const options = {
    events: whole('events', 100, 20_000_000),
    kills: whole('kills', 0, 1000),
    scanners: whole('scanners', 1, 512),
    seed: whole('seed', 0, 2 ** 31),
    patienceMs: whole('minutes', 1, 24 * 60, 30) * 60_000,
  }
  mkdirSync(values.folder, { recursive: true })
  const folder = mkdtempSync(join(resolve(values.folder), 'soak-'))
  const clear = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', clear)
  const report = await soak({ ...options, folder, slots, say })
  const { lost, twice, changed, strange, misread, wrong } = report
  const isClean = report.verified && wrong.length === 0 && lost + twice + changed + strange + misread === 0
  return { report, isClean }
}

async function cameras() {
  const options = { cameras: whole('cameras', 2, 64, 16), minutes: whole('minutes', 2, 24 * 60, 10) }
  const workshop = new Workshop(resolve(values.folder))
  try {
    const report = await soakCameras(workshop, { ...options, say })
    const isClean =
      report.missed.length + report.false.length + report.withoutClip === 0 &&
      report.lateShare <= 0.001 &&
      report.mostConnections <= 1 &&
      report.backAfterMs.most <= backWithinMs
    return { report, isClean }
  } finally {
    await workshop.close()
  }
}

async function power() {
  const broken = breakOf(values.break)
  const options = { points: whole('points', 1, 1_000_000, 20_000), seed: whole('seed', 0, 2 ** 31), broken, say }
  const report = await soakPower(options)
  return { report, isClean: broken === undefined ? report.losses.length === 0 : report.losses.length > 0 }
}

async function fuzz() {
  const options = { inputs: whole('inputs', 1, 100_000_000, 100_000), seed: whole('seed', 0, 2 ** 31), say }
  const report = await soakFuzz(options)
  return { report, isClean: report.faults.length + report.requests.faults.length === 0 }
}

async function run(name: string): Promise<void> {
  const chosen = runs[name]
  if (!chosen) throw new Error(`there is no ${name}; there are ${Object.keys(runs).join(' and ')}`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const { report, isClean } = await chosen()
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  if (!isClean) process.exitCode = 1
}

try {
  await run(positionals[0] ?? 'floor')
} catch (error) {
  say((error as Error).message)
  process.exitCode = 1
}
