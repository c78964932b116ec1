import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import type { Arch } from '../../src/platform/bundle.ts'
import { required, say } from './inputs.ts'

export type PackOrder = {
  readonly arch: Arch
  /** The folder whose node_modules holds Node for this processor. */
  readonly packages: string
  /** Folder with the content of the binary; `main.cjs` is started. */
  readonly stage: string
  readonly work: string
}

/** Makes the binary from Node and the stage folder and returns its path; the same input gives the same bytes. */
export async function packBinary({ arch, packages, stage, work }: PackOrder): Promise<string> {
  const node = join(packages, 'node_modules', `node-linux-${arch}`)
  const { version } = JSON.parse(readFileSync(join(node, 'package.json'), 'utf8')) as { version: string }
  if (process.version !== `v${version}`) {
    throw new Error(`the build must run on Node ${version}, which it packs, not on ${process.version}: npm run build`)
  }
  const home = join(work, 'home')
  offerNode(home, join(node, 'bin', 'node'), `node-v${version}-linux-${arch}`)
  writeManifest(stage)
  const binary = join(work, 'binary')
  say(`packing for ${arch} on Node ${version}`)
  await runPkg(home, [stage, '--sea', '--targets', `node${version}-linux-${arch}`, '--output', binary])
  mendBytes(required(binary, 'pkg has made no binary'))
  chmodSync(binary, 0o755)
  return binary
}

/**
 * Keeps pkg from fetching Node from its home page. Its cache must have the archive and the unpacked program, each with an empty
 * file `….ok` beside it. pkg then never opens the archive.
 */
function offerNode(home: string, node: string, name: string): void {
  const cache = join(home, '.pkg-cache', 'sea')
  const bin = join(cache, name, 'bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(node, join(bin, 'node'))
  for (const file of [join(bin, 'node.ok'), join(cache, `${name}.tar.gz`), join(cache, `${name}.tar.gz.ok`)]) {
    writeFileSync(file, '')
  }
}

function writeManifest(stage: string): void {
  const assets = readdirSync(stage).sort()
  writeFileSync(join(stage, 'package.json'), JSON.stringify({ name: 'gatehouse', bin: 'main.cjs', pkg: { assets } }))
}

async function runPkg(home: string, args: string[]): Promise<void> {
  const pkg = fileURLToPath(import.meta.resolve('@yao-pkg/pkg/lib-es5/bin.js'))
  // /tmp, because the path of the temp folder gets into the binary: see nameTempFolder.
  const child = spawn(process.execPath, [pkg, ...args], {
    env: { HOME: home, TMPDIR: '/tmp' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  await Promise.all([relay(child.stdout), relay(child.stderr)])
  const [code, signal] = await closed
  if (code !== 0) throw new Error(`pkg has failed (${signal ?? `exit code ${code}`}); its lines above say why`)
}

async function relay(stream: NodeJS.ReadableStream): Promise<void> {
  for await (const line of createInterface({ input: stream })) if (line.trim()) say(`  ${line.trimEnd()}`)
}

function mendBytes(binary: string): void {
  const bytes = readFileSync(binary)
  nameTempFolder(bytes)
  forgetHome(bytes)
  writeFileSync(binary, bytes)
}

/** The only bytes in which two builds differ are the random end of the folder in which pkg worked. */
function nameTempFolder(bytes: Buffer): void {
  const prefix = Buffer.from('/tmp/pkg-sea-')
  const found = placesOf(bytes, prefix)
  if (found.length !== 1) throw new Error(`the binary names pkg's temp folder ${found.length} times instead of once`)
  for (const place of found) bytes.write('000000', place + prefix.length, 'latin1')
}

/**
 * pkg asks for the home folder before any of our code runs, in every thread. It dies where the user has none (a number in a
 * container). It would unpack the addon there; src/platform/process-shim.ts chooses another place.
 */
function forgetHome(bytes: Buffer): void {
  const asked = Buffer.from('path.join(homedir(), ".cache")')
  const found = placesOf(bytes, asked)
  if (found.length !== 2) throw new Error(`pkg asks for the home folder in ${found.length} places instead of two`)
  for (const place of found) bytes.write('""'.padEnd(asked.length), place, 'latin1')
}

function placesOf(bytes: Buffer, text: Buffer): number[] {
  const places: number[] = []
  for (let place = bytes.indexOf(text); place !== -1; place = bytes.indexOf(text, place + 1)) places.push(place)
  return places
}
