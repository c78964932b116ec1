import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { daemonServes } from '../app/index.ts'
import {
  folderSource,
  type Restored,
  readRecoveryLine,
  restoreBackup,
  restoreSegments,
  settleRestore,
} from '../backup/index.ts'
import { type Config, loadConfig, readSecretFile } from '../config/index.ts'
import { EXIT_USAGE, ExitError } from '../errors/index.ts'
import { acceptFork } from '../evidence/index.ts'
import { buildInfo } from '../platform/bundle.ts'
import { errorCode, errorMessage } from '../platform/faults.ts'
import { print, systemClock, systemRandom, uuidv7Maker } from '../platform/index.ts'
import { authorizationsOf, DavFolder } from '../upload/index.ts'
import { alone, becomeOwnerOf } from './alone.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'
import { whoRunsThis } from './who.ts'

type RestoreOptions = {
  acceptFork?: boolean
  again?: boolean
  fromSegments?: string
  recoveryKey?: string
  asFarAsWhole?: boolean
  username?: string
  passwordFile?: string
  caFile?: string
  config?: string
  json?: boolean
}

export function restoreCommand(): Command {
  return new Command('restore')
    .description('restore a ledger, and state the lost time in its log')
    .argument(
      '[file]',
      'backup to restore: a file, or a WebDAV address (of one sealed backup, or of the folder that holds SITE/backups: the newest); it is verified first, and the replaced data is kept',
    )
    .option('--from-segments <source>', 'folder or WebDAV address that holds SITE/segments, instead of a file')
    .option('--username <name>', 'user of that address; default: the one of storage.upload, for its server')
    .option('--password-file <file>', 'file with the password of that user')
    .option('--ca-file <file>', 'authorities in PEM for that address')
    .option(
      '--recovery-key <file>',
      'file with the line that gatehouse backup key prints; needed with --from-segments, for an address and for sealed backups; with it, unsealed backups are refused',
    )
    .option('--as-far-as-whole', 'if a segment is damaged or missing, take the newest state that is whole without it')
    .option(
      '--accept-fork',
      'restore a state older than the signed log of this box; without a file: accept the database as it is. The ledger goes on with a new log',
    )
    .option('--again', 'needed when events were recorded after an earlier --accept-fork; those events are lost')
    .option('--config <file>', `config whose dataDir takes the ledger; ${usualConfigText}`)
    .option('--json', 'for programs')
    .action(restore)
}

async function restore(file: string | undefined, options: RestoreOptions): Promise<void> {
  demandOneSource(file, options)
  const { config } = loadConfig(usualConfig(options.config))
  if (await daemonServes(config.runtimeDir, config.dataDir)) {
    throw new ExitError(1, 'the daemon is running on this data folder; stop it first')
  }
  const by = whoRunsThis()
  becomeOwnerOf(config.dataDir)
  if (file === undefined && options.fromSegments === undefined) {
    settleRestore(config.dataDir)
    acceptHere(config, options)
    return
  }
  const common = {
    dataDir: config.dataDir,
    siteId: config.site.id,
    acceptFork: options.acceptFork === true,
    again: options.again === true,
    reserveBytes: config.retention.ledgerReserveBytes,
    makeId: uuidv7Maker(systemClock, systemRandom),
    nowMs: systemClock.now(),
    erase: (dataDir: string, names: readonly string[]) => eraseIn({ ...config, dataDir }, names, by),
  }
  const restored =
    file === undefined
      ? await restoreSegments({ ...common, ...segmentsAsked(options, config) })
      : await restoreBackup({ ...common, ...backupAsked(file, options, config) })
  print(options.json ? `${JSON.stringify(restored)}\n` : forPeople(restored))
}

function demandOneSource(file: string | undefined, { acceptFork, fromSegments, recoveryKey }: RestoreOptions): void {
  const wrong = (message: string) => new ExitError(EXIT_USAGE, message)
  if (file !== undefined && isAddress(file) && recoveryKey === undefined) {
    throw wrong('an address needs --recovery-key FILE, with the line that gatehouse backup key printed')
  }
  if (file === undefined && fromSegments === undefined && !acceptFork) {
    throw wrong(
      'name the backup to restore, or the segments with --from-segments; or accept the database as it is with --accept-fork',
    )
  }
  if (file !== undefined && fromSegments !== undefined) throw wrong('name a backup or --from-segments, not both')
  if (fromSegments !== undefined && recoveryKey === undefined) {
    throw wrong('--from-segments needs --recovery-key FILE, with the line that gatehouse backup key printed')
  }
}

function segmentsAsked(options: RestoreOptions, config: Config) {
  const { fromSegments = '', recoveryKey = '', asFarAsWhole } = options
  const source = isAddress(fromSegments)
    ? davFolderAt(fromSegments, options, config)
    : folderSource(resolve(fromSegments))
  return { source, recoveryKey: keyIn(recoveryKey), asFarAsWhole: asFarAsWhole === true }
}

const isAddress = (text: string) => /^https?:\/\//.test(text)

/** A file, one backup on a server, or the newest one of a server. */
function backupAsked(file: string, options: RestoreOptions, config: Config) {
  const key = options.recoveryKey === undefined ? {} : { recoveryKey: keyIn(options.recoveryKey) }
  if (!isAddress(file)) return { ...key, backup: resolve(file) }
  const [, above = '', name = ''] = /^(.*)\/([^/]+\.sealed)$/.exec(file) ?? []
  const folder = davFolderAt(name === '' ? file : above, options, config)
  return { ...key, backup: { folder, path: name === '' ? null : decodeURIComponent(name) } }
}

function keyIn(recoveryKey: string): Buffer {
  let text: string
  try {
    text = readFileSync(recoveryKey, 'utf8')
  } catch (error) {
    throw new ExitError(1, `${recoveryKey} cannot be read: ${errorCode(error)}`, error)
  }
  const key = readRecoveryLine(text)
  if (!key) {
    throw new ExitError(
      1,
      `${recoveryKey} holds no recovery key: one line is expected that begins with AGE-SECRET-KEY-1, as gatehouse backup key prints it`,
    )
  }
  return key
}

function davFolderAt(
  address: string,
  { username, passwordFile, caFile }: RestoreOptions,
  { storage }: Config,
): DavFolder {
  const known = storage.instances.find(({ url }) => address === url || address.startsWith(`${url}/`))
  const upload = known && storage.upload?.instance === known.url ? storage.upload : undefined
  const user = username ?? upload?.username
  const secret = passwordFile ?? (username === undefined ? upload?.passwordFile : undefined)
  if (user !== undefined && secret === undefined) throw new ExitError(EXIT_USAGE, '--username needs --password-file')
  return new DavFolder({
    url: address.replace(/\/+$/, ''),
    authorizations: user === undefined || secret === undefined ? [] : authorizationsOf(user, passwordIn(secret)),
    caFile: caFile === undefined ? (known?.caFile ?? null) : resolve(caFile),
    version: buildInfo().version,
  })
}

function passwordIn(file: string): string {
  try {
    return readSecretFile(file)
  } catch (error) {
    throw new ExitError(1, errorMessage(error), error)
  }
}

function acceptHere(config: Config, options: RestoreOptions): void {
  const nowMs = systemClock.now()
  const makeId = uuidv7Maker(systemClock, systemRandom)
  const fork = acceptFork(config.dataDir, { makeId, nowMs, again: options.again === true })
  const { log, parentLogId, parentSize, parentRoot } = fork
  print(
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
      if (outcome === 'ambiguous') throw new ExitError(1, 'two people have the name of a person who was erased')
    }
  })
}

function forPeople(restored: Restored): string {
  const { siteId, logId, size, rootHash, events, madeAt, version, fork, lost, erased, lacking, aside } = restored
  const from = restored.segments === null ? 'the backup was' : `the newest of ${restored.segments} segments was`
  const lines = [
    `restored: site ${siteId}, ${events} events, ${size} leaves of log ${logId}, root ${rootHash}`,
    `${from} made at ${madeAt} by gatehouse ${version}; everything in it verifies`,
    lostWords(lost, madeAt),
    fork
      ? `log ${fork.parentLogId} ends at ${fork.parentSize} leaves; log ${fork.logId} goes on from there, and its first leaf states the break`
      : 'nothing that was signed is missing: the log goes on as it is',
    ...(erased > 0 ? [`people who were erased later, erased again: ${erased}`] : []),
    ...(lacking > 0
      ? [`missing files: ${lacking} (photos, clips); gatehouse ledger verify names them until they are put back`]
      : []),
    ...(aside ? [`the replaced data is kept in ${aside}; remove it when you do not need it`] : []),
    ...(restored.settings
      ? [
          `the settings of the old box are in ${restored.settings.folder}; each was at this path:`,
          ...restored.settings.files.map(({ name, path }) => `  ${name.replace(/^settings\//, '')}: ${path}`),
        ]
      : []),
  ]
  return `${lines.join('\n')}\n`
}

/** Says which window is lost. */
function lostWords({ from, to, leaves }: Restored['lost'], madeAt: string): string {
  if (leaves === 0) return 'nothing that could be read here is lost'
  const begin =
    from === null
      ? `it has no event; lost is everything recorded before and after ${madeAt}`
      : `the newest event is of ${from}; lost is everything recorded after it`
  const count = leaves === null ? '' : `, ${leaves} leaves`
  return `${begin}, up to ${to ?? 'the end of the old box'}${count}`
}
