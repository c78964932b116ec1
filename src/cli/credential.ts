import { Command, Option } from 'commander'
import { hashSecret } from '../auth/index.ts'
import { loadConfig, type Role, roleNames, username as usernameKind } from '../config/index.ts'
import { EXIT_USAGE, ExitError } from '../errors/index.ts'
import { print, randomSecret, systemRandom } from '../platform/index.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'

export function credentialCommand(): Command {
  return new Command('credential')
    .description('make a secret for a local account: shown once, with the entry for auth.users that holds its hash')
    .requiredOption('--username <name>', 'user name')
    .addOption(new Option('--role <role>', 'role of the account').choices(roleNames).makeOptionMandatory())
    .option('--config <file>', `config whose site.url the account belongs to; ${usualConfigText}`)
    .option('--json', 'for programs')
    .action(credential)
}

export type CredentialOptions = { readonly username: string; readonly role: Role; readonly json?: boolean }

function credential(options: CredentialOptions & { config?: string }): Promise<void> {
  return printCredential(options, () => loadConfig(usualConfig(options.config)).config.site.url)
}

/**
 * Prints a new secret with the entry for auth.users that holds its hash. `instance` reads the address that the account belongs to.
 * Throws ExitError for a user name that no config takes.
 */
export async function printCredential(options: CredentialOptions, instance: () => string): Promise<void> {
  const checked = usernameKind().safeParse(options.username)
  if (!checked.success)
    throw new ExitError(EXIT_USAGE, `this is no user name that the config takes: ${JSON.stringify(options.username)}`)
  const url = instance()
  const secret = randomSecret(systemRandom)
  const secretHash = await hashSecret(secret, systemRandom)
  const { username, role } = options
  const made = { username, role, secret, secretHash, instance: url }
  print(options.json ? `${JSON.stringify(made)}\n` : forPeople(made))
}

function forPeople(made: {
  username: string
  role: string
  secret: string
  secretHash: string
  instance: string
}): string {
  return `secret (shown once): ${made.secret}
use it as password (Basic) or bearer token, with
  X-Storage-Instance: ${made.instance}
  X-Storage-Username: ${made.username}

add to auth.users in the config:
  - { username: ${JSON.stringify(made.username)}, role: ${made.role}, secretHash: "${made.secretHash}" }
`
}
