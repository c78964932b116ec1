/**
 * A gateway to look at, or a story played from start to end:
 *
 * - `scripts/demo`: a gateway with a busy small warehouse on http://127.0.0.1:8480, until Ctrl-C
 * - `scripts/demo --once`: one story on free ports, step by step; exit code 0 when every step succeeded
 * - `scripts/demo --disaster`: a box burns under load, and a new one is restored from its segments; the same exit codes
 * - `scripts/demo --hub`: plays a head office with three sites on free ports, then keeps it running until Ctrl-C
 * - `scripts/demo --hub --once`: the story alone
 *
 * Options:
 *
 * - `--port N`: another port than 8480
 * - `--postgres DIR`: with --hub, the folder of initdb and postgres, when they are not where Debian puts them
 * - `--command PATH`: another gatehouse command than scripts/gatehouse, such as the single binary
 * - `--bare`: runs it with an empty environment
 */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { playDisaster } from './demo-parts/disaster.ts'
import { stay } from './demo-parts/hub/showing.ts'
import { NoPostgres, playHubStory } from './demo-parts/hub/story.ts'
import { demoOptions } from './demo-parts/options.ts'
import { DemoRefused, defaultPort, show } from './demo-parts/showing.ts'
import { StepFailed, tableOf } from './demo-parts/steps.ts'
import { playStory } from './demo-parts/story.ts'

const root = resolve(import.meta.dirname, '..')
const print = (line: string) => console.log(line)

class Misused extends Error {}

const stories = { once: playStory, disaster: playDisaster } as const

/** `story`: null for a gateway to look at. `stays`: the head office runs on after its story. */
type Chosen = {
  readonly story: keyof typeof stories | 'hub' | null
  readonly stays: boolean
  readonly postgres: string | undefined
  readonly port: number
  readonly command: string
  readonly bare: boolean
}

/** Fires at Ctrl-C, SIGTERM, a closed terminal, and when no one reads the output. */
function stopSignal(): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())
  process.stdout.on('error', () => stopping.abort())
  return stopping.signal
}

function choose(): Chosen {
  const { once = false, disaster = false, hub = false, bare = false, command, port, postgres } = parse()
  if (disaster && (once || hub))
    throw new Misused(`--${once ? 'once' : 'hub'} and --disaster are two stories; name one`)
  const story = hub ? 'hub' : disaster ? 'disaster' : once ? 'once' : null
  if (story && port !== undefined) throw new Misused(`--${story} takes free ports by itself`)
  if (postgres !== undefined && !hub) throw new Misused('--postgres goes with --hub')
  const number = Number(port ?? defaultPort)
  if (!Number.isInteger(number) || number < 1 || number > 65_535) throw new Misused(`${port} is not a port`)
  return {
    ...{ story, bare, postgres },
    stays: hub && !once,
    port: number,
    command: command === undefined ? join(root, 'scripts/gatehouse') : resolve(command),
  }
}

function parse() {
  try {
    return parseArgs({ options: demoOptions }).values
  } catch (error) {
    throw new Misused((error as Error).message)
  }
}

async function run(chosen: Chosen, signal: AbortSignal): Promise<void> {
  const { story, stays } = chosen
  const options = { ...chosen, root, print, signal }
  if (story === null) return show(options)
  const after = async (scene: Parameters<typeof stay>[0]) => {
    if (stays) await stay(scene, print, signal)
  }
  const played = story === 'hub' ? await playHubStory({ ...options, after }) : await stories[story](options)
  if (!stays) print(`\n${tableOf(played)}\n\nall ${played.length} steps went as they must`)
}

/** @returns the exit code, after the reason has been printed */
function explain(error: unknown): number {
  if (error instanceof StepFailed) {
    console.error(`FAILED  ${error.step}: ${error.message}`)
    if (error.folder) console.error(`        what it wrote was left in ${error.folder}`)
    return 1
  }
  if (!(error instanceof Misused || error instanceof DemoRefused || error instanceof NoPostgres)) throw error
  console.error(`demo: ${error.message}`)
  return error instanceof DemoRefused ? 1 : 2
}

async function main(): Promise<number> {
  const signal = stopSignal()
  try {
    await run(choose(), signal)
    return 0
  } catch (error) {
    return explain(error)
  }
}

// At once: after an interruption a request may still wait for its answer.
process.exit(await main())
