/** Makes the Debian package around a binary; the same source gives the same bytes. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { configExample } from '../../src/config/index.ts'
import { type Arch, assets } from '../../src/platform/bundle.ts'
import { root } from '../build/inputs.ts'
import { manualPages } from '../build/manual/pages.ts'
import { sbom } from '../build/sbom.ts'
import { bashCompletion } from './completion.ts'
import { type Edition, manOfCommand, manOfConfig } from './man.ts'

import { control, copyright, debianChangelog, thirdPartyNotices } from './texts.ts'

export const debianArch = { x64: 'amd64', arm64: 'arm64' } as const satisfies Record<Arch, string>

export type DebOrder = {
  readonly arch: Arch
  readonly binary: string
  /** The folder that gets `gatehouse_VERSION_ARCH.deb`. */
  readonly to: string
  /** Where to work; is emptied. */
  readonly work: string
  /** Packs in seconds instead of minutes, into a larger file; for tests. */
  readonly isQuick?: boolean
}

/** Version and date of the source tree: the date is that of its commit, or of its changelog outside of a clone. */
export function editionOf(tree: string): Edition {
  const { version } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8')) as { version: string }
  return { version, dateMs: commitMs(tree) }
}

function commitMs(tree: string): number {
  const given = Number(process.env['SOURCE_DATE_EPOCH'])
  if (given > 0) return given * 1000
  try {
    const text = execFileSync('git', ['-C', tree, 'log', '-1', '--format=%ct'], { encoding: 'utf8', stdio: 'pipe' })
    return Number(text) * 1000
  } catch {
    return Math.floor(statSync(join(tree, 'CHANGELOG.md')).mtimeMs / 1000) * 1000
  }
}

/** Makes the package and returns its path. Needs Debian's `dpkg-deb`. */
export function makeDeb({ arch, binary, to, work, isQuick = false }: DebOrder): string {
  const edition = editionOf(root)
  const tree = join(work, 'tree')
  rmSync(work, { recursive: true, force: true })
  for (const [path, { mode, content }] of Object.entries(filesOf(edition, arch))) {
    mkdirSync(dirname(join(tree, path)), { recursive: true, mode: 0o755 })
    writeFileSync(join(tree, path), content)
    chmodSync(join(tree, path), mode)
  }
  mkdirSync(join(tree, 'etc/gatehouse/conf.d'), { recursive: true })
  mkdirSync(join(tree, 'usr/bin'))
  copyFileSync(binary, join(tree, 'usr/bin/gatehouse'))
  chmodSync(join(tree, 'usr/bin/gatehouse'), 0o755)
  addControl(tree, edition, arch)
  settle(tree, edition.dateMs)
  const deb = join(to, `gatehouse_${edition.version}_${debianArch[arch]}.deb`)
  // One thread: the pieces of several would depend on the machine.
  const packing = isQuick ? ['-Zgzip', '-z1'] : ['-Zxz', '-z6', '--threads-max=1']
  execFileSync('dpkg-deb', ['--root-owner-group', ...packing, '--build', tree, deb], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(edition.dateMs / 1000) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  rmSync(work, { recursive: true, force: true })
  return deb
}

type Packed = { readonly mode: number; readonly content: string | Uint8Array }

/** Everything of the package but the binary and what dpkg itself reads, by its path on the box. */
export function filesOf(edition: Edition, arch: Arch): Record<string, Packed> {
  const text = (content: string): Packed => ({ mode: 0o644, content })
  const source = (path: string): Packed => text(readFileSync(join(root, path), 'utf8'))
  const packed = (content: string): Packed => ({ mode: 0o644, content: gzip(content) })
  const doc = 'usr/share/doc/gatehouse'
  return {
    'etc/gatehouse/gatehouse.yaml': text(configExample()),
    'usr/lib/systemd/system/gatehouse.service': source('systemd/gatehouse.service'),
    'usr/lib/systemd/system/gatehouse-trial.service': source('systemd/gatehouse-trial.service'),
    'usr/lib/systemd/system/gatehouse-hub.service': source('systemd/gatehouse-hub.service'),
    'usr/lib/gatehouse/way-back': { mode: 0o755, content: readFileSync(join(root, 'scripts/package/way-back')) },
    'usr/lib/sysusers.d/gatehouse.conf': source('systemd/gatehouse.sysusers'),
    'usr/lib/tmpfiles.d/gatehouse.conf': source('systemd/gatehouse.tmpfiles'),
    'usr/share/bash-completion/completions/gatehouse': text(bashCompletion()),
    'usr/share/man/man1/gatehouse.1.gz': packed(manOfCommand(edition)),
    'usr/share/man/man5/gatehouse.yaml.5.gz': packed(manOfConfig(edition)),
    'usr/share/lintian/overrides/gatehouse': source('scripts/package/debian/lintian-overrides'),
    [`${doc}/changelog.gz`]: packed(debianChangelog(edition)),
    [`${doc}/copyright`]: text(copyright()),
    [`${doc}/THIRD-PARTY-NOTICES.gz`]: packed(thirdPartyNotices()),
    [`${doc}/sbom.cdx.json.gz`]: packed(sbom(arch)),
    [`${doc}/SECURITY.md`]: source('SECURITY.md'),
    [`${doc}/examples/credentials.conf`]: source('systemd/credentials.conf'),
    ...manual(doc),
    ...examples(doc),
    ...Object.fromEntries(
      readdirSync(join(root, 'systemd/monitoring')).map((name) => [
        `${doc}/monitoring/${name}`,
        source(`systemd/monitoring/${name}`),
      ]),
    ),
  }
}

/** The manual as it is written, and the scripts that it names: German pages lie in a folder of their language. */
function manual(doc: string): Record<string, Packed> {
  const pages = manualPages().map(({ topic, language, markdown }): [string, Packed] => {
    const folder = language === 'en' ? 'manual' : `manual/${language}`
    return [`${doc}/${folder}/${topic}.md`, { mode: 0o644, content: markdown }]
  })
  const scripts = (['recipe.sh', 'statement.sh'] as const).map((name): [string, Packed] => [
    `${doc}/${name}`,
    { mode: 0o755, content: readFileSync(join(root, assets[name]())) },
  ])
  return Object.fromEntries([...pages, ...scripts])
}

/** The config of many boxes from one repository, as it lies in the source; its programs can be run from there. */
function examples(doc: string): Record<string, Packed> {
  const folder = join(root, 'systemd/examples')
  return Object.fromEntries(
    below(folder).map((path) => [
      `${doc}/examples/fleet/${path}`,
      { mode: path.startsWith('bin/') ? 0o755 : 0o644, content: readFileSync(join(folder, path)) },
    ]),
  )
}

/** The same bytes on every machine: zlib writes no time, and the byte for the operating system is set to Unix. */
function gzip(content: string): Buffer {
  const bytes = gzipSync(content, { level: 9 })
  bytes[9] = 3
  return bytes
}

function addControl(tree: string, edition: Edition, arch: Arch): void {
  const folder = join(tree, 'DEBIAN')
  const files = below(tree)
  const installedKib = Math.ceil(files.reduce((sum, path) => sum + statSync(join(tree, path)).size, 0) / 1024)
  const sums = files.map((path) => `${md5(join(tree, path))}  ${path}\n`).join('')
  cpSync(join(root, 'scripts/package/debian'), folder, { recursive: true })
  rmSync(join(folder, 'lintian-overrides'))
  writeFileSync(join(folder, 'control'), control({ edition, arch: debianArch[arch], installedKib }))
  writeFileSync(join(folder, 'conffiles'), '/etc/gatehouse/gatehouse.yaml\n')
  writeFileSync(join(folder, 'md5sums'), sums)
  for (const name of readdirSync(folder)) {
    chmodSync(join(folder, name), /^(pre|post)(inst|rm)$/.test(name) ? 0o755 : 0o644)
  }
}

/** Every file below a folder, in the order of their names. */
function below(tree: string): string[] {
  return readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(tree.length + 1))
    .sort()
}

// The hash that dpkg --verify and debsums read; it guards against damage, not against people.
const md5 = (path: string): string => createHash('md5').update(readFileSync(path)).digest('hex')

/** Modes and times do not tell who built it, and when. */
function settle(tree: string, dateMs: number): void {
  for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) chmodSync(path, 0o755)
    lutimesSync(path, dateMs / 1000, dateMs / 1000)
  }
  chmodSync(tree, 0o755)
}
