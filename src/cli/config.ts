import { Command } from 'commander'
import {
  checkConfig,
  configExample,
  configReference,
  formatProblem,
  type Problem,
  problemList,
} from '../config/index.ts'
import { EXIT_CONFIG, ExitError } from '../errors/index.ts'

const installedConfig = '/etc/gatehouse/gatehouse.yaml'

/** `gatehouse config check|reference|example`. A bad config leaves by ExitError with EXIT_CONFIG. */
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
  const { config, problems, warnings, files } = checkConfig(file)
  if (options.json) {
    const found = { ok: config !== undefined, files, problems: problems.map(flat), warnings: warnings.map(flat) }
    print(`${JSON.stringify(found)}\n`)
    // The problems stand in the JSON already.
    if (!config) throw new ExitError(EXIT_CONFIG, '')
    return
  }
  if (!config) throw new ExitError(EXIT_CONFIG, problemList(problems))
  for (const warning of warnings) print(`warning: ${formatProblem(warning)}\n`)
  print(`${files.join(', ')}: ok\n`)
}

function flat({ place, path, message }: Problem) {
  return { ...place, path, message }
}

function print(text: string): void {
  process.stdout.write(text)
}
