/**
 * Makes the console's page: one JSON file with all that a browser gets of it, by name. The build puts it into the binary;
 * in the source tree the gateway runs this program before it serves the page.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build, formatMessages, type Metafile, type OutputFile, type Plugin } from 'esbuild'
import { type AssetName, assets } from '../../src/platform/bundle.ts'
import { writeFileDurably } from '../../src/platform/files.ts'
import { refuseForeignPackages } from './foreign-packages.ts'
import { root, say } from './inputs.ts'

type File = {
  readonly type: string
  readonly immutable: boolean
  readonly text: string
  readonly isWorker?: true
  readonly packed?: AssetName
}

const page = join(root, 'src/console/page')
const output = join(root, assets['console.json']())
const stampFile = `${output}.stamp`

/**
 * Leaves out the style sheets of jsmpeg's own controls, which the page does not use. The content security policy would block them,
 * with an error in the browser's log.
 */
const withoutInlineStyles: Plugin = {
  name: 'without inline styles',
  setup(to) {
    to.onLoad({ filter: /jsmpeg-player\.esm\.js$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const contents = source.replaceAll(/^styleInject\(\w+\);$/gm, '')
      if (contents === source) throw new Error('jsmpeg-player adds its style sheets in another way: look again')
      return { contents, loader: 'js' }
    })
  },
}

const scripts = ['main.tsx', 'scan.tsx', 'hub.tsx']
const sheets = ['style.css', 'scan.css', 'hub.css', 'trust.css', 'help.css'].map((name) => join('styles', name))

/**
 * Bundles all that a page loads at once into one file. esbuild makes one file of modules that the same entries reach, so each module that
 * is loaded later imports the page as well. Without the plugin the floor's first load has 22 files, which compress worse by a tenth.
 */
function withOneFirstFile(script: string): Plugin {
  const isResolved = Symbol('resolved by this plugin')
  return {
    name: 'with one first file',
    setup(to) {
      to.onResolve({ filter: /^\./ }, async ({ path, kind, pluginData, importer, resolveDir }) => {
        if (kind !== 'dynamic-import' || pluginData === isResolved) return
        const found = await to.resolve(path, { kind, importer, resolveDir, pluginData: isResolved })
        return found.errors.length > 0 ? found : { path: found.path, namespace: 'later' }
      })
      to.onLoad({ filter: /.*/, namespace: 'later' }, ({ path }) => ({
        contents: `export * from ${JSON.stringify(path)}\nimport ${JSON.stringify(join(page, script))}`,
        resolveDir: page,
      }))
    },
  }
}

const settings: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  plugins: [withoutInlineStyles],
  minify: true,
  format: 'esm',
  // The players of live pictures are large, so the page loads one when it is needed.
  splitting: true,
  chunkNames: '[name]-[hash]',
  // Browsers of tablets that have not been updated for some years.
  target: ['chrome111', 'firefox115', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  preserveSymlinks: true,
  charset: 'utf8',
  entryNames: '[name]-[hash]',
  outdir: 'assets',
  write: false,
  metafile: true,
  logLevel: 'silent',
}

type OwnWorker = {
  readonly script: string
  readonly runtime?: string
  readonly packed?: 'onnxruntime.wasm.gz' | 'zxing.wasm.gz'
}

/** Workers of the page, with the WebAssembly that each of them runs, if it does. */
const workers = {
  tiles: { script: 'hall/tile-worker.ts' },
  objects: {
    script: 'cameras/objects/object-worker.ts',
    runtime: 'node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm',
    packed: 'onnxruntime.wasm.gz',
  },
  codes: {
    script: 'codes/code-worker.ts',
    runtime: 'node_modules/zxing-wasm/dist/reader/zxing_reader.wasm',
    packed: 'zxing.wasm.gz',
  },
} as const satisfies Record<string, OwnWorker>

const packedFiles = Object.values(workers).flatMap((worker) =>
  'packed' in worker ? join(root, assets[worker.packed]()) : [],
)

/** Makes the file unless it is there already and made from the same sources; returns its path. */
export async function buildConsole(): Promise<string> {
  const stamp = stampOf()
  if (
    [output, stampFile, ...packedFiles].every((file) => existsSync(file)) &&
    readFileSync(stampFile, 'utf8') === stamp
  )
    return output
  const files = await bundle()
  writeFileDurably(output, JSON.stringify(files), 0o644)
  writeFileDurably(stampFile, stamp, 0o644)
  return output
}

function stampOf(): string {
  const hash = createHash('sha256')
  const sources = globSync(['src/console/page/**/*.*', 'src/warehouse/**/*.ts'], { cwd: root }).toSorted()
  for (const file of ['package-lock.json', 'scripts/build/console.ts', ...sources]) {
    const content = readFileSync(join(root, file))
    hash.update(`\n${file} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

async function bundle(): Promise<Record<string, File>> {
  const { files, addresses } = await bundleWorkers()
  const define = { gatehouseWorkers: JSON.stringify(addresses) }
  /** Names of the files that the pages name, by their path in the source. */
  const names = new Map<string, string>()
  let later: readonly string[] = []
  for (const script of scripts) {
    const plugins = [...(settings.plugins ?? []), withOneFirstFile(script)]
    const { outputFiles, metafile } = await built({ ...settings, plugins, define, entryPoints: [join(page, script)] })
    const { entry, first } = firstFile(metafile.outputs)
    names.set(script, first)
    const others = outputFiles.filter((file) => assetName(file) !== entry || entry === first)
    for (const file of others) add(files, assetName(file), file.text)
    if (script === 'scan.tsx') later = others.map(assetName).filter((name) => name !== first)
  }
  for (const sheet of sheets) {
    const { outputFiles } = await built({ ...settings, entryPoints: [join(page, sheet)] })
    for (const file of outputFiles) {
      names.set(sheet, assetName(file))
      add(files, assetName(file), file.text)
    }
  }
  for (const file of await bundleHelp()) add(files, assetName(file), file.text)
  const icon = readFileSync(join(page, 'icon.svg'), 'utf8').trim()
  names.set('icon.svg', `assets/icon-${hashOf(icon)}.svg`)
  add(files, `assets/icon-${hashOf(icon)}.svg`, icon)
  const pages = Object.fromEntries(
    ['index.html', 'scan.html', 'hub.html'].map((page) => [
      page,
      { type: types.html, immutable: false, text: html(page, names) },
    ]),
  )
  const scan = pages['scan.html']?.text ?? ''
  const reader = Object.values(addresses.codes ?? {})
  const text = await worker(scan, [...later, ...reader.map((one) => one.slice(1))])
  const workers = { 'scan-worker.js': text, 'alert-worker.js': await bundled('push/alert-worker.ts', {}) }
  const served = Object.entries(workers).map(([name, text]) => [name, { type: types.js, immutable: false, text }])
  return { ...pages, ...Object.fromEntries(served), ...files }
}

/** Runs esbuild. Throws for its warnings, and for a package that is none of the program's. */
async function built(options: BuildOptions): Promise<{ outputFiles: readonly OutputFile[]; metafile: Metafile }> {
  const { warnings, outputFiles = [], metafile } = await build(options)
  if (warnings.length > 0) {
    const texts = await formatMessages(warnings, { kind: 'warning', terminalWidth: 120 })
    throw new Error(`the console's bundle has ${warnings.length} warnings:\n${texts.join('\n')}`)
  }
  if (!metafile) throw new Error('esbuild wrote no metafile')
  refuseForeignPackages(Object.keys(metafile.inputs).map((name) => name.replace(/^later:/, '')))
  return { outputFiles, metafile }
}

/**
 * Finds the file that a page loads first. esbuild puts the code of an entry that other files import into a separate file, and leaves
 * one import in the entry. The page then names the file with the code.
 */
function firstFile(outputs: Metafile['outputs']): { readonly entry: string; readonly first: string } {
  const [entry = ''] =
    Object.entries(outputs).find(
      ([, { entryPoint }]) => entryPoint?.endsWith('.tsx') && !entryPoint.startsWith('later:'),
    ) ?? []
  const at = (name: string) => (outputs[name]?.imports ?? []).filter(({ kind }) => kind === 'import-statement')
  const [only, ...more] = at(entry)
  const first = only?.path ?? entry
  if (more.length > 0 || (first !== entry && at(first).length > 0)) throw new Error(`${entry} imports several files`)
  return { entry, first }
}

const assetName = ({ path }: OutputFile) => `assets/${path.slice(path.lastIndexOf('/') + 1)}`

/** Bundles the search of the manual into one script, which shares nothing with the console: a reader of the manual loads little. */
async function bundleHelp(): Promise<readonly OutputFile[]> {
  const { outputFiles } = await built({ ...settings, entryPoints: [join(page, 'help.ts')], splitting: false })
  return outputFiles
}

type Bundled = {
  readonly files: Record<string, File>
  readonly addresses: Record<string, { script: string; runtime?: string }>
}

/** Bundles each worker into one script, and packs its WebAssembly, which is not in the JSON: it is large. */
async function bundleWorkers(): Promise<Bundled> {
  const files: Record<string, File> = {}
  const addresses: Bundled['addresses'] = {}
  for (const [name, { script, runtime, packed }] of Object.entries<OwnWorker>(workers)) {
    const { outputFiles } = await built({
      ...settings,
      ...{ entryPoints: [join(page, script)], splitting: false, format: 'iife', plugins: [] },
      // The runtime loads itself from the address of its module. The bundle holds it whole.
      define: { 'import.meta.url': 'self.location.href' },
    })
    const [made] = outputFiles
    if (!made) throw new Error(`${script} makes no file`)
    const scriptName = assetName(made)
    files[scriptName] = { type: types.js, immutable: true, text: made.text, isWorker: true }
    addresses[name] = { script: `/${scriptName}` }
    if (runtime === undefined || packed === undefined) continue
    const bytes = readFileSync(join(root, runtime))
    const runtimeName = `assets/${name}-${hashOf(bytes)}.wasm`
    files[runtimeName] = { type: 'application/wasm', immutable: true, text: '', packed }
    writeFileDurably(join(root, assets[packed]()), gzipSync(bytes, { level: 9 }), 0o644)
    addresses[name] = { script: `/${scriptName}`, runtime: `/${runtimeName}` }
  }
  return { files, addresses }
}

const hashOf = (content: string | Buffer) =>
  createHash('sha256').update(content).digest('hex').slice(0, 8).toUpperCase()

const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
} as const

function add(files: Record<string, File>, name: string, text: string): void {
  const type = types[name.slice(name.lastIndexOf('.') + 1) as keyof typeof types]
  files[name] = { type, immutable: true, text }
}

/** Makes the service worker of the scan page: the names of its cached files, and a version that changes with any of them. */
async function worker(scan: string, later: readonly string[]): Promise<string> {
  const named = [...scan.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  const files = { page: '/scan', assets: named, later: later.map((name) => `/${name}`) }
  const version = createHash('sha256').update(scan).update(JSON.stringify(files)).digest('hex').slice(0, 16)
  return bundled('scan/scan-worker.ts', { gatehouseFiles: JSON.stringify({ version, ...files }) })
}

/** Bundles a service worker, which has an address without a hash. */
async function bundled(entry: string, define: Record<string, string>): Promise<string> {
  const { outputFiles = [] } = await build({
    ...{ absWorkingDir: root, entryPoints: [join(page, entry)], bundle: true, minify: true, write: false },
    ...{ format: 'iife', target: settings.target ?? [], logLevel: 'silent', define },
  })
  return outputFiles[0]?.text ?? ''
}

/** The template names each file by its path in the source; here it gets the name that it is served under. */
function html(template: string, names: ReadonlyMap<string, string>): string {
  return readFileSync(join(page, template), 'utf8').replace(/"\.\/([\w/]+\.\w+)"/g, (_, path: string) => {
    const name = names.get(path)
    if (name === undefined) throw new Error(`the console's ${template} names ./${path}, which is not made`)
    return `"/${name}"`
  })
}

if (import.meta.main) {
  await buildConsole().catch((error: Error) => {
    say(error.message)
    process.exitCode = 1
  })
}
