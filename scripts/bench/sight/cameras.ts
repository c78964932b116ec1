/** Films pictures as a camera sends them, and decodes them as the gateway does. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { locateFfmpeg } from '../../../src/platform/ffmpeg.ts'
import { decoding } from '../../../src/video/decoding/frame-process.ts'
import { frameSize, framesPerSecond } from '../../../src/video/index.ts'

/** Settings of a camera's sensor and encoder. Its pictures have 640×360 pixels. */
export type Camera = {
  readonly codec: 'h264' | 'hevc'
  readonly fps: number
  readonly gopSeconds: number
  readonly kbps: number
  /** Fills up to the bit rate when nothing moves. */
  readonly constant?: true
  readonly bFrames?: number
  /** Sends no picture that hardly differs from the one before, for up to five pictures. */
  readonly skips?: true
  /** Strength of the sensor's grain in each pixel, for the noise filter of ffmpeg. */
  readonly grain: number
}

export const cameras: readonly Camera[] = [
  { codec: 'h264', fps: 10, gopSeconds: 2, kbps: 700, grain: 10 },
  { codec: 'h264', fps: 12, gopSeconds: 2, kbps: 600, constant: true, grain: 16 },
  { codec: 'hevc', fps: 8, gopSeconds: 4, kbps: 500, grain: 12 },
  { codec: 'h264', fps: 10, gopSeconds: 10, kbps: 500, skips: true, grain: 6 },
  { codec: 'h264', fps: 15, gopSeconds: 4, kbps: 2000, bFrames: 2, grain: 20 },
  { codec: 'hevc', fps: 10, gopSeconds: 10, kbps: 600, constant: true, grain: 20 },
  { codec: 'h264', fps: 8, gopSeconds: 1, kbps: 500, constant: true, grain: 16 },
  { codec: 'h264', fps: 30, gopSeconds: 2, kbps: 4000, grain: 12 },
  { codec: 'h264', fps: 5, gopSeconds: 5, kbps: 500, grain: 8 },
  { codec: 'h264', fps: 10, gopSeconds: 10, kbps: 700, grain: 20 },
]

const size = '640x360'
const quiet = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-y', '-threads', '1', '-filter_threads', '1']
export type Pixels = 'gray' | 'rgba'

type Decoding = { readonly pixels: Pixels; readonly phase?: number; readonly leadSeconds?: number }

/** Encodes pictures; those of the small size are grey, and are drawn at the camera's rate. */
async function film(pictures: Iterable<Uint8Array>, from: 'small' | 'full', camera: Camera, file: string) {
  const { fps, grain, skips } = camera
  const shape = from === 'small' ? `${frameSize.width}x${frameSize.height}` : size
  const format = from === 'small' ? 'gray' : 'yuv420p'
  const input = ['-f', 'rawvideo', '-pix_fmt', format, '-s', shape, '-r', String(fps), '-i', 'pipe:0']
  const filters = [
    ...(from === 'small' ? ['scale=640:360:flags=bicubic'] : []),
    'format=yuv420p',
    `noise=c0s=${grain}:c0f=t:c1s=${grain >> 1}:c1f=t:c2s=${grain >> 1}:c2f=t`,
    ...(skips ? [`mpdecimate=max=5:hi=${64 * 30}:lo=${64 * 20}:frac=0.3`] : []),
  ]
  const args = [...quiet, ...input, '-vf', filters.join(','), '-vsync', 'vfr', ...encoder(camera), file]
  const child = spawn(locateFfmpeg().path, args, { stdio: ['pipe', 'inherit', 'inherit'] })
  const ended = once(child, 'exit')
  await pipeline(Readable.from(pictures), child.stdin)
  const [code] = await ended
  if (code !== 0) throw new Error(`ffmpeg made no film: ${code}`)
}

function encoder({ codec, fps, gopSeconds, kbps, constant, bFrames = 0 }: Camera): string[] {
  const gop = fps * gopSeconds
  if (codec === 'hevc') {
    const params = [
      ...[`keyint=${gop}`, `min-keyint=${gop}`, 'scenecut=0', `bframes=${bFrames}`, 'open-gop=0', 'log-level=none'],
      ...['pools=1', 'frame-threads=1', `vbv-maxrate=${kbps}`, `vbv-bufsize=${kbps}`],
      ...(constant ? [`bitrate=${kbps}`] : ['crf=28']),
    ].join(':')
    return ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', params]
  }
  const rate = ['-maxrate', `${kbps}k`, '-bufsize', `${kbps}k`]
  const quality = constant ? ['-b:v', `${kbps}k`, '-minrate', `${kbps}k`, '-nal-hrd', 'cbr'] : ['-crf', '28']
  const groups = ['-g', `${gop}`, '-keyint_min', `${gop}`, '-sc_threshold', '0', '-bf', `${bFrames}`]
  return ['-c:v', 'libx264', '-preset', 'superfast', '-profile:v', 'main', ...groups, ...quality, ...rate]
}

/**
 * Decodes a film to the gateway's small pictures, in one file.
 * @param phase 0 to 1: where between two of them the first one is taken
 * @param leadSeconds the first picture is shown for so long before the film begins
 */
export function decode(film: string, into: string, { pixels, phase = 0, leadSeconds = 0 }: Decoding): void {
  const filters = [
    ...(leadSeconds > 0 ? [`tpad=start_mode=clone:start_duration=${leadSeconds}`] : []),
    `setpts=PTS-STARTPTS+${(phase / framesPerSecond).toFixed(3)}/TB`,
    `fps=${framesPerSecond},scale=${frameSize.width}:${frameSize.height}:flags=area`,
  ]
  mkdirSync(dirname(into), { recursive: true })
  const unfinished = `${into}.tmp`
  const input = [...decoding, '-i', film, '-map', '0:v:0', '-an', '-vf', filters.join(',')]
  execFileSync(locateFfmpeg().path, [...quiet, ...input, '-pix_fmt', pixels, '-f', 'rawvideo', unfinished])
  renameSync(unfinished, into)
}

/** Films pictures, decodes the film and removes it. */
export async function filmAndDecode(
  pictures: Iterable<Uint8Array>,
  from: 'small' | 'full',
  camera: Camera,
  into: string,
) {
  const made = `${into}.mkv`
  mkdirSync(dirname(into), { recursive: true })
  try {
    await film(pictures, from, camera, made)
    decode(made, into, { pixels: 'gray' })
  } finally {
    rmSync(made, { force: true })
  }
}
