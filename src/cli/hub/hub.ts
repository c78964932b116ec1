import { Command, Option } from 'commander'
import { type HubConfig, loadHubConfig, roleNames } from '../../config/index.ts'
import { AppError, ExitError } from '../../errors/index.ts'
import {
  authorityOf,
  connectionOf,
  demandSchema,
  EnrolService,
  HubDatabase,
  migrateHub,
  startHub,
} from '../../hub/index.ts'
import { buildInfo } from '../../platform/bundle.ts'
import {
  createLogger,
  giveBackFreeMemory,
  isJournal,
  print,
  serviceManager,
  systemClock,
  systemRandom,
} from '../../platform/index.ts'
import { type CredentialOptions, printCredential } from '../credential.ts'
import { installedConfig, installedHubConfig } from '../usual-config.ts'
import { joinHub } from './join.ts'
import { hubOfferCommand } from './offer.ts'
import { hubRetireCommand, hubRevokeCommand } from './retire.ts'

export function hubCommand(): Command {
  const hub = new Command('hub').description('the head office: gathers the logs of many gateways in PostgreSQL')
  hub
    .command('serve')
    .description('run the head office in the foreground; SIGTERM stops it')
    .option('--config <file>', 'config file of the head office', installedHubConfig)
    .action(serve)
  hub
    .command('migrate')
    .description('migrate the database to this version, and set the rights of the roles hub_app and hub_read')
    .option('--config <file>', 'config file of the head office', installedHubConfig)
    .option(
      '--check',
      'change nothing: exit 0 when the database is ready for this version, 78 when it has to be migrated first',
    )
    .option('--to <engine>', 'citus: distribute the tables of a PostgreSQL that has become a Citus cluster')
    .action(migrate)
  hub
    .command('enrol')
    .description('print a code with which one gateway joins; it is good for one use within 24 hours')
    .requiredOption('--site <id>', 'site.id of the gateway')
    .option('--name <name>', 'name of the site for people (default: its id)')
    .option('--config <file>', 'config file of the head office', installedHubConfig)
    .option('--json', 'for programs')
    .action(enrol)
  hub
    .command('credential')
    .description('make a secret for an account of the head office: shown once, with the entry for its auth.users')
    .requiredOption('--username <name>', 'user name')
    .addOption(new Option('--role <role>', 'role of the account').choices(roleNames).makeOptionMandatory())
    .option('--config <file>', 'config file of the head office', installedHubConfig)
    .option('--json', 'for programs')
    .action((options: CredentialOptions & { config: string }) =>
      printCredential(options, () => loadHubConfig(options.config).config.site.url),
    )
  hub
    .command('join')
    .description(
      'on a gateway: enrol at a head office; writes the token, its certificate authority and a config drop-in',
    )
    .argument('<url>', 'address of the head office')
    .option(
      '--code <code>',
      'the whole code that "gatehouse hub enrol" printed there; other users of the box can see it',
    )
    .option('--code-file <file>', 'the file that has the code, instead of --code; - reads it from standard input')
    .option('--config <file>', 'config file of this gateway', installedConfig)
    .option('--json', 'for programs')
    .action(join)
  hub.addCommand(hubOfferCommand())
  hub.addCommand(hubRetireCommand())
  hub.addCommand(hubRevokeCommand())
  return hub
}

type JoinOptions = { code?: string; codeFile?: string; config: string; json?: boolean }

async function join(url: string, { code, codeFile, config, json }: JoinOptions): Promise<void> {
  const joined = await joinHub({ url, code, codeFile, configFile: config })
  print(
    json
      ? `${JSON.stringify(joined)}\n`
      : `joined ${joined.url}
token:    ${joined.tokenFile}
${joined.caFile === null ? '' : `trusts:   ${joined.caFile}\n`}confirms: ${joined.vkey}
config:   ${joined.dropIn}

A gateway that runs begins to send its log when it gets SIGHUP (systemctl reload gatehouse).
`,
  )
}

async function serve(options: { config: string }): Promise<void> {
  process.umask(0o027)
  const { config, warnings } = loadHubConfig(options.config)
  const format = process.stderr.isTTY ? 'text' : isJournal() ? 'journal' : 'json'
  const log = createLogger({ level: process.env['GATEHOUSE_LOG'] ?? 'info', format })
  for (const warning of warnings) log.warn(warning)
  const manager = serviceManager()
  const ended = Promise.withResolvers<NodeJS.Signals>()
  process.once('SIGTERM', ended.resolve)
  process.once('SIGINT', ended.resolve)
  const running = await startHub(config, { clock: systemClock, random: systemRandom, log })
  const addresses = config.listen.map((l, i) => `${l.tls ? 'https' : 'http'}://${l.host}:${running.ports[i]}`)
  const { version, commit } = buildInfo()
  log.info({ version, commit, site: config.site.id, addresses }, 'the head office is up')
  manager?.ready(`Serving ${config.site.id} on ${addresses.join(' and ')}`)
  giveBackFreeMemory()
  const signal = await ended.promise
  manager?.stopping()
  log.info({ signal }, 'stopping')
  await running.stop()
  log.info('stopped')
}

async function migrate(options: { config: string; to?: string; check?: boolean }): Promise<void> {
  if (options.to !== undefined && options.to !== 'citus') throw new ExitError(2, '--to takes citus')
  const { config } = loadHubConfig(options.config)
  const { database } = config.hub
  if (options.check) {
    await demandSchema(connectionOf(database, 'app'))
    print('the database is ready for this version\n')
    return
  }
  const done = await migrateHub({
    connection: connectionOf(database, 'owner'),
    engine: database.engine,
    appPassword: (connectionOf(database, 'app').password as string | undefined) ?? null,
    grows: options.to === 'citus',
  })
  for (const line of done) print(`${line}\n`)
}

async function enrol(options: { site: string; name?: string; config: string; json?: boolean }): Promise<void> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(options.site)) {
    throw new ExitError(2, '--site is the site.id of a gateway: 1 to 64 letters, digits, dots, - and _')
  }
  const { config } = loadHubConfig(options.config)
  const site = { siteId: options.site, name: options.name ?? options.site }
  const { code, expiresAtMs } = await makeCode(config, site)
  const expiresAt = new Date(expiresAtMs).toISOString()
  print(
    options.json
      ? `${JSON.stringify({ code, siteId: options.site, url: config.site.url, expiresAt })}\n`
      : `On the gateway of ${options.site}, before ${expiresAt}:

  gatehouse hub join ${config.site.url} --code ${code} --config /etc/gatehouse/gatehouse.yaml
`,
  )
}

async function makeCode(config: HubConfig, site: { siteId: string; name: string }) {
  const log = createLogger({ level: 'error' })
  const connection = connectionOf(config.hub.database, 'app')
  await demandSchema(connection)
  const db = new HubDatabase({ connection, log })
  try {
    const enrolments = new EnrolService({ db, clock: systemClock, random: systemRandom, log, vkey: '' })
    return await enrolments.makeCode(site, authorityOf(config.listen)?.fingerprint ?? '')
  } catch (error) {
    if (error instanceof AppError) throw new ExitError(1, error.message, error)
    throw error
  } finally {
    await db.close()
  }
}
