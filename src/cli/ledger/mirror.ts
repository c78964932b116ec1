import { resolve } from 'node:path'
import { Command } from 'commander'
import { parseDuration, readSecretFile } from '../../config/index.ts'
import { EXIT_USAGE, ExitError } from '../../errors/index.ts'
import { HttpListener } from '../../http/index.ts'
import { Mirror, mirrorApi, remoteLog, type Visit } from '../../mirror/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import {
  createLogger,
  makeFolderNow,
  print,
  printError,
  systemClock,
  systemRandom,
  uuidv7Maker,
} from '../../platform/index.ts'
import { untilInterrupted } from '../interrupt.ts'
import { trustedKeys } from './proof.ts'

type Options = {
  log: string
  key: readonly string[]
  dir: string
  listen: string
  every: string
  once?: boolean
  caFile?: string
  username?: string
  secretFile?: string
  instance?: string
}

export function mirrorCommand(): Command {
  return new Command('mirror')
    .description(
      'keep the tiles of another log in a folder, check each checkpoint against them, and serve them over HTTP',
    )
    .requiredOption('--log <url>', 'prefix of the log (c2sp.org/tlog-tiles), such as https://gateway.example/api/log')
    .requiredOption(
      '--key <vkey>',
      'verifier key of the log that you know from elsewhere; may be given more than once',
      (one: string, others: readonly string[] = []) => [...others, one],
    )
    .option('--dir <folder>', 'folder of the copy', 'mirror')
    .option('--listen <address>', 'HOST:PORT that serves the copy, read only and without a sign-in', '127.0.0.1:8490')
    .option('--every <duration>', 'time between two visits to the log', '5m')
    .option('--once', 'visit the log once and serve nothing; exit 1 unless the copy is complete')
    .option('--ca-file <file>', 'certificate authorities to trust there, in place of the public ones')
    .option('--username <name>', 'account of a gateway with the right evidence:read, such as an auditor')
    .option('--secret-file <file>', 'file with its secret')
    .option(
      '--instance <url>',
      'site.url of that gateway, or the storage server of the account; default: the origin of --log',
    )
    .action(run)
}

async function run(options: Options): Promise<void> {
  const everyMs = parseDuration(options.every)
  if (!everyMs) throw new ExitError(EXIT_USAGE, `--every ${options.every} is no duration such as 5m`)
  const url = urlOf(options.log)
  const folder = resolve(options.dir)
  const mirror = openMirror(folder, trustedKeys(options.key))
  const headers = signInOf(options, url)
  await untilInterrupted(async (signal) => {
    const fetch = remoteLog({ url, caFile: options.caFile ?? null, headers }, { clock: systemClock, signal })
    if (options.once) return tell(await visited(mirror, fetch, folder), true)
    const listener = await serve(mirror, options.listen)
    try {
      while (!signal.aborted) {
        const visit = await visited(mirror, fetch, folder)
        if (!signal.aborted) tell(visit, false)
        await pause(everyMs, signal)
      }
    } finally {
      await listener.stop()
    }
  })
}

/** Errors of the disk end the command: a copy that cannot be written is none. */
async function visited(mirror: Mirror, fetch: ReturnType<typeof remoteLog>, folder: string): Promise<Visit> {
  try {
    return await mirror.visit(fetch)
  } catch (error) {
    throw new ExitError(1, `${folder}: ${errorMessage(error)}`, error)
  }
}

function tell({ kind, words }: Visit, isOnly: boolean): void {
  const text = kind === 'refused' ? `REFUSED: ${words}` : words
  if (kind === 'grown' || kind === 'same') print(`${words}\n`)
  else if (isOnly) throw new ExitError(1, text)
  else printError(`gatehouse: ${text}\n`)
}

function openMirror(folder: string, keys: ReturnType<typeof trustedKeys>): Mirror {
  try {
    makeFolderNow(folder)
    return new Mirror(folder, keys)
  } catch (error) {
    throw new ExitError(1, errorMessage(error), error)
  }
}

async function serve(mirror: Mirror, listen: string): Promise<HttpListener> {
  const [, host = '', port] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(listen) ?? []
  if (port === undefined) throw new ExitError(EXIT_USAGE, `--listen ${listen} is not HOST:PORT`)
  const log = createLogger({ level: 'error' })
  const makeRequestId = uuidv7Maker(systemClock, systemRandom)
  const listener = new HttpListener({ host, port: Number(port) }, mirrorApi(mirror, { log, makeRequestId }))
  print(`http://${host.includes(':') ? `[${host}]` : host}:${await listener.start()}\n`)
  return listener
}

function urlOf(log: string): string {
  const url = URL.canParse(log) ? new URL(log) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new ExitError(EXIT_USAGE, '--log is not an http or https URL without user name and query')
  }
  return url.href.replace(/\/+$/, '')
}

function signInOf({ username, secretFile, instance }: Options, url: string): Record<string, string> {
  if ((username === undefined) !== (secretFile === undefined)) {
    throw new ExitError(EXIT_USAGE, '--username and --secret-file belong together')
  }
  if (username === undefined || secretFile === undefined) return {}
  return {
    Authorization: `Bearer ${secretOf(secretFile)}`,
    'X-Storage-Instance': instance ?? new URL(url).origin,
    'X-Storage-Username': username,
  }
}

function secretOf(file: string): string {
  try {
    return readSecretFile(file)
  } catch (error) {
    throw new ExitError(1, errorMessage(error), error)
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = systemClock.after(ms, resolve)
    signal.addEventListener(
      'abort',
      () => {
        cancel()
        resolve()
      },
      { once: true },
    )
  })
}
