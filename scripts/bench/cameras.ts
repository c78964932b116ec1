import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import type { LocalAccount } from '../../src/auth/index.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { decoding } from '../../src/video/decoding/frame-process.ts'
import { footage } from '../../test/support/footage.ts'
import { type RtspServer, startRtspServer } from '../../test/support/rtsp/server.ts'
import { childrenOf, cpuMsOfChildren } from './family.ts'
import { type Figure, rounded } from './figure.ts'
import { type Served, serveGateway } from './served.ts'
import { makeAccount } from './site.ts'
import { cpuMs, cpuMsOfEnded, memoryOf, type Workshop } from './workshop.ts'

const watchedSeconds = 40
/** Code that runs seldom is compiled late, and a decoder sleeps after half a minute at the earliest. */
const settleMs = 45_000
const mebibyte = 1024 * 1024
const moreCameras = 3
const motion = { preRecordSeconds: 5, postRecordSeconds: 1, cooldownSeconds: 0 }

/**
 * Cores, over the same seconds. `ours` is of the gateway, and `ffmpeg` of the processes that it started. Both are taken over a
 * gateway without a camera, which starts some too. `decode` is of an ffmpeg that only decodes.
 */
type Cost = { readonly ours: number; readonly ffmpeg: number; readonly decode: number }

/** Bytes of a gateway, and of its ffmpegs. */
type Held = { readonly gateway: number; readonly ffmpeg: number }

/**
 * Measures a 1080p25 camera of 4 Mb/s beside an ffmpeg that only decodes the same seconds. Detection runs on its main stream, and
 * on a smaller one. Also measures the memory of a gateway with cameras.
 */
export async function measureCameras(workshop: Workshop): Promise<Figure[]> {
  const [door, small, empty] = [
    await footage('crossing-1080p'),
    await footage('crossing'),
    await footage('empty-1080p'),
  ]
  const rtsp = await startRtspServer({ streams: { door, small, empty, door2: door, door3: door } })
  try {
    const account = await makeAccount()
    const idle = await serveGateway(workshop, workshop.newFolder('no-camera'), account)
    const quiet = await watched(workshop, account, rtsp, idle, { url: rtsp.url('empty') })
    const main = await watched(workshop, account, rtsp, idle, {})
    const none = heldBy(idle)
    const sub = await watched(workshop, account, rtsp, idle, { detectUrl: rtsp.url('small') })
    await idle.end()
    const several = await heldBySeveral(workshop, account, rtsp)
    return [
      ...costFigures({ quiet: quiet.cost, main: main.cost, small: sub.cost }),
      ...memoryFigures({ none, one: main.held, several }),
    ]
  } finally {
    await rtsp.stop()
  }
}

/** Returns the cost of a gateway with one camera, after it has settled, over one without a camera. */
async function watched(
  workshop: Workshop,
  account: LocalAccount,
  rtsp: RtspServer,
  idle: Served,
  more: Record<string, unknown>,
): Promise<{ cost: Cost; held: Held }> {
  const camera = { id: 1, url: rtsp.url('door'), motion, ...more }
  const name = 'detectUrl' in more ? 'sub-stream' : 'url' in more ? 'quiet-camera' : 'one-camera'
  const served = await serveGateway(workshop, workshop.newFolder(name), account, { cameras: [camera] })
  const alone = decodingAlone(workshop, camera.url)
  await pause(settleMs)
  const used = () => ({ ...cpuOf(served.pid), idle: cpuOf(idle.pid), decode: cpuMs(alone.pid) / 1000 })
  const before = used()
  await pause(watchedSeconds * 1000)
  const after = used()
  alone.end()
  const held = heldBy(served)
  await served.end()
  const cores = (of: (time: typeof before) => number) => (of(after) - of(before)) / watchedSeconds
  const ours = cores((time) => time.ours - time.idle.ours)
  const ffmpeg = cores((time) => time.children - time.idle.children)
  return { cost: { ours, ffmpeg, decode: cores((time) => time.decode) }, held }
}

async function heldBySeveral(workshop: Workshop, account: LocalAccount, rtsp: RtspServer): Promise<Held> {
  const names = ['door', 'door2', 'door3'].slice(0, moreCameras)
  const cameras = names.map((name, i) => ({ id: i + 1, url: rtsp.url(name), motion }))
  const served = await serveGateway(workshop, workshop.newFolder('several-cameras'), account, { cameras })
  await pause(settleMs + watchedSeconds * 1000)
  const held = heldBy(served)
  await served.end()
  return held
}

function heldBy({ pid }: Served): Held {
  const ffmpeg = childrenOf(pid).reduce((sum, child) => sum + memoryOf(child).residentBytes, 0)
  return { gateway: memoryOf(pid).residentBytes, ffmpeg }
}

function costFigures({ quiet, main, small }: Record<'quiet' | 'main' | 'small', Cost>): Figure[] {
  const core = (share: number) => `${rounded(share * 100)} % of a core`
  const shares = (cost: Cost) =>
    `${core(cost.ffmpeg)} ffmpeg and ${core(cost.ours)} gatehouse, against ${core(cost.decode)}`
  const numbers = (cost: Cost) => ({ ffmpegCores: cost.ffmpeg, gatehouseCores: cost.ours, decodeCores: cost.decode })
  return [
    {
      id: 'quiet-camera-cpu',
      what: 'A 1080p25 camera before which nothing moves, against ffmpeg decoding it alone',
      value: (quiet.ours + quiet.ffmpeg) / quiet.decode,
      unit: '×',
      target: { limit: 0.45, sense: 'at most' },
      raw: shares(quiet),
      numbers: numbers(quiet),
    },
    {
      id: 'camera-cpu',
      what: 'The same with two clips in 20 s, and what cuts them, against ffmpeg decoding it alone',
      value: (main.ours + main.ffmpeg) / main.decode,
      unit: '×',
      target: { limit: 1.15, sense: 'at most' },
      raw: shares(main),
      numbers: numbers(main),
    },
    {
      id: 'camera-own-cpu',
      what: 'Of that, what gatehouse takes beside its ffmpeg, over a gateway without a camera',
      value: main.ours / main.decode,
      unit: '×',
      target: { limit: 0.1, sense: 'at most' },
      raw: core(main.ours),
      numbers: numbers(main),
    },
    {
      id: 'sub-stream-cpu',
      what: 'The same camera and clips with detection on a 640×360 stream (`detectUrl`)',
      value: (small.ours + small.ffmpeg) / small.decode,
      unit: '×',
      target: { limit: 0.3, sense: 'at most' },
      raw: shares(small),
      numbers: numbers(small),
    },
  ]
}

function memoryFigures({ none, one, several }: Record<'none' | 'one' | 'several', Held>): Figure[] {
  const mebibytes = (bytes: number) => `${rounded(bytes / mebibyte)} MiB`
  const each = (several.gateway - one.gateway) / (moreCameras - 1)
  const numbers = { noneBytes: none.gateway, oneBytes: one.gateway, severalBytes: several.gateway }
  return [
    {
      id: 'camera-memory',
      what: `Memory of the gateway for each further 1080p camera at 4 Mb/s (5 s of pre-roll), of ${moreCameras}`,
      value: each / mebibyte,
      unit: 'MiB',
      target: { limit: 40, sense: 'at most' },
      raw: `${mebibytes(several.gateway)} against ${mebibytes(one.gateway)} with one, and ${mebibytes(several.ffmpeg / moreCameras)} in each ffmpeg`,
      numbers,
    },
    {
      id: 'first-camera-memory',
      what: 'Memory of the gateway for the first one, with the thread of the cameras',
      value: (one.gateway - none.gateway) / mebibyte,
      unit: 'MiB',
      raw: `${mebibytes(one.gateway)} against ${mebibytes(none.gateway)} without a camera, from the source tree`,
      numbers,
    },
  ]
}

/** A separate ffmpeg that decodes the camera's stream with the flags of detection, and does nothing else. */
function decodingAlone(workshop: Workshop, url: string): { readonly pid: number; end(): void } {
  const input = ['-rtsp_transport', 'tcp', ...decoding, '-i', url]
  const args = ['-nostdin', '-loglevel', 'error', ...input, '-map', '0:v:0', '-an', '-f', 'null', '-']
  const child = workshop.owns(spawn(locateFfmpeg().path, args, { stdio: 'ignore' }))
  return { pid: child.pid ?? 0, end: () => void child.kill('SIGKILL') }
}

/** Processor seconds since the start: of the process, and of its children, ended ones included. */
function cpuOf(pid: number): { ours: number; children: number } {
  return { ours: cpuMs(pid) / 1000, children: (cpuMsOfChildren(pid) + cpuMsOfEnded(pid)) / 1000 }
}
