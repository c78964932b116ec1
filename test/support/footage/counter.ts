import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const bits = 16
/** Share of the height of the picture. */
const stripShare = 1 / 36
const black = 16
const white = 235

/** Writes a number into the top edge of a picture: 16 blocks, white for 1, the highest bit at the left. */
export function paintCounter(luma: Uint8ClampedArray, width: number, height: number, number: number): void {
  const rows = Math.round(height * stripShare)
  for (let y = 0; y < rows; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const bit = bits - 1 - Math.floor((x * bits) / width)
      luma[y * width + x] = (number >> bit) & 1 ? white : black
    }
  }
}

/** The numbers of all pictures that a player shows of a file, in its order. Cameras of the same process go on meanwhile. */
export async function countersIn(file: string, ffmpeg: string): Promise<number[]> {
  const filter = `crop=iw:ih*${stripShare}:0:0,scale=${bits}:1:flags=area`
  const args = ['-nostdin', '-loglevel', 'error', '-i', file, '-map', '0:v:0', '-vsync', 'passthrough', '-vf', filter]
  const { stdout: raw } = await promisify(execFile)(ffmpeg, [...args, '-pix_fmt', 'gray', '-f', 'rawvideo', 'pipe:1'], {
    maxBuffer: 16 << 20,
    encoding: 'buffer',
  })
  return Array.from({ length: raw.length / bits }, (_, i) =>
    raw.subarray(i * bits, (i + 1) * bits).reduce((number, level) => number * 2 + (level > 127 ? 1 : 0), 0),
  )
}
