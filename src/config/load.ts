import { realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { stringify } from 'yaml'
import type { z } from 'zod'
import { EXIT_CONFIG, ExitError } from '../errors/index.ts'
import { credentialsFolder, expandCredentials } from '../platform/secrets/secret-file.ts'
import { freeze, siteIdOf, siteUrlOf, withDerivedDefaults } from './derived.ts'
import { locate, type Mapping, plain, readDocument, type Source } from './document.ts'
import { explain, maybeIncomplete } from './explain.ts'
import { faultsOf, fileFaults } from './faults.ts'
import { type HubConfig, hubConfigSchema } from './hub-schema.ts'
import type { Schema } from './keys.ts'
import { merge, settle } from './merge.ts'
import { formatProblem, inReadingOrder, isSamePlace, type Place, type Problem } from './problems.ts'
import { type Config, configSchema } from './schema.ts'
import { readSources, type Sources } from './sources.ts'
import { warningsOf } from './warnings.ts'

/** Surroundings of a config besides its files; by default those of this process. */
export type Surroundings = {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly hostName?: string
}

export type Checked = {
  /** Undefined if and only if there are problems. */
  readonly config: Config | undefined
  readonly problems: readonly Problem[]
  /** Faults: missing files, accounts that cannot sign in. The gateway starts with them. */
  readonly faults: readonly Problem[]
  readonly warnings: readonly Problem[]
  /** Returns the place of the value at a path, or the nearest place. */
  readonly placeOf: (path: readonly (string | number)[]) => Place
  /** Its files, in the order in which they apply; none for the embedded defaults. */
  readonly files: readonly string[]
}

export type Loaded = {
  readonly config: Config
  /** Warnings and faults, one sentence each, with file, line and column. */
  readonly warnings: readonly string[]
  readonly files: readonly string[]
}

/**
 * Loads the config of a file and its drop-ins; without a file the embedded defaults.
 * Throws ExitError with EXIT_CONFIG whose message lists every problem, one a line.
 */
export function loadConfig(file?: string, surroundings: Surroundings = {}): Loaded {
  const { config, problems, faults, warnings, files } = checkConfig(file, surroundings)
  if (!config) throw new ExitError(EXIT_CONFIG, problemList(problems))
  return { config, warnings: inReadingOrder([...faults, ...warnings], files).map(formatProblem), files }
}

/** Returns all problems as the text of an error. */
export function problemList(problems: readonly Problem[]): string {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  return [`${count} in the config`, ...problems.map(formatProblem)].join('\n')
}

/** Loads like loadConfig, but returns all problems and throws nothing. */
export function checkConfig(file?: string, surroundings: Surroundings = {}): Checked {
  const { env = process.env, cwd = process.cwd(), hostName = hostname() } = surroundings
  const read = file === undefined ? embedded(cwd, hostName) : readSources(file, cwd)
  const { root, data, problems } = parseAll(read, env, configSchema)
  const placeOf = (path: readonly (string | number)[]) => locate(root, path).place
  if (!data) return { config: undefined, faults: [], warnings: [], placeOf, problems, files: read.files }
  const derived = withDerivedDefaults(data, siteIdOf(hostName))
  const config = { ...derived, dataDir: realFolder(derived.dataDir) }
  const warnings = inReadingOrder(warningsOf(data, config, root, configSchema), read.files)
  // Without a file, the first start makes an account and prints where its secret is.
  if (file === undefined) return { config, problems: [], faults: [], warnings, placeOf, files: [] }
  const faults = inReadingOrder(faultsOf(config, root, configSchema), read.files)
  return { config, problems: [], faults, warnings, placeOf, files: read.files }
}

/**
 * Loads the config of a head office. It has its own schema and drop-ins, because those in `conf.d` are of a gateway on the same
 * box. Throws ExitError with EXIT_CONFIG whose message lists every problem, one a line.
 */
export function loadHubConfig(file: string, surroundings: Surroundings = {}) {
  const { env = process.env, cwd = process.cwd(), hostName = hostname() } = surroundings
  const read = readSources(file, cwd, 'hub.conf.d')
  const { root, data, problems } = parseAll(read, env, hubConfigSchema)
  if (!data) throw new ExitError(EXIT_CONFIG, problemList(problems))
  const config: HubConfig = freeze({
    ...data,
    site: { ...data.site, url: siteUrlOf(data, siteIdOf(hostName)) },
    dataDir: realFolder(data.dataDir),
  })
  return { config, warnings: inReadingOrder(fileFaults(root, hubConfigSchema), read.files).map(formatProblem) }
}

/** Reads all files and holds them against a schema. `data` is undefined if and only if there are problems. */
function parseAll<S extends z.ZodType>(
  read: Sources,
  env: NodeJS.ProcessEnv,
  schema: S,
): { root: Mapping; data: z.output<S> | undefined; problems: Problem[] } {
  const { root, problems, whole } = readAll(read, env, schema)
  const parsed = schema.safeParse(plain(root), { reportInput: false })
  // An unreadable part may hold a key that seems to be missing.
  const issues: z.core.$ZodIssue[] = parsed.error?.issues.filter((i) => whole || !maybeIncomplete(i, root)) ?? []
  const explained = explain(issues, root, schema)
  const found = [...problems, ...explained.filter(({ place }) => !problems.some((p) => isSamePlace(p.place, place)))]
  if (found.length > 0 || !parsed.success) {
    return { root, data: undefined, problems: inReadingOrder(found, read.files) }
  }
  return { root, data: parsed.data, problems: [] }
}

/** Returns the embedded config: for this machine only, with everything below the current folder. */
function embedded(cwd: string, hostName: string): Sources {
  const text = stringify({ site: { id: siteIdOf(hostName) }, dataDir: 'var', runtimeDir: 'var' })
  const source: Source = { file: 'embedded defaults', folder: cwd, text }
  return { files: [source.file], sources: [source], problems: [] }
}

/** Reads and merges all files; later ones change earlier ones. */
function readAll(
  read: Sources,
  env: NodeJS.ProcessEnv,
  schema: Schema,
): { root: Mapping; problems: Problem[]; whole: boolean } {
  const place = { file: read.files[0] ?? '', line: 1, column: 1 }
  let root: Mapping = { kind: 'map', place, entries: new Map() }
  let problems = [...read.problems]
  let whole = problems.length === 0
  for (const source of read.sources) {
    const reading = readDocument(source)
    problems = [...problems, ...reading.problems]
    whole &&= reading.whole
    if (!reading.root) continue
    const settled = settle(reading.root, schema, pathResolver(source.folder, env))
    root = merge(root, settled, schema) as Mapping
  }
  return { root, problems, whole }
}

/**
 * Returns a function that makes the paths of one file absolute. systemd makes the folder `${CREDENTIALS_DIRECTORY}` for the
 * credentials of a service. Without that folder (`config check`) a path that begins with it is unchanged.
 */
function pathResolver(folder: string, env: NodeJS.ProcessEnv): (path: string) => string {
  return (path) => {
    const expanded = expandCredentials(path, env)
    return isAbsolute(expanded) || expanded.search(credentialsFolder) === 0 ? expanded : join(folder, expanded)
  }
}

/** Resolves the links of a folder, as far as it exists. They are resolved once, so a later change of a link has no effect. */
function realFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realFolder(parent), basename(path))
  }
}
