import { execFile } from 'node:child_process'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'

const limitMs = 60_000

/** Length and pictures of a played video file. */
export type Played = { readonly seconds: number; readonly pictures: number }

/** Decodes a video file from start to end; rejects when ffmpeg complains of anything. */
export function playToEnd(file: string): Promise<Played> {
  // Without a fine time base ffmpeg rounds to whole pictures, and complains of any two that come a little too close.
  const output = ['-enc_time_base', '1:90000', '-f', 'null', '-']
  const args = ['-nostdin', '-hide_banner', '-v', 'error', '-progress', 'pipe:1', '-i', file, ...output]
  return new Promise((resolve, reject) => {
    execFile(locateFfmpeg().path, args, { timeout: limitMs, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      if (error || stderr !== '') reject(new Error(`the clip does not play: ${stderr.trim() || error?.message}`))
      else resolve({ seconds: secondsOf(lastOf(stdout, 'out_time')), pictures: Number(lastOf(stdout, 'frame')) })
    })
  })
}

/** ffmpeg reports `name=value` again and again; the last one counts. */
function lastOf(report: string, name: string): string {
  return [...report.matchAll(new RegExp(`^${name}=\\s*(\\S+)$`, 'gm'))].at(-1)?.[1] ?? ''
}

/** Of `00:00:07.066667`; NaN when it is no time. */
function secondsOf(time: string): number {
  const [hours = Number.NaN, minutes = Number.NaN, seconds = Number.NaN] = time.split(':').map(Number)
  return hours * 3600 + minutes * 60 + seconds
}
