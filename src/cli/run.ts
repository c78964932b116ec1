import { Command, CommanderError } from 'commander'
import { EXIT_USAGE, ExitError, nearestNames } from '../errors/index.ts'
import { print, printError } from '../platform/index.ts'
import { backupCommand } from './backup.ts'
import { cameraCommand } from './camera/camera.ts'
import { configCommand } from './config.ts'
import { credentialCommand } from './credential.ts'
import { doctorCommand } from './doctor.ts'
import { exportCommand } from './export.ts'
import { hubCommand } from './hub/hub.ts'
import { importCommand } from './import.ts'
import { ledgerCommand } from './ledger/ledger.ts'
import { mirrorCommand } from './ledger/mirror.ts'
import { manualCommand } from './manual.ts'
import { openapiCommand } from './openapi.ts'
import { personCommand } from './people/person.ts'
import { userCommand } from './people/user.ts'
import { restoreCommand } from './restore.ts'
import { rollbackCommand } from './rollback.ts'
import { serveCommand } from './serve.ts'
import { setupCommand } from './setup.ts'
import { statusCommand } from './status.ts'
import { supportBundleCommand } from './support-bundle.ts'
import { tlsCommand } from './tls.ts'
import { upgradeCommand } from './upgrade.ts'
import { versionCommand } from './version.ts'
import { warehouseCommand } from './warehouse.ts'

/** Builds the whole command tree, in which every failure leaves as an exception. */
export function gatehouseCommand(): Command {
  const program = new Command('gatehouse')
    .description('The gateway box of a warehouse: placement ledger, evidence and signed webhooks')
    .exitOverride()
    .showHelpAfterError()
    .configureOutput({ writeOut: print, writeErr: printError })
    // Options after the name of a command belong to that command.
    .enablePositionalOptions()
  for (const command of [
    serveCommand(),
    rollbackCommand(),
    backupCommand(),
    cameraCommand(),
    configCommand(),
    credentialCommand(),
    doctorCommand(),
    exportCommand(),
    hubCommand(),
    importCommand(),
    ledgerCommand(),
    manualCommand(),
    mirrorCommand(),
    personCommand(),
    openapiCommand(),
    restoreCommand(),
    setupCommand(),
    statusCommand(),
    supportBundleCommand(),
    tlsCommand(),
    upgradeCommand(),
    userCommand(),
    versionCommand(),
    warehouseCommand(),
  ]) {
    program.addCommand(inheriting(command))
  }
  return program
}

/** Runs one command line and returns the exit code. A failure has printed its reason on stderr by then. */
export async function run(args: readonly string[]): Promise<number> {
  const program = gatehouseCommand()
  const unknown = unknownCommand(program, args)
  if (unknown) {
    printError(`gatehouse: ${unknown}\n`)
    return EXIT_USAGE
  }
  try {
    await program.parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    // Requested help is no error; every other CommanderError is about the command line.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
    if (!(error instanceof ExitError)) throw error
    if (error.message !== '') printError(`gatehouse: ${error.message}\n`)
    return error.exitCode
  }
}

/** Makes all subcommands throw, because commander would end the process, and print as the rest does. */
function inheriting(command: Command): Command {
  command.exitOverride().showHelpAfterError().configureOutput({ writeOut: print, writeErr: printError })
  for (const below of command.commands) inheriting(below)
  return command
}

/**
 * Returns what is wrong with the command's words. Checked before --help, which would answer for an unknown command too.
 */
function unknownCommand(program: Command, args: readonly string[]): string | undefined {
  let at = program
  const path: string[] = ['gatehouse']
  for (const word of args) {
    if (word.startsWith('-') || word === 'help' || at.commands.length === 0) return undefined
    const next = at.commands.find((command) => command.name() === word)
    // A command may take a word itself, beside those below it.
    if (!next && at.registeredArguments.length > 0) return undefined
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
