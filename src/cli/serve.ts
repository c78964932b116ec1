import { Command, Option } from 'commander'
import { startGateway } from '../app/index.ts'
import { loadConfig } from '../config/index.ts'
import { buildInfo } from '../platform/bundle.ts'
import {
  createLogger,
  giveBackFreeMemory,
  isJournal,
  type LogFormat,
  libc,
  logFormats,
  serviceManager,
  systemClock,
  systemRandom,
} from '../platform/index.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'

export function serveCommand(): Command {
  return new Command('serve')
    .description('run the gateway in the foreground; logs go to stderr, SIGTERM stops it, SIGHUP reloads the config')
    .option('--config <file>', `config file; ${usualConfigText}, with its state under ./var`)
    .addOption(
      new Option(
        '--log-format <format>',
        'text: lines for people; json: one object a line, for programs; journal: for journald, with priorities and fields (default: text on a terminal, journal under systemd, else json)',
      ).choices(logFormats),
    )
    .action(serve)
}

async function serve(options: { config?: string; logFormat?: LogFormat }): Promise<void> {
  // Other users of this box must not read names, photos and keys.
  process.umask(0o027)
  const configFile = usualConfig(options.config)
  const { config, warnings } = loadConfig(configFile)
  const logFormat = options.logFormat ?? usualFormat()
  const log = createLogger({ level: process.env['GATEHOUSE_LOG'] ?? 'info', format: logFormat })
  for (const warning of warnings) log.warn(warning)
  const { version, commit } = buildInfo()
  const manager = serviceManager()
  const ended = Promise.withResolvers<NodeJS.Signals>()
  // Registered before anything is open, so that a signal during the start stops it cleanly.
  process.once('SIGTERM', ended.resolve)
  process.once('SIGINT', ended.resolve)
  const running = await startGateway(
    config,
    { clock: systemClock, random: systemRandom, log, logFormat, version, configFile, manager },
    configFile,
  )
  const addresses = config.listen.map((l, i) => `${l.tls ? 'https' : 'http'}://${l.host}:${running.ports[i]}`)
  const status = `Serving ${config.site.id} on ${addresses.join(' and ')}`
  process.on('SIGHUP', () => {
    manager?.reloading()
    running
      .reload()
      .catch((err: unknown) => log.error({ err }, 'reload failed'))
      .finally(() => manager?.ready(status))
  })
  log.info({ version, commit, site: config.site.id, addresses, dataDir: config.dataDir }, 'gatehouse is up')
  manager?.ready(status)
  giveBackFreeMemory()
  const signal = await ended.promise
  manager?.stopping()
  log.info({ signal }, 'stopping')
  await running.stop()
  log.info('stopped')
  endWithin(1000)
}

/** Ends the process when something that cannot be cut, such as the look-up of a name, still holds it after so long. */
function endWithin(ms: number): void {
  setTimeout(() => {
    try {
      libc().exit(0)
    } catch {
      process.kill(process.pid, 'SIGKILL')
    }
  }, ms).unref()
}

function usualFormat(): LogFormat {
  if (process.stderr.isTTY) return 'text'
  return isJournal() ? 'journal' : 'json'
}
