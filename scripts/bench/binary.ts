import { setTimeout as pause } from 'node:timers/promises'
import { buildBinary, thisArch } from '../build.ts'
import { freePort } from '../demo-parts/ports.ts'
import { type Figure, millis, rounded } from './figure.ts'
import { type Program, serve, unitMemory } from './served.ts'
import { makeAccount, writeConfig } from './site.ts'
import { median } from './statistics.ts'
import { memoryOf, type Workshop } from './workshop.ts'

const starts = 5
/** Half a minute after its start the program gives back what only the start needed. */
const idleMs = 35_000

const bareServer = `require('node:http').createServer((_, response) => response.end('ok')).listen(Number(process.argv[1]), '127.0.0.1')`

/** The single binary as a box starts it: until it answers, and what it then holds in memory, beside a bare server. */
export async function measureBinary(workshop: Workshop): Promise<Figure[]> {
  const { path: command } = await buildBinary({ arch: thisArch() })
  const ours = { folder: workshop.newFolder('binary'), port: await freePort() }
  const config = writeConfig(ours.folder, await makeAccount(), { listen: [{ host: '127.0.0.1', port: ours.port }] })
  return figuresOf(
    await startOften(workshop, {
      ...ours,
      command,
      args: ['serve', '--config', config],
      path: '/api/ping',
      env: unitMemory(),
    }),
    await startOften(workshop, await bareProgram(workshop.newFolder('bare'))),
  )
}

/** A server of node:http that does nothing else. */
export async function bareProgram(folder: string): Promise<Program> {
  const port = await freePort()
  return { folder, port, command: process.execPath, args: ['-e', bareServer, String(port)], path: '/' }
}

type Started = { readonly firstMs: number; readonly againMs: number; readonly memory: ReturnType<typeof memoryOf> }

/** Starts it once on nothing, then several times more on what that left; after the last start it is left alone. */
async function startOften(workshop: Workshop, program: Program): Promise<Started> {
  const taken: number[] = []
  let memory = { residentBytes: Number.NaN, ownBytes: Number.NaN, fairBytes: Number.NaN }
  for (let n = 0; n <= starts; n += 1) {
    const served = await serve(workshop, program)
    taken.push(served.answeredAfterMs)
    if (n === starts) {
      await pause(idleMs)
      memory = memoryOf(served.pid)
    }
    await served.end()
  }
  return { firstMs: taken[0] ?? Number.NaN, againMs: median(taken.slice(1)), memory }
}

function figuresOf(binary: Started, bare: Started): Figure[] {
  const mebibytes = (bytes: number) => `${rounded(bytes / 1024 / 1024)} MiB`
  const resident = ({ memory }: Started) =>
    `${mebibytes(memory.residentBytes)} resident, ${mebibytes(memory.ownBytes)} of it its own`
  return [
    {
      id: 'start',
      what: 'Start of the binary to its first answer, against a bare node:http server',
      value: binary.againMs / bare.againMs,
      unit: '×',
      target: { limit: 7, sense: 'at most' },
      raw: `${millis(binary.againMs)} against ${millis(bare.againMs)}; the very first start, which makes the database, ${millis(binary.firstMs)}`,
      numbers: { binaryMs: binary.againMs, binaryFirstMs: binary.firstMs, bareMs: bare.againMs },
    },
    {
      id: 'memory',
      what: 'Resident memory of the idle binary beyond that of a bare node:http server',
      value: (binary.memory.residentBytes - bare.memory.residentBytes) / 1024 / 1024,
      unit: 'MiB',
      target: { limit: 50, sense: 'at most' },
      raw: `${resident(binary)} against ${resident(bare)}`,
      numbers: {
        binaryResidentBytes: binary.memory.residentBytes,
        binaryOwnBytes: binary.memory.ownBytes,
        bareResidentBytes: bare.memory.residentBytes,
        bareOwnBytes: bare.memory.ownBytes,
      },
    },
  ]
}
