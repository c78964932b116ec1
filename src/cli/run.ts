import { Command, CommanderError } from 'commander'
import { EXIT_USAGE, ExitError, nearestNames } from '../errors/index.ts'
import { configCommand } from './config.ts'
import { credentialCommand } from './credential.ts'
import { importCommand } from './import.ts'
import { ledgerCommand } from './ledger.ts'
import { openapiCommand } from './openapi.ts'
import { personCommand } from './person.ts'
import { serveCommand } from './serve.ts'
import { tlsCommand } from './tls.ts'
import { versionCommand } from './version.ts'
import { warehouseCommand } from './warehouse.ts'

/** Runs one command line. @returns the exit code; a failure has told its reason on stderr by then */
export async function run(args: readonly string[]): Promise<number> {
  const program = new Command('gatehouse')
    .description('The gateway box of a warehouse: placement ledger, evidence and signed webhooks')
    .exitOverride()
    .showHelpAfterError()
  for (const command of [
    serveCommand(),
    configCommand(),
    credentialCommand(),
    importCommand(),
    ledgerCommand(),
    personCommand(),
    openapiCommand(),
    tlsCommand(),
    versionCommand(),
    warehouseCommand(),
  ]) {
    program.addCommand(inheriting(command))
  }
  const unknown = unknownCommand(program, args)
  if (unknown) {
    process.stderr.write(`gatehouse: ${unknown}\n`)
    return EXIT_USAGE
  }
  try {
    await program.parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    // Help that was asked for is no error; any other word of commander's is about how the command was written.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
    if (!(error instanceof ExitError)) throw error
    if (error.message !== '') process.stderr.write(`gatehouse: ${error.message}\n`)
    return error.exitCode
  }
}

/** Subcommands leave by exception too, or their errors would end the process in the middle. */
function inheriting(command: Command): Command {
  command.exitOverride().showHelpAfterError()
  for (const below of command.commands) inheriting(below)
  return command
}

/** What is wrong with the command's words; checked before --help, which else answers for a command that is not there. */
function unknownCommand(program: Command, args: readonly string[]): string | undefined {
  let at = program
  const path: string[] = ['gatehouse']
  for (const word of args) {
    if (word.startsWith('-') || word === 'help' || at.commands.length === 0) return undefined
    const next = at.commands.find((command) => command.name() === word)
    if (!next) return noSuchCommand(path.join(' '), word, at)
    at = next
    path.push(word)
  }
  return undefined
}

function noSuchCommand(path: string, word: string, parent: Command): string {
  const names = parent.commands.map((command) => command.name())
  const near = nearestNames(word, names)
  const hint = near.length > 0 ? `did you mean "${path} ${near[0]}"?` : `there are ${names.join(', ')}.`
  return `there is no command "${path} ${word}"; ${hint} "${path} --help" explains them.`
}
