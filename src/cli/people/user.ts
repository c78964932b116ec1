import { Command, Option } from 'commander'
import { NewAccount } from '../../accounts/index.ts'
import {
  daemonServes,
  type UserAccount,
  type UserCommand,
  type UserOutcome,
  userActs,
  userThroughDaemon,
} from '../../app/index.ts'
import { loadConfig, type Role, roleNames } from '../../config/index.ts'
import { EXIT_USAGE, ExitError } from '../../errors/index.ts'
import { print } from '../../platform/index.ts'
import { alone } from '../alone.ts'
import { usualConfig, usualConfigText } from '../usual-config.ts'
import { whoRunsThis } from '../who.ts'

type Options = { readonly config?: string; readonly json?: boolean }
type AddOptions = Options & { readonly role: Role; readonly group: readonly string[] }

export function userCommand(): Command {
  const user = new Command('user').description('local accounts in the database; those of the config stay as they are')
  const act = (name: string, description: string) =>
    user
      .command(name)
      .description(description)
      .option('--config <file>', `config of the gateway; ${usualConfigText}`)
      .option('--json', 'for programs')
  const onName = (name: 'disable' | 'enable' | 'reset', description: string) =>
    act(name, description)
      .argument('<name>', 'user name of the account')
      .action((username: string, options: Options) => run({ act: name, username }, options))
  act('list', 'print the accounts of the config and of the database').action((options: Options) =>
    run({ act: 'list' }, options),
  )
  act('add', 'create an account; prints its secret once')
    .argument('<name>', 'user name of the account')
    .addOption(new Option('--role <role>', 'role of the account').choices(roleNames).makeOptionMandatory())
    .option('--group <group>', 'group of the account; may be repeated', (one, before: string[]) => [...before, one], [])
    .action((username: string, options: AddOptions) => run(wanted(username, options), options))
  onName('disable', 'keep an account from signing in, and end its sessions')
  onName('enable', 'let a disabled account sign in again')
  onName('reset', 'give an account a new secret, and end its sessions; prints the secret once')
  return user
}

/** Returns the command. Throws ExitError for a name that no account can have. */
function wanted(username: string, { role, group }: AddOptions): UserCommand {
  const parsed = NewAccount.safeParse({ username, role, groups: group })
  if (parsed.success) return { act: 'add', username, role, groups: group }
  const [issue] = parsed.error.issues
  throw new ExitError(EXIT_USAGE, `${issue?.path[0] === 'groups' ? '--group' : 'NAME'}: ${issue?.message}`)
}

async function run(command: UserCommand, options: Options): Promise<void> {
  // As the daemon: other users of this box must not read names and keys.
  process.umask(0o027)
  const { config } = loadConfig(usualConfig(options.config))
  const by = whoRunsThis()
  const outcome = (await daemonServes(config.runtimeDir, config.dataDir))
    ? await userThroughDaemon(config.runtimeDir, command, by)
    : await alone(config, (gateway) => userActs(gateway)(command, by))
  print(options.json ? `${JSON.stringify(forPrograms(command, outcome))}\n` : forPeople(command, outcome))
}

function forPrograms({ act }: UserCommand, { accounts, secret, instance }: UserOutcome): object {
  if (act === 'list') return { accounts, instance }
  return { ...accounts[0], ...(secret !== undefined && { secret }), instance }
}

function forPeople(command: UserCommand, { accounts, secret, instance }: UserOutcome): string {
  if (command.act === 'list') return accounts.length === 0 ? 'no account\n' : accounts.map(lineOf).join('')
  if (secret === undefined) return accounts.map(lineOf).join('')
  return `secret (shown once): ${secret}
sign in at ${instance} as ${command.username} and choose a password there
`
}

function lineOf({ username, role, source, groups, status }: UserAccount): string {
  const inGroups = groups.length > 0 ? `, in ${groups.join(', ')}` : ''
  return `${username}: ${role}${inGroups}; ${status}, in the ${source}\n`
}
