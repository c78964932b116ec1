import { framesPerSecond } from '../../../src/video/decoding/frames.ts'
import { frameSize } from '../../../src/video/index.ts'
import { type Canvas, canvasWidth, margin, newCanvas } from './canvas.ts'
import { type Chance, normalDeviates } from './chance.ts'
import type { Scene } from './kinds.ts'
import { lighten } from './light.ts'

const { width, height } = frameSize
export const frameMs = 1000 / framesPerSecond

/** Plays a scene: RGBA pictures as the scorer gets them, five a second, each in a new buffer. */
export function* play(scene: Scene): Generator<Uint8Array> {
  const sensor = new Sensor(scene)
  const canvas = newCanvas()
  for (let atMs = 0; atMs < scene.durationMs; atMs += frameMs) {
    paint(scene, canvas, atMs)
    yield sensor.expose(canvas, scene.disturbance.shift?.(atMs) ?? [0, 0])
  }
}

/** Plays a scene from a time on, at a camera's rate: grey pictures without what sensor and encoder add. */
export function* playClean(scene: Scene, perSecond: number, fromMs = 0): Generator<Uint8Array> {
  const canvas = newCanvas()
  for (let i = 0; fromMs + (1000 * i) / perSecond < scene.durationMs; i += 1) {
    const atMs = fromMs + (1000 * i) / perSecond
    paint(scene, canvas, atMs)
    yield greyOf(canvas, scene.disturbance.shift?.(atMs) ?? [0, 0])
  }
}

function paint(scene: Scene, canvas: Canvas, atMs: number): void {
  canvas.set(scene.hall.canvas)
  scene.disturbance.under?.(canvas, atMs)
  for (const mover of scene.movers) mover.paint(canvas, atMs)
  if (scene.disturbance.light !== undefined) lighten(canvas, scene.disturbance.light)
  scene.disturbance.over?.(canvas, atMs)
}

function greyOf(canvas: Canvas, [dx, dy]: readonly [number, number]): Uint8Array {
  const grey = new Uint8Array(width * height)
  const [left, up] = [1 - (dx - Math.floor(dx)), 1 - (dy - Math.floor(dy))]
  const first = (Math.floor(dy) + margin) * canvasWidth + Math.floor(dx) + margin
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1)
      grey[y * width + x] = byte(toneAt(canvas, first + y * canvasWidth + x, left, up) + 0.5)
  }
  return grey
}

/** Returns the brightness between four points, of which the upper left one counts by the shares `left` and `up`. */
function toneAt(canvas: Canvas, at: number, left: number, up: number): number {
  if (left === 1 && up === 1) return canvas[at] ?? 0
  const upper = (canvas[at] ?? 0) * left + (canvas[at + 1] ?? 0) * (1 - left)
  const lower = (canvas[at + canvasWidth] ?? 0) * left + (canvas[at + canvasWidth + 1] ?? 0) * (1 - left)
  return upper * up + lower * (1 - up)
}

const blockSize = 4
const blockColumns = width / blockSize

/** Adds what a sensor and an encoder add. */
class Sensor {
  readonly #chance: Chance
  readonly #grain: number
  readonly #smear: number
  readonly #blocks: number
  readonly #kept = new Float32Array(width * height)
  readonly #tint: readonly [number, number, number]
  #blockShifts = new Float32Array(blockColumns * Math.ceil(height / blockSize))
  #count = 0

  constructor({ chance, disturbance: { grain = 1.2, smear = 0.2, blocks = 0.3 } }: Scene) {
    this.#chance = chance
    this.#grain = grain
    this.#smear = smear
    this.#blocks = blocks
    this.#tint = [chance.between(-6, 6), chance.between(-3, 3), chance.between(-6, 6)]
  }

  expose(canvas: Canvas, [dx, dy]: readonly [number, number]): Uint8Array {
    const frame = new Uint8Array(frameSize.bytes)
    const words = new Uint32Array(frame.buffer)
    const deviates = normalDeviates()
    const [red, green, blue] = this.#tint
    const left = 1 - (dx - Math.floor(dx))
    const up = 1 - (dy - Math.floor(dy))
    const first = (Math.floor(dy) + margin) * canvasWidth + Math.floor(dx) + margin
    const fresh = Math.sqrt(1 - this.#smear ** 2) * this.#grain
    this.#key()
    for (let y = 0; y < height; y += 1) {
      const from = this.#chance.below(deviates.length)
      for (let x = 0; x < width; x += 1) {
        const at = first + y * canvasWidth + x
        const seen = toneAt(canvas, at, left, up)
        const i = y * width + x
        const noise = (this.#kept[i] ?? 0) * this.#smear + fresh * (deviates[(from + x) & 0xffff] ?? 0)
        this.#kept[i] = noise
        const block = this.#blockShifts[(y >> 2) * blockColumns + (x >> 2)] ?? 0
        const tone = seen + noise + block + 0.5
        words[i] = 0xff000000 | (byte(tone + blue) << 16) | (byte(tone + green) << 8) | byte(tone + red)
      }
    }
    return frame
  }

  /** At a key frame, every two seconds, all blocks are encoded anew; between, a few are. */
  #key(): void {
    const isKey = this.#count % (2 * framesPerSecond) === 0
    this.#count += 1
    for (let i = 0; i < this.#blockShifts.length; i += 1) {
      if (isKey || this.#chance.happens(0.03)) this.#blockShifts[i] = this.#blocks * this.#chance.normal()
    }
  }
}

const byte = (tone: number): number => (tone < 0 ? 0 : tone > 255 ? 255 : tone | 0)
