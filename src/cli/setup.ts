import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { addWarehouseThroughDaemon, daemonServes, warehouseAdder } from '../app/index.ts'
import { terminalQr } from '../backup/index.ts'
import { type Config, checkConfig } from '../config/index.ts'
import { ExitError } from '../errors/index.ts'
import { buildInfo } from '../platform/bundle.ts'
import { print, systemClock, systemRandom } from '../platform/index.ts'
import {
  askerOn,
  carryOut,
  nobodyToAsk,
  planSetup,
  type SetupFlags,
  type SetupResult,
  settleSite,
} from '../setup/index.ts'
import { alone, becomeOwnerOf } from './alone.ts'
import { installedConfig } from './usual-config.ts'
import { whoRunsThis } from './who.ts'

type SetupOptions = SetupFlags & { config: string; yes?: boolean; json?: boolean; qr?: boolean }

export function setupCommand(): Command {
  return new Command('setup')
    .description(
      'ask what a first installation needs, test each answer, and write config, admin and warehouse; a second run changes only what you ask',
    )
    .option('--config <file>', 'config to write; where there is one already, a drop-in beside it', installedConfig)
    .option('--site-id <id>', 'id of this site, chosen once')
    .option('--url <url>', 'address of this gateway, as handhelds and browsers reach it')
    .option('--admin <name>', 'user name of the admin; its secret goes into a file for root')
    .option('--warehouse <name>', 'name of the first warehouse')
    .option('--timezone <zone>', 'its time zone, such as Europe/Berlin')
    .option('--tls <how>', 'box-ca: by an authority of this box; none; or files:CERT,KEY')
    .option('--port <n>', 'port for the floor; default: the one of the url, else 8443, without TLS 8480')
    .option('--local-port <n>', 'with TLS: port without it, for programs on this box; default: 8480')
    .option('--camera <url...>', 'rtsp:// address of a camera; its picture is tested; "": no camera')
    .option('--camera-username <name>', 'user name at these cameras')
    .option('--camera-password-file <file>', 'file with the password at these cameras; copied for the gateway')
    .option('--storage <url>', 'file storage server that knows your people and keeps copies; "": none')
    .option('--storage-username <name>', 'account that uploads to it')
    .option('--storage-password-file <file>', 'file with its application password; copied for the gateway')
    .option('--webhook-network <cidr...>', 'private network that webhooks may be sent into; "": none')
    .option('--take-silent', 'accept a camera or storage server that does not answer now; the gateway keeps trying')
    .option('--data-dir <folder>', 'folder of the ledger; default: the one of the package')
    .option('--yes', 'ask nothing: use the default for each answer that is not given')
    .option('--qr', 'also a QR code of address and authority; a terminal always shows it')
    .option('--json', 'for programs: {url, admin, secretFile, caFingerprint, configFile}')
    .action(setup)
}

async function setup(options: SetupOptions): Promise<void> {
  // As the daemon: other users of this box must not read names and keys.
  process.umask(0o027)
  const configFile = resolve(options.config)
  const before = existsSync(configFile) ? checkConfig(configFile).config : undefined
  const isServed = before !== undefined && (await daemonServes(before.runtimeDir, before.dataDir))
  const asker = options.yes ? nobodyToAsk(process.stderr) : askerOn(process.stdin, process.stderr)
  const around = { clock: systemClock, random: systemRandom, version: buildInfo().version, hostName: hostname() }
  try {
    const { dataDir } = options
    const flags = { ...options, ...(dataDir !== undefined && { dataDir: resolve(dataDir) }) }
    const plan = await planSetup({ configFile, flags, asker, isServed, ...around })
    const made = await carryOut(plan, { configFile, clock: systemClock, isServed })
    const warehouse = await atTheLedger(made.config, plan.warehouse, isServed, configFile)
    const { config: _, changed, ...result } = made
    print(
      options.json
        ? `${JSON.stringify(result)}\n`
        : forPeople(result, { changed, warehouse, isServed, qr: options.qr === true || process.stdout.isTTY }),
    )
  } finally {
    asker.close()
  }
}

/** Settles the site of a ledger without events, and makes the warehouse. Last: root becomes the user of the data folder. */
async function atTheLedger(
  config: Config,
  wanted: { name: string; timezone: string } | null,
  isServed: boolean,
  configFile: string,
): Promise<string> {
  const by = whoRunsThis()
  if (!isServed) {
    becomeOwnerOf(config.dataDir)
    settleSite(config, systemClock)
  }
  if (wanted === null) return ''
  const { id, name, timezone } = isServed
    ? await addWarehouseThroughDaemon(config.runtimeDir, wanted, by)
    : await alone(config, (gateway) => warehouseAdder(gateway)(wanted, by), configFile)
  if (timezone !== wanted.timezone) {
    throw new ExitError(1, `warehouse ${id} is called ${name} already, with the time zone ${timezone}`)
  }
  return `  warehouse    ${name} (${id})\n`
}

type Made = { changed: string | undefined; warehouse: string; isServed: boolean; qr: boolean }

function forPeople(result: SetupResult, { changed, warehouse, isServed, qr }: Made): string {
  const { url, admin, secretFile, caFingerprint, configFile } = result
  const secret = secretFile === null ? '' : `; the secret: cat ${secretFile}`
  const authority = caFingerprint === null ? '' : `  authority    SHA-256 ${caFingerprint}\n`
  const apply = isServed ? 'systemctl restart gatehouse' : 'systemctl enable --now gatehouse'
  const next = isServed && changed === undefined ? '' : `  next         ${apply}\n`
  const code = caFingerprint === null ? url : `${url}/#ca-sha256=${caFingerprint.replaceAll(':', '')}`
  return `gatehouse at ${url}
  config       ${configFile}${changed === undefined ? ', as it was' : ''}
  sign in as   ${admin} at ${url}${secret}
${authority}${warehouse}${next}${qr ? terminalQr(code) : ''}`
}
