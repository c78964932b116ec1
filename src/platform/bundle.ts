import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/**
 * The one place that knows whether this is the source tree or the single binary. In the binary everything lies side by side in one
 * folder of pkg's virtual file system, which only Node's own `fs` functions can read. In the source tree everything stays where npm
 * and git put it.
 */

export type BuildInfo = {
  /** `version` of package.json. */
  readonly version: string
  /** The first 12 digits of the commit, or `unknown` outside a git clone. */
  readonly commit: string
}

export type Arch = 'x64' | 'arm64'

/** Put in by the build (esbuild's `define`); in the source tree the name does not exist. */
declare const GATEHOUSE_BUILD: BuildInfo & { readonly sha256: Readonly<Record<AssetName, string>> }

/** True in the single binary, false in the source tree. */
export const isBundled = typeof GATEHOUSE_BUILD !== 'undefined'

/** The threads besides the main one; the entry of each is `src/app/threads/NAME-worker.ts`. The build bundles these. */
export const workers = ['jobs', 'cameras', 'onvif', 'beside-leaves'] as const
export type WorkerName = (typeof workers)[number]

/** Files that the binary carries, by the name they have in it, each with its place in the source tree. */
export const assets = {
  ffmpeg: (arch: Arch) => `node_modules/@ffmpeg-installer/linux-${arch}/ffmpeg`,
  'koffi.node': (arch: Arch) => `node_modules/@koromix/koffi-linux-${arch}/linux_${arch}/koffi.node`,
  'THIRD-PARTY-NOTICES': () => 'THIRD-PARTY-NOTICES',
  LICENSE: () => 'LICENSE',
  'recipe.sh': () => 'src/evidence/recipe.sh',
  'statement.sh': () => 'src/evidence/statement.sh',
  // Made from src/console/page by scripts/build/console.ts.
  'console.json': () => '.cache/console.json',
  // Made from src/console/help and from the program by scripts/build/manual.ts.
  'manual.json': () => '.cache/manual.json',
  'onnxruntime.wasm.gz': () => '.cache/onnxruntime.wasm.gz',
  'zxing.wasm.gz': () => '.cache/zxing.wasm.gz',
  // Made from the lockfile by scripts/build/sbom.ts.
  'sbom.json': (arch: Arch) => `.cache/sbom-${arch}.json`,
} as const satisfies Record<string, (arch: Arch) => string>
export type AssetName = keyof typeof assets

/** Root of the source tree; not used in the binary. */
const root = join(import.meta.dirname, '..', '..')

/** Returns the entry for `new Worker(…)`. In the binary it must be a string: pkg starts no worker from a URL. */
export function workerEntry(name: WorkerName): string | URL {
  if (isBundled) return join(import.meta.dirname, `${name}-worker.cjs`)
  // The tests have the threads bundled once, beside the program that they start: `scripts/build/program-under-test.ts`.
  const program = process.env['GATEHOUSE_PROGRAM']
  if (program) return join(dirname(program), `${name}-worker.cjs`)
  return new URL(`../app/threads/${name}-worker.ts`, import.meta.url)
}

/**
 * Returns the path where an asset can be read with `fs.readFileSync`. In the binary the path exists for this process only: no child
 * process can open or run it. It does not check that the file exists.
 */
export function assetPath(name: AssetName): string {
  return isBundled ? join(import.meta.dirname, name) : join(root, assets[name](processorArch()))
}

/** Makes an asset from its sources, in the source tree, unless it is newer than they are. */
export async function makeAsset(name: 'console.json' | 'manual.json' | 'sbom.json'): Promise<void> {
  if (isBundled) return
  const program = join(root, 'scripts', 'build', name.replace('.json', '.ts'))
  await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', program])
}

/** Returns the SHA-256 of an asset in hex: known since the build in the binary, computed in the source tree. */
export function assetSha256(name: AssetName): string {
  if (isBundled) return GATEHOUSE_BUILD.sha256[name]
  return createHash('sha256')
    .update(readFileSync(assetPath(name)))
    .digest('hex')
}

/** Returns version and commit of the running program. */
export function buildInfo(): BuildInfo {
  if (isBundled) return { version: GATEHOUSE_BUILD.version, commit: GATEHOUSE_BUILD.commit }
  return sourceBuildInfo(root)
}

/** Returns version and commit of a source tree, from its package.json and from git if there is one. */
export function sourceBuildInfo(tree: string): BuildInfo {
  const { version } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8')) as { version: string }
  return { version, commit: commitOf(tree) }
}

function commitOf(tree: string): string {
  try {
    const command = ['-C', tree, 'rev-parse', '--show-prefix', '--short=12', 'HEAD']
    const [prefix, commit] = execFileSync('git', command, { encoding: 'utf8', stdio: 'pipe' }).split('\n')
    // With a prefix the tree is unpacked inside some other clone, whose commit is not ours.
    return prefix === '' && commit ? commit : 'unknown'
  } catch {
    return 'unknown'
  }
}

/** Returns the processor that this runs on; throws on one that gatehouse is not made for. */
export function processorArch(): Arch {
  if (process.arch === 'x64' || process.arch === 'arm64') return process.arch
  throw new Error(`gatehouse runs on x64 and arm64, not on ${process.arch}`)
}
