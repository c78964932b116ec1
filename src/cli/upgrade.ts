import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { statusThroughDaemon } from '../app/index.ts'
import { stepBack } from '../backup/index.ts'
import { loadConfig } from '../config/index.ts'
import { databaseFile, newestSchema } from '../database/index.ts'
import { ExitError } from '../errors/index.ts'
import { buildInfo } from '../platform/bundle.ts'
import { print, printError, systemClock } from '../platform/index.ts'
import {
  type Difference,
  derivedStates,
  lineOf,
  type RehearsedUpgrade,
  rehearseUpgrade,
  removeRehearsalFolder,
  statesForm,
} from '../upgrade/index.ts'
import { becomeOwnerOf } from './alone.ts'
import { reach } from './reach.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'

const dayMs = 86_400_000
const minuteMs = 60_000

export function upgradeCommand(): Command {
  const upgrade = new Command('upgrade').description('steps of the package when a new version takes over')
  upgrade
    .command('rehearse')
    .description('try this version on a copy of the ledger, and compare its answers with those of the previous version')
    .option('--previous <binary>', 'the program of the previous version')
    .option('--days <n>', 'number of days at whose events to compare', '7')
    .option('--most <n>', 'largest number of events to compare at, newest first', '20000')
    .option('--limit <minutes>', 'minutes after which to give up', '30')
    .option('--accept <code>', 'take over in spite of the reasons that were shown with this code')
    .option('--config <file>', `config of the gateway; ${usualConfigText}`)
    .option('--json', 'for programs')
    .action(rehearse)
  upgrade
    .command('offered')
    .description(
      'print the version that the head office offers, when updates.offers is take and updates.window is now: exit 0; else exit 1 and say why',
    )
    .option('--config <file>', `config of the gateway; ${usualConfigText}`)
    .option('--json', 'for programs: {version, isTakenNow, why}, or null without an offer')
    .action(offered)
  upgrade
    .command('states')
    .description('print the answers of this version from a copy of the ledger, one a line; for the next version')
    .argument('<folder>', 'folder with the copy, which is only read')
    .requiredOption('--since <time>', 'at each event received from then on')
    .option('--most <n>', 'largest number of events, newest first', '20000')
    .action(states)
  return upgrade
}

/** Asks the daemon, because only it receives offers of the head office. */
async function offered({ config, json }: { config?: string; json?: boolean }): Promise<void> {
  const { checked, runtimeDir } = await reach(usualConfig(config))
  if (runtimeDir === undefined) throw new ExitError(1, `no gatehouse runs on ${checked.config?.dataDir ?? 'this box'}`)
  const offer = (await statusThroughDaemon(runtimeDir)).hub?.offer ?? null
  if (json) print(`${JSON.stringify(offer)}\n`)
  if (!offer?.isTakenNow) throw new ExitError(1, json ? '' : (offer?.why ?? 'the head office offers no newer version'))
  if (!json) print(`${offer.version}\n`)
}

type RehearseOptions = {
  previous?: string
  days: string
  most: string
  limit: string
  accept?: string
  config?: string
  json?: boolean
}

async function rehearse(options: RehearseOptions): Promise<void> {
  process.umask(0o027)
  const { config } = loadConfig(usualConfig(options.config))
  const { dataDir } = config
  becomeOwnerOf(dataDir)
  if (!existsSync(databaseFile(dataDir))) {
    print(options.json ? '{"ok":true,"ledger":false}\n' : 'there is no ledger yet, so nothing to rehearse\n')
    return
  }
  stepBack()
  const end = (signal: NodeJS.Signals) => {
    removeRehearsalFolder(dataDir)
    process.exit(signal === 'SIGINT' ? 130 : 143)
  }
  process.on('SIGINT', end).on('SIGTERM', end)
  const found = await rehearseUpgrade({
    dataDir,
    reserveBytes: config.retention.ledgerReserveBytes,
    nowMs: systemClock.now(),
    previous: options.previous === undefined ? undefined : [options.previous],
    windowMs: wholeNumber(options.days, '--days') * dayMs,
    mostEvents: wholeNumber(options.most, '--most'),
    limitMs: wholeNumber(options.limit, '--limit') * minuteMs,
    onProgress: (words) => printError(`${words} …\n`),
  })
  const isAccepted = !found.ok && found.acceptBy === options.accept
  print(options.json ? `${JSON.stringify({ ...found, isAccepted })}\n` : forPeople(found, isAccepted))
  if (!found.ok && !isAccepted) throw new ExitError(1, '')
}

function states(folder: string, options: { since: string; most: string }): void {
  const sinceMs = Date.parse(options.since)
  if (Number.isNaN(sinceMs))
    throw new ExitError(2, `--since ${options.since}: expected a time such as 2026-03-01T00:00:00Z`)
  const most = wholeNumber(options.most, '--most')
  const { version } = buildInfo()
  becomeOwnerOf(folder)
  print(`${lineOf({ question: statesForm, answer: { version, schema: newestSchema } })}\n`)
  for (const line of derivedStates({ folder, sinceMs, most })) print(`${lineOf(line)}\n`)
}

function wholeNumber(text: string, name: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new ExitError(2, `${name} ${text}: expected a whole number from 1 on`)
}

function forPeople(found: RehearsedUpgrade, isAccepted: boolean): string {
  const { schema, previous, compared, differences, different, notes, reasons, acceptBy } = found
  const lines = [
    `schema ${schema.from}${schema.to === schema.from ? '' : ` → ${schema.to}`}; ${compared} answers compared with version ${previous?.version ?? 'unknown'}`,
    ...notes,
    ...reasons,
    ...differences.map(differenceLine),
    ...(different > differences.length ? [`  … and ${different - differences.length} more`] : []),
    ...(found.ok ? ['the rehearsal went well'] : []),
    ...(isAccepted ? [`accepted (${acceptBy})`] : []),
    ...(found.ok || isAccepted
      ? []
      : [`the new version does not take over. To take over in spite of these reasons: --accept ${acceptBy}`]),
  ]
  return `${lines.join('\n')}\n`
}

const differenceLine = ({ question, part, previous, next }: Difference): string =>
  `  ${question}${part === null ? '' : `: ${part}`}: ${JSON.stringify(previous)} with the previous version, ${JSON.stringify(next)} with the new version`
