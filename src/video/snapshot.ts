import { spawn } from 'node:child_process'
import { PNG } from 'pngjs'
import type { Clock } from '../platform/index.ts'
import type { Cut, Ring } from './ring.ts'
import { payloadOf, type Unit } from './transport-stream.ts'

export type Picture = { readonly width: number; readonly height: number; readonly rgb: Buffer }

/** Pictures that are older are not shown as the newest one. */
const freshMs = 2000
/** A decoder that takes longer is ended. */
const timeoutMs = 10_000
/** The last pictures of a group are decoded into this span, because times may be rounded. */
const spanSeconds = 0.15
const rgb = 2

/**
 * Resolves with the newest group of pictures as soon as its last one is fresh: at once, or when the next picture has
 * come. Resolves with undefined when none has come within `withinMs`.
 */
export function freshGroup(ring: Ring, clock: Clock, withinMs: number): Promise<Cut | undefined> {
  const found = () => (ageMs(ring, clock) <= freshMs ? ring.newestGroup() : undefined)
  const now = found()
  if (now) return Promise.resolve(now)
  return new Promise((resolve) => {
    const end = (cut: Cut | undefined) => {
      cancel()
      unsubscribe()
      resolve(cut)
    }
    const cancel = clock.after(withinMs, () => end(undefined))
    const unsubscribe = ring.subscribe({
      unit: () => {
        const cut = found()
        if (cut) end(cut)
      },
      broken: () => {},
    })
  })
}

/** Returns how long ago the newest picture came from the camera. */
export function ageMs(ring: Ring, clock: Clock): number {
  return clock.monotonic() - (ring.newestMs ?? -Infinity)
}

/** Decodes the last picture of a cut in its full size. Rejects when ffmpeg cannot. */
export async function lastPicture(ffmpeg: string, { codec, tables, units, firstPtsMs }: Cut): Promise<Picture> {
  const last = Math.max(...units.map(({ ptsMs }) => ptsMs))
  const fromSeconds = Math.max((last - firstPtsMs) / 1000 - spanSeconds, 0).toFixed(3)
  const newest = units.at(-1) as Unit
  const wrote =
    codec === 'mjpeg'
      ? await decode(ffmpeg, ['-f', 'mjpeg', '-i', 'pipe:0'], [payloadOf(newest)])
      : await decode(
          ffmpeg,
          // Frames before the span are decoded, because later ones need them, and not written.
          ['-f', 'mpegts', '-i', 'pipe:0', '-vf', `select=gte(t\\,${fromSeconds})`],
          [tables, ...units.map(({ bytes }) => bytes)],
        )
  const picture = lastOf(wrote)
  if (!picture) throw new Error('ffmpeg wrote no picture')
  return picture
}

/** Encodes a picture as PNG. The compression runs beside this thread. */
export function asPng({ width, height, rgb: data }: Picture): Promise<Uint8Array<ArrayBuffer>> {
  // The cheapest filter and level: a camera's noise hardly compresses, and the thread must not wait.
  const png = new PNG({ colorType: rgb, inputColorType: rgb, inputHasAlpha: false, filterType: 0, deflateLevel: 1 })
  Object.assign(png, { width, height, data })
  const parts: Buffer[] = []
  return new Promise((resolve, reject) => {
    png.on('data', (part: Buffer) => parts.push(part)).on('error', reject)
    // A buffer of its own, which can be handed over.
    png.on('end', () => resolve(new Uint8Array(Buffer.concat(parts))))
    png.pack()
  })
}

function decode(ffmpeg: string, input: readonly string[], parts: readonly Uint8Array[]): Promise<Buffer> {
  const output = ['-map', '0:v:0', '-vsync', '0', '-f', 'image2pipe', '-c:v', 'ppm', 'pipe:1']
  return new Promise((resolve, reject) => {
    const wrote: Buffer[] = []
    let said = ''
    const child = spawn(
      ffmpeg,
      ['-nostdin', '-hide_banner', '-loglevel', 'error', '-threads', '1', ...input, ...output],
      {
        ...{ stdio: 'pipe', timeout: timeoutMs, killSignal: 'SIGKILL' },
      },
    )
    child.stdin.on('error', () => {})
    child.stdin.end(Buffer.concat(parts))
    child.stdout.on('data', (bytes: Buffer) => wrote.push(bytes))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-1000)
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(wrote))
      else reject(new Error(`ffmpeg ended with ${signal ?? code}: ${said.trim()}`))
    })
  })
}

/** Returns the last of several PPM pictures. Their headers have no comments. */
function lastOf(bytes: Buffer): Picture | undefined {
  let picture: Picture | undefined
  for (let at = 0; at < bytes.length; ) {
    const head = /^P6\n(\d+) (\d+)\n255\n/.exec(bytes.toString('latin1', at, at + 40))
    if (!head) return picture
    const [width, height] = [Number(head[1]), Number(head[2])]
    const begin = at + head[0].length
    at = begin + width * height * 3
    if (at <= bytes.length) picture = { width, height, rgb: bytes.subarray(begin, at) }
  }
  return picture
}
