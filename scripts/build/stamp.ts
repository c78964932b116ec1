import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Arch, assets, sourceBuildInfo } from '../../src/platform/bundle.ts'
import { buildFolder, root } from './inputs.ts'
import { monitoringFiles } from './manual/sources.ts'

/**
 * One hash over everything that the binary is made from: sources, this build, the lockfile (which stands for all that
 * npm installs), the texts it carries, the version and the commit it will name.
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
  // The sources say what is made from them.
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
