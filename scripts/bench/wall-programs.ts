/** The same cameras watched by gatehouse and by Debian's `motion`: what each costs, and when it says that something moved. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { cpuMsOfChildren } from './family.ts'
import { serveGateway } from './served.ts'
import { makeAccount, signedIn } from './site.ts'
import { cpuMs, cpuMsOfEnded, type Workshop } from './workshop.ts'

/** Motion that a program saw, by the wall clock. */
export type Seen = {
  readonly cameraId: number
  readonly fromMs: number
  readonly toMs: number
  readonly clipStatus: string
}
type Outcome = { readonly cores: number; readonly seen: readonly Seen[] }
/** Cameras in 640×360; the first has the number 1. */
type Wall = { readonly urls: readonly string[]; readonly fps: number }
/** Runs a program until it has settled, then `during`, and returns what it took and saw in all. */
export type Program = (workshop: Workshop, wall: Wall, during: () => Promise<void>) => Promise<Outcome>

/** Separate events for people who come seconds apart. */
const motion = { preRecordSeconds: 3, postRecordSeconds: 1, cooldownSeconds: 0 }
const settleMs = 20_000
/** Until the last clips are closed. */
const closingMs = 15_000
const peer = '/usr/bin/motion'

type Row = { id: number; cctvId: number; timestamp: string; clipEnd: string | null; clipStatus: string }

export const byGatehouse: Program = async (workshop, { urls }, during) => {
  const cameras = urls.map((url, i) => ({ id: i + 1, url, motion }))
  const folder = workshop.newFolder(`wall-${urls.length}`)
  const served = await serveGateway(workshop, folder, await makeAccount(), { cameras })
  await pause(settleMs)
  const cores = await coresOf(served.pid, during)
  await pause(closingMs)
  const seen = (await everyDetection(served.url)).map(({ cctvId, timestamp, clipEnd, clipStatus }) => {
    const fromMs = Date.parse(timestamp)
    const toMs = clipEnd === null ? fromMs : Math.max(Date.parse(clipEnd) - motion.postRecordSeconds * 1000, fromMs)
    return { cameraId: cctvId, fromMs, toMs, clipStatus }
  })
  await served.end()
  return { cores, seen }
}

async function everyDetection(url: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let more = true; more; ) {
    const path = `/api/iot/detection-events?limit=500&offset=${rows.length}`
    const page = (await (await fetch(`${url}${path}`, { headers: signedIn })).json()) as {
      data: Row[]
      pagination: { hasMore: boolean }
    }
    rows.push(...page.data)
    more = page.pagination.hasMore
  }
  return rows
}

/**
 * The peer with one thread a camera and its default settings, but that an event ends after a second, as ours does. It writes
 * a line when an event begins and when it ends.
 */
export const byMotion: Program = async (workshop, { urls, fps }, during) => {
  const folder = workshop.newFolder(`motion-${urls.length}`)
  const said = join(folder, 'said')
  const notes = join(folder, 'notes')
  writeFileSync(notes, '')
  const files = urls.map((url, i) => cameraFile(folder, notes, { url, id: i + 1, fps }))
  const main = join(folder, 'motion.conf')
  const settings = [
    ...['daemon off', 'webcontrol_port 0', 'stream_port 0', `log_file ${join(folder, 'motion.log')}`],
    ...['movie_output on', 'event_gap 1'],
  ]
  writeFileSync(main, [...settings, ...files.map((file) => `camera ${file}`), ''].join('\n'))
  const out = openSync(said, 'w')
  const child = workshop.owns(spawn(peer, ['-n', '-c', main], { cwd: folder, stdio: ['ignore', out, out] }))
  await pause(settleMs)
  if (child.exitCode !== null || child.pid === undefined)
    throw new Error(`motion ended:\n${readFileSync(said, 'utf8')}`)
  const cores = await coresOf(child.pid, during)
  const endedAtMs = Date.now()
  child.kill('SIGTERM')
  await once(child, 'exit')
  return { cores, seen: seenIn(readFileSync(notes, 'utf8'), endedAtMs) }
}

function cameraFile(folder: string, notes: string, { url, id, fps }: { url: string; id: number; fps: number }): string {
  const file = join(folder, `${id}.conf`)
  const target = join(folder, String(id))
  mkdirSync(target)
  // In a script: motion replaces what begins with % in its own settings.
  const script = join(folder, 'note.sh')
  writeFileSync(script, `date +"$1 $2 %s%3N" >> ${notes}\n`)
  const note = (what: string) => `sh ${script} ${what} ${id}`
  const lines = [
    ...[`camera_id ${id}`, `netcam_url ${url}`, 'width 640', 'height 360', `framerate ${fps}`],
    ...[`target_dir ${target}`, `on_event_start ${note('begin')}`, `on_event_end ${note('end')}`],
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

/** An event that has not ended went on until the program was stopped. */
function seenIn(notes: string, endedAtMs: number): Seen[] {
  const lines = notes
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([what, id, at]) => ({ isBegin: what === 'begin', cameraId: Number(id), atMs: Number(at) }))
    .filter(({ cameraId }) => cameraId > 0)
  return lines.flatMap(({ isBegin, cameraId, atMs }, i) => {
    if (!isBegin) return []
    const end = lines.slice(i + 1).find((line) => line.cameraId === cameraId && !line.isBegin)
    return [{ cameraId, fromMs: atMs, toMs: end?.atMs ?? endedAtMs, clipStatus: 'recorded' }]
  })
}

export function isMotionInstalled(): boolean {
  try {
    accessSync(peer, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The share of one core that a process and its children use meanwhile, those that end meanwhile too. */
async function coresOf(pid: number, during: () => Promise<void>): Promise<number> {
  const [sinceMs, before] = [performance.now(), familyMs(pid)]
  await during()
  return (familyMs(pid) - before) / (performance.now() - sinceMs)
}

const familyMs = (pid: number) => cpuMs(pid) + cpuMsOfChildren(pid) + cpuMsOfEnded(pid)
