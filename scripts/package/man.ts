/** The manual pages, made from the help of the commands and the schema of the config. */
import type { Command } from 'commander'
import { gatehouseCommand } from '../../src/cli/run.ts'
import { type ConfigKey, configSections } from '../../src/config/index.ts'

export type Edition = {
  readonly version: string
  /** When the source was committed, milliseconds since the epoch: the same source gives the same pages. */
  readonly dateMs: number
}

/** Returns gatehouse(1). */
export function manOfCommand(edition: Edition): string {
  const program = gatehouseCommand()
  return page([
    heading('GATEHOUSE', 1, edition, 'User Commands'),
    section('NAME', `gatehouse \\- ${roff(lowerFirst(program.description()))}`),
    section('SYNOPSIS', '.B gatehouse\n.I command\n.RI [ options ]'),
    section('DESCRIPTION', commandText),
    '.SH COMMANDS',
    ...leavesOf(program, []).map(({ command, path }) => commandEntry(command, path)),
    section('EXIT STATUS', terms(exitStatuses)),
    section('ENVIRONMENT', terms(environment)),
    section('FILES', terms(filesOfBox)),
    section('SEE ALSO', '.BR gatehouse.yaml (5),\n.BR journalctl (1),\n.BR systemctl (1)'),
  ])
}

/** Returns gatehouse.yaml(5). */
export function manOfConfig(edition: Edition): string {
  return page([
    heading('GATEHOUSE.YAML', 5, edition, 'File Formats'),
    section('NAME', 'gatehouse.yaml \\- configuration of gatehouse'),
    section('SYNOPSIS', '.I /etc/gatehouse/gatehouse.yaml\n.br\n.I /etc/gatehouse/conf.d/*.yaml'),
    section('DESCRIPTION', configText),
    ...configSections().map(({ name, sentence, keys }) =>
      [`.SH ${roff(name.toUpperCase())}`, roff(sentence), ...keys.map(keyEntry)].join('\n'),
    ),
    section('SEE ALSO', '.BR gatehouse (1)'),
  ])
}

type Leaf = { readonly command: Command; readonly path: readonly string[] }

/** Returns the commands that do something, in the order of the help. */
export function leavesOf(command: Command, above: readonly string[]): Leaf[] {
  const path = [...above, command.name()]
  // `gatehouse backup FILE` does something, and so does `gatehouse backup key`.
  const isOwn = command.commands.length === 0 || command.registeredArguments.length > 0
  return [...(isOwn ? [{ command, path }] : []), ...command.commands.flatMap((below) => leavesOf(below, path))]
}

/** Returns the arguments and options of a command, each with its sentence. */
export function termsOf(command: Command): (readonly [term: string, words: string])[] {
  const help = command.createHelp()
  return [
    ...help.visibleArguments(command).map((one) => [one.name(), help.argumentDescription(one)] as const),
    ...help.visibleOptions(command).map((one) => [one.flags, help.optionDescription(one)] as const),
  ]
}

function commandEntry(command: Command, path: readonly string[]): string {
  const args = command.registeredArguments.map((argument) => {
    const name = `\\fI${roff(argument.name())}\\fR${argument.variadic ? '...' : ''}`
    return argument.required ? name : `[${name}]`
  })
  return [
    '.SS',
    [`\\fB${path.map(roff).join(' ')}\\fR`, ...args].join(' '),
    `${roff(upperFirst(command.description()))}.`,
    terms(termsOf(command)),
  ].join('\n')
}

function keyEntry({ path, type, standard, unit, applies, sentence }: ConfigKey): string {
  const facts = [
    type,
    standard === '' ? '' : `default ${standard.replaceAll('*', '')}`,
    unit,
    applies === 'live' ? 'live' : 'needs a restart',
  ].filter((fact) => fact !== '')
  return `.TP\n.B ${roff(path)}\n${roff(sentence)}\n.br\n(${roff(facts.join('; '))})`
}

const commandText = roff(
  'gatehouse keeps the placement ledger of a warehouse, watches its cameras, and proves both to outsiders. ' +
    'The package runs it as gatehouse.service. Commands that need the ledger ask the running daemon, ' +
    'or open the files themselves when none runs.',
)

const configText = roff(
  'One file in YAML, and drop-ins that go over it in the order of their names. Maps are merged; cameras and ' +
    'auth.users are merged by id and username; every other list replaces the one before it. Relative paths are ' +
    'relative to the file that names them. "gatehouse config check" finds mistakes with line and column. Keys marked ' +
    'live follow "systemctl reload gatehouse", the others the next start. [] stands for each entry of a list, NAME ' +
    'for a key of your choice.',
)

export const exitStatuses: readonly (readonly [string, string])[] = [
  ['0', 'success'],
  ['1', 'the work failed, or found something wrong'],
  ['2', 'the command line is wrong'],
  ['3', 'gatehouse status: no gateway runs'],
  ['78', 'the config is bad, or the database is not the one of this box; systemd does not start it again'],
]

export const environment: readonly (readonly [string, string])[] = [
  ['GATEHOUSE_LOG', 'level of the log: trace, debug, info (default), warn, error, fatal'],
  ['PKG_NATIVE_CACHE_PATH', 'folder that native parts are unpacked to; default: .cache in the home folder'],
]

export const filesOfBox: readonly (readonly [string, string])[] = [
  ['/etc/gatehouse/gatehouse.yaml', 'the config; drop-ins in /etc/gatehouse/conf.d/'],
  ['/var/lib/gatehouse', 'ledger, clips, photos and keys'],
  ['/usr/lib/gatehouse/versions', 'the version before, for "gatehouse rollback"'],
  ['/run/gatehouse/control.sock', 'through which commands reach the running daemon'],
]

function terms(list: readonly (readonly [string, string])[]): string {
  return list.map(([term, words]) => `.TP\n.B ${roff(term)}\n${roff(words)}`).join('\n')
}

function heading(title: string, chapter: number, { version, dateMs }: Edition, manual: string): string {
  const day = new Date(dateMs).toISOString().slice(0, 10)
  return `.TH ${title} ${chapter} ${day} "gatehouse ${version}" "${manual}"`
}

const section = (title: string, text: string): string => `.SH ${title}\n${text}`
// Left-aligned and without hyphenation: keys and paths stay whole.
const page = ([first, ...others]: readonly string[]): string => `${[first, '.nh', '.ad l', ...others].join('\n')}\n`
const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Escapes what roff would act on; a line may begin with anything. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('`', '\\(ga')
    .replaceAll("'", '\\(aq')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(/^\./gm, '\\&.')
}
