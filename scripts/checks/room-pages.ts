import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { gatehouseCommand } from '../../src/cli/run.ts'
import { anchorsOf } from '../build/manual/render.ts'
import { attackerProblems } from './attackers.ts'
import { complianceProblems } from './compliance.ts'
import { journeyProblems } from './journey-names.ts'

/** The second-level headings of every room page, in this order. */
const headings = ['Purpose', 'How it works', 'Invariants', 'Alternatives considered']

/** Pages beside those of the rooms; they may have other headings. */
const otherPages = [
  'README.md',
  'AGENTS.md',
  'CHANGELOG.md',
  '.github/CONTRIBUTING.md',
  'scripts/bench/RESULTS.md',
  'src/README.md',
  'src/GLOSSARY.md',
  'SECURITY.md',
  'test/compliance.md',
  'test/RELIABILITY.md',
  'systemd/README.md',
]

/** The most words of a page, as `wc -w` counts them: everything else belongs in the manual or on the page of a room. */
const mostWords: Readonly<Record<string, number>> = {
  'README.md': 900,
  'AGENTS.md': 200,
  'CHANGELOG.md': 500,
  '.github/CONTRIBUTING.md': 800,
  'scripts/bench/RESULTS.md': 1500,
  'test/RELIABILITY.md': 1200,
  'src/console/README.md': 2000,
  'src/video/README.md': 2000,
}

/** The most words of another room's page. */
const mostWordsOfARoom = 1200

type Page = { path: string; text: string; room: string | undefined }
/** A thing that a page names, and whether it is there. */
type Name = { name: string; exists: boolean }

/**
 * Checks that every room has a page with the four headings, and invariants numbered from 1. Each file, npm script and subcommand
 * that a page names in code type must exist; the names of the journeys too. Links of the other pages must lead to a file and a
 * heading, and no page may be too long. Throws with all problems, or when there is no page or no name to check.
 */
export async function roomPages(): Promise<void> {
  const rooms = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const expected = rooms.map(({ name }) => ({ path: `src/${name}/README.md`, room: name }))
  const missing = [...expected.map(({ path }) => path), ...otherPages]
    .filter((path) => !existsSync(path))
    .map((path) => `${path}: there is no such page`)
  const roomPages = expected.filter(({ path }) => existsSync(path)).map(read)
  const others = otherPages.filter((path) => existsSync(path)).map((path) => read({ path }))
  const pages = [...roomPages, ...others]
  const named = pages.map((page) => ({ page, names: namesOn(page) }))
  if (roomPages.length === 0) throw new Error('there is no room page to look at')
  if (named.every(({ names }) => names.length === 0)) throw new Error('the pages name nothing to look for')
  const problems = [
    ...missing,
    ...roomPages.flatMap(headingProblems),
    ...roomPages.flatMap(numberProblems),
    ...others.flatMap(linkProblems),
    ...pages.flatMap(lengthProblems),
    ...attackerProblems(),
    ...complianceProblems(),
    ...journeyProblems(),
    ...named.flatMap(({ page, names }) =>
      names.filter(({ exists }) => !exists).map(({ name }) => `${page.path}: names what does not exist: ${name}`),
    ),
  ]
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

const read = ({ path, room }: { path: string; room?: string }): Page => ({
  path,
  room,
  text: readFileSync(path, 'utf8'),
})

const fence = /^```[^\n]*\n([\s\S]*?)^```/gm

function headingProblems({ path, text }: Page): string[] {
  const found = [...text.replace(fence, '').matchAll(/^## +(.+?) *$/gm)].map((match) => match[1])
  return found.join(', ') === headings.join(', ')
    ? []
    : [`${path}: its headings are "${found.join(', ')}"; they must be "${headings.join(', ')}"`]
}

/** Tests and other pages name an invariant by its number. */
function numberProblems({ path, text }: Page): string[] {
  const invariants = text
    .replace(fence, '')
    .split(/^## +/m)
    .find((section) => section.startsWith('Invariants\n'))
  const found = [...(invariants ?? '').matchAll(/^(\d+)\. /gm)].map((match) => Number(match[1]))
  const wrong = found.findIndex((number, index) => number !== index + 1)
  if (found.length === 0) return [`${path}: it has no invariant`]
  return wrong === -1 ? [] : [`${path}: invariant ${found[wrong]} comes where ${wrong + 1} must be`]
}

function linkProblems({ path, text }: Page): string[] {
  const targets = [...text.replace(fence, '').matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '')
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = '', heading] = target.split('#')
      const at = file === '' ? path : join(dirname(path), file)
      return !existsSync(at) || (heading !== undefined && !anchorsOf(readFileSync(at, 'utf8')).includes(heading))
    })
    .map((target) => `${path}: links to what does not exist: ${target}`)
}

/** Returns the length of a page that has more words than its reader reads at once. */
export function lengthProblems({ path, text }: Pick<Page, 'path' | 'text'>): string[] {
  const most = mostWords[path] ?? (/^src\/(\w+\/)?README\.md$/.test(path) ? mostWordsOfARoom : Number.POSITIVE_INFINITY)
  const count = text.trim().split(/\s+/).length
  return count > most ? [`${path}: it has ${count} words; at most ${most}`] : []
}

function namesOn({ text, room }: Page): Name[] {
  // Comments in a block are prose.
  const blocks = [...text.matchAll(fence)].map((match) => (match[1] ?? '').replace(/(^| )#.*$/gm, ''))
  const spans = [...text.replace(fence, '').matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '')
  const files = spans.filter(isFileName).map((name) => ({ name, exists: fileExists(name, room) }))
  return [...files, ...[...blocks, ...spans].flatMap(commandNames)]
}

/** `foo.ts`, `dir/foo.ts`, and whatever starts in one of the three source folders. */
const isFileName = (span: string): boolean =>
  /^[\w.{},*/-]+\.tsx?$/.test(span) || /^(src|test|scripts)\/[\w.{},*/-]*$/.test(span)

/** A name may start at the top, in `src`, or in any folder of the page's own room; on the other pages in any room. */
function fileExists(name: string, room = '*'): boolean {
  const places = [name, `src/${name}`, `src/${room}/${name}`, `src/${room}/**/${name}`]
  return places.some((place) => globSync(place).length > 0)
}

function commandNames(code: string): Name[] {
  const scripts = [...code.matchAll(/\bnpm run ([\w:-]+)/g)].map(([name, script = '']) => ({
    name,
    exists: script in npmScripts,
  }))
  const programs = [...code.matchAll(/(?<![\w/.-])scripts\/[\w.-]+(?:\/[\w.-]+)*(?= )/g)].map(([name]) => ({
    name,
    exists: existsSync(name),
  }))
  // At the start of a line only: elsewhere it is the name of the program in a sentence.
  const commands = [...code.matchAll(/^ *(?:sudo )?(?:scripts\/)?gatehouse((?: [a-z][a-z-]*)+)(.*)/gm)].flatMap(
    ([, words = '', rest = '']) => {
      const path = words.trim().split(' ')
      const options = [...rest.matchAll(/(?<= )--[a-z][a-z-]*/g)].map(([option]) => option)
      return [
        { name: `gatehouse${words}`, exists: isCommand(path) },
        ...options.map((option) => ({ name: `gatehouse${words} ${option}`, exists: takesOption(path, option) })),
      ]
    },
  )
  return [...scripts, ...programs, ...commands]
}

const npmScripts: Record<string, string> = JSON.parse(readFileSync('package.json', 'utf8')).scripts

const program = gatehouseCommand()

/** Whether the path leads to a command. Words after a command without subcommands are its arguments. */
function isCommand(words: readonly string[], at: Command = program): boolean {
  const [word, ...rest] = words
  if (word === undefined || at.commands.length === 0) return true
  const next = at.commands.find((command) => command.name() === word)
  return next !== undefined && isCommand(rest, next)
}

/** Whether the command to which the words lead takes the option. */
function takesOption(words: readonly string[], option: string, at: Command = program): boolean {
  const next = at.commands.find((command) => command.name() === words[0])
  if (next !== undefined) return takesOption(words.slice(1), option, next)
  return option === '--help' || at.options.some(({ long }) => long === option)
}
