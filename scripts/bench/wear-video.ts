import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { footage } from '../../test/support/footage.ts'
import { startRtspServer } from '../../test/support/rtsp/server.ts'
import { familyOf } from './family.ts'
import { type Figure, rounded, thousands } from './figure.ts'
import { prepareHall, turns } from './seed.ts'
import { type Served, serveGateway } from './served.ts'
import { jsonHeaders, makeAccount, signedIn, stateOf } from './site.ts'
import type { Workshop } from './workshop.ts'

const cameras = 8
const eventsADay = 5000
const idleSeconds = 40
const rounds = 3
/** A film shows 10 s before and after its event; events further apart than that share none. */
const filmSeconds = 20
const roundSeconds = 25
const filmsWithinMs = 90_000
const giga = 1e9
const mebi = 1024 * 1024

/**
 * Measures the bytes that eight cameras write in a day of 5,000 events, each with a film. Some films are made, and their cost over
 * the seconds without any is multiplied. The kernel counts, over the daemon and its ffmpeg: `write_bytes` less the writes that were
 * canceled before they reached the disk.
 */
export async function measureVideoWear(workshop: Workshop): Promise<Figure[]> {
  const scene = await footage('empty')
  const folder = workshop.newFolder('video-wear')
  const bodies = turns(cameras, await prepareHall(stateOf(folder), cameras))
  const rtsp = await startRtspServer({ streams: { hall: scene } })
  try {
    const known = Array.from({ length: cameras }, (_, n) => ({
      ...{ id: n + 1, url: rtsp.url('hall'), slots: [`S-${String(n).padStart(5, '0')}`] },
    }))
    const served = await serveGateway(workshop, folder, await makeAccount(), { cameras: known })
    await allOnline(served)
    // The first frames fill the buffers in memory, and the first minute has its own work.
    await pause(roundSeconds * 1000)
    const idle = await writtenWhile(served.pid, () => pause(idleSeconds * 1000))
    const startedMs = performance.now()
    const films = await writtenWhile(served.pid, () => makeFilms(served, bodies, folder))
    const seconds = (performance.now() - startedMs) / 1000
    const kept = sizesOf(folder)
    await served.end()
    return [figureOf({ idle: idle / idleSeconds, films: films - (idle / idleSeconds) * seconds, kept })]
  } finally {
    await rtsp.stop()
  }
}

function figureOf(cost: { idle: number; films: number; kept: readonly number[] }): Figure {
  const filmBytes = cost.kept.reduce((sum, size) => sum + size, 0)
  const perFilm = cost.films / cost.kept.length
  const day = perFilm * eventsADay + cost.idle * 86_400
  const rate = (filmBytes * 8) / (cost.kept.length * filmSeconds) / 1e6
  return {
    id: 'wear-video',
    what: `Written in a day of ${thousands(eventsADay)} events, each with a film of its own, and ${cameras} cameras`,
    value: day / mebi,
    unit: 'MiB',
    target: { limit: Math.round((10 * giga) / mebi), sense: 'at most' },
    raw: `${rounded(perFilm / 1e6)} MB for an event with its film, of which the film itself is ${rounded(filmBytes / cost.kept.length / 1e6)} MB (${filmSeconds} s at ${rounded(rate)} Mb/s); ${rounded((cost.idle * 86_400) / giga)} GB a day while nothing happens; from ${cost.kept.length} films and ${idleSeconds} s without any`,
    numbers: { perFilmBytes: perFilm, filmBytes: filmBytes / cost.kept.length, idleBytesASecond: cost.idle },
  }
}

/** One event for each camera, and again when their films are over. Resolves when all films are there. */
async function makeFilms(served: Served, bodies: readonly string[], folder: string): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (let camera = 0; camera < cameras; camera += 1) {
      const body = bodies[2 * camera + (round % 2)] ?? ''
      const answer = await fetch(`${served.url}/api/whms/events`, { method: 'POST', headers: jsonHeaders, body })
      if (answer.status !== 201) throw new Error(`an event answered ${answer.status}: ${await answer.text()}`)
    }
    await pause(roundSeconds * 1000)
  }
  const untilMs = performance.now() + filmsWithinMs
  while (sizesOf(folder).length < rounds * cameras) {
    if (performance.now() > untilMs) throw new Error(`only ${sizesOf(folder).length} films were made`)
    await pause(500)
  }
}

/** The sizes of all films that are finished. */
function sizesOf(folder: string): number[] {
  return readdirSync(stateOf(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.mp4'))
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size)
}

async function allOnline(served: Served): Promise<void> {
  for (let tries = 0; tries < 240; tries += 1) {
    const answer = await fetch(`${served.url}/api/iot/cctv`, { headers: signedIn })
    const { data } = (await answer.json()) as { data: { online: boolean }[] }
    if (data.length === cameras && data.every(({ online }) => online)) return
    await pause(250)
  }
  throw new Error('the cameras do not come online')
}

/** A child that has ended is counted at its parent. */
async function writtenWhile(pid: number, act: () => Promise<void>): Promise<number> {
  const before = written(pid)
  await act()
  return written(pid) - before
}

function written(pid: number): number {
  return familyOf(pid).reduce((sum, one) => {
    const text = readFileSync(`/proc/${one}/io`, 'utf8')
    const counter = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
    return sum + counter('write_bytes') - counter('cancelled_write_bytes')
  }, 0)
}
