import { execFileSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { footage } from '../../test/support/footage.ts'
import { startRtspServer } from '../../test/support/rtsp/server.ts'
import { childrenOf } from './family.ts'
import { type Figure, millis, rounded } from './figure.ts'
import { type Served, serveGateway } from './served.ts'
import { makeAccount, signedIn } from './site.ts'
import { median } from './statistics.ts'
import { cpuMs, memoryOf, type Workshop } from './workshop.ts'

const watchedSeconds = 20
const settleMs = 5000
const postRecordSeconds = 1
const clips = 3

/**
 * What one 1080p25 camera costs beside ffmpeg that only decodes the same seconds, how long after its last picture a clip
 * can be played, and what the camera holds in memory.
 */
export async function measureCameras(workshop: Workshop): Promise<Figure[]> {
  const scene = await footage('crossing-1080p')
  const decodeSeconds = cpuOfDecoding(scene.file, scene.durationMs / 1000)
  const rtsp = await startRtspServer({ streams: { door: scene } })
  try {
    const account = await makeAccount()
    const idle = await serveGateway(workshop, workshop.newFolder('no-camera'), account)
    await pause(settleMs)
    const without = memoryOf(idle.pid)
    await idle.end()
    const motion = { preRecordSeconds: 5, postRecordSeconds, cooldownSeconds: 0 }
    const cameras = [{ id: 1, url: rtsp.url('door'), motion }]
    const served = await serveGateway(workshop, workshop.newFolder('one-camera'), account, { cameras })
    await until(served, '/api/iot/cctv', (body) => body.data[0].online)
    await pause(settleMs)
    const before = cpuOf(served.pid)
    await pause(watchedSeconds * 1000)
    const after = cpuOf(served.pid)
    const beyond = await beyondPostRecord(served)
    const held = memoryOf(served.pid)
    const ffmpeg = childrenOf(served.pid).reduce((sum, pid) => sum + memoryOf(pid).residentBytes, 0)
    await served.end()
    const cost = {
      ours: (after.ours - before.ours) / watchedSeconds,
      ffmpeg: (after.children - before.children) / watchedSeconds,
      decode: decodeSeconds / (scene.durationMs / 1000),
    }
    return figuresOf(cost, beyond, { without: without.residentBytes, held: held.residentBytes, ffmpeg })
  } finally {
    await rtsp.stop()
  }
}

function figuresOf(
  cost: { ours: number; ffmpeg: number; decode: number },
  beyond: readonly number[],
  memory: { without: number; held: number; ffmpeg: number },
): Figure[] {
  const core = (share: number) => `${rounded(share * 100)} % of a core`
  const mebibytes = (bytes: number) => `${rounded(bytes / 1024 / 1024)} MiB`
  const all = cost.ours + cost.ffmpeg
  return [
    {
      id: 'camera-cpu',
      what: 'A 1080p25 camera, watched and recorded, against ffmpeg decoding it alone',
      value: all / cost.decode,
      unit: '×',
      raw: `${core(cost.ffmpeg)} ffmpeg and ${core(cost.ours)} gatehouse, against ${core(cost.decode)}`,
      numbers: { ffmpegCores: cost.ffmpeg, gatehouseCores: cost.ours, decodeCores: cost.decode },
    },
    {
      id: 'clip-ready',
      what: 'From the last picture of a clip until it can be played',
      value: median([...beyond]),
      unit: 'ms',
      raw: `${beyond.map((ms) => millis(ms)).join(', ')}, looked for every 50 ms`,
      numbers: Object.fromEntries(beyond.map((ms, i) => [`clip${i + 1}Ms`, ms])),
    },
    {
      id: 'camera-memory',
      what: 'Memory of the gateway with one 1080p camera (5 s of pre-roll), against none',
      value: memory.held / memory.without,
      unit: '×',
      raw: `${mebibytes(memory.held)} against ${mebibytes(memory.without)}, and ${mebibytes(memory.ffmpeg)} in its ffmpeg`,
      numbers: { withBytes: memory.held, withoutBytes: memory.without, ffmpegBytes: memory.ffmpeg },
    },
  ]
}

/** Seconds of processor time to decode all pictures of the file, as `-skip_loop_filter all` does it cheapest. */
function cpuOfDecoding(file: string, seconds: number): number {
  const args = ['-v', 'info', '-benchmark', '-threads', '1', '-skip_loop_filter', 'all', '-t', String(seconds)]
  const said = execFileSync(
    'sh',
    ['-c', '"$0" "$@" 2>&1', locateFfmpeg().path, ...args, '-i', file, '-f', 'null', '-'],
    {
      encoding: 'utf8',
    },
  )
  const [, user, system = '0'] = said.match(/bench: utime=([\d.]+)s(?: stime=([\d.]+)s)?/) ?? []
  if (user === undefined) throw new Error(`ffmpeg did not say what it used:\n${said.slice(-500)}`)
  return Number(user) + Number(system)
}

/** Processor seconds so far: of the process, and of the children that it has now. */
function cpuOf(pid: number): { ours: number; children: number } {
  return { ours: cpuMs(pid) / 1000, children: childrenOf(pid).reduce((sum, child) => sum + cpuMs(child) / 1000, 0) }
}

/** For the next clips: milliseconds from the time of the last picture until the clip's address answers. */
async function beyondPostRecord(served: Served): Promise<number[]> {
  const waited: number[] = []
  const known = (await ask(served, '/api/iot/detection-events?limit=500')).data.map((d: { id: number }) => d.id)
  while (waited.length < clips) {
    const fits = (body: { data: { id: number; clipSha256: string | null }[] }) =>
      body.data.some((d) => d.clipSha256 !== null && !known.includes(d.id))
    const { data } = await until(served, '/api/iot/detection-events?limit=500', fits)
    const seenMs = performance.timeOrigin + performance.now()
    for (const { id, clipEnd } of data.filter((d: { id: number }) => !known.includes(d.id))) {
      known.push(id)
      if (clipEnd !== null) waited.push(seenMs - Date.parse(clipEnd))
    }
  }
  return waited
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
async function ask(served: Served, path: string): Promise<any> {
  return (await fetch(`${served.url}${path}`, { headers: signedIn })).json()
}

/** Asks every 50 ms until the answer fits; rejects after a minute. */
// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
async function until(served: Served, path: string, fits: (body: any) => boolean): Promise<any> {
  for (let tries = 0; tries < 1200; tries += 1) {
    const body = await ask(served, path)
    if (fits(body)) return body
    await pause(50)
  }
  throw new Error(`${path} never answered what was waited for`)
}
