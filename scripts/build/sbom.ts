/**
 * Makes the list of what the binary is made of (SBOM), as CycloneDX 1.6 in JSON. The build puts it into the binary and
 * beside it; in the source tree `gatehouse version --sbom` runs this program first.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Arch, assets, processorArch, sourceBuildInfo } from '../../src/platform/bundle.ts'
import { writeFileDurably } from '../../src/platform/files.ts'
import { ffmpegBuilds, sqliteVersion } from '../notices/inside-packages.ts'
import { type LockedPackage, packagers, productionPackages } from '../notices/locked-packages.ts'
import { root } from './inputs.ts'

type Locked = {
  readonly license?: string
  readonly integrity?: string
  readonly cpu?: string | string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
type Lock = Readonly<Record<string, Locked>>

/** Returns the SBOM of the binary for a processor: from lockfile and commit alone, so that the same source gives the same bytes. */
export function sbom(arch: Arch): string {
  const { packages: lock } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Lock }
  const packages = [...productionPackages(root), ...packagers(root)].filter(({ path }) => isFor(lock[path]?.cpu, arch))
  const { version, commit } = sourceBuildInfo(root)
  const paths = new Set(packages.map(({ path }) => path))
  const dependsOn = (from: string) => namesOf(lock[from]).flatMap((name) => resolved(from, name, paths) ?? [])
  const content = {
    metadata: {
      component: {
        ...{ type: 'application', 'bom-ref': 'gatehouse', name: 'gatehouse', version },
        licenses: [{ expression: 'Apache-2.0' }],
        properties: [
          { name: 'gatehouse:commit', value: commit },
          { name: 'gatehouse:arch', value: arch },
        ],
      },
    },
    components: [...packages.map((one) => component(one, lock[one.path] ?? {})), ...insidePackages(arch, packages)],
    dependencies: [
      { ref: 'gatehouse', dependsOn: [...dependsOn(''), ...packagers(root).map(({ path }) => path)] },
      ...packages.map(({ path }) => ({ ref: path, dependsOn: [...dependsOn(path), ...insideOf(path)] })),
    ],
  }
  const serialNumber = serialOf(JSON.stringify(content))
  const head = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1 }
  return `${JSON.stringify({ ...head, ...content }, null, 1)}\n`
}

function isFor(cpu: string | string[] | undefined, arch: Arch): boolean {
  return cpu === undefined || [cpu].flat().includes(arch)
}

/** A package is named by its place: two versions of one may be in the binary. */
function component({ path, name, version }: LockedPackage, { license, integrity }: Locked) {
  const [scope, plain] = name.startsWith('@') ? name.split('/') : [undefined, name]
  const sha512 = /^sha512-(\S+)$/.exec(integrity ?? '')?.[1]
  return {
    ...{ type: 'library', 'bom-ref': path, ...(scope ? { group: scope } : {}), name: plain, version },
    ...(sha512 ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }] } : {}),
    ...(license ? { licenses: [{ expression: license }] } : {}),
    purl: `pkg:npm/${scope ? `${encodeURIComponent(scope)}/` : ''}${plain}@${version}`,
  }
}

/** Works that packages of npm carry, by the names under which their vulnerabilities are published. */
function insidePackages(arch: Arch, packages: readonly LockedPackage[]) {
  const node = packages.find(({ name }) => name === `node-linux-${arch}`)?.version
  const sqlite = sqliteVersion(root)
  const ffmpeg = ffmpegBuilds[`@ffmpeg-installer/linux-${arch}`]
  if (node === undefined) throw new Error(`the lockfile has no node-linux-${arch}`)
  return [
    work({ ref: 'node', name: 'Node.js', version: node, licence: 'MIT', cpe: `nodejs:node.js:${node}` }),
    work({ ref: 'sqlite', name: 'SQLite', version: sqlite, licence: 'blessing', cpe: `sqlite:sqlite:${sqlite}` }),
    work({ ref: 'ffmpeg', name: 'FFmpeg', version: ffmpeg, licence: 'GPL-3.0-or-later', cpe: 'ffmpeg:ffmpeg:-' }),
  ]
}

type Work = { readonly ref: string; name: string; version: string; licence: string; cpe: string }

function work({ ref, name, version, licence, cpe }: Work) {
  const licenses = [{ expression: licence }]
  return { type: 'application', 'bom-ref': ref, name, version, licenses, cpe: `cpe:2.3:a:${cpe}:*:*:*:*:*:*:*` }
}

function insideOf(path: string): string[] {
  if (path.includes('/node-linux-')) return ['node']
  if (path.includes('/@ffmpeg-installer/linux-')) return ['ffmpeg']
  return path.endsWith('/better-sqlite3') ? ['sqlite'] : []
}

function namesOf(locked: Locked | undefined): string[] {
  return Object.keys({ ...locked?.dependencies, ...locked?.optionalDependencies }).sort()
}

/** Node's way: the package's own node_modules, then those above it. */
function resolved(from: string, name: string, paths: ReadonlySet<string>): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (paths.has(path)) return path
    if (folder === '') return undefined
  }
}

/** A UUID of version 8 from the content. */
/** Returns a serial number that follows from what the list says. */
export function serialOf(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex')
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Writes it to where the build and the source tree read it. */
export function writeSbom(arch: Arch): void {
  writeFileDurably(join(root, assets['sbom.json'](arch)), sbom(arch), 0o644)
}

if (import.meta.main) writeSbom(processorArch())
