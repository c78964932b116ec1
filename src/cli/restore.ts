import { resolve } from 'node:path'
import { Command } from 'commander'
import { daemonServes } from '../app/index.ts'
import { type Restored, restoreBackup, settleRestore } from '../backup/index.ts'
import { type Config, loadConfig } from '../config/index.ts'
import { ExitError } from '../errors/index.ts'
import { acceptFork } from '../evidence/index.ts'
import { systemClock, systemRandom, uuidv7Maker } from '../platform/index.ts'
import { alone, becomeOwnerOf } from './alone.ts'
import { whoRunsThis } from './who.ts'

type RestoreOptions = { acceptFork?: boolean; config?: string; json?: boolean }

export function restoreCommand(): Command {
  return new Command('restore')
    .description('bring a ledger back, and state in its log what was lost')
    .argument(
      '[file]',
      'backup to put in the place of what is there; it is verified first, and what it replaces is kept',
    )
    .option(
      '--accept-fork',
      'go behind what this box has signed; without a file: take the database as it stands. The ledger goes on with a new log',
    )
    .option('--config <file>', 'config whose dataDir takes the ledger; default: the embedded one')
    .option('--json', 'for programs')
    .action(restore)
}

async function restore(file: string | undefined, options: RestoreOptions): Promise<void> {
  if (file === undefined && !options.acceptFork) {
    throw new ExitError(64, 'name the backup to restore; or take the database as it stands with --accept-fork')
  }
  const { config } = loadConfig(options.config)
  if (await daemonServes(config.runtimeDir, config.dataDir)) {
    throw new ExitError(1, 'the daemon is running on this data folder; stop it first')
  }
  const by = whoRunsThis()
  becomeOwnerOf(config.dataDir)
  if (file === undefined) {
    settleRestore(config.dataDir)
    acceptHere(config, options)
    return
  }
  const restored = await restoreBackup({
    ...{ file: resolve(file), dataDir: config.dataDir, siteId: config.site.id },
    acceptFork: options.acceptFork === true,
    reserveBytes: config.retention.ledgerReserveBytes,
    ...{ makeId: uuidv7Maker(systemClock, systemRandom), nowMs: systemClock.now() },
    erase: (dataDir, names) => eraseIn({ ...config, dataDir }, names, by),
  })
  process.stdout.write(options.json ? `${JSON.stringify(restored)}\n` : forPeople(restored))
}

function acceptHere(config: Config, options: RestoreOptions): void {
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

/** Erases people from a ledger that comes back. Which of their notes went with them is not known, so all do. */
function eraseIn(config: Config, names: readonly string[], by: string): Promise<void> {
  return alone(config, async (gateway) => {
    for (const name of names) {
      const { outcome } = await gateway.erasePerson({ name, texts: true }, by, Number.POSITIVE_INFINITY)
      if (outcome === 'ambiguous') throw new ExitError(1, 'a person who was erased cannot be told from another one')
    }
  })
}

function forPeople(restored: Restored): string {
  const { siteId, logId, size, rootHash, events, madeAt, version, fork, lost, erased, lacking, aside } = restored
  const lines = [
    `restored: site ${siteId}, ${events} events, ${size} leaves of log ${logId}, root ${rootHash}`,
    `the backup was made at ${madeAt} by gatehouse ${version}; everything in it verifies`,
    lostWords(lost, madeAt),
    fork
      ? `log ${fork.parentLogId} ends at ${fork.parentSize} leaves; log ${fork.logId} goes on from there, and its first leaf states the break`
      : 'nothing went behind what was there: the log goes on as it is',
    ...(erased > 0 ? [`people who were erased after the backup, erased again: ${erased}`] : []),
    ...(lacking > 0
      ? [
          `files that are not there: ${lacking} (photos, clips); gatehouse ledger verify names them until they are put back`,
        ]
      : []),
    ...(aside ? [`what was replaced is kept in ${aside}; remove it when nothing of it is missed`] : []),
    ...(restored.settings
      ? [`the settings of the backup are in ${restored.settings.folder}; compare them with yours`]
      : []),
  ]
  return `${lines.join('\n')}\n`
}

/** Says which window is lost. */
function lostWords({ from, to, leaves }: Restored['lost'], madeAt: string): string {
  if (leaves === 0) return 'nothing that could be read here is lost'
  const begin =
    from === null
      ? `the backup has no event; lost is what was recorded before and after ${madeAt}`
      : `the newest event is of ${from}; lost is what was recorded after it`
  const count = leaves === null ? '' : `, ${leaves} leaves`
  return `${begin}, up to ${to ?? 'the end of the old box'}${count}`
}
