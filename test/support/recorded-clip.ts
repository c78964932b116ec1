import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile, executor, openReader, type ReadTx } from '../../src/database/index.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { footage } from './footage.ts'
import { type TestGateway, testGateway } from './gateway.ts'
import { waitUntil } from './waiting.ts'

const ffmpeg = locateFfmpeg().path

/** The address of the one detection of `gatewayWithClip`. */
export const detection = '/api/iot/detection-events/1'
export const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')
export const clipsOf = (gateway: TestGateway) => join(gateway.live.config.dataDir, 'clips')

type Test = { teardown(work: () => unknown): void }

/** A gateway with one recorded detection of vera's camera: 4 s of a person in a hall. The cameras thread runs on request. */
export async function gatewayWithClip(
  t: Test,
  config: Record<string, unknown> = {},
  withThread = false,
): Promise<{ gateway: TestGateway; file: string; clip: Buffer }> {
  const camera = { id: 7, url: 'rtsp://192.0.2.7/main', enabled: false, owner: 'vera', viewers: ['olga', 'sven'] }
  const gateway = await testGateway({ config: { cameras: [camera], ...config } })
  t.teardown(async () => {
    await gateway.camerasThread.stop()
    gateway.end()
  })
  const folder = clipsOf(gateway)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, '1.mp4')
  const { file: source, fps, durationMs } = await footage('passer')
  // A picture 1 s in is the first that is shown: the beginning is hidden, as in a clip whose pre-roll begins within a group.
  const hidden = [
    '-itsoffset',
    '-0.5',
    '-f',
    'mpegts',
    '-i',
    'pipe:0',
    '-map',
    '0:v:0',
    '-c',
    'copy',
    '-copypriorss',
    '1',
  ]
  const stream = execFileSync(
    ffmpeg,
    [
      '-loglevel',
      'error',
      '-r',
      `${fps}`,
      '-f',
      'h264',
      '-i',
      source,
      '-c',
      'copy',
      '-f',
      'mpegts',
      '-muxdelay',
      '0',
      '-muxpreload',
      '0',
      'pipe:1',
    ],
    { maxBuffer: 1 << 26 },
  )
  execFileSync(
    ffmpeg,
    ['-loglevel', 'error', ...hidden, '-metadata', 'title=hall of Ada', '-movflags', '+faststart', '-f', 'mp4', file],
    {
      input: stream,
    },
  )
  const clip = readFileSync(file)
  const motionAt = gateway.clock.now()
  gateway.cameras.heard({
    type: 'clipClosed',
    ...{ detectionId: 1, cameraId: 7, motionAt, score: 0.5, sceneChange: false, file: '1.mp4' },
    ...{ sha256: sha256(clip), sizeBytes: clip.length, startedAt: motionAt - 500, endedAt: motionAt + 2900 },
    ...{ preRollSeconds: 0.5, askedPreRollSeconds: 0.5, durationSeconds: (durationMs - 500) / 1000, pictures: 52 },
    ...{
      longestGapSeconds: 0.07,
      original: true,
      width: 320,
      height: 180,
      peakScore: 0.6,
      snapshot: null,
      closedBy: 'post-roll',
    },
  })
  await gateway.audit('test.settled', {})
  if (withThread) {
    gateway.camerasThread.start()
    await waitUntil('the cameras thread runs', () => gateway.camerasThread.isRunning)
  }
  return { gateway, file, clip }
}

/** The pictures of a file, as gray values, with their times in seconds from the first. */
export function picturesOf(file: string): { at: number; gray: Buffer }[] {
  const size = 320 * 180
  const raw = execFileSync(
    ffmpeg,
    ['-loglevel', 'fatal', '-i', file, '-vsync', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'gray', 'pipe:1'],
    {
      maxBuffer: 1 << 28,
    },
  )
  return Array.from({ length: raw.length / size }, (_, i) => ({
    at: i / 15,
    gray: raw.subarray(i * size, (i + 1) * size),
  }))
}

type Box = { readonly x0: number; readonly y0: number; readonly x1: number; readonly y1: number }

/** The gray values of a picture inside a box of pixels, or outside of it. */
export function valuesIn(gray: Buffer, { x0, y0, x1, y1 }: Box, isInside: boolean): number[] {
  return [...gray].filter((_, i) => {
    const [x, y] = [i % 320, Math.floor(i / 320)]
    return (x >= x0 && x < x1 && y >= y0 && y < y1) === isInside
  })
}

export function variance(values: readonly number[]): number {
  const mean = values.reduce((a, b) => a + b, 0) / values.length
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
}

export function psnr(one: readonly number[], other: readonly number[]): number {
  const error = one.reduce((sum, value, i) => sum + (value - (other[i] ?? 0)) ** 2, 0) / one.length
  return error === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10(255 ** 2 / error)
}

/** Reads the database of a gateway. */
export function reading<T>(gateway: TestGateway, look: (tx: ReadTx) => T): T {
  const db = openReader(databaseFile(gateway.live.config.dataDir))
  try {
    return look(executor(db))
  } finally {
    db.close()
  }
}
