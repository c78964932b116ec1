/**
 * Pictures of a warehouse hall with known truth, drawn here. Encoded by ffmpeg as a camera would: no B-frames (but for
 * one), parameter sets before every key frame, a limited bit rate. Made at first use and cached in `.cache/footage`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { assetPath } from '../../src/platform/bundle.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import type { LensAct } from './footage/lens.ts'
import { type Act, type Format, type LightStep, pictures, pictureTimes, type Scene } from './footage/scene.ts'
import type { Clip } from './rtsp/server.ts'

/** A clip for a camera, and its true content. */
export type Footage = Clip & {
  readonly width: number
  readonly height: number
  /** Length of one round; it is then repeated. */
  readonly durationMs: number
  /** When each picture of the file is shown, from the beginning of a round. */
  readonly timesMs: readonly number[]
  /** Distance of the keyframes. */
  readonly gopMs: number
  /** When something moves; at all other times nothing does. In order, without overlap. */
  readonly motion: readonly Act[]
  /** When the light is switched; at the seam it is back at full. */
  readonly lightSteps: readonly LightStep[]
}

type Recipe = Scene &
  Format & {
    readonly codec: Clip['codec']
    readonly gopMs: number
    readonly kbps: number
    /** The encoder fills up to the bit rate, as many cameras do. */
    readonly filled?: boolean
    /** Two B-frames between others: the file is in another order than the pictures are seen. */
    readonly reordered?: boolean
    /** Something hangs before the lens. */
    readonly covered?: boolean
  }

const root = resolve(import.meta.dirname, '../..')
const small = { width: 640, height: 360, fps: 15, codec: 'h264', gopMs: 1000, kbps: 900 } as const
const large = { width: 1920, height: 1080, fps: 25, codec: 'h264', gopMs: 2000, kbps: 4000 } as const

/** Both kinds of motion, one after the other, with still times before, between and after. */
const crossing: Scene = {
  durationMs: 20_000,
  acts: [
    { what: 'person', fromMs: 8000, toMs: 12_000 },
    { what: 'forklift', fromMs: 15_000, toMs: 18_400 },
  ],
  lightSteps: [],
}
const nobody: Scene = { durationMs: 10_000, acts: [], lightSteps: [] }
const lightSwitch: Scene = {
  durationMs: 12_000,
  acts: [],
  lightSteps: [
    { atMs: 4000, share: 0.55 },
    { atMs: 8000, share: 1 },
  ],
}
const passer: Scene = { durationMs: 4000, acts: [{ what: 'person', fromMs: 1000, toMs: 3600 }], lightSteps: [] }

/** The lens is covered, turned or blinded at 1 s, until a round ends. */
const lens = (what: LensAct['what']): Scene => ({
  durationMs: 30_000,
  acts: [],
  lightSteps: [],
  lens: { what, atMs: 1000 },
})
const exposure: Scene = {
  durationMs: 12_000,
  acts: [],
  lightSteps: [
    { atMs: 1000, share: 2.2 },
    { atMs: 5000, share: 0.3 },
    { atMs: 9000, share: 1 },
  ],
}

const late: Scene = { durationMs: 8000, acts: [{ what: 'person', fromMs: 5000, toMs: 7000 }], lightSteps: [] }
const soon: Scene = { durationMs: 4000, acts: [{ what: 'person', fromMs: 2800, toMs: 3800 }], lightSteps: [] }
const walker: Scene = { durationMs: 9000, acts: [{ what: 'person', fromMs: 6000, toMs: 8000 }], lightSteps: [] }

const tiny = { ...small, width: 320, height: 180, kbps: 300 } as const
const long: Scene = { durationMs: 15_000, acts: [{ what: 'person', fromMs: 12_000, toMs: 14_000 }], lightSteps: [] }

const recipes = {
  /** 20 s: a person 8-12 s, a forklift 15-18.4 s. */
  crossing: { ...small, ...crossing },
  /** The empty hall with the same noise and flicker. */
  empty: { ...small, ...nobody },
  /** The empty hall; a light goes out at 4 s and on at 8 s. */
  light: { ...small, ...lightSwitch },
  /** A grey sheet before the lens, with noise. */
  covered: { ...small, ...nobody, covered: true },
  /** 30 s in 320x180: from 1 s on a cloth hangs before the lens, the camera is turned, a lamp blinds it. */
  cloth: { ...tiny, ...lens('cloth') },
  turned: { ...tiny, ...lens('turn') },
  blinded: { ...tiny, ...lens('glare') },
  /** The empty hall in 320x180, and with exposures that jump to 2.2, 0.3 and 1 times the light. */
  'empty-tiny': { ...tiny, ...nobody },
  exposure: { ...tiny, ...exposure },
  'light-tiny': { ...tiny, ...lightSwitch },
  /** `crossing` with a keyframe every 10 s. */
  'crossing-long-gop': { ...small, ...crossing, gopMs: 10_000 },
  'crossing-hevc': { ...small, ...crossing, codec: 'hevc' },
  'crossing-1080p': { ...large, ...crossing },
  /** 4 s, with a key frame each second, so that the decoder of a camera can sleep. */
  'empty-1080p': { ...large, ...nobody, durationMs: 4000, gopMs: 1000 },
  /** 4 s in 320x180: a person 1-3.6 s. */
  passer: { ...small, ...passer, width: 320, height: 180, kbps: 300 },
  /** 8 s in 1080p at 8 Mb/s, numbered: a person 5-7 s. */
  'counted-8mbit': { ...large, ...late, kbps: 8000, filled: true, counted: true },
  /** 4 s in 4K at 25 Mb/s, numbered: a person 2.8-3.8 s. */
  'counted-4k': { ...large, ...soon, width: 3840, height: 2160, fps: 15, kbps: 25_000, filled: true, counted: true },
  /** 9 s, numbered, a person 6-8 s, at a rate that changes: six pictures a second, up to 0.44 s apart. */
  'counted-uneven': { ...small, ...walker, stepsMs: [40, 440, 67, 67, 40, 346], counted: true },
  /** 9 s with B-frames, numbered, a person 6-8 s. */
  'counted-reordered': { ...small, ...walker, reordered: true, counted: true },
  /** 9 s of Motion JPEG, numbered, a person 6-8 s. */
  'counted-mjpeg': { ...small, ...walker, codec: 'mjpeg', counted: true },
  /** 15 s, numbered, a key frame every second or every 10 s, in both codecs. */
  'counted-gop-1': { ...tiny, ...long, counted: true },
  'counted-gop-10': { ...tiny, ...long, gopMs: 10_000, counted: true },
  'counted-gop-1-hevc': { ...tiny, ...long, codec: 'hevc', counted: true },
  'counted-gop-10-hevc': { ...tiny, ...long, gopMs: 10_000, codec: 'hevc', counted: true },
  'passer-hevc': { ...small, ...passer, width: 320, height: 180, kbps: 300, codec: 'hevc' },
} as const satisfies Record<string, Recipe>

export type FootageName = keyof typeof recipes

/** The footage, made now if it never was; seconds then. */
export async function footage(name: FootageName, ffmpeg?: string): Promise<Footage> {
  const recipe: Recipe = recipes[name]
  const folder = join(root, '.cache', 'footage')
  const file = join(folder, `${name}-${keyOf(recipe)}.${recipe.codec}`)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true })
    await encode(recipe, file, ffmpeg ?? encoderFor(recipe.codec))
  }
  const { codec, width, height, fps, durationMs, gopMs, acts, lightSteps } = recipe
  const timesMs = inFileOrder(pictureTimes(recipe, recipe), recipe)
  return { file, codec, width, height, fps, durationMs, timesMs, gopMs, motion: acts, lightSteps }
}

/** With two B-frames every third picture of a group comes first, and then the two before it. */
function inFileOrder(times: readonly number[], { reordered, gopMs, fps }: Recipe): number[] {
  if (!reordered) return [...times]
  const group = (gopMs * fps) / 1000
  const order = times.map((_, i) => {
    const [begin, at] = [i - (i % group), i % group]
    if (at === 0) return i
    const firstOfThree = at - ((at - 1) % 3)
    const anchor = Math.min(firstOfThree + 2, group - 1)
    return begin + (at === firstOfThree ? anchor : at - 1)
  })
  return order.map((shown) => times[shown] ?? 0)
}

/** The ffmpeg that comes along has every encoder that is needed; the one of the system may lack that of H.265. */
const encoderFor = (codec: Clip['codec']) => (canEncode(codec) ? locateFfmpeg().path : assetPath('ffmpeg'))

/** Whether this ffmpeg has the encoder for a codec. */
export function canEncode(codec: Clip['codec'], ffmpeg: string = locateFfmpeg().path): boolean {
  const encoders = execFileSync(ffmpeg, ['-hide_banner', '-encoders'], { encoding: 'utf8', stdio: 'pipe' })
  return encoders.includes(` ${encoderOf[codec]} `)
}

const encoderOf = { h264: 'libx264', hevc: 'libx265', mjpeg: 'mjpeg' } as const

/** Changes with the recipe, the drawing code and the encoder arguments. */
function keyOf(recipe: Recipe): string {
  const hash = createHash('sha256').update(JSON.stringify(recipe)).update(encoderArguments.toString())
  for (const source of globSync(join(import.meta.dirname, 'footage', '*.ts')).sort()) hash.update(readFileSync(source))
  return hash.digest('hex').slice(0, 12)
}

/** Under its own name until it is whole: several processes may be at it at once. */
async function encode(recipe: Recipe, file: string, ffmpeg: string): Promise<void> {
  const unfinished = `${file}.${process.pid}.tmp`
  try {
    await run(
      ffmpeg,
      [...encoderArguments(recipe), '-y', unfinished],
      recipe.covered ? sheets(recipe) : pictures(recipe, recipe),
    )
    renameSync(unfinished, file)
  } finally {
    rmSync(unfinished, { force: true })
  }
}

function* sheets(recipe: Recipe): Generator<Uint8Array> {
  const { width, height } = recipe
  const luma = width * height
  for (const [nth] of pictureTimes(recipe, recipe).entries()) {
    const grey = (_: unknown, at: number) => (at < luma ? 60 + ((7919 * at + 104_729 * nth) % 5) : 128)
    yield Uint8Array.from({ length: luma * 1.5 }, grey)
  }
}

function encoderArguments({ codec, width, height, fps, gopMs, kbps, filled, reordered }: Recipe): string[] {
  const gop = Math.round((gopMs * fps) / 1000)
  const rate = ['-b:v', `${kbps}k`, '-maxrate', `${kbps}k`, '-bufsize', `${kbps}k`]
  const input = ['-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-s', `${width}x${height}`, '-r', String(fps), '-i', 'pipe:0']
  const hevc = `keyint=${gop}:min-keyint=${gop}:scenecut=0:bframes=0:open-gop=0:repeat-headers=1:pools=2:log-level=none`
  const bFrames = reordered ? ['-bf', '2', '-b_strategy', '0'] : ['-bf', '0']
  const x264 = [
    ...(reordered ? ['b-pyramid=none', 'open-gop=0'] : []),
    ...(filled ? ['nal-hrd=cbr', 'filler=1'] : []),
  ].join(':')
  const encoder = {
    h264: [
      ...['-preset', 'veryfast', '-profile:v', 'main', ...bFrames, '-g', `${gop}`, '-keyint_min', `${gop}`],
      ...(x264 === '' ? [] : ['-x264-params', x264]),
      ...['-sc_threshold', '0', '-threads', '2', '-f', 'h264'],
    ],
    hevc: ['-preset', 'ultrafast', '-x265-params', hevc, '-f', 'hevc'],
    mjpeg: ['-pix_fmt', 'yuvj420p', '-huffman', 'default', '-f', 'mjpeg'],
  }[codec]
  return ['-nostdin', '-hide_banner', '-loglevel', 'error', ...input, '-c:v', encoderOf[codec], ...rate, ...encoder]
}

async function run(ffmpeg: string, args: readonly string[], frames: Iterable<Uint8Array>): Promise<void> {
  const child = spawn(ffmpeg, args, { stdio: ['pipe', 'ignore', 'pipe'] })
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  const [fed, code] = await Promise.all([pipeline(Readable.from(frames), child.stdin).catch((e: Error) => e), ended])
  if (code !== 0 || fed) throw new Error(`${ffmpeg} made no footage: ${complaint || fed}`)
}
