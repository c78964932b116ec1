/**
 * `npm run bench`: measures performance as ratios within one run. Prints them with the raw numbers and the machine as a Markdown
 * table on stdout. scripts/bench/RESULTS.md has the newest ones.
 *
 * - `--only PART,…`: some of `commit, requests, appends, peers, lists, blocks, verify, signing, postgres, auth, backup, segments, wear,
 *   wear-video, webhooks, deliveries, senders, hub, cameras, camera-times, history, detection, scores, offsite, binary`, or one of:
 * - `--only console` or `glass`: where Chromium is installed and little else runs
 * - `--only wall`: ten minutes; 1, 9 and 16 cameras beside Debian's motion, where it is installed
 * - `--only beside-motion`: nine minutes; twenty scenes of known truth to both
 * - `--only sight`: ten minutes; motion in encoded pictures, and in real clips of the folder that GATEHOUSE_FOOTAGE names
 * - `--only idle`: ten minutes; the memory after six exports (with --events 1000000)
 * - `--only hub-large`: some minutes and 4 GB; a barcode over six million leaves of 240 logs
 * - `--only proofs`: a log of ten million leaves, made once under .cache/bench (2.5 GB, some minutes)
 * - `--events N,…`: sizes of the ledger for lists, up to 20,000,000 (default 10000,100000). Ten million need 25 GB of disk and
 *   about ten minutes.
 * - `--hours N`: hours of scenes without an event, of each kind, for detection (default 0.5)
 * - `--backlog N`: waiting deliveries for the drain (default 20000)
 * - `--no-binary`: leaves out the single binary, which may have to be built first
 * - `--folder PATH`: the disk to measure (default var)
 * - `--save NAME`: also writes the figures to test/bench/baseline/NAME.json
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { measureAppends } from './bench/appends.ts'
import { measureAuth } from './bench/auth.ts'
import { measureBackup } from './bench/backup.ts'
import { measureBesideMotion } from './bench/beside-motion.ts'
import { measureBesidePostgres } from './bench/beside-postgres.ts'
import { measureBinary } from './bench/binary.ts'
import { measureBlocks } from './bench/blocks.ts'
import { measureCameraTimes } from './bench/camera-times.ts'
import { measureCameras } from './bench/cameras.ts'
import { measureCommit } from './bench/commit.ts'
import { measureConsole } from './bench/console.ts'
import { measureDeliveries } from './bench/deliveries.ts'
import { measureDetection } from './bench/detection.ts'
import { measureEventLoop } from './bench/event-loop.ts'
import { type Figure, table } from './bench/figure.ts'
import { measureGlass } from './bench/glass.ts'
import { measureHistory } from './bench/history.ts'
import { measureHub } from './bench/hub.ts'
import { measureHubLarge } from './bench/hub-large.ts'
import { measureIdle } from './bench/idle.ts'
import { measureLists } from './bench/lists.ts'
import { measureProofs } from './bench/log-tree.ts'
import { describeMachine, type Machine, machineLine } from './bench/machine.ts'
import { measureOffsite } from './bench/offsite.ts'
import { measurePeers } from './bench/peers/measure.ts'
import { measureRequests } from './bench/requests.ts'
import { measureScores } from './bench/scores.ts'
import { measureSegments } from './bench/segments.ts'
import { measureSenders } from './bench/senders.ts'
import { measureServing } from './bench/serving.ts'
import { measureSight } from './bench/sight.ts'
import { measureSigning } from './bench/signing.ts'
import { stateOf } from './bench/site.ts'
import { measureVerify } from './bench/verify.ts'
import { measureWall } from './bench/wall.ts'
import { measureWear } from './bench/wear.ts'
import { measureVideoWear } from './bench/wear-video.ts'
import { measureWebhooks } from './bench/webhooks.ts'
import { Workshop } from './bench/workshop.ts'

const root = resolve(import.meta.dirname, '..')
const mostEvents = 20_000_000
const mostBesidePostgres = 1_000_000

const parts = {
  commit: (workshop) => measureCommit(workshop),
  requests: (workshop) => measureRequests(workshop),
  appends: (workshop) => measureAppends(workshop),
  peers: (workshop) => measurePeers(workshop),
  lists: async (workshop, sizes) => {
    const folder = workshop.newFolder('hall')
    const lists = await measureLists(stateOf(folder), sizes, () => measureServing(workshop, folder))
    return [...lists, ...(await measureEventLoop(workshop, folder))]
  },
  blocks: (workshop, sizes) => measureBlocks(workshop, sizes.at(-1) ?? 0),
  verify: (workshop, sizes) => measureVerify(workshop, sizes.at(-1) ?? 0),
  signing: (workshop) => measureSigning(workshop),
  proofs: async () => measureProofs(),
  auth: (workshop) => measureAuth(workshop),
  backup: (workshop) => measureBackup(workshop),
  segments: (workshop) => measureSegments(workshop),
  wear: (workshop) => measureWear(workshop),
  'wear-video': (workshop) => measureVideoWear(workshop),
  postgres: (workshop, sizes) => measureBesidePostgres(workshop, Math.min(sizes.at(-1) ?? 0, mostBesidePostgres)),
  webhooks: (workshop) => measureWebhooks(workshop),
  deliveries: (workshop, _, backlog) => measureDeliveries(workshop, backlog),
  senders: (workshop) => measureSenders(workshop),
  hub: (workshop) => measureHub(workshop),
  'hub-large': (workshop) => measureHubLarge(workshop),
  cameras: (workshop) => measureCameras(workshop),
  'camera-times': (workshop) => measureCameraTimes(workshop),
  glass: (workshop) => measureGlass(workshop),
  history: (workshop) => measureHistory(workshop),
  detection: (workshop, _sizes, _backlog, hours) => measureDetection(workshop, hours),
  sight: () => measureSight(join(root, '.cache/sight'), process.env['GATEHOUSE_FOOTAGE']),
  offsite: (workshop) => measureOffsite(workshop),
  scores: (workshop) => measureScores(workshop),
  console: (workshop) => measureConsole(workshop),
  wall: (workshop) => measureWall(workshop),
  'beside-motion': (workshop) => measureBesideMotion(workshop),
  binary: (workshop) => measureBinary(workshop),
  idle: (workshop, sizes) => measureIdle(workshop, sizes.at(-1) ?? 0),
} satisfies Record<
  string,
  (workshop: Workshop, sizes: readonly number[], backlog: number, hours: number) => Promise<Figure[]>
>

type Part = keyof typeof parts

/** The parts that take neither ten minutes, nor gigabytes, nor a machine to themselves. */
const usual = Object.keys(parts).filter(
  (name) => !['wall', 'beside-motion', 'proofs', 'console', 'glass', 'idle', 'hub-large', 'sight'].includes(name),
)

type TimedAsk = {
  readonly parts: readonly Part[]
  readonly sizes: readonly number[]
  readonly backlog: number
  readonly hours: number
  readonly folder: string
  readonly save: string | undefined
}

const say = (line: string) => process.stderr.write(`bench: ${line}\n`)

/** Throws with a sentence on an option that means nothing. */
function readOptions(args: string[]): TimedAsk {
  const { values } = parseArgs({
    args,
    allowNegative: true,
    options: {
      only: { type: 'string', default: usual.join(',') },
      events: { type: 'string', default: '10000,100000' },
      backlog: { type: 'string', default: '20000' },
      hours: { type: 'string', default: '0.5' },
      binary: { type: 'boolean', default: true },
      folder: { type: 'string', default: join(root, 'var') },
      save: { type: 'string' },
    },
  })
  const sizes = values.events.split(',').map(Number)
  if (!sizes.every((n, i) => Number.isInteger(n) && n > (sizes[i - 1] ?? 0) && n <= mostEvents))
    throw new Error(`--events takes ascending whole numbers up to ${mostEvents}, not ${values.events}`)
  const backlog = Number(values.backlog)
  if (!Number.isInteger(backlog) || backlog < 1 || backlog > mostEvents)
    throw new Error(`--backlog takes a whole number up to ${mostEvents}, not ${values.backlog}`)
  const hours = Number(values.hours)
  if (!(hours >= 0.1 && hours <= 240)) throw new Error(`--hours takes a number from 0.1 to 240, not ${values.hours}`)
  const unknown = values.only.split(',').filter((name) => !Object.hasOwn(parts, name))
  if (unknown.length > 0) throw new Error(`--only takes ${Object.keys(parts).join(', ')}, not ${unknown.join(', ')}`)
  if (values.save !== undefined && !/^[\w.-]+$/.test(values.save)) throw new Error('--save takes the name of a file')
  const chosen = (values.only.split(',') as Part[]).filter((name) => name !== 'binary' || values.binary)
  return { parts: chosen, sizes, backlog, hours, folder: resolve(values.folder), save: values.save }
}

async function run(asked: TimedAsk): Promise<void> {
  const workshop = new Workshop(asked.folder)
  const interrupted = () => process.exit(130)
  process.once('SIGINT', interrupted)
  process.once('SIGTERM', interrupted)
  try {
    const load = loadavg()[0] ?? 0
    const machine = describeMachine(workshop.folder)
    const figures: Figure[] = []
    for (const part of asked.parts) {
      const startedMs = performance.now()
      figures.push(...(await parts[part](workshop, asked.sizes, asked.backlog, asked.hours)))
      say(`${part} took ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
    }
    const made = { date: new Date().toISOString().slice(0, 10), commit: commitOf(), loadAtStart: load, machine }
    print(figures, made)
    if (asked.save !== undefined) save(asked.save, figures, made)
  } finally {
    process.off('SIGINT', interrupted)
    process.off('SIGTERM', interrupted)
    await workshop.close()
  }
}

type Made = { readonly date: string; readonly commit: string; readonly loadAtStart: number; readonly machine: Machine }

function print(figures: readonly Figure[], { date, commit, loadAtStart, machine }: Made): void {
  const around = loadAtStart > 0.5 ? ` The machine was shared: load ${loadAtStart.toFixed(1)} before the start.` : ''
  process.stdout.write(`${table(figures)}\n\nMeasured ${date} at ${commit} on ${machineLine(machine)}${around}\n`)
}

function save(name: string, figures: readonly Figure[], made: Made): void {
  const folder = join(root, 'test/bench/baseline')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify({ ...made, figures }, null, 2)}\n`)
}

function commitOf(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { cwd: root, encoding: 'utf8' }).trim()
  } catch {
    return 'an unknown commit'
  }
}

try {
  await run(readOptions(process.argv.slice(2)))
} catch (error) {
  say((error as Error).message)
  process.exitCode = 1
}
