import { Command } from 'commander'
import { statusThroughDaemon } from '../app/index.ts'
import { type Checked, problemList } from '../config/index.ts'
import { isWell, paintFor, statusWords } from '../doctor/index.ts'
import { EXIT_CONFIG, ExitError } from '../errors/index.ts'
import { print, systemClock } from '../platform/index.ts'
import { reach } from './reach.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'

/** As systemctl(1): the service does not run. */
const EXIT_NOT_RUNNING = 3

export function statusCommand(): Command {
  return new Command('status')
    .description(
      'the running gateway at a glance; exit 0 when nothing needs you, 1 when something does, 3 when it does not run, 78 when its config is bad and no gateway runs with an older one',
    )
    .option('--config <file>', `config of the gateway; ${usualConfigText}`)
    .option('--json', 'for programs')
    .action(status)
}

async function status(options: { config?: string; json?: boolean }): Promise<void> {
  const { checked, runtimeDir } = await reach(usualConfig(options.config))
  if (runtimeDir === undefined) throw notRunning(checked, options.json === true)
  const now = await statusThroughDaemon(runtimeDir)
  const words = () => statusWords(now, systemClock.now(), paintFor(process.stdout))
  print(options.json ? `${JSON.stringify(now)}\n` : words())
  if (!isWell(now)) throw new ExitError(1, '')
}

function notRunning({ config, problems }: Checked, isJson: boolean): ExitError {
  if (!config) return new ExitError(EXIT_CONFIG, problemList(problems))
  if (isJson) print(`${JSON.stringify({ running: false })}\n`)
  const message = `no gatehouse runs on ${config.dataDir}; "gatehouse doctor" looks at what is there`
  return new ExitError(EXIT_NOT_RUNNING, isJson ? '' : message)
}
