import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { daemonServes, type Erased, eraseThroughDaemon } from '../../app/index.ts'
import { type Config, loadConfig } from '../../config/index.ts'
import { databaseFile } from '../../database/index.ts'
import { ExitError } from '../../errors/index.ts'
import type { ErasureRequest } from '../../governance/index.ts'
import { print } from '../../platform/index.ts'
import { alone } from '../alone.ts'
import { usualConfig, usualConfigText } from '../usual-config.ts'
import { whoRunsThis } from '../who.ts'

export function personCommand(): Command {
  const person = new Command('person').description('people whose names the gateway knows')
  person
    .command('erase')
    .argument(
      '<name>',
      'a user or operator, spelled as recorded; where several have the name, one in full: name@<instance URL>',
    )
    .description("remove a person's name from every place that may forget it; the log still verifies")
    .option('--texts', 'also remove notes and descriptions that the person wrote or is named in')
    .option('--config <file>', `config whose dataDir holds the ledger; ${usualConfigText}`)
    .option('--json', 'for programs')
    .action(erase)
  return person
}

async function erase(name: string, options: { texts?: boolean; config?: string; json?: boolean }): Promise<void> {
  const { config } = loadConfig(usualConfig(options.config))
  const request = { name, texts: options.texts === true }
  const result = (await daemonServes(config.runtimeDir, config.dataDir))
    ? await eraseThroughDaemon(config.runtimeDir, { ...request, by: whoRunsThis() })
    : await eraseHere(config, request)
  const outcome = { ...result, accountInConfig: hasAccount(config, name) }
  print(options.json ? `${JSON.stringify(outcome)}\n` : forPeople(outcome))
  if (result.outcome === 'ambiguous') throw new ExitError(1, options.json ? '' : whichOf(name, result.identities))
  if (result.outcome === 'unknown') {
    throw new ExitError(
      1,
      options.json ? '' : `no person is known as ${JSON.stringify(name)}; upper and lower case count`,
    )
  }
}

/** Erases without a daemon. Throws ExitError when there is no ledger, or another process has it open. */
async function eraseHere(config: Config, request: ErasureRequest): Promise<Erased> {
  const file = databaseFile(config.dataDir)
  if (!existsSync(file)) throw new ExitError(1, `there is no database at ${file}`)
  const by = whoRunsThis()
  return alone(config, (gateway) => gateway.erasePerson(request, by, Number.POSITIVE_INFINITY))
}

/** Says whether the config has an account of this name or identity. */
function hasAccount({ auth, site }: Config, name: string): boolean {
  const instance = site.url.replace(/\/+$/, '')
  return auth.users.some(({ username }) => username === name || `${username}@${instance}` === name)
}

function whichOf(name: string, identities: readonly string[]): string {
  const [first = ''] = identities
  return `${identities.length} people are called ${JSON.stringify(name)}: ${identities.join(', ')}. Nothing was erased. Name one of them in full: gatehouse person erase ${first}`
}

function forPeople(erased: Erased & { accountInConfig: boolean }): string {
  if (erased.outcome === 'unknown' || erased.outcome === 'ambiguous') return ''
  const copies = erased.compacted
    ? ''
    : 'Old copies may be left in unused parts of the database file: stop the daemon and run this again to remove them.\n'
  if (erased.outcome === 'erased-before')
    return `erased already, at ${erased.erasedAt}; shown as ${erased.shownAs}\n${copies}${keptElsewhere(erased)}`
  const account = erased.accountInConfig
    ? 'The config has an account of this name. It is not touched: remove it there, or the next start makes the name known again.\n'
    : ''
  const kept =
    erased.textsThatNameThem > 0
      ? `${erased.textsThatNameThem} notes and descriptions have the name in them and stay; --texts removes them too.\n`
      : ''
  const older =
    erased.olderRowsShownAs === null || erased.olderRowsShownAs === erased.shownAs
      ? ''
      : `; in rows that an earlier version wrote as by ${erased.olderRowsShownAs}`
  const byName = erased.nameStands
    ? 'Rows that know the name alone (those of an earlier version, and those in which a client named the person) stay as they are: erase the name without its instance to remove it there too.\n'
    : ''
  return `erased; what the person did is shown as by ${erased.shownAs}${older}
removed from: ${erased.notifications} notifications, ${erased.replies} kept replies, ${erased.sessions} sessions, ${erased.texts} texts
${kept}${byName}${account}${copies}${keptElsewhere(erased)}Copies that left this box (webhooks, exports, backups, logs of the system) are out of its reach.
`
}

/** Names the copies that still have the name, and when each goes. */
function keptElsewhere({ kept: { copies, problem } }: Erased): string {
  const lines = copies.map(
    ({ kind, name, until }) => `  ${kind === 'backup' ? name : `segments ${name}`}, until ${until}`,
  )
  const begin =
    lines.length === 0
      ? ''
      : `Older copies still have the name. They are removed by themselves, and a restore of them erases the name again where this box or newer segments are known:\n${lines.join('\n')}\n`
  const away = problem === null ? '' : `The backups at backup.file.to could not be checked: ${problem}.\n`
  return `${begin}${away}`
}
