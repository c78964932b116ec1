import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Arch } from '../../src/platform/bundle.ts'

/** The source tree. */
export const root = join(import.meta.dirname, '..', '..')
export const distFolder = join(root, 'dist')
/** Everything that a build leaves lying about; may be removed at any time. */
export const buildFolder = join(distFolder, '.build')

/** One line of progress. */
export function say(line: string): void {
  process.stderr.write(`build: ${line}\n`)
}

/** Throws with the path when an input is not there; returns it otherwise. */
export function required(path: string, why: string): string {
  if (!existsSync(path)) throw new Error(`${path} is missing: ${why}`)
  return path
}

/**
 * Returns the folder whose node_modules holds Node, ffmpeg and koffi for this processor. It is the source tree for the
 * processor of this machine. For another processor it is a separate folder with the same lockfile, installed from the
 * registry.
 */
export async function packagesFor(arch: Arch): Promise<string> {
  if (arch === process.arch || hasAll(root, arch)) return withAll(root, arch)
  const folder = join(buildFolder, `packages-${arch}`)
  if (!hasAll(folder, arch)) await install(folder, arch)
  return withAll(folder, arch)
}

async function install(folder: string, arch: Arch): Promise<void> {
  say(`installing the packages for ${arch} (npm ci)`)
  mkdirSync(folder, { recursive: true })
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) copyFileSync(join(root, file), join(folder, file))
  const command = [
    'ci',
    '--omit=dev',
    `--cpu=${arch}`,
    '--os=linux',
    '--libc=glibc',
    '--ignore-scripts',
    '--no-progress',
  ]
  await promisify(execFile)('npm', command, { cwd: folder })
}

const nodeOf = (folder: string, arch: Arch) => join(folder, 'node_modules', `node-linux-${arch}`, 'bin', 'node')
const ffmpegOf = (folder: string, arch: Arch) =>
  join(folder, 'node_modules', '@ffmpeg-installer', `linux-${arch}`, 'ffmpeg')

const koffiOf = (folder: string, arch: Arch) =>
  join(folder, 'node_modules', '@koromix', `koffi-linux-${arch}`, `linux_${arch}`, 'koffi.node')

function hasAll(folder: string, arch: Arch): boolean {
  return [nodeOf, ffmpegOf, koffiOf].every((place) => existsSync(place(folder, arch)))
}

function withAll(folder: string, arch: Arch): string {
  const why = 'the packages are not installed completely; npm ci brings it'
  required(nodeOf(folder, arch), why)
  required(ffmpegOf(folder, arch), why)
  required(koffiOf(folder, arch), why)
  return folder
}
