import { Command, CommanderError } from 'commander'
import { ExitError } from '../errors/index.ts'
import { configCommand } from './config.ts'
import { credentialCommand } from './credential.ts'
import { importCommand } from './import.ts'
import { ledgerCommand } from './ledger.ts'
import { openapiCommand } from './openapi.ts'
import { personCommand } from './person.ts'
import { serveCommand } from './serve.ts'
import { tlsCommand } from './tls.ts'
import { versionCommand } from './version.ts'

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
  ]) {
    program.addCommand(inheriting(command))
  }
  try {
    await program.parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
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
