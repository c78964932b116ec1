import { Command } from 'commander'
import {
  type Checked,
  type Config,
  checkConfig,
  configExample,
  configReference,
  formatProblem,
  type Problem,
  problemList,
} from '../config/index.ts'
import { modelFaults } from '../console/index.ts'
import { EXIT_CONFIG, ExitError } from '../errors/index.ts'
import { readCertificate } from '../http/index.ts'
import { print } from '../platform/index.ts'
import { installedConfig } from './usual-config.ts'

/** Builds `gatehouse config check|reference|example`. A bad config throws ExitError with EXIT_CONFIG. */
export function configCommand(): Command {
  const check = new Command('check')
    .description('check a config and its drop-ins; exit 78 when there are problems')
    .argument('[file]', 'the config file', installedConfig)
    .option('--json', 'one JSON object: {ok, files, problems, warnings}')
    .action(checkFile)
  const reference = new Command('reference')
    .description('print the reference of all keys, as Markdown')
    .action(() => print(configReference()))
  const example = new Command('example')
    .description('print a config with every key, commented')
    .action(() => print(configExample()))
  return new Command('config')
    .description('check and describe the config')
    .addCommand(check)
    .addCommand(reference)
    .addCommand(example)
}

function checkFile(file: string, options: { json?: boolean }): void {
  const checked = checkConfig(file)
  const { config, warnings, files } = checked
  const problems = [
    ...checked.problems,
    ...checked.faults,
    ...(config ? [...certificateFaults(config, checked), ...modelFaults(config, checked)] : []),
  ]
  const ok = problems.length === 0
  if (options.json) {
    print(`${JSON.stringify({ ok, files, problems: problems.map(flat), warnings: warnings.map(flat) })}\n`)
    // The JSON has the problems already.
    if (!ok) throw new ExitError(EXIT_CONFIG, '')
    return
  }
  for (const warning of warnings) print(`warning: ${formatProblem(warning)}\n`)
  if (!ok) throw new ExitError(EXIT_CONFIG, problemList(problems))
  print(`${files.join(', ')}: ok\n`)
}

/** Finds certificates with which a listener would not start. */
function certificateFaults({ listen }: Config, { faults, placeOf }: Checked): Problem[] {
  return listen.flatMap(({ tls }, index) => {
    const path = `listen[${index}].tls`
    // A missing file is reported already.
    if (!tls || faults.some((fault) => fault.path.startsWith(path))) return []
    try {
      readCertificate(tls)
      return []
    } catch (error) {
      if (!(error instanceof ExitError)) throw error
      return [{ place: placeOf(['listen', index, 'tls']), path, message: error.message }]
    }
  })
}

function flat({ place, path, message }: Problem) {
  return { ...place, path, message }
}
