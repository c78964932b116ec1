import { readFileSync, rmSync } from 'node:fs'
import type { Command } from 'commander'
import { type Document, isMap, LineCounter, type Pair, parseDocument, type Scalar, visit } from 'yaml'
import { compose, describeApi } from '../../src/app/index.ts'
import { gatehouseCommand } from '../../src/cli/run.ts'
import { hubConfigSchema } from '../../src/config/hub-schema.ts'
import { configSections, loadConfig } from '../../src/config/index.ts'
import { fixedKeys, type Schema, schemaAt } from '../../src/config/keys.ts'
import { configSchema } from '../../src/config/schema.ts'
import { helpScripts } from '../../src/console/help/help-page.ts'
import { type HelpTopic, writtenTopics } from '../../src/console/help/topics.ts'
import { kinds } from '../../src/health/kinds.ts'
import { describeHub } from '../../src/hub/index.ts'
import { views as officePages } from '../../src/hub/page/routes.ts'
import { silentLogger, systemClock, systemRandom, temporaryFolder } from '../../src/platform/index.ts'
import { alertKinds } from '../build/manual/alerts.ts'
import { fileOf, manualPages } from '../build/manual/pages.ts'
import { anchorsOf } from '../build/manual/render.ts'
import { demoOptions } from '../demo-parts/options.ts'
import { knownPlaces, type Places, placeProblems } from './manual-places.ts'

/** The most words that a person reads for one topic. */
const maxWords: Readonly<Record<(typeof writtenTopics)[number], number>> = {
  start: 1200,
  operate: 2000,
  messages: 1000,
  people: 800,
  'sign-in': 1000,
  backup: 1500,
  cameras: 1500,
  evidence: 2000,
  'head-office': 2000,
  integrate: 2500,
  privacy: 800,
  appliance: 800,
  floor: 800,
}

/** Pages whose names are checked too, but not their links and length. */
const otherPages = ['README.md', 'SECURITY.md', 'systemd/monitoring/RUNBOOK.md']

export type CheckedPage = { readonly topic: HelpTopic; readonly file: string; readonly markdown: string }

/** Names that a page may use. */
export type Known = {
  /** Ids of the headings of each page. */
  readonly anchors: ReadonlyMap<string, readonly string[]>
  readonly program: Command
  readonly configs: readonly Schema[]
  /** Routes as `GET /api/whms/slots/{id}`. */
  readonly routes: readonly string[]
  /** Names that are no config keys and no addresses, such as kinds of alerts and defaults. */
  readonly names: ReadonlySet<string>
  readonly places: Places
  /** Options of other programs. */
  readonly options: ReadonlySet<string>
}

/**
 * Throws with each page that is missing or too long. Throws with each name in a page or in one of `otherPages` that does not exist: page,
 * heading, command, option, config key, route, file, unit or script.
 */
export async function manualPagesAreRight(): Promise<void> {
  const known = await knownNames()
  const pages = manualPages()
  const missing = writtenTopics.filter((topic) => pages.every((page) => page.topic !== topic))
  const problems = [
    ...missing.map((topic) => `${fileOf(topic, 'en')}: there is no such page`),
    ...pages.flatMap(({ topic, file, markdown }) =>
      file === undefined ? [] : manualProblems({ topic, file, markdown }, known),
    ),
    ...otherPages.flatMap((file) => namesProblems({ file, markdown: readFileSync(file, 'utf8') }, known)),
  ]
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

/** Returns what is wrong with one page, each with its file and line. */
export function manualProblems(page: CheckedPage, known: Known): string[] {
  const count = wordsIn(page.markdown)
  const max: number = maxWords[page.topic as keyof typeof maxWords]
  const tooLong = count > max ? [{ line: 1, problem: `it has ${count} words; ${max} are the most` }] : []
  const links = piecesOf(page.markdown).flatMap(({ kind, text, line }) =>
    kind === 'prose'
      ? linksIn(text)
          .flatMap((link) => linkProblem(link, page, known) ?? [])
          .map((problem) => ({ line, problem }))
      : [],
  )
  return [...placed(page, [...tooLong, ...repeatedHeadings(page), ...links]), ...namesProblems(page, known)]
}

type Page = Pick<CheckedPage, 'file' | 'markdown'>

/** Returns each name in a page that does not exist, with its file and line; links are not read. */
export function namesProblems(page: Page, known: Known): string[] {
  return placed(
    page,
    piecesOf(page.markdown).flatMap((piece) => problemsIn(piece, known)),
  )
}

const placed = ({ file }: Page, problems: readonly Problem[]): string[] =>
  problems.map(({ line, problem }) => `${file}:${line}: ${problem}`)

/** Counts what a person reads: without blocks of code, and without the bars of tables. */
function wordsIn(markdown: string): number {
  const prose = markdown.replaceAll(/^\s*```[\s\S]*?^\s*```/gm, '')
  return prose.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

type Problem = { readonly line: number; readonly problem: string }

/** A line of prose, a piece of code in one, or a block of code. */
type Piece = {
  readonly kind: 'prose' | 'span' | 'block'
  readonly language: string
  readonly text: string
  readonly line: number
}

function piecesOf(markdown: string): Piece[] {
  const pieces: Piece[] = []
  let block: { language: string; lines: string[]; line: number } | undefined
  for (const [index, text] of markdown.split('\n').entries()) {
    const fence = /^\s*```(\w*)/.exec(text)
    if (fence && block) {
      pieces.push({ kind: 'block', language: block.language, text: block.lines.join('\n'), line: block.line })
      block = undefined
    } else if (fence) block = { language: fence[1] ?? '', lines: [], line: index + 2 }
    else if (block) block.lines.push(text)
    else {
      const line = index + 1
      pieces.push({ kind: 'prose', language: '', text: text.replaceAll(/`[^`]*`/g, '`'), line })
      for (const [, span = ''] of text.matchAll(/`([^`]+)`/g))
        pieces.push({ kind: 'span', language: '', text: span, line })
    }
  }
  return pieces
}

function problemsIn(piece: Piece, known: Known): Problem[] {
  const at = (problem: string | undefined, line = piece.line): Problem[] =>
    problem === undefined ? [] : [{ line, problem }]
  const routes = routesIn(piece).flatMap(({ route, line }) => at(routeProblem(route, known), line))
  if (piece.kind === 'prose') return routes
  const places = piece.text
    .split('\n')
    .flatMap((line, index) => placeProblems(line, known.places).flatMap((one) => at(one, piece.line + index)))
  if (piece.kind === 'span')
    return [
      ...routes,
      ...places,
      ...at(addressProblem(piece.text, known)),
      ...at(commandProblem(piece.text, known)),
      ...at(optionProblem(piece.text, known)),
      ...at(keyProblem(piece.text, known)),
    ]
  if (piece.language === 'yaml') return [...routes, ...places, ...yamlProblems(piece, known)]
  return [
    ...routes,
    ...places,
    ...commandsIn(piece).flatMap(({ command, line }) => at(commandProblem(command, known), line)),
  ]
}

function repeatedHeadings({ markdown }: CheckedPage): Problem[] {
  const anchors = anchorsOf(markdown)
  const twice = new Set(anchors.filter((anchor, index) => anchors.indexOf(anchor) !== index))
  return [...twice].map((anchor) => ({ line: 1, problem: `it has the heading "#${anchor}" twice` }))
}

const linksIn = (text: string): string[] => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)

function linkProblem(link: string, { markdown }: CheckedPage, { anchors }: Known): string | undefined {
  if (/^(https?|mailto):/.test(link)) return undefined
  const [path = '', anchor] = link.split('#')
  if (path.startsWith('/help/') && helpScripts.some((name) => path === `/help/${name}`)) return undefined
  const target = /^(?:\.\.\/(?:en|de)\/)?([\w-]+)\.md$/.exec(path)?.[1] ?? ''
  const there = path === '' ? anchorsOf(markdown) : anchors.get(target)
  if (!there) return `links to "${link}", which is no page of the manual`
  if (anchor !== undefined && !there.includes(anchor)) return `links to "${link}", and the page has no such heading`
  return undefined
}

/** Lists the commands of a block, one a line, without the text before `gatehouse` and after the command. */
function commandsIn({ text, line }: Piece): { command: string; line: number }[] {
  const lines = text.split('\n')
  return lines.flatMap((_, index) => {
    if (index > 0 && lines[index - 1]?.endsWith('\\')) return []
    const end = lines.findIndex((one, at) => at >= index && !one.endsWith('\\'))
    const whole = lines
      .slice(index, end === -1 ? undefined : end + 1)
      .join(' ')
      .replaceAll(/\\ +/g, '')
    return whole.split(/\||;|&&|\$\(/).map((command) => ({ command: command.trim(), line: line + index }))
  })
}

/** Returns what is wrong with a command line of gatehouse; a line of another program is right. */
function commandProblem(text: string, { program }: Known): string | undefined {
  const words =
    /^(?:sudo (?:-u \w+ )?)?(?:scripts\/)?gatehouse((?: \S+)*)/
      .exec(text.replace(/(^| )#.*$/, ''))?.[1]
      ?.trim()
      .split(/\s+/) ?? []
  let at = program
  let path = 'gatehouse'
  let isOption = false
  for (const word of words.filter(Boolean)) {
    const next = at.commands.find((command) => command.name() === word)
    isOption ||= word.startsWith('-')
    if (next && !isOption) {
      at = next
      path += ` ${word}`
    } else if (/^--?[a-z]/.test(word)) {
      const flag = word.replace(/=.*$/, '')
      if (!hasOption(at, flag)) return `names ${path} ${flag}, which is no option of that command`
    } else if (
      !isOption &&
      at.commands.length > 0 &&
      at.registeredArguments.length === 0 &&
      /^[a-z][a-z-]*$/.test(word)
    )
      return `names ${path} ${word}, which is no command`
  }
  return undefined
}

const hasOption = (command: Command, flag: string): boolean =>
  ['-h', '--help'].includes(flag) || command.options.some(({ short, long }) => flag === short || flag === long)

/** An option that is named alone is one of any command, or of another program. */
function optionProblem(text: string, { program, options }: Known): string | undefined {
  const flag = /^--[a-z][\w-]*/.exec(text)?.[0]
  return flag === undefined || options.has(flag) || everyCommand(program).some((command) => hasOption(command, flag))
    ? undefined
    : `names ${flag}, which no command has`
}

const everyCommand = (command: Command): Command[] => [command, ...command.commands.flatMap(everyCommand)]

const fileEnding = /\.(crt|csv|gz|html|json|key|log|md|note|pem|sh|tar|txt|ya?ml|zip)$/

/** A dotted name whose first word is a section of the config is a key. */
function keyProblem(text: string, { configs, names }: Known): string | undefined {
  const name = /^([a-z]\w*(?:\[\d*\])?(?:\.[\w-]+(?:\[\d*\])?)+)(?::.*)?$/.exec(text)?.[1]
  if (name === undefined || names.has(name) || fileEnding.test(name)) return undefined
  const path = name.split(/\.|(?=\[)/).map((part) => (part.startsWith('[') ? 0 : part))
  const own = configs.filter((config) => Object.hasOwn(fixedKeys(config) ?? {}, path[0] ?? ''))
  if (own.length === 0 || own.some((config) => schemaAt(config, path))) return undefined
  return `names ${name}, which is no key of the config`
}

/**
 * Reports each key of a block of YAML that neither a gateway nor a head office has. A block with the file of another program is
 * exempt.
 */
function yamlProblems({ text, line }: Piece, { configs }: Known): Problem[] {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  if (document.errors.length > 0) return [{ line, problem: `the YAML cannot be read: ${document.errors[0]?.message}` }]
  const top = isMap(document.contents) ? document.contents.items.map(({ key }) => String(key)) : []
  const foundBy = configs
    .filter((config) => top.some((key) => Object.hasOwn(fixedKeys(config) ?? {}, key)))
    .map((config) => unknownKeys(document, config, lines))
    .toSorted((one, other) => one.length - other.length)
  return (foundBy[0] ?? []).map((problem) => ({ ...problem, line: line + problem.line - 1 }))
}

function unknownKeys(document: Document, config: Schema, lines: LineCounter): Problem[] {
  const problems: Problem[] = []
  visit(document, {
    Pair(_, pair, above) {
      const path = keysOf([...above, pair as Pair])
      if (schemaAt(config, path)) return undefined
      const place = lines.linePos((pair.key as Scalar).range?.[0] ?? 0)
      problems.push({
        line: place.line,
        problem: `has the key ${path.join('.')}, which is not in the config`,
      })
      return visit.SKIP
    },
  })
  return problems
}

function keysOf(nodes: readonly unknown[]): (string | number)[] {
  return nodes.flatMap((node): (string | number)[] => {
    if (node !== null && typeof node === 'object' && 'key' in node) return [String(node.key)]
    return node !== null && typeof node === 'object' && 'items' in node && !isMap(node) ? [0] : []
  })
}

function routesIn({ text, line }: Piece): { route: string; line: number }[] {
  return text.split('\n').flatMap((one, index) =>
    [...one.matchAll(/(?:\b(GET|POST|PUT|PATCH|DELETE) )?(?:https?:\/\/[^\s/"']+)?(\/api\/[^\s)"'`|,;]*)/g)].map(
      ([, method = '', path = '']) => ({
        route: `${method} ${path.replace(/[.:]+$/, '')}`.trim(),
        line: line + index,
      }),
    ),
  )
}

/** Placeholders are written in capitals, with a dollar sign, in braces or as an example. */
function routeProblem(route: string, { routes }: Known): string | undefined {
  const [path = '', method] = route.split(' ').toReversed()
  const plain = path.replace(/[?#].*$/, '').replace(/[…*]+$/, '')
  const isRoute = routes.some((one) => {
    const [ownMethod, own = ''] = one.split(' ')
    if (method !== undefined && method !== ownMethod) return false
    return plain.endsWith('/') ? `${own}/`.startsWith(plain) : fits(own.split('/'), plain.split('/'))
  })
  return isRoute ? undefined : `names ${route}, which is no route`
}

/** A span that begins with a slash is a page of the console, unless it is on a disk. */
function addressProblem(text: string, known: Known): string | undefined {
  const address = /^\/[a-z]\w*(?:\/[\w.-]+)*$/.exec(text)?.[0]
  if (address === undefined || known.names.has(address) || /^\/(api|dev|etc|mnt|srv|state|tmp|usr|var)\b/.test(address))
    return undefined
  return routeProblem(`GET ${address}`, known)
}

const fits = (own: readonly string[], named: readonly string[]): boolean =>
  own.length === named.length && own.every((part, index) => part === named[index] || part.startsWith('{'))

async function knownNames(): Promise<Known> {
  const { routes, fields } = await describedNames()
  const anchors = new Map<string, readonly string[]>()
  for (const { topic, markdown } of manualPages().toReversed()) anchors.set(topic, anchorsOf(markdown))
  const defaults = configSections().flatMap(({ keys }) => keys.map(({ standard }) => standard))
  const others = Object.values(kinds).map(({ over }) => over)
  return {
    anchors,
    program: gatehouseCommand(),
    configs: [configSchema, hubConfigSchema],
    routes,
    names: new Set([...alertKinds(), ...others, ...fields, ...defaults]),
    options: new Set(Object.keys(demoOptions).map((name) => `--${name}`)),
    places: knownPlaces(),
  }
}

/** Returns the routes of gateway and head office, and the fields of their answers as `evidence.state`. */
async function describedNames(): Promise<{ routes: string[]; fields: string[] }> {
  const dataDir = temporaryFolder()
  try {
    const outside = { clock: systemClock, random: systemRandom, log: silentLogger(), version: '0' }
    const gateway = await compose({ ...loadConfig().config, dataDir }, outside, false)
    const own = gateway.api.routes.map(
      ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)(\{[^}]*\})?/g, '{$1}')}`,
    )
    const description = await describeApi(gateway.api, '0')
    gateway.close()
    const ofOffice = await describeHub('0')
    const office = Object.entries(ofOffice.paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const pages = officePages.map((path) => `GET ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    const routes = [...own, ...office, ...pages].filter((route) => !route.startsWith('ALL '))
    return { routes, fields: [description, ofOffice].flatMap(fieldsOf) }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

type Described = {
  readonly $ref?: string
  readonly items?: Described
  readonly properties?: Readonly<Record<string, Described>>
  readonly allOf?: readonly Described[]
  readonly anyOf?: readonly Described[]
  readonly oneOf?: readonly Described[]
}

/** Lists each field that is inside of another one, with the name of that one before it. */
function fieldsOf(description: { readonly components?: { readonly schemas?: object } }): string[] {
  const schemas = Object.entries(description.components?.schemas ?? {}) as [string, Described][]
  const inside = ({ $ref, items, properties = {}, ...schema }: Described): Record<string, Described> => {
    const named = schemas.find(([name]) => $ref === `#/components/schemas/${name}`)?.[1]
    const others = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
    const all = [...(named ? [named] : []), ...(items ? [items] : []), ...others]
    return Object.assign({}, properties, ...all.map(inside))
  }
  return schemas.flatMap(([, schema]) =>
    Object.entries(inside(schema)).flatMap(([name, below]) =>
      Object.keys(inside(below)).map((field) => `${name}.${field}`),
    ),
  )
}
