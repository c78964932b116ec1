import { setTimeout as pause } from 'node:timers/promises'
import { SimulatedClock } from '../../test/support/simulated-clock.ts'
import { buildBinary, thisArch } from '../build.ts'
import { freePort } from '../demo-parts/ports.ts'
import { bareProgram } from './binary.ts'
import { type Figure, rounded, thousands } from './figure.ts'
import { openRooms } from './rooms.ts'
import { furnish, History, keepPhoto } from './seed.ts'
import { serve } from './served.ts'
import { makeAccount, signedIn, stateOf, writeConfig } from './site.ts'
import { memoryOf, type Workshop } from './workshop.ts'

const slots = 10_000
const pallets = 8_000
/** Recorded one by one; the rest is filled in, which is ten times as fast. */
const recordedOnes = 10_000
const exports = ['export?format=csv', 'export?format=ndjson'] as const
const timesEach = 3
const idleMs = 10 * 60_000

/**
 * Measures the memory of the single binary ten minutes after six exports of the whole ledger, beside a bare server.
 */
export async function measureIdle(workshop: Workshop, events: number): Promise<Figure[]> {
  const folder = workshop.newFolder('idle')
  await makeLedger(stateOf(folder), events)
  const { path: command } = await buildBinary({ arch: thisArch() })
  const port = await freePort()
  const config = writeConfig(folder, await makeAccount(), { listen: [{ host: '127.0.0.1', port }] })
  const args = ['serve', '--config', config]
  const gateway = await serve(workshop, { command, args, folder, port, path: '/api/ping' })
  const bare = await serve(workshop, await bareProgram(workshop.newFolder('bare')))
  const before = memoryOf(gateway.pid)
  for (let n = 0; n < timesEach; n += 1)
    for (const path of exports) await take(`${gateway.url}/api/whms/events/${path}`)
  const after = memoryOf(gateway.pid)
  await pause(idleMs)
  const idle = memoryOf(gateway.pid)
  const ofBare = memoryOf(bare.pid)
  await Promise.all([gateway.end(), bare.end()])
  const inWords = (memory: typeof idle) =>
    `${mebibytes(memory.residentBytes)} MiB resident, ${mebibytes(memory.ownBytes)} MiB of it its own`
  return [
    {
      id: 'idle-after-exports',
      what: `Resident memory of the binary ten minutes after six exports of ${thousands(events)} events, beyond that of a bare node:http server`,
      value: (idle.residentBytes - ofBare.residentBytes) / 1024 / 1024,
      unit: 'MiB',
      target: { limit: 120, sense: 'at most' },
      raw: `${inWords(idle)}, against ${inWords(ofBare)}; ${inWords(before)} before the exports, ${inWords(after)} behind them`,
      numbers: {
        residentBytes: idle.residentBytes,
        ownBytes: idle.ownBytes,
        bareResidentBytes: ofBare.residentBytes,
        bareOwnBytes: ofBare.ownBytes,
        beforeResidentBytes: before.residentBytes,
        behindResidentBytes: after.residentBytes,
      },
    },
  ]
}

const mebibytes = (bytes: number) => rounded(bytes / 1024 / 1024)

async function makeLedger(dataDir: string, events: number): Promise<void> {
  const clock = new SimulatedClock(Date.now() - (events + 3600) * 1000)
  const rooms = openRooms(dataDir, clock)
  rooms.db.pragma('synchronous = OFF')
  await furnish(rooms, slots, pallets)
  const history = new History({ rooms, clock, slots, pallets, photoUrl: await keepPhoto(rooms) })
  await history.growTo(Math.min(events, recordedOnes))
  if (events > recordedOnes) history.fillTo(rooms, events)
  rooms.close()
}

/** Reads an export to its end, piece by piece, and stores nothing. */
async function take(url: string): Promise<void> {
  const response = await fetch(url, { headers: signedIn })
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  for await (const _ of response.body ?? []);
}
