/**
 * `npm run soak`: a yard of simulated scanners against the real daemon, which is killed with kill -9 while they post.
 * Ends by itself; exit code 1 when anything that was acknowledged is lost, doubled or changed.
 *   --events N         1,000,000
 *   --kills N          how often it is killed; 12
 *   --scanners N       64
 *   --seed N           of all that looks like chance; 1
 *   --minutes N        gives up after so long; 30
 *   --folder PATH      where its temporary folder is made (default: var)
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { soak } from './soak/run.ts'

const slots = 2000
const say = (line: string) => process.stderr.write(`soak: ${line}\n`)

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    kills: { type: 'string', default: '12' },
    scanners: { type: 'string', default: '64' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '30' },
    folder: { type: 'string', default: join(import.meta.dirname, '..', 'var') },
  },
})

function whole(name: 'events' | 'kills' | 'scanners' | 'seed' | 'minutes', least: number, most: number): number {
  const value = Number(values[name])
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new Error(`--${name} takes a whole number from ${least} to ${most}, not ${values[name]}`)
}

async function run(): Promise<void> {
  const options = {
    events: whole('events', 100, 20_000_000),
    kills: whole('kills', 0, 1000),
    scanners: whole('scanners', 1, 512),
    seed: whole('seed', 0, 2 ** 31),
    patienceMs: whole('minutes', 1, 24 * 60) * 60_000,
  }
  mkdirSync(values.folder, { recursive: true })
  const folder = mkdtempSync(join(resolve(values.folder), 'soak-'))
  const clear = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', clear)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const report = await soak({ ...options, folder, slots, say })
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  const { lost, twice, changed, strange, misread, wrong } = report
  const isClean = report.verified && wrong.length === 0 && lost + twice + changed + strange + misread === 0
  if (!isClean) process.exitCode = 1
}

try {
  await run()
} catch (error) {
  say((error as Error).message)
  process.exitCode = 1
}
