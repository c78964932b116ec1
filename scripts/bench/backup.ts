import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { backupThroughDaemon } from '../../src/app/index.ts'
import type { BackupMade } from '../../src/backup/index.ts'
import { databaseFile } from '../../src/database/index.ts'
import { SimulatedClock } from '../../test/support/simulated-clock.ts'
import { type Figure, millis, rounded, thousands } from './figure.ts'
import type { Load, LoadResult } from './load.ts'
import { openRooms } from './rooms.ts'
import { furnish, History, keepPhoto, turns } from './seed.ts'
import { serveGateway } from './served.ts'
import { jsonHeaders, makeAccount, stateOf } from './site.ts'
import { median } from './statistics.ts'
import type { Helper, Workshop } from './workshop.ts'

const slots = 1000
const recordedOnes = 2000
const events = 300_000
const clients = 64
const seconds = 5
const rounds = 3

/**
 * Measures how a backup slows scanners down: 64 clients post without a pause, with and without a backup, in turns.
 */
export async function measureBackup(workshop: Workshop): Promise<Figure[]> {
  const folder = workshop.newFolder('backup')
  const photoUrl = await makeLedger(stateOf(folder))
  const daemon = await serveGateway(workshop, folder, await makeAccount())
  const load = workshop.start('load')
  const post = () => posted(load, `${daemon.url}/api/whms/events`, turns(slots, photoUrl))
  const target = join(folder, 'backup.tar')
  const backUp = () => {
    rmSync(target, { force: true })
    return backupThroughDaemon(join(folder, 'run'), { target, media: true, by: 'bench' })
  }
  await backUp()
  await post()
  const alone: LoadResult[] = []
  const beside: LoadResult[] = []
  const tookMs: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    alone.push(await post())
    let isOver = false
    const backups = (async () => {
      while (!isOver) {
        const startedMs = performance.now()
        await backUp()
        tookMs.push(performance.now() - startedMs)
      }
    })()
    beside.push(
      await post().finally(() => {
        isOver = true
      }),
    )
    await backups
  }
  const quietMs = await timedBackup(backUp)
  const fileBytes = statSync(databaseFile(stateOf(folder))).size
  await Promise.all([load.end(), daemon.end()])
  return [figureOf(alone, beside, { tookMs, quietMs, fileBytes })]
}

async function timedBackup(backUp: () => Promise<BackupMade>): Promise<number> {
  const startedMs = performance.now()
  await backUp()
  return performance.now() - startedMs
}

async function makeLedger(dataDir: string): Promise<string> {
  const clock = new SimulatedClock(Date.now() - (events + 3600) * 1000)
  const rooms = openRooms(dataDir, clock)
  rooms.db.pragma('synchronous = OFF')
  try {
    await furnish(rooms, slots, slots)
    const photoUrl = await keepPhoto(rooms)
    const history = new History({ rooms, clock, slots, pallets: slots, photoUrl })
    await history.growTo(recordedOnes)
    history.fillTo(rooms, events)
    return photoUrl
  } finally {
    rooms.close()
  }
}

async function posted(load: Helper, url: string, bodies: readonly string[]): Promise<LoadResult> {
  const result = await load.ask<LoadResult>({
    url,
    method: 'POST',
    headers: jsonHeaders,
    bodies,
    clients,
    seconds,
  } satisfies Load)
  if (result.failures > 0 || result.answers === 0) throw new Error(`${result.failures} appends failed at ${url}`)
  return result
}

type Copies = { readonly tookMs: readonly number[]; readonly quietMs: number; readonly fileBytes: number }

function figureOf(
  alone: readonly LoadResult[],
  beside: readonly LoadResult[],
  { tookMs, quietMs, fileBytes }: Copies,
): Figure {
  const of = (results: readonly LoadResult[], key: 'p50Ms' | 'p99Ms' | 'perSecond') =>
    median(results.map((one) => one[key]))
  const numbers = {
    aloneP50Ms: of(alone, 'p50Ms'),
    aloneP99Ms: of(alone, 'p99Ms'),
    alonePerSecond: of(alone, 'perSecond'),
    besideP50Ms: of(beside, 'p50Ms'),
    besideP99Ms: of(beside, 'p99Ms'),
    besidePerSecond: of(beside, 'perSecond'),
    backupMs: median(tookMs),
    quietBackupMs: quietMs,
    fileBytes,
  }
  const rates = `${thousands(numbers.besidePerSecond)} against ${thousands(numbers.alonePerSecond)} events/s`
  const size = `${rounded(fileBytes / 2 ** 20)} MiB`
  return {
    id: 'backup-beside',
    what: 'p99 of appends of 64 clients while a backup is made, against none',
    value: numbers.besideP99Ms / numbers.aloneP99Ms,
    unit: '×',
    target: { limit: 2, sense: 'at most' },
    raw: `p99 ${millis(numbers.besideP99Ms)} against ${millis(numbers.aloneP99Ms)}, p50 ${millis(numbers.besideP50Ms)} against ${millis(numbers.aloneP50Ms)}; ${rates}; a backup of ${size} takes ${rounded(numbers.backupMs / 1000)} s meanwhile, ${rounded(quietMs / 1000)} s while nobody posts`,
    numbers,
  }
}
