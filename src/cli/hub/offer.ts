import { Command } from 'commander'
import { loadHubConfig } from '../../config/index.ts'
import { AppError, ExitError } from '../../errors/index.ts'
import { releaseVersion } from '../../feed/index.ts'
import { connectionOf, demandSchema, HubDatabase, type Offer, OfferService } from '../../hub/index.ts'
import { createLogger, print, systemClock } from '../../platform/index.ts'
import { installedHubConfig } from '../usual-config.ts'
import { whoRunsThis } from '../who.ts'

type OfferOptions = {
  first?: string
  next?: boolean
  anyway?: boolean
  end?: boolean
  config: string
  json?: boolean
}

/** Builds `gatehouse hub offer`. */
export function hubOfferCommand(): Command {
  return new Command('offer')
    .description('offer a version to one gateway, then to five more, then to the rest; each decides by its own config')
    .argument('[version]', 'begin with this version; without it and the options below: show the offer')
    .option('--first <site>', 'the site that gets the version first (default: by chance)')
    .option('--next', 'begin the next stage; refused until each gateway that has the offer runs the version well')
    .option('--anyway', 'with --next: even if some do not')
    .option('--end', 'take the offer back; what is installed stays')
    .option('--config <file>', 'config file of the head office', installedHubConfig)
    .option('--json', 'for programs')
    .action(offer)
}

async function offer(version: string | undefined, options: OfferOptions): Promise<void> {
  demandOne(version, options)
  const { config } = loadHubConfig(options.config)
  const connection = connectionOf(config.hub.database, 'app')
  await demandSchema(connection)
  const db = new HubDatabase({ connection, log: createLogger({ level: 'error' }) })
  try {
    const offers = new OfferService({ db, clock: systemClock })
    await change(offers, version, options)
    const open = await offers.open()
    print(options.json ? `${JSON.stringify(open ?? null)}\n` : inWords(open))
  } catch (error) {
    if (error instanceof AppError) throw new ExitError(1, inOneLine(error), error)
    throw error
  } finally {
    await db.close()
  }
}

function demandOne(version: string | undefined, { first, next, anyway, end }: OfferOptions): void {
  if ([version !== undefined, next, end].filter(Boolean).length > 1) {
    throw new ExitError(2, 'give a version, --next or --end, one of them')
  }
  if (first !== undefined && version === undefined) throw new ExitError(2, '--first goes with a version')
  if (anyway && !next) throw new ExitError(2, '--anyway goes with --next')
  if (version !== undefined && !releaseVersion.safeParse(version).success) {
    throw new ExitError(2, `${version} is not a version such as 1.4.2`)
  }
}

async function change(offers: OfferService, version: string | undefined, { first, next, anyway, end }: OfferOptions) {
  const by = whoRunsThis()
  if (version !== undefined) await offers.begin(version, by, first)
  if (next) await offers.next(by, anyway === true)
  if (end) await offers.end()
}

const inOneLine = ({ message, details }: AppError): string =>
  typeof details === 'string' ? `${message}: ${details}` : message

function inWords(open: Offer | undefined): string {
  if (!open) return 'no version is offered\n'
  const { version, stage, sites, since, by, waitsFor } = open
  const who = sites === null ? 'every site' : sites.join(', ')
  const next =
    sites === null
      ? ''
      : waitsFor.length === 0
        ? 'next:     may begin (--next)\n'
        : `waits:    ${waitsFor.join('\n          ')}\n`
  return `version:  ${version}\nstage:    ${stage} of 3, since ${since}, by ${by}\noffered:  ${who}\n${next}`
}
