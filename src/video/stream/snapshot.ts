import { spawn } from 'node:child_process'
import type { Clock } from '../../platform/index.ts'
import { endAfter } from '../ffmpeg/ffmpeg-run.ts'
import { payloadOf, type Unit } from '../format/transport-stream.ts'
import { keep } from '../format/video-blocks.ts'
import type { Cut, Ring } from './ring.ts'

/** Pictures that are older are not shown as the newest one. */
const freshMs = 2000
/** A decoder that takes longer is ended. */
const timeoutMs = 10_000
/** The last pictures of a group are decoded into this span, because times may be rounded. */
const spanSeconds = 0.15
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/**
 * Resolves with the newest group of pictures as soon as its last one is fresh: at once, or when the next picture has
 * come. Its bytes stay as they are. Resolves with undefined when none has come within `withinMs`.
 */
export function freshGroup(ring: Ring, clock: Clock, withinMs: number): Promise<Cut | undefined> {
  const found = () => {
    const cut = ageMs(ring, clock) <= freshMs ? ring.newestGroup() : undefined
    for (const { bytes } of cut?.units ?? []) keep(bytes)
    return cut
  }
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

/**
 * Returns the last picture of a cut in its full size, as PNG. The encoder is ffmpeg too: in this thread it would keep the cameras
 * waiting. Rejects when ffmpeg cannot.
 */
export async function lastPicture(
  ffmpeg: string,
  { codec, tables, units, firstPtsMs }: Cut,
): Promise<Uint8Array<ArrayBuffer>> {
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
  const picture = lastPng(wrote)
  if (!picture) throw new Error('ffmpeg wrote no picture')
  return picture
}

/** The cheapest level: the noise of a camera hardly compresses. */
const png = ['-c:v', 'png', '-compression_level', '1', '-pix_fmt', 'rgb24']

function decode(ffmpeg: string, input: readonly string[], parts: readonly Uint8Array[]): Promise<Buffer> {
  const output = ['-map', '0:v:0', '-vsync', '0', '-f', 'image2pipe', ...png, 'pipe:1']
  return new Promise((resolve, reject) => {
    const wrote: Buffer[] = []
    let said = ''
    const args = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-threads', '1', ...input, ...output]
    const child = spawn(ffmpeg, args, { stdio: 'pipe' })
    // First of all: without free files the process has no pipes either.
    child.on('error', reject)
    endAfter(child, timeoutMs)
    child.stdin.on('error', () => {})
    child.stdin.end(Buffer.concat(parts))
    child.stdout.on('data', (bytes: Buffer) => wrote.push(bytes))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-1000)
    })
    child.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(wrote))
      else reject(new Error(`ffmpeg ended with ${signal ?? code}: ${said.trim()}`))
    })
  })
}

/** Returns the last of several PNG pictures in a separate buffer, which can be handed over; undefined without a whole one. */
export function lastPng(bytes: Buffer): Uint8Array<ArrayBuffer> | undefined {
  let last: Buffer | undefined
  for (let at = 0; bytes.subarray(at, at + signature.length).equals(signature); ) {
    const end = endOfPng(bytes, at)
    if (end === undefined) break
    last = bytes.subarray(at, end)
    at = end
  }
  return last && new Uint8Array(last)
}

/** A PNG is its signature and chunks: length, type, content and CRC. `IEND` is the last. */
function endOfPng(bytes: Buffer, begin: number): number | undefined {
  for (let at = begin + signature.length; at + 12 <= bytes.length; ) {
    const end = at + 12 + bytes.readUInt32BE(at)
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') return end <= bytes.length ? end : undefined
    at = end
  }
  return undefined
}
