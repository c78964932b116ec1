import { execFileSync } from 'node:child_process'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { FrameSplitter, frameSize, framesPerSecond } from '../../src/video/index.ts'

const quiet = ['-nostdin', '-loglevel', 'error', '-y']
const raw = ['-f', 'rawvideo', '-pix_fmt', 'rgba']

/** Encodes drawn frames in 640×360 as a camera with a small stream would; the end of the name of the file says the format. */
export function encodeFrames(frames: readonly Uint8Array[], file: string): void {
  const size = `${frameSize.width}x${frameSize.height}`
  const input = [...raw, '-s', size, '-r', String(framesPerSecond), '-i', 'pipe:0']
  const larger = ['-vf', 'scale=640:360:flags=bicubic']
  const quality = ['-preset', 'veryfast', '-bf', '0', '-g', '10', '-crf', '28', '-pix_fmt', 'yuv420p']
  const args = [...quiet, ...input, ...larger, '-c:v', 'libx264', ...quality, file]
  execFileSync(locateFfmpeg().path, args, { input: Buffer.concat(frames) })
}

/** Encodes frames, and decodes them as the gateway does. */
export function encodedAndBack(frames: readonly Uint8Array[], file: string): Uint8Array[] {
  encodeFrames(frames, file)
  const smaller = ['-vf', 'scale=160:90:flags=area']
  const args = [...quiet, '-i', file, ...smaller, ...raw, 'pipe:1']
  const decoded = execFileSync(locateFfmpeg().path, args, { maxBuffer: 1 << 30 })
  return new FrameSplitter().push(decoded, 0).map(({ pixels }) => pixels)
}
