import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { beginExportThroughDaemon, daemonServes } from '../app/index.ts'
import { loadConfig } from '../config/index.ts'
import { databaseFile } from '../database/index.ts'
import { ExitError } from '../errors/index.ts'
import { buildInfo } from '../platform/bundle.ts'
import { print, systemClock } from '../platform/index.ts'
import { type Exported, exportEverything, refuseFullFolder } from '../takeout/index.ts'
import { alone, becomeOwnerOf } from './alone.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'
import { whoRunsThis } from './who.ts'

type Options = { everything: string; config?: string; json?: boolean }

export function exportCommand(): Command {
  return new Command('export')
    .description('copy all data of this box in open formats, with a manifest, also while the daemon runs')
    .requiredOption(
      '--everything <dir>',
      'folder to make, or an empty one; it gets names, photos and clips, and no secrets',
    )
    .option('--config <file>', `config whose dataDir holds the data; ${usualConfigText}`)
    .option('--json', 'for programs')
    .action(run)
}

async function run({ everything, config: file, json }: Options): Promise<void> {
  const configFile = usualConfig(file)
  const { config } = loadConfig(configFile)
  const { dataDir, runtimeDir, site, retention } = config
  const database = databaseFile(dataDir)
  const target = resolve(everything)
  if (!existsSync(database)) throw new ExitError(1, `there is no database at ${database}`)
  refuseFullFolder(target)
  const command = { folder: target, by: whoRunsThis() }
  const beside = await daemonServes(runtimeDir, dataDir)
  if (beside) await beginExportThroughDaemon(runtimeDir, command)
  else {
    await alone(config, (gateway) => gateway.beginExport(command.folder, command.by), configFile)
  }
  becomeOwnerOf(dataDir)
  const made = exportEverything({
    ...{ dataDir, target, beside, site: { id: site.id, url: site.url }, version: buildInfo().version },
    ...{ nowMs: systemClock.now(), reserveBytes: retention.ledgerReserveBytes },
  })
  print(json ? `${JSON.stringify(made)}\n` : forPeople(made))
}

function forPeople({ path, files, rows, logs, lacking }: Exported): string {
  const lines = logs.map(({ logId, size, rootHash }) => `log ${logId}: ${size} leaves, root ${rootHash}\n`)
  const bad = lacking.map(({ name, why }) => `${name}: ${why}\n`)
  return `${path}: ${files} files with ${rows} rows; README.txt says what they are, manifest.json has their hashes
${lines.join('')}${bad.join('')}Names of people, photos and clips are in it: keep it as safe as the box.
`
}
