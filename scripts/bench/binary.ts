import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { buildBinary, thisArch } from '../build.ts'
import { freePort } from '../demo-parts/ports.ts'
import { type Figure, millis, rounded } from './figure.ts'
import { makeAccount, writeConfig } from './site.ts'
import { median } from './statistics.ts'
import { residentBytes, type Workshop } from './workshop.ts'

const starts = 5
const idleMs = 3000
const giveUpMs = 30_000
const lookEveryMs = 2

const bareServer = `require('node:http').createServer((_, response) => response.end('ok')).listen(Number(process.argv[1]), '127.0.0.1')`

/** The single binary as a box starts it: until it answers, and what it then holds in memory, beside a bare server. */
export async function measureBinary(workshop: Workshop): Promise<Figure[]> {
  const { path } = await buildBinary({ arch: thisArch() })
  const binary = await startOften(workshop, 'binary', async (folder, port) => {
    const config = writeConfig(folder, await makeAccount(), { listen: [{ host: '127.0.0.1', port }] })
    return { command: path, args: ['serve', '--config', config], ask: '/api/ping' }
  })
  const bare = await startOften(workshop, 'bare', async (_, port) => {
    return { command: process.execPath, args: ['-e', bareServer, String(port)], ask: '/' }
  })
  return figuresOf(binary, bare)
}

type Program = { readonly command: string; readonly args: readonly string[]; readonly ask: string }
type Started = { readonly firstMs: number; readonly againMs: number; readonly idleBytes: number }

/** Starts it in a folder of its own (`first`), then several times more on what it found there; then leaves it alone. */
async function startOften(
  workshop: Workshop,
  name: string,
  program: (folder: string, port: number) => Promise<Program>,
): Promise<Started> {
  const folder = workshop.newFolder(name)
  const port = await freePort()
  const { command, args, ask } = await program(folder, port)
  const taken: number[] = []
  let idleBytes = 0
  for (let n = 0; n <= starts; n += 1) {
    const startedMs = performance.now()
    const child = workshop.owns(spawn(command, args, { cwd: folder, stdio: 'ignore' }))
    const ended = once(child, 'exit')
    await answers(`http://127.0.0.1:${port}${ask}`, startedMs + giveUpMs)
    taken.push(performance.now() - startedMs)
    if (n === starts) {
      await pause(idleMs)
      idleBytes = residentBytes(child.pid ?? 0)
    }
    child.kill('SIGTERM')
    await ended
  }
  return { firstMs: taken[0] ?? Number.NaN, againMs: median(taken.slice(1)), idleBytes }
}

async function answers(url: string, untilMs: number): Promise<void> {
  while (!(await isAnswered(url))) {
    if (performance.now() > untilMs) throw new Error(`${url} did not answer in ${giveUpMs / 1000} s`)
    await pause(lookEveryMs)
  }
}

function isAnswered(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.once('error', () => resolve(false))
  })
}

function figuresOf(binary: Started, bare: Started): Figure[] {
  const mebibytes = (bytes: number) => `${rounded(bytes / 1024 / 1024)} MiB`
  return [
    {
      id: 'start',
      what: 'Start of the binary to its first answer, against a bare node:http server',
      value: binary.againMs / bare.againMs,
      unit: '×',
      raw: `${millis(binary.againMs)} against ${millis(bare.againMs)}; the very first start, which makes the database, ${millis(binary.firstMs)}`,
      numbers: { binaryMs: binary.againMs, binaryFirstMs: binary.firstMs, bareMs: bare.againMs },
    },
    {
      id: 'memory',
      what: 'Memory of the idle binary, against a bare node:http server',
      value: binary.idleBytes / bare.idleBytes,
      unit: '×',
      raw: `${mebibytes(binary.idleBytes)} against ${mebibytes(bare.idleBytes)} resident`,
      numbers: { binaryBytes: binary.idleBytes, bareBytes: bare.idleBytes },
    },
  ]
}
