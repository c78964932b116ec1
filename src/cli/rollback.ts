import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { loadConfig } from '../config/index.ts'
import { databaseFile } from '../database/index.ts'
import { ExitError } from '../errors/index.ts'
import { applianceImage, print, systemClock } from '../platform/index.ts'
import { lookBack, rollbackDays, versionsFolder } from '../upgrade/index.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'

const wayBack = '/usr/lib/gatehouse/way-back'
/** On an appliance the previous version is the system in the other slot. */
const otherSlot = '/usr/lib/gatehouse-appliance/go-back'

export function rollbackCommand(): Command {
  return new Command('rollback')
    .description(
      `go back to the previous version, within ${rollbackDays} days after an upgrade; the ledger stays as it is`,
    )
    .option('--check', 'only say whether it can')
    .option('--config <file>', `config of the gateway; ${usualConfigText}`)
    .option('--json', 'for programs: {version, done}')
    .action(rollback)
}

async function rollback(options: { check?: boolean; config?: string; json?: boolean }): Promise<void> {
  if (applianceImage()) return rollbackAppliance(options)
  const { config } = loadConfig(usualConfig(options.config))
  const { dataDir } = config
  if (!existsSync(databaseFile(dataDir))) throw new ExitError(1, `there is no database at ${databaseFile(dataDir)}`)
  const { version } = await lookBack({ versions: versionsFolder, dataDir, nowMs: systemClock.now() })
  if (!options.check) goBack()
  const words = options.check ? `version ${version} can serve this ledger` : `version ${version} serves again`
  print(options.json ? `${JSON.stringify({ version, done: !options.check })}\n` : `${words}\n`)
}

function rollbackAppliance({ check, json }: { check?: boolean; json?: boolean }): void {
  demandRoot()
  const { status, stdout } = spawnSync(otherSlot, check ? ['--check'] : [], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (status !== 0) throw new ExitError(1, 'the box stays with the image that it runs')
  const version = stdout.trim()
  const words = check ? `image ${version} can serve this ledger` : `the box starts from image ${version} now`
  print(json ? `${JSON.stringify({ version, done: !check })}\n` : `${words}\n`)
}

function demandRoot(): void {
  if (process.getuid?.() !== 0) throw new ExitError(1, 'only root can replace the version: sudo gatehouse rollback')
}

function goBack(): void {
  demandRoot()
  const { status } = spawnSync(wayBack, ['back'], { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new ExitError(1, 'the previous version did not start; see journalctl -u gatehouse')
}
