import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import type { LocalAccount } from '../../src/auth/index.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { decoding } from '../../src/video/decoding/frame-process.ts'
import { footage } from '../../test/support/footage.ts'
import { type RtspServer, startRtspServer } from '../../test/support/rtsp/server.ts'
import { buildBinary, thisArch } from '../build.ts'
import { freePort } from '../demo-parts/ports.ts'
import { childrenOf, cpuMsOfChildren } from './family.ts'
import { type Figure, rounded } from './figure.ts'
import { type Served, serve, serveGateway, unitMemory } from './served.ts'
import { makeAccount, writeConfig } from './site.ts'
import { cpuMs, cpuMsOfEnded, memoryOf, type Workshop } from './workshop.ts'

const watchedSeconds = 40
/** Code that runs seldom is compiled late, and a decoder sleeps after half a minute at the earliest. */
const settleMs = 45_000
const mebibyte = 1024 * 1024
/** As many as a small box with 2 GB has to hold. */
const crowd = 16
/** MemoryHigh of the unit on that box. */
const mostOfSmallBox = Math.floor((0.6 * 2e9) / mebibyte)
const motion = { preRecordSeconds: 5, postRecordSeconds: 1, cooldownSeconds: 0 }

/**
 * Cores, over the same seconds. `ours` is of the gateway, and `ffmpeg` of the processes that it started. Both are taken over a
 * gateway without a camera, which starts some too. `decode` is of an ffmpeg that only decodes.
 */
type Cost = { readonly ours: number; readonly ffmpeg: number; readonly decode: number }

/** Resident bytes of a gateway and of its ffmpegs; `fair`: of all of them, each shared page counted once. */
type Held = { readonly gateway: number; readonly ffmpeg: number; readonly fair: number }

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
  const halls = Object.fromEntries(Array.from({ length: crowd }, (_, i) => [`hall${i}`, empty]))
  const rtsp = await startRtspServer({ streams: { door, small, empty, ...halls } })
  try {
    const account = await makeAccount()
    const idle = await serveGateway(workshop, workshop.newFolder('no-camera'), account)
    const quiet = await watched(workshop, account, rtsp, idle, { url: rtsp.url('empty') })
    const main = await watched(workshop, account, rtsp, idle, {})
    const sub = await watched(workshop, account, rtsp, idle, { detectUrl: rtsp.url('small') })
    await idle.end()
    const { path: command } = await buildBinary({ arch: thisArch() })
    const held = (count: number) =>
      heldWith(
        workshop,
        account,
        command,
        Object.keys(halls)
          .slice(0, count)
          .map((name) => rtsp.url(name)),
      )
    return [
      ...costFigures({ quiet, main, small: sub }),
      ...memoryFigures({ none: await held(0), one: await held(1), many: await held(crowd) }),
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
): Promise<Cost> {
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
  await served.end()
  const cores = (of: (time: typeof before) => number) => (of(after) - of(before)) / watchedSeconds
  const ours = cores((time) => time.ours - time.idle.ours)
  const ffmpeg = cores((time) => time.children - time.idle.children)
  return { ours, ffmpeg, decode: cores((time) => time.decode) }
}

/** Returns the memory of the binary as a box starts it, once the decoders sleep. */
async function heldWith(
  workshop: Workshop,
  account: LocalAccount,
  command: string,
  urls: readonly string[],
): Promise<Held> {
  const folder = workshop.newFolder(`${urls.length}-cameras`)
  const port = await freePort()
  const cameras = urls.map((url, i) => ({ id: i + 1, url, motion }))
  const args = ['serve', '--config', writeConfig(folder, account, { cameras, listen: [{ host: '127.0.0.1', port }] })]
  const served = await serve(workshop, { command, args, folder, port, path: '/api/ping', env: unitMemory() })
  await pause(settleMs + watchedSeconds * 1000)
  const children = childrenOf(served.pid)
  const ffmpeg = children.reduce((sum, child) => sum + memoryOf(child).residentBytes, 0)
  const fair = [served.pid, ...children].reduce((sum, one) => sum + memoryOf(one).fairBytes, 0)
  const held = { gateway: memoryOf(served.pid).residentBytes, ffmpeg, fair }
  await served.end()
  return held
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

function memoryFigures({ none, one, many }: Record<'none' | 'one' | 'many', Held>): Figure[] {
  const mebibytes = (bytes: number) => `${rounded(bytes / mebibyte)} MiB`
  const numbers = { noneBytes: none.gateway, oneBytes: one.gateway, manyBytes: many.gateway, fairBytes: many.fair }
  return [
    {
      id: 'camera-memory',
      what: `Memory of the gateway for each further 1080p camera (5 s of pre-roll), of ${crowd}`,
      value: (many.gateway - one.gateway) / (crowd - 1) / mebibyte,
      unit: 'MiB',
      target: { limit: 40, sense: 'at most' },
      raw: `${mebibytes(many.gateway)} against ${mebibytes(one.gateway)} with one`,
      numbers,
    },
    {
      id: 'first-camera-memory',
      what: 'Memory of the gateway for the first one, with the thread of the cameras',
      value: (one.gateway - none.gateway) / mebibyte,
      unit: 'MiB',
      target: { limit: 45, sense: 'at most' },
      raw: `${mebibytes(one.gateway)} against ${mebibytes(none.gateway)} without a camera`,
      numbers,
    },
    {
      id: 'many-cameras-memory',
      what: `Memory of ${crowd} 1080p cameras with their ffmpegs, shared pages counted once`,
      value: many.fair / mebibyte,
      unit: 'MiB',
      target: { limit: mostOfSmallBox, sense: 'at most' },
      raw: `${mebibytes(many.gateway)} resident in the gateway, ${mebibytes(many.ffmpeg / crowd)} in the two ffmpegs of each camera`,
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
