import { Command } from 'commander'
import { daemonServes } from '../app/index.ts'
import { loadConfig } from '../config/index.ts'
import { ExitError } from '../errors/index.ts'
import { acceptFork } from '../evidence/index.ts'
import { systemClock, systemRandom, uuidv7Maker } from '../platform/index.ts'
import { becomeOwnerOf } from './alone.ts'

export function restoreCommand(): Command {
  return new Command('restore')
    .description('bring a ledger back, and state in its log what was lost')
    .requiredOption(
      '--accept-fork',
      'take the database as it stands, although it is not the one that was signed, and go on with a new log',
    )
    .option('--config <file>', 'config whose dataDir holds the ledger; default: the embedded one')
    .option('--json', 'for programs')
    .action(restore)
}

async function restore(options: { config?: string; json?: boolean }): Promise<void> {
  const { config } = loadConfig(options.config)
  if (await daemonServes(config.runtimeDir, config.dataDir)) {
    throw new ExitError(1, 'the daemon is running on this data folder; stop it first')
  }
  becomeOwnerOf(config.dataDir)
  const nowMs = systemClock.now()
  const fork = acceptFork(config.dataDir, { makeId: uuidv7Maker(systemClock, systemRandom), nowMs })
  const { log, parentLogId, parentSize, parentRoot } = fork
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ logId: log.logId, parentLogId, parentSize, parentRoot })}\n`
      : `log ${parentLogId} ends at ${parentSize} leaves, root ${parentRoot}
log ${log.logId} goes on from there; its first leaf states the break
`,
  )
}
