/**
 * `npm run simulate`: many simulated gateways feed a real head office on a real PostgreSQL. Both are killed during the run, and
 * some gateways continue with another history. Exits with 1 when an acknowledged leaf is lost or stored twice, or a fork is not
 * named. Exits with 1 also when the lag is too long, or the memory of the head office grows.
 *
 * - `--sites N`: default 1,000
 * - `--seconds N`: default 600
 * - `--speed N`: factor over real time; default 100
 * - `--events N`: events of a gateway in a day of real time; default 5,000
 * - `--forks N`: gateways that fork; default one in a hundred
 * - `--seed N`: seed of all random choices; default 1
 * - `--interval MS`: least time between two feeds of a gateway; default 1,000, as in production
 * - `--lag SECONDS`: limit for 95 of 100 leaves to be acknowledged while nothing is being killed; default 5
 * - `--processes N`: processes in which the gateways run; default 2
 * - `--folder PATH`: parent of its temporary folder; default var
 *
 * In production a gateway feeds for each event. So a speed of 100 takes 100 times the feeds, up to one a second and gateway.
 */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { simulate } from './simulate/run.ts'
import { tableOfReport } from './simulate/table.ts'

const root = resolve(import.meta.dirname, '..')
const numbers = {
  sites: [1000, 1, 20_000],
  seconds: [600, 5, 86_400],
  speed: [100, 1, 1_000_000],
  events: [5000, 1, 10_000_000],
  forks: [undefined, 0, 500],
  seed: [1, 0, 2 ** 31],
  interval: [1000, 50, 3_600_000],
  lag: [5, 1, 86_400],
  processes: [2, 1, 64],
} as const
type Name = keyof typeof numbers

const text = { type: 'string' } as const
const named = Object.fromEntries(Object.keys(numbers).map((name) => [name, text])) as Record<Name, typeof text>

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { ...named, folder: { ...text, default: join(root, 'var') } } })
  const whole = (name: Name, otherwise = 0): number => {
    const [usual, least, most] = numbers[name]
    const value = Number(values[name] ?? usual ?? otherwise)
    if (Number.isInteger(value) && value >= least && value <= most) return value
    throw new Error(`--${name} takes a whole number from ${least} to ${most}, not ${values[name]}`)
  }
  const sites = whole('sites')
  const chosen = {
    ...{ sites, seconds: whole('seconds'), speed: whole('speed'), eventsPerDay: whole('events'), seed: whole('seed') },
    ...{ forks: whole('forks', Math.ceil(sites / 100)), intervalMs: whole('interval'), lagMs: whole('lag') * 1000 },
    ...{ processes: whole('processes'), command: join(root, 'scripts/gatehouse') },
  }
  mkdirSync(values.folder, { recursive: true })
  const folder = mkdtempSync(join(resolve(values.folder), 'simulate-'))
  const report = await simulate({ ...chosen, folder, say: (line) => process.stderr.write(`simulate: ${line}\n`) })
  process.stdout.write(`${tableOfReport(report)}\n`)
  return report.wrong.length === 0 ? 0 : 1
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
process.exit(
  await main().catch((error: Error) => {
    process.stderr.write(`simulate: ${error.message}\n`)
    return 1
  }),
)
