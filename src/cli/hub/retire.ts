import { Command } from 'commander'
import { loadHubConfig } from '../../config/index.ts'
import { AppError, ExitError } from '../../errors/index.ts'
import { connectionOf, demandSchema, HubDatabase, type Retired, RetirementService } from '../../hub/index.ts'
import { createLogger, print, systemClock } from '../../platform/index.ts'
import { installedHubConfig } from '../usual-config.ts'
import { whoRunsThis } from '../who.ts'

type Options = { site?: string; log?: string; reason?: string; config: string; json?: boolean }

/** Builds `gatehouse hub retire`. */
export function hubRetireCommand(): Command {
  return new Command('retire')
    .description('end the log of a box that was replaced, or a site that is closed; what they sent stays as history')
    .option('--site <id>', 'site.id: all its logs, its tokens and unused codes')
    .option('--log <id>', 'one log, with those that it continues; the tokens of the site stay valid')
    .option('--reason <text>', 'why, for the list of alerts')
    .option('--config <file>', 'config file of the head office', installedHubConfig)
    .option('--json', 'for programs')
    .action(async ({ site, log, ...options }: Options) => {
      if ((site === undefined) === (log === undefined)) throw new ExitError(2, 'give --site or --log, one of them')
      await run(options, (service, why) =>
        site === undefined ? service.retireLog(logIdOf(log ?? ''), why) : service.retireSite(site, why),
      )
    })
}

/** Builds `gatehouse hub revoke`. */
export function hubRevokeCommand(): Command {
  return new Command('revoke')
    .description('revoke the tokens and unused codes of a site: its gateway has to join anew, as after a theft')
    .requiredOption('--site <id>', 'site.id of the gateway')
    .option('--reason <text>', 'why, for the list of alerts')
    .option('--config <file>', 'config file of the head office', installedHubConfig)
    .option('--json', 'for programs')
    .action(({ site = '', ...options }: Options) => run(options, (service, why) => service.revoke(site, why)))
}

function logIdOf(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return text
  throw new ExitError(2, `--log is the number of a log, as "gatehouse status" of its gateway shows it; ${text} is none`)
}

type Act = (service: RetirementService, why: { by: string; reason: string | null }) => Promise<Retired>

async function run({ reason, config: file, json }: Omit<Options, 'site' | 'log'>, act: Act): Promise<void> {
  const { config } = loadHubConfig(file)
  const connection = connectionOf(config.hub.database, 'app')
  await demandSchema(connection)
  const db = new HubDatabase({ connection, log: createLogger({ level: 'error' }) })
  try {
    const service = new RetirementService({ db, clock: systemClock })
    const done = await act(service, { by: whoRunsThis(), reason: reason ?? null })
    print(json ? `${JSON.stringify(done)}\n` : inWords(done))
  } catch (error) {
    if (error instanceof AppError) throw new ExitError(1, error.message, error)
    throw error
  } finally {
    await db.close()
  }
}

function inWords({ siteId, logs, tokens, codes }: Retired): string {
  const lines = [`site:    ${siteId}`, ...logs.map((log) => `retired: log ${log}`)]
  if (tokens + codes > 0) lines.push(`revoked: ${tokens} tokens, ${codes} unused codes`)
  if (logs.length + tokens + codes === 0) lines.push('nothing was left to end')
  return `${lines.join('\n')}\n`
}
