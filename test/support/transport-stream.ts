import { execFileSync } from 'node:child_process'

/** A clip as the ingest's ffmpeg writes it; it begins at `offset`, in seconds. */
export function transportStream(
  clip: { readonly file: string; readonly codec: string; readonly fps: number },
  ffmpeg: string,
  offset = '0',
): Buffer {
  const input = ['-nostdin', '-loglevel', 'error', '-r', String(clip.fps), '-f', clip.codec, '-i', clip.file]
  const time = ['-output_ts_offset', offset, '-muxdelay', '0', '-muxpreload', '0']
  return execFileSync(ffmpeg, [...input, '-c', 'copy', '-f', 'mpegts', ...time, 'pipe:1'], { maxBuffer: 64 << 20 })
}
