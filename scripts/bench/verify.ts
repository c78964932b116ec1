import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { verifyThroughDaemon } from '../../src/app/control/client.ts'
import { databaseFile } from '../../src/database/index.ts'
import { leafHash, sha256 } from '../../src/log/index.ts'
import { SimulatedClock } from '../../test/support/simulated-clock.ts'
import { buildBinary, thisArch } from '../build.ts'
import { freePort } from '../demo-parts/ports.ts'
import { type Figure, millis, rounded, thousands } from './figure.ts'
import { openRooms } from './rooms.ts'
import { furnish, History, keepPhoto } from './seed.ts'
import { serve } from './served.ts'
import { makeAccount, stateOf, writeConfig } from './site.ts'
import { median } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const slots = 1000
const pallets = 800
/** Recorded one by one; the rest is filled in, which is ten times as fast. */
const recordedOnes = 2000
const rounds = 3
/** Tables that verification reads row by row. */
const scanned = ['placement_event', 'audit_entry', 'audit_hash']

/**
 * Measures the verification of a ledger by the running binary, in threads beside its work, against its lower bound. The bound
 * hashes the bytes of each leaf twice, for its place in the tree and for the hash of its row. It also scans once each table
 * that is compared row by row. They run in turns after one verification that is not counted: a gateway first verifies an
 * unsigned ledger by itself.
 */
export async function measureVerify(workshop: Workshop, events: number): Promise<Figure[]> {
  const folder = workshop.newFolder('verify')
  await makeLedger(stateOf(folder), events)
  const { path: command } = await buildBinary({ arch: thisArch() })
  const port = await freePort()
  const config = writeConfig(folder, await makeAccount(), { listen: [{ host: '127.0.0.1', port }] })
  const served = await serve(workshop, {
    command,
    args: ['serve', '--config', config],
    folder,
    port,
    path: '/api/ping',
  })
  const verify = async () => {
    const { ok, mismatches } = await verifyThroughDaemon(join(folder, 'run'))
    if (!ok) throw new Error(`the ledger of the bench does not verify: ${JSON.stringify(mismatches)}`)
  }
  await verify()
  const verified: number[] = []
  const least: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    least.push(await timed(() => hashAndScan(stateOf(folder))))
    verified.push(await timed(verify))
  }
  await served.end()
  const verifiedMs = median(verified)
  const leastMs = median(least)
  return [
    {
      id: `verify-${events}`,
      what: `Verification of ${thousands(events)} events, against hashing the same bytes and one scan of the tables`,
      value: verifiedMs / leastMs,
      unit: '×',
      target: { limit: 2.5, sense: 'at most' },
      raw: `${millis(verifiedMs)} against ${millis(leastMs)}; ${rounded((verifiedMs * 1000) / events)} µs an event`,
      numbers: { verifiedMs, leastMs, events },
    },
  ]
}

async function makeLedger(dataDir: string, events: number): Promise<void> {
  const clock = new SimulatedClock(Date.now() - (events + 3600) * 1000)
  const rooms = openRooms(dataDir, clock)
  rooms.db.pragma('synchronous = OFF')
  await furnish(rooms, slots, pallets, 2)
  const photoUrl = await keepPhoto(rooms)
  const history = new History({ rooms, clock, slots, pallets, photoUrl })
  await history.growTo(Math.min(events, recordedOnes))
  if (events > recordedOnes) history.fillTo(rooms, events)
  rooms.close()
}

async function timed(work: () => unknown): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

function hashAndScan(dataDir: string): void {
  const db = new BetterSqlite3(databaseFile(dataDir), { readonly: true })
  try {
    const leaves = db.prepare<[], { bytes: Buffer }>('SELECT * FROM log_leaf ORDER BY row')
    for (const { bytes } of leaves.iterate()) {
      leafHash(bytes)
      sha256(bytes)
    }
    for (const table of scanned) for (const _ of db.prepare(`SELECT * FROM ${table}`).iterate());
  } finally {
    db.close()
  }
}
