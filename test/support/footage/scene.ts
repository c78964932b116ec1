import { type Canvas, canvasOn } from './canvas.ts'
import { paintCounter } from './counter.ts'
import { type Figure, forklift, person } from './figures.ts'
import { sensorNoise } from './grain.ts'
import { paintHall } from './hall.ts'
import { actOnLens, type LensAct } from './lens.ts'

/** Something moves somewhere in the picture from `fromMs` on and before `toMs`; in all other pictures nothing does. */
export type Act = { readonly what: 'person' | 'forklift'; readonly fromMs: number; readonly toMs: number }

/** From `atMs` on the hall is lit with this share of the full light. */
export type LightStep = { readonly atMs: number; readonly share: number }

/** Events in a hall; the scene may be repeated without a seam. */
export type Scene = {
  readonly durationMs: number
  readonly acts: readonly Act[]
  readonly lightSteps: readonly LightStep[]
  /** An act on the lens. */
  readonly lens?: LensAct
}

export type Format = {
  readonly width: number
  readonly height: number
  readonly fps: number
  /** Steps from one picture to the next, in milliseconds, over and over; default: evenly. */
  readonly stepsMs?: readonly number[]
  /** Whether each picture has its number in it. */
  readonly counted?: boolean
}

/** When the pictures of a round are taken. */
export function pictureTimes({ durationMs }: Pick<Scene, 'durationMs'>, { fps, stepsMs }: Format): number[] {
  const times: number[] = []
  for (let i = 0, ms = 0; Math.round(ms) < durationMs; i += 1) {
    times.push(ms)
    ms = stepsMs === undefined ? ((i + 1) * 1000) / fps : ms + (stepsMs[i % stepsMs.length] ?? 0)
  }
  return times
}

const figures: Record<Act['what'], Figure> = { person, forklift }
const lumaNoise = sensorNoise(1 << 18, 2.5)
const colourNoise = sensorNoise(1 << 16, 1.2)
const black = 16

/** The pictures of a scene in rawvideo's yuv420p. */
export function* pictures(scene: Scene, format: Format): Generator<Uint8Array> {
  const { width, height, counted = false } = format
  const hall = new Uint8Array((width * height * 3) / 2).fill(128)
  paintHall(canvasOn(hall, width, height))
  const clean = new Uint8Array(hall.length)
  for (const [i, ms] of pictureTimes(scene, format).entries()) {
    clean.set(hall)
    paintActs(scene.acts, ms, canvasOn(clean, width, height))
    if (scene.lens) actOnLens(clean, scene.lens, ms, width, height)
    // A separate array, because the consumer may still write this one while the next is painted.
    const seen = new Uint8ClampedArray(hall.length)
    expose(clean, seen, { luma: width * height, light: lightAt(scene, ms), nth: i })
    if (counted) paintCounter(seen, width, height, i)
    yield new Uint8Array(seen.buffer)
  }
}

/** A figure comes in from the left and is gone at the right, walking evenly. */
function paintActs(acts: readonly Act[], ms: number, canvas: Canvas): void {
  for (const act of acts) {
    if (ms < act.fromMs || ms >= act.toMs) continue
    const { reach, paint } = figures[act.what]
    const way = ((ms - act.fromMs) / (act.toMs - act.fromMs)) * (canvas.width / canvas.height + 2 * reach)
    paint(canvas, way - reach, way)
  }
}

/** The switched light, and the lamps' flicker: about 1 %, beating with the shutter in whole waves a round. */
function lightAt({ durationMs, lightSteps }: Scene, ms: number): number {
  const switched = lightSteps.findLast((step) => step.atMs <= ms)?.share ?? 1
  const wave = (periodMs: number) => Math.sin((2 * Math.PI * ms * Math.round(durationMs / periodMs)) / durationMs)
  return switched * (1 + 0.008 * wave(700) + 0.004 * wave(230))
}

/** Applies the sensor: brightness scaled above black, noise over everything. */
function expose(
  clean: Uint8Array,
  seen: Uint8ClampedArray,
  { luma, light, nth }: { luma: number; light: number; nth: number },
): void {
  const lit = Float32Array.from({ length: 256 }, (_, value) => black + (value - black) * light)
  // Strides that share no factor with the size of the tables, so that no picture has the noise of one before.
  const lumaOffset = nth * 104_729
  for (let at = 0; at < luma; at += 1)
    seen[at] = (lit[clean[at] ?? 0] ?? 0) + (lumaNoise[(at + lumaOffset) & (lumaNoise.length - 1)] ?? 0)
  const colourOffset = nth * 15_485
  for (let at = luma; at < clean.length; at += 1)
    seen[at] = (clean[at] ?? 0) + (colourNoise[(at + colourOffset) & (colourNoise.length - 1)] ?? 0)
}
