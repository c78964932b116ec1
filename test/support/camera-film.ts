import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import bwip from 'bwip-js/node'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'

/** Makes what the camera of a device sees for Chromium's `--use-file-for-fake-video-capture`: a code on a grey wall. */
export async function filmOf(folder: string, bcid: 'code128' | 'qrcode', text: string): Promise<string> {
  const [label, film] = [join(folder, `${bcid}.png`), join(folder, `${bcid}.mjpeg`)]
  writeFileSync(label, await bwip.toBuffer({ bcid, text, scale: 4, padding: 12, backgroundcolor: 'ffffff' }))
  const wall = 'color=0x808080:s=1280x720:r=10:d=1[wall];[wall][0:v]overlay=(W-w)/2:(H-h)/2'
  execFileSync(locateFfmpeg().path, [
    ...['-nostdin', '-loglevel', 'error', '-i', label, '-filter_complex', wall, '-c:v', 'mjpeg', '-q:v', '2'],
    ...['-huffman', 'default', '-pix_fmt', 'yuvj420p', '-f', 'mjpeg', '-y', film],
  ])
  return film
}
