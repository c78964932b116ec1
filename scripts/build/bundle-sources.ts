import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, formatMessages } from 'esbuild'
import { type Arch, type AssetName, assets, sourceBuildInfo, workers } from '../../src/platform/bundle.ts'
import { buildConsole } from './console.ts'
import { refuseForeignPackages } from './foreign-packages.ts'
import { required, root, say } from './inputs.ts'
import { buildManual } from './manual.ts'
import { writeSbom } from './sbom.ts'

export type BundleOrder = {
  readonly arch: Arch
  /** The folder whose node_modules holds the packages that depend on the processor. */
  readonly packages: string
  /** Where to work; empty. */
  readonly work: string
}

/** Makes the folder that becomes the inside of the binary: the bundles, the addon and the assets, side by side. */
export async function bundleSources({ arch, packages, work }: BundleOrder): Promise<string> {
  // Stack traces name it: /snapshot/gatehouse/program.cjs.
  const stage = join(work, 'gatehouse')
  mkdirSync(stage)
  await buildConsole()
  await buildManual()
  writeSbom(arch)
  const sha256 = stageAssets(arch, packages, stage)
  const entryPoints = Object.fromEntries([
    ['program', entry('src/main.ts')],
    ...workers.map((name) => [`${name}-worker`, entry(`src/app/threads/${name}-worker.ts`)]),
  ])
  say(`bundling ${Object.keys(entryPoints).join(', ')}`)
  const shared = settings(arch, sha256)
  await bundle({ ...shared, entryPoints, outdir: stage })
  // The program repairs the changes of pkg to Node, so it must run before anything that needs them.
  await bundle({ ...shared, inject: [], entryPoints: { main: entry('src/binary.ts') }, outdir: stage })
  return stage
}

function entry(path: string): string {
  return required(join(root, path), 'it is the entry of a bundle')
}

function stageAssets(arch: Arch, packages: string, stage: string): Partial<Record<AssetName, string>> {
  const sha256: Partial<Record<AssetName, string>> = {}
  for (const [name, place] of Object.entries(assets) as [AssetName, (typeof assets)[AssetName]][]) {
    const path = place(arch)
    const source = join(path.startsWith('node_modules/') ? packages : root, path)
    if (name === 'LICENSE' && !existsSync(source)) {
      say('the tree has no LICENSE: the binary goes without it')
      continue
    }
    copyFileSync(required(source, `it belongs into the binary as ${name}`), join(stage, name))
    sha256[name] = createHash('sha256').update(readFileSync(source)).digest('hex')
  }
  return sha256
}

function settings(arch: Arch, sha256: Partial<Record<AssetName, string>>): BuildOptions {
  return {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    // The package's usual door looks for its addon at run time; this one names it, so that it can be carried along.
    alias: { 'better-sqlite3': `better-sqlite3/linux-${arch}` },
    // Colors for messages of a library (debug), which does without.
    external: ['supports-color'],
    loader: { '.node': 'copy' },
    assetNames: '[name]',
    inject: [fileURLToPath(import.meta.resolve('../../src/platform/process-shim.ts'))],
    define: {
      GATEHOUSE_BUILD: JSON.stringify({ ...sourceBuildInfo(root), sha256 }),
      'import.meta.url': 'bundleUrl',
      'import.meta.dirname': '__dirname',
      'import.meta.filename': '__filename',
    },
    banner: { js: `const bundleUrl = require('node:url').pathToFileURL(__filename).href` },
    // Names stay readable in the stack traces of a support bundle. Without white space and in ASCII, V8 keeps the text in a
    // third of the memory. One character beyond Latin-1 makes it two bytes for each.
    minifyWhitespace: true,
    charset: 'ascii',
    logLevel: 'silent',
  }
}

/** A warning of esbuild (an `import.meta` it cannot keep, a require it cannot follow) is a fault that shows at run time. */
async function bundle(options: BuildOptions): Promise<void> {
  const { warnings, metafile } = await build({ ...options, metafile: true })
  if (warnings.length > 0) {
    const texts = await formatMessages(warnings, { kind: 'warning', terminalWidth: 120 })
    throw new Error(`the bundle has ${warnings.length} warnings:\n${texts.join('\n')}`)
  }
  refuseForeignPackages(Object.keys(metafile?.inputs ?? {}))
  for (const path of Object.keys(metafile?.outputs ?? {}))
    if (path.endsWith('.cjs')) escapeBeyondAscii(join(root, path))
}

/** esbuild leaves regular expressions and tagged templates of packages as they are: the same characters, as V8 reads them. */
function escapeBeyondAscii(path: string): void {
  const text = readFileSync(path, 'utf8')
  const escaped = text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  if (escaped !== text) writeFileSync(path, escaped)
}
