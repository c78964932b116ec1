import { dirname, resolve } from 'node:path'
import { Command } from 'commander'
import { loadConfig } from '../config/index.ts'
import { EXIT_USAGE, ExitError } from '../errors/index.ts'
import { initTls, type TlsMade, takeTls } from '../http/index.ts'
import { print, systemClock } from '../platform/index.ts'
import { namesOf } from '../setup/index.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'

export function tlsCommand(): Command {
  const init = new Command('init')
    .description('make a box CA, once, and a certificate for the names and addresses of this box; or take your own')
    .option('--config <file>', `config whose site.url and listeners name the box; ${usualConfigText}`)
    .option('--dir <folder>', 'where the files go; default: tls beside the config file')
    .option('--name <name...>', 'further names or addresses by which clients reach the box')
    .option('--days <n>', 'how long the certificate is good', '825')
    .option('--cert <file>', 'take this certificate chain (PEM) instead of making one')
    .option('--key <file>', 'and this key')
    .option('--force', 'replace a certificate that this box did not make')
    .option('--json', 'for programs')
    .action(tlsInit)
  return new Command('tls').description('certificates of the listeners').addCommand(init)
}

type Options = {
  config?: string
  dir?: string
  name?: string[]
  days: string
  cert?: string
  key?: string
  force?: boolean
  json?: boolean
}

async function tlsInit(options: Options): Promise<void> {
  const configFile = usualConfig(options.config)
  const { config } = loadConfig(configFile)
  const dir = resolve(options.dir ?? (configFile ? `${dirname(configFile)}/tls` : 'tls'))
  const nowMs = systemClock.now()
  if ((options.cert === undefined) !== (options.key === undefined)) {
    throw new ExitError(EXIT_USAGE, '--cert and --key belong together')
  }
  const made =
    options.cert && options.key
      ? takeTls({ dir, certFile: options.cert, keyFile: options.key, nowMs })
      : await initTls({
          dir,
          names: namesOf(config, options.name ?? []),
          days: daysOf(options.days),
          nowMs,
          force: options.force ?? false,
        })
  print(options.json ? `${JSON.stringify(made)}\n` : forPeople(made))
}

function daysOf(text: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (days < 1 || days > 3650) throw new ExitError(EXIT_USAGE, '--days is a whole number from 1 to 3650')
  return days
}

function forPeople(made: TlsMade): string {
  const authority = made.caFile
    ? `install on every handheld and browser: ${made.caFile}
its fingerprint (SHA-256): ${made.caFingerprint}
keep ca.key beside it secret: a person who has it can pose as this box

`
    : ''
  return `certificate: ${made.certFile}, good until ${made.notAfter.slice(0, 10)}
key:         ${made.keyFile}
names:       ${made.names.join(', ')}

${authority}in the config:
  listen:
    - { host: 0.0.0.0, port: 8443, tls: { certFile: ${made.certFile}, keyFile: ${made.keyFile} } }

a gateway that runs takes a new certificate without a restart: send it SIGHUP
`
}
