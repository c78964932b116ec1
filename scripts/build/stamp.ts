import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Arch, assets, sourceBuildInfo } from '../../src/platform/bundle.ts'
import { buildFolder, root } from './inputs.ts'
import { monitoringFiles } from './manual/sources.ts'

/**
 * Returns one hash over all inputs of the binary: sources, this build, the lockfile, the texts, its version and its
 * commit. The lockfile covers all that npm installs.
 */
export function stampOf(arch: Arch): string {
  const hash = createHash('sha256')
  hash.update(JSON.stringify([arch, process.version, sourceBuildInfo(root)]))
  for (const file of inputFiles(arch)) {
    const content = readFileSync(join(root, file))
    hash.update(`\n${file} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

function inputFiles(arch: Arch): string[] {
  // Assets under .cache are made from the sources.
  const own = Object.values(assets)
    .map((place) => place(arch))
    .filter((file) => !file.startsWith('.cache/'))
  const single = ['package-lock.json', 'scripts/build.ts', ...own.filter((file) => !file.startsWith('node_modules/'))]
  return [
    ...single.filter((file) => existsSync(join(root, file))),
    ...monitoringFiles,
    ...filesUnder('src'),
    ...filesUnder('scripts/build'),
  ]
}

function filesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()
}

const stampFile = (arch: Arch) => join(buildFolder, `${arch}.stamp`)

export function isUpToDate(arch: Arch, stamp: string, binary: string): boolean {
  return existsSync(binary) && existsSync(stampFile(arch)) && readFileSync(stampFile(arch), 'utf8') === stamp
}

/** First of all: a build that is broken off must not leave the stamp of another one behind. */
export function forgetStamp(arch: Arch): void {
  rmSync(stampFile(arch), { force: true })
}

export function writeStamp(arch: Arch, stamp: string): void {
  writeFileSync(stampFile(arch), stamp)
}
