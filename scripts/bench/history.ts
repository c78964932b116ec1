import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { footage } from '../../test/support/footage.ts'
import { startRtspServer } from '../../test/support/rtsp/server.ts'
import { childrenOf, familyOf } from './family.ts'
import { type Figure, rounded } from './figure.ts'
import { serveGateway } from './served.ts'
import { makeAccount } from './site.ts'
import { cpuMs, type Workshop } from './workshop.ts'

/** Code that runs seldom is compiled late. */
const settleMs = 20_000
const watchedSeconds = 40

/**
 * Measures one 1080p25 camera with continuous history and without detection. The gateway with its ffmpeg, less a
 * gateway without a camera, is compared with `ffmpeg -c copy` of the same stream in the same seconds.
 */
export async function measureHistory(workshop: Workshop): Promise<Figure[]> {
  const scene = await footage('crossing-1080p')
  const rtsp = await startRtspServer({ streams: { door: scene } })
  try {
    const account = await makeAccount()
    const url = rtsp.url('door')
    const cameras = [{ id: 1, url, motion: { enabled: false }, history: { hours: 1, stream: 'main' } }]
    const keeping = await serveGateway(workshop, workshop.newFolder('history'), account, { cameras })
    const idle = await serveGateway(workshop, workshop.newFolder('no-history'), account)
    const args = ['-nostdin', '-loglevel', 'error', '-rtsp_transport', 'tcp', '-i', url, '-map', '0:v:0', '-c', 'copy']
    const file = join(workshop.newFolder('copy'), 'copy.ts')
    const copy = workshop.owns(spawn(locateFfmpeg().path, [...args, '-f', 'mpegts', file], { stdio: 'ignore' }))
    await pause(settleMs)
    const pids = { keeping: familyOf(keeping.pid), idle: familyOf(idle.pid), copy: [copy.pid ?? 0] }
    const used = (of: readonly number[]) => of.reduce((sum, pid) => sum + cpuMs(pid), 0) / 1000 / watchedSeconds
    const usedBy = () => ({ keeping: used(pids.keeping), idle: used(pids.idle), copy: used(pids.copy) })
    const ffmpegOf = () => used(childrenOf(keeping.pid))
    const [before, ffmpegBefore] = [usedBy(), ffmpegOf()]
    await pause(watchedSeconds * 1000)
    const [after, ffmpegAfter] = [usedBy(), ffmpegOf()]
    copy.kill('SIGKILL')
    await Promise.all([keeping.end(), idle.end()])
    const kept = after.keeping - before.keeping - (after.idle - before.idle)
    return [figureOf(kept, ffmpegAfter - ffmpegBefore, after.copy - before.copy)]
  } finally {
    await rtsp.stop()
  }
}

function figureOf(kept: number, ffmpeg: number, copy: number): Figure {
  const core = (share: number) => `${rounded(share * 100)} % of a core`
  return {
    id: 'history-cpu',
    what: 'A 1080p25 camera kept continuously, without detection, against `ffmpeg -c copy`',
    value: kept / copy,
    unit: '×',
    target: { limit: 1.1, sense: 'at most' },
    raw: `${core(kept)}, of which ${core(ffmpeg)} in its ffmpeg, against ${core(copy)}`,
    numbers: { keptCores: kept, ffmpegCores: ffmpeg, copyCores: copy },
  }
}
