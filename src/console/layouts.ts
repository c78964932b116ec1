import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Checked, Config, Problem } from '../config/index.ts'
import { type Logger, readFileIfThere, writeFileDurablyAside } from '../platform/index.ts'
import { type ConsoleFile, consoleFiles } from './files.ts'

type Files = ReadonlyMap<string, ConsoleFile>

/** The value of `updates.floorLayout` with which the floor's pages are always those of this version. */
const automatic = 'automatic'
/** Versions whose pages are stored, beside the one in `updates.floorLayout`. */
const keptVersions = 3
const ending = '.json.gz'

const folderIn = (dataDir: string): string => join(dataDir, 'console-layouts')

type LayoutsNeeds = {
  readonly dataDir: string
  readonly version: string
  /** `updates.floorLayout`. */
  readonly wanted: () => string
  readonly log: Pick<Logger, 'warn'>
}

/**
 * The pages of this version and of those that ran here before. After an update the pages of the floor are those that
 * `updates.floorLayout` names, and a page that was open meanwhile still finds its files.
 */
export class Layouts {
  readonly #needs: LayoutsNeeds
  readonly #kept = new Map<string, Promise<Files | undefined>>()
  readonly #marked = new WeakMap<ConsoleFile, ConsoleFile>()
  /** The version of each file of an earlier version. */
  #places: Promise<ReadonlyMap<string, string>> | undefined
  #missed: string | undefined

  constructor(needs: LayoutsNeeds) {
    this.#needs = needs
  }

  /** Stores the pages of this version for later ones, and removes the oldest. Logs a failure. */
  async keep(): Promise<void> {
    const { dataDir, version, log } = this.#needs
    const folder = folderIn(dataDir)
    try {
      const files = await consoleFiles()
      mkdirSync(folder, { recursive: true, mode: 0o750 })
      for (const [name, { packed }] of files) {
        const copy = packedCopy(folder, name)
        if (packed !== undefined && !existsSync(copy)) await writeFileDurablyAside(copy, await readFile(packed))
      }
      const bytes = await promisify(gzip)(JSON.stringify(Object.fromEntries(files)))
      const path = join(folder, `${version}${ending}`)
      if (!readFileIfThere(path)?.equals(bytes)) await writeFileDurablyAside(path, bytes)
      await this.#tidy(folder)
      this.#kept.clear()
      this.#places = undefined
    } catch (err) {
      log.warn({ err }, 'the pages of this version could not be kept for later ones')
    }
  }

  /** Returns a file of a page, by name; of `updates.floorLayout` for a page of the floor, else of this version. */
  async page(name: string, isOfFloor: boolean): Promise<ConsoleFile | undefined> {
    const own = await consoleFiles()
    const kept = await this.#wanted()
    const file = (isOfFloor && kept ? kept : own).get(name)
    return file && kept ? this.#marking(file) : file
  }

  /** Returns a file that a page names: of this version, else of one before. */
  async asset(name: string): Promise<ConsoleFile | undefined> {
    const own = (await consoleFiles()).get(name)
    if (own) return own
    this.#places ??= this.#findPlaces()
    const version = (await this.#places).get(name)
    return version === undefined ? undefined : (await this.#filesOf(version))?.get(name)
  }

  /** Returns the pages of the version that the config names; undefined when these are our own. */
  async #wanted(): Promise<Files | undefined> {
    const { version, wanted, log } = this.#needs
    const named = wanted()
    if (named === automatic || named === version) return undefined
    const files = await this.#filesOf(named)
    if (!files && this.#missed !== named) log.warn({ floorLayout: named }, 'no pages of this version are kept here')
    this.#missed = files ? undefined : named
    return files
  }

  /** The page loads a page of the other version whole, where it would only change the view otherwise. */
  #marking(file: ConsoleFile): ConsoleFile {
    const known = this.#marked.get(file)
    if (known) return known
    const marked = { ...file, text: file.text.replace('<html ', '<html data-layouts="two" ') }
    this.#marked.set(file, marked)
    return marked
  }

  #filesOf(version: string): Promise<Files | undefined> {
    const folder = folderIn(this.#needs.dataDir)
    if (!versionsIn(folder).includes(version)) return Promise.resolve(undefined)
    const reading = this.#kept.get(version) ?? this.#read(folder, version)
    this.#kept.set(version, reading)
    return reading
  }

  #read(folder: string, version: string): Promise<Files | undefined> {
    return read(folder, version).catch((err: unknown) => {
      this.#needs.log.warn({ err, version }, 'the kept pages of a version cannot be read')
      return undefined
    })
  }

  async #findPlaces(): Promise<ReadonlyMap<string, string>> {
    const folder = folderIn(this.#needs.dataDir)
    const places = new Map<string, string>()
    for (const version of versionsIn(folder))
      for (const name of (await this.#read(folder, version))?.keys() ?? []) places.set(name, version)
    return places
  }

  async #tidy(folder: string): Promise<void> {
    const { version, wanted } = this.#needs
    const old = versionsIn(folder)
      .filter((one) => one !== version && one !== wanted())
      .slice(keptVersions - 1)
    if (old.length === 0) return
    for (const one of old) rmSync(join(folder, `${one}${ending}`))
    const inUse = await this.#findPlaces()
    const copies = new Set([...inUse.keys()].map((name) => packedCopy(folder, name)))
    for (const file of readdirSync(folder).map((name) => join(folder, name)))
      if (file.endsWith('.wasm.gz') && !copies.has(file)) rmSync(file)
  }
}

/** Finds an `updates.floorLayout` whose pages are not stored here; the gateway starts with its own. */
export function layoutFaults(config: Config, version: string, { placeOf }: Pick<Checked, 'placeOf'>): Problem[] {
  const { floorLayout } = config.updates
  // A caller without access to the data folder learns nothing of it.
  if (floorLayout === automatic || floorLayout === version || !mayList(config.dataDir)) return []
  const kept = versionsIn(folderIn(config.dataDir))
  if (kept.includes(floorLayout)) return []
  const choice = [automatic, ...new Set([version, ...kept])].join(', ')
  const path = ['updates', 'floorLayout']
  return [{ place: placeOf(path), path: path.join('.'), message: `no pages of it are kept here; there are ${choice}` }]
}

function mayList(dataDir: string): boolean {
  try {
    for (const folder of [dataDir, folderIn(dataDir)]) accessSync(folder, constants.R_OK | constants.X_OK)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** Where the packed content of a file lies that is no text. */
const packedCopy = (folder: string, name: string): string => join(folder, `${basename(name)}.gz`)

/** Lists the versions with stored pages, the newest first. */
function versionsIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => ({ version: name.slice(0, -ending.length), ms: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.ms - a.ms)
    .map(({ version }) => version)
}

async function read(folder: string, version: string): Promise<Files> {
  const bytes = await promisify(gunzip)(await readFile(join(folder, `${version}${ending}`)))
  const files = JSON.parse(bytes.toString('utf8')) as Record<string, ConsoleFile>
  return new Map(
    Object.entries(files).map(([name, file]) => [
      name,
      file.packed === undefined ? file : { ...file, packed: packedCopy(folder, name) },
    ]),
  )
}
