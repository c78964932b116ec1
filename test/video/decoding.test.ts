/** The small pictures that motion is found in, against those that the codec defines. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { FrameSplitter } from '../../src/video/index.ts'
import { fileArgs } from '../../src/video/stream/ingest.ts'

const quiet = ['-nostdin', '-loglevel', 'error', '-y']
const run = (args: readonly string[]) => execFileSync(locateFfmpeg().path, args, { maxBuffer: 1 << 28 })

/** A still wall with the grain of a sensor, for eight seconds after one key frame. */
function film(file: string, bFrames: number): void {
  const wall = 'testsrc2=s=320x180:r=5:d=8,trim=end_frame=1,loop=40:1,noise=alls=20:allf=t'
  const groups = ['-g', '100', '-bf', String(bFrames), '-crf', '34', '-pix_fmt', 'yuv420p']
  run([...quiet, '-f', 'lavfi', '-i', wall, '-c:v', 'libx264', '-preset', 'veryfast', ...groups, file])
}

const pictures = (bytes: Buffer) => new FrameSplitter().push(bytes, 0).map(({ pixels }) => pixels)

/** The pictures of a file by the arguments of the gateway, read once and as fast as possible. */
function byGateway(file: string): Uint8Array[] {
  const args = fileArgs(file, { video: false, frames: true })
  const once = args.filter((arg, i) => !['-re', '-stream_loop'].includes(arg) && args[i - 1] !== '-stream_loop')
  return pictures(run(once.map((arg) => (arg === 'pipe:3' ? 'pipe:1' : arg))))
}

const byCodec = (file: string) =>
  pictures(
    run([...quiet, '-i', file, '-vf', 'fps=5,scale=160:90:flags=area', '-pix_fmt', 'rgba', '-f', 'rawvideo', '-']),
  )

const meanDifference = (a: Uint8Array, b: Uint8Array) =>
  a.reduce((sum, value, i) => sum + Math.abs(value - (b[i] ?? 0)), 0) / a.length

t.test('long after a key frame, the small pictures are those that the codec defines', async (t) => {
  for (const bFrames of [0, 2]) {
    const file = join(t.testdir(), 'wall.mp4')
    film(file, bFrames)
    const [seen, defined] = [byGateway(file), byCodec(file)]
    t.equal(seen.length, defined.length)
    const apart = seen.map((picture, i) => meanDifference(picture, defined[i] as Uint8Array))
    t.ok(Math.max(...apart) < 1, `${bFrames} B-frames: ${Math.max(...apart).toFixed(2)} of 255 steps apart`)
  }
})
