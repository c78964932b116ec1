/** Films of known truth: real ones, drawn ones and still halls, decoded once to the gateway's small pictures. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { frameSize, framesPerSecond } from '../../../src/video/index.ts'
import { pictures } from '../../../test/support/footage/scene.ts'
import { type Group, kindNames, kinds, makeScene } from '../../../test/support/scenes/kinds.ts'
import { playClean } from '../../../test/support/scenes/play.ts'
import { type Camera, cameras, decode, filmAndDecode, type Pixels } from './cameras.ts'

export type Span = { readonly fromMs: number; readonly toMs: number }
/** Something to find; `small`: at most half a percent of the picture. */
export type Act = Span & { readonly small: boolean }
export type Film = {
  readonly name: string
  readonly group: Group | 'real' | 'still'
  readonly kind: string
  /** For development, or for reports alone. */
  readonly part: 'tuning' | 'held out'
  readonly file: string
  readonly pixels: Pixels
  readonly acts: readonly Act[]
  /** Where events are false; undefined: where no act is. */
  readonly still?: readonly Span[]
  readonly countFromMs: number
  readonly durationMs: number
  /** Films it, if that was not done before. */
  readonly make: () => Promise<void>
}

type Truth = {
  readonly file: string
  readonly events: readonly { readonly from: number; readonly to: number; readonly size_pct: string }[]
  readonly still: readonly (readonly [number, number])[]
  readonly seconds: number
}

/** Shown before a real film begins, as its first picture. */
const leadSeconds = 30
const phases = 3

/** Returns real films three times each, at other phases of the five pictures a second. They are for development. */
export function realFilms(folder: string, cache: string): Film[] {
  const truth = JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')) as { clips: Truth[] }
  return truth.clips.flatMap((clip) =>
    Array.from({ length: phases }, (_, phase) => {
      const name = `${basename(clip.file).replace(/\..*$/, '')}-${phase}`
      const file = join(cache, `${name}.rgba`)
      const make = async () =>
        decode(join(folder, clip.file), file, { pixels: 'rgba', phase: phase / phases, leadSeconds })
      const at = (seconds: number) => 1000 * (seconds + leadSeconds)
      const acts = clip.events.map(({ from, to, size_pct }) => ({
        ...{ fromMs: at(from), toMs: at(to), small: largestOf(size_pct) <= 0.5 },
      }))
      const still = clip.still.map(([from, to]) => ({ fromMs: at(from), toMs: at(to) }))
      const own = { name, kind: name.replace(/-\d$/, ''), file, pixels: 'rgba', acts, still, make } as const
      return { ...own, group: 'real', part: 'tuning', countFromMs: 1000, durationMs: at(clip.seconds) } as const
    }),
  )
}

const largestOf = (sizes: string) => Math.max(...(sizes.match(/[\d.]+/g) ?? []).map(Number))

/** Scenes are filmed from shortly before their first mover. */
const skippedMs = 25_000
const sceneMs = 75_000
const learnedSceneMs = 165_000
const stillSeconds = 40

/** Returns drawn scenes through cameras, one of each kind. Odd seeds are for development. */
export function drawnFilms(seed: number, cache: string): Film[] {
  return kindNames.map((kind, i) => {
    const camera = cameras[(i + 3 * seed) % cameras.length] as Camera
    const learned = 'learned' in kinds[kind]
    const [beginMs, endMs] = learned ? [0, learnedSceneMs] : [skippedMs, sceneMs]
    const scene = () => makeScene(kind, seed, endMs)
    const { movers, countFromMs } = scene()
    const name = `${kind.replaceAll(/[^a-z0-9]+/g, '-')}-${seed}`
    const file = join(cache, `${name}.gray`)
    return {
      ...{ name, kind, group: kinds[kind].group, part: partOf(seed), file, pixels: 'gray' },
      acts: movers.map(({ fromMs, toMs }) => ({ fromMs: fromMs - beginMs, toMs: toMs - beginMs, small: false })),
      durationMs: endMs - beginMs,
      countFromMs: Math.max(countFromMs, 1000),
      make: () => filmAndDecode(playClean(scene(), camera.fps, beginMs), 'small', camera, file),
    }
  })
}

const partOf = (seed: number) => (seed % 2 === 1 ? 'tuning' : 'held out')

/** Returns halls where nothing happens, through each camera, with more or less of its grain. */
export function stillFilms(seed: number, cache: string): Film[] {
  const durationMs = 1000 * stillSeconds
  return cameras.flatMap((camera, i) => {
    const louder = { ...camera, grain: Math.round(camera.grain * (seed % 2 === 1 ? 1 : 0.7)) }
    const { fps } = camera
    const stills = {
      shelves: () => pictures({ durationMs, acts: [], lightSteps: [] }, { width: 640, height: 360, fps }),
      drawn: () => playClean({ ...makeScene('noise', 100 + 10 * seed + i, durationMs), movers: [] }, fps),
    }
    return (['shelves', 'drawn'] as const).map((hall): Film => {
      const name = `still-${hall}-${i}-${seed}`
      const file = join(cache, `${name}.gray`)
      return {
        ...{ name, kind: `still ${hall}`, group: 'still', part: partOf(seed), file, pixels: 'gray', durationMs },
        ...{ acts: [], countFromMs: 1000 },
        make: () => filmAndDecode(stills[hall](), hall === 'shelves' ? 'full' : 'small', louder, file),
      }
    })
  })
}

/** Reads the small pictures of a film as the scorer gets them, each in a new buffer. */
export function* read({ file, pixels }: Film): Generator<Uint8Array> {
  const bytes = readFileSync(file)
  const size = frameSize.width * frameSize.height * (pixels === 'gray' ? 1 : 4)
  for (let at = 0; at + size <= bytes.length; at += size) {
    if (pixels === 'rgba') {
      yield new Uint8Array(bytes.subarray(at, at + size))
      continue
    }
    const words = new Uint32Array(size)
    for (let i = 0; i < size; i += 1) words[i] = 0xff000000 | (0x010101 * (bytes[at + i] ?? 0))
    yield new Uint8Array(words.buffer)
  }
}

/** Films those that were not filmed before. */
export async function madeFilms(films: readonly Film[]): Promise<void> {
  for (const { file, make } of films) if (!existsSync(file)) await make()
}

export const frameMs = 1000 / framesPerSecond
