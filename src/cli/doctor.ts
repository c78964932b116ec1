import { Command } from 'commander'
import { streamProbe } from '../app/index.ts'
import { loadConfig } from '../config/index.ts'
import { capacityWords, examine, measureCapacity, paintFor, reportWords } from '../doctor/index.ts'
import { ExitError } from '../errors/index.ts'
import { buildInfo } from '../platform/bundle.ts'
import { locateFfmpeg } from '../platform/ffmpeg.ts'
import { print, systemClock } from '../platform/index.ts'
import { becomeOwnerOf } from './alone.ts'
import { untilInterrupted } from './interrupt.ts'
import { lookAtGateway, reach } from './reach.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'

type DoctorOptions = { config?: string; json?: boolean; all?: boolean; cameras: boolean; capacity?: boolean }

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'check everything that the gateway depends on, with the next step for each fault; exit 0 without a fault, else 1',
    )
    .option('--config <file>', `config of the gateway; ${usualConfigText}`)
    .option('--all', 'also print good findings and notes')
    .option('--no-cameras', 'do not open the streams of the cameras, which takes some seconds each')
    .option('--capacity', 'measure how many more cameras fit on this box; this loads the box for a minute or two')
    .option('--json', 'for programs: {ok, running, version, findings: [{topic, subject, verdict, what, next}]}')
    .action(doctor)
}

async function doctor(options: DoctorOptions): Promise<void> {
  const file = usualConfig(options.config)
  if (options.capacity) return capacity(file, options.json === true)
  await untilInterrupted(async (signal) => {
    const reached = await reach(file)
    const { dataDir = '' } = reached
    const streams = options.cameras && reached.checked.config ? streamProbe(dataDir) : undefined
    if (dataDir !== '') becomeOwnerOf(dataDir)
    const report = await examine({
      checked: reached.checked,
      file,
      signal,
      clock: systemClock,
      version: buildInfo().version,
      streams,
      lookAtGateway: () => lookAtGateway(reached, file),
    })
    await streams?.end()
    if (signal.aborted) return
    const words = () => reportWords(report, options.all === true, paintFor(process.stdout))
    print(options.json ? `${JSON.stringify(report)}\n` : words())
    if (!report.ok) throw new ExitError(1, '')
  })
}

async function capacity(file: string | undefined, isJson: boolean): Promise<void> {
  const { config } = loadConfig(file)
  becomeOwnerOf(config.dataDir)
  await untilInterrupted(async (signal) => {
    const { path } = locateFfmpeg({ configured: config.ffmpeg.path })
    const found = await measureCapacity({ ffmpegPath: path, clock: systemClock, signal })
    if (!signal.aborted) print(isJson ? `${JSON.stringify(found)}\n` : capacityWords(found))
  })
}
