import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import type { Clip } from './rtsp/server.ts'

const [width, height, fps, seconds] = [320, 180, 10, 6]

/** Where the white spot is in every picture, in shares of it. */
export const spot = { x: 160 / width, y: 50 / height, width: 80 / width, height: 40 / height }

/** A dark picture with a white spot that stands still; below it something darker moves for a second and a half. */
export function brightSpot(folder: string): Clip {
  const file = join(folder, 'spot.h264')
  const dark = `color=black:s=${width}x${height}:r=${fps}:d=${seconds},drawbox=160:50:80:40:white:fill[scene]`
  const mover = `color=0x505050:s=60x40:r=${fps}:d=${seconds}[mover]`
  const moves = `[scene][mover]overlay=x='(t-2)*160':y=130:enable='between(t,2,3.5)'`
  execFileSync(locateFfmpeg().path, [
    ...['-nostdin', '-loglevel', 'error', '-filter_complex', `${dark};${mover};${moves}`, '-pix_fmt', 'yuv420p'],
    ...['-c:v', 'libx264', '-profile:v', 'main', '-bf', '0', '-g', String(fps), '-keyint_min', String(fps)],
    ...['-sc_threshold', '0', '-b:v', '500k', '-f', 'h264', '-y', file],
  ])
  return { file, codec: 'h264', width, height, fps } as Clip
}
