/**
 * `npm run build`: the single binaries, the Debian packages and the client for programs under dist/.
 *
 * - `--arch x64|arm64`: the processor; may be given twice (default: that of this machine)
 * - `--quick`: packs the Debian package in seconds, into a larger file
 * - `--no-deb`: builds only the binary
 * - `--force`: builds even when nothing has changed since the last build
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Arch } from '../src/platform/bundle.ts'
import { bundleSources } from './build/bundle-sources.ts'
import { buildFolder, distFolder, packagesFor, say } from './build/inputs.ts'
import { withLock } from './build/lock.ts'
import { packBinary } from './build/pack-binary.ts'
import { sbom } from './build/sbom.ts'
import { forgetStamp, isUpToDate, stampOf, writeStamp } from './build/stamp.ts'

export type Built = {
  /** The absolute path of the binary. */
  readonly path: string
  /** False when nothing had changed since the last build. */
  readonly built: boolean
}

/**
 * Makes `dist/gatehouse-linux-ARCH`, unless it is already made from the same sources, packages and commit. The new file
 * replaces the old one in one step; a running one stays whole. Two calls at once wait for each other. Rejects with a
 * sentence that names the missing part. Needs no network for the processor of this machine.
 */
export function buildBinary({ arch, force = false }: { arch: Arch; force?: boolean }): Promise<Built> {
  const path = join(distFolder, `gatehouse-linux-${arch}`)
  mkdirSync(buildFolder, { recursive: true })
  return withLock(join(buildFolder, `${arch}.lock`), async () => {
    const stamp = stampOf(arch)
    if (!force && isUpToDate(arch, stamp, path)) return { path, built: false }
    forgetStamp(arch)
    const work = join(buildFolder, arch)
    rmSync(work, { recursive: true, force: true })
    mkdirSync(work, { recursive: true })
    const packages = await packagesFor(arch)
    const stage = await bundleSources({ arch, packages, work })
    renameSync(await packBinary({ arch, packages, stage, work }), path)
    rmSync(work, { recursive: true, force: true })
    writeStamp(arch, stamp)
    return { path, built: true }
  })
}

async function buildDeb(order: { arch: Arch; binary: string; isQuick: boolean }): Promise<void> {
  if (!hasDpkg()) {
    say('no Debian package is made: this machine has no dpkg-deb')
    return
  }
  // Loaded here, because it holds the whole command line.
  const { makeDeb } = await import('./package/deb.ts')
  writeFileSync(join(distFolder, `gatehouse-linux-${order.arch}.cdx.json`), sbom(order.arch))
  say(`${makeDeb({ ...order, to: distFolder, work: join(buildFolder, `deb-${order.arch}`) })} made`)
}

function hasDpkg(): boolean {
  return spawnSync('dpkg-deb', ['--version'], { stdio: 'ignore' }).status === 0
}

/** Returns the processor of this machine, if gatehouse is made for it. */
export function thisArch(): Arch {
  if (process.arch === 'x64' || process.arch === 'arm64') return process.arch
  throw new Error(`gatehouse is built for x64 and arm64, not for ${process.arch}`)
}

async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      arch: { type: 'string', multiple: true },
      force: { type: 'boolean' },
      quick: { type: 'boolean' },
      'no-deb': { type: 'boolean' },
    },
  })
  for (const arch of values.arch ?? [thisArch()]) {
    if (arch !== 'x64' && arch !== 'arm64') throw new Error(`--arch is x64 or arm64, not ${arch}`)
    const startedMs = Date.now()
    const { path, built } = await buildBinary({ arch, force: values.force ?? false })
    const seconds = ((Date.now() - startedMs) / 1000).toFixed(1)
    say(built ? `${path} made in ${seconds} s` : `${path} is up to date`)
    if (!values['no-deb']) await buildDeb({ arch, binary: path, isQuick: values.quick ?? false })
  }
  const { packClient } = await import('./client.ts')
  say(`${await packClient(distFolder)} made`)
}

if (import.meta.main) {
  await run(process.argv.slice(2)).catch((error: Error) => {
    say(error.message)
    process.exitCode = 1
  })
}
