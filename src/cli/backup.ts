import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { backupThroughDaemon, daemonServes } from '../app/index.ts'
import { type BackupMade, loadRecoveryKey, recoveryLine, terminalQr } from '../backup/index.ts'
import { type Config, formatSize, loadConfig } from '../config/index.ts'
import { databaseFile } from '../database/index.ts'
import { ExitError } from '../errors/index.ts'
import { errorCode, errorMessage } from '../platform/faults.ts'
import { print, systemRandom } from '../platform/index.ts'
import { alone, becomeOwnerOf } from './alone.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'
import { whoRunsThis } from './who.ts'

type BackupOptions = { media?: boolean; config?: string; json?: boolean }

export function backupCommand(): Command {
  // Options behind `key` are those of `key`.
  const command = new Command('backup')
    .enablePositionalOptions()
    .description('copy the ledger, keys and settings to one file, also while the daemon runs')
    .argument('<file>', 'tar file to make; it holds the keys of this box, so keep it as safe as the box')
    .option('--media', 'with photos and clips')
    .option('--config <file>', `config whose dataDir holds the ledger; ${usualConfigText}`)
    .option('--json', 'for programs')
    .action(backup)
  command
    .command('key')
    .description('print the recovery key of this box; anyone who has it can read the sealed backups and segments')
    .option('--qr', 'also as a QR code; a terminal always shows it')
    .option('--config <file>', `config whose dataDir holds the keys; ${usualConfigText}`)
    .action(key)
  return command
}

function key(options: { qr?: boolean; config?: string }): void {
  const { config } = loadConfig(usualConfig(options.config))
  becomeOwnerOf(config.dataDir)
  const line = recoveryLine(readKey(config.dataDir))
  const qr = options.qr || process.stdout.isTTY ? terminalQr(line) : ''
  print(`${line}\n${qr}`)
}

function readKey(dataDir: string): Buffer {
  if (!existsSync(databaseFile(dataDir))) throw new ExitError(1, `there is no database at ${databaseFile(dataDir)}`)
  try {
    return loadRecoveryKey(dataDir, systemRandom)
  } catch (error) {
    const code = errorCode(error)
    const message = errorMessage(error)
    const isRefused = code === 'EACCES' || code === 'EPERM'
    throw new ExitError(
      1,
      isRefused ? 'only root and the owner of the data folder may read the recovery key' : message,
      error,
    )
  }
}

async function backup(file: string, options: BackupOptions): Promise<void> {
  const { config } = loadConfig(usualConfig(options.config))
  const request = { target: resolve(file), media: options.media === true }
  const made = (await daemonServes(config.runtimeDir, config.dataDir))
    ? await backupThroughDaemon(config.runtimeDir, { ...request, by: whoRunsThis() })
    : await backupHere(config, request, usualConfig(options.config))
  print(options.json ? `${JSON.stringify(made)}\n` : forPeople(made))
}

async function backupHere(
  config: Config,
  request: { target: string; media: boolean },
  configFile: string | undefined,
): Promise<BackupMade> {
  const file = databaseFile(config.dataDir)
  if (!existsSync(file)) throw new ExitError(1, `there is no database at ${file}`)
  const by = whoRunsThis()
  return alone(config, (gateway) => gateway.backup(request, by), configFile)
}

function forPeople(made: BackupMade): string {
  const { path, sizeBytes, siteId, logId, size, rootHash, mediaFiles, mediaLeftOut, damaged } = made
  const media =
    mediaFiles > 0
      ? `${mediaFiles} photos and clips are in it`
      : mediaLeftOut > 0
        ? `photos and clips are not in it (${mediaLeftOut} files); --media includes them`
        : 'this box has no photo and no clip'
  const lost = made.missing.length > 0 ? `missing on this box, so not in it: ${made.missing.join(', ')}\n` : ''
  const bad = damaged.length > 0 ? `damaged on this box already: ${damaged.join(', ')}\n` : ''
  return `${path}: ${formatSize(sizeBytes)}, log ${logId} of site ${siteId}, ${size} leaves
root ${rootHash}
${media}
${lost}${bad}The file holds the keys of this box (box key, log keys) and its settings: keep it as safe as the box.
`
}
