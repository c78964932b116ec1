/**
 * The first half of motion detection, which needs pixels: from frames to cells. The second half (`score.ts`) needs only the cells.
 * They may be stored and replayed with other masks or another sensitivity.
 *
 * Here and in `light.ts` and `score.ts`, each loop over the cells of a frame has a counter. Iterators, and functions that return a
 * list for each cell, made 200 of 500 KB of garbage a second and camera. For that, V8 wakes four threads.
 */
import pixelmatch from 'pixelmatch'
import { cameraShift, type Shift, unmoved } from './camera-shift.ts'
import { cellCount, columns, framesBack, type Picture, rows } from './grid.ts'
import { brighten, explainLight, medianGain } from './light.ts'
import { NoiseLevel } from './noise-level.ts'
import { type View, ViewWatch } from './view-watch.ts'

/** The whole picture has changed: its light, or its view. */
export type WholeChange = 'light' | 'view'

/** Data of a frame for scoring, in 144 bytes. The same cells give the same scores. */
export type FrameCells = {
  /** For each cell, row by row, how many of 100 parts of it have changed. Masks are not applied. Do not write to it. */
  readonly changed: Uint8Array
  /** Null in nearly every frame. */
  readonly whole: WholeChange | null
  /** Whether the camera shows its usual view, by the newest look, which is up to a second old. */
  readonly view: View
}
type Changes = Omit<FrameCells, 'view'>

/** A change of the whole picture has more than this share of its cells over half changed. */
const wholeShare = 0.6
/** With more than this share of the pixels changed, the camera itself may have moved. */
const movedShare = 0.02
/** A change of the exposure or of all lamps by more than this is a change of the light; less is made up for. */
const lightOctaves = 0.25
/** Share of the cells. If more of them still differ in brighter or darker light, the view has changed. */
const viewShare = 0.4
const nothing: Changes = { changed: new Uint8Array(cellCount), whole: null }

/**
 * Compares the frames of one camera with earlier ones, in order. It has no clock and no chance. Frames are RGBA at offset
 * 0 of separate buffers, and are kept for a while: do not write to them.
 */
export class Comparer {
  readonly #picture: Picture
  /** The picture that pixelmatch compares the frame with, and the marks where they differ. */
  readonly #reference: Uint32Array
  readonly #difference: Uint32Array
  readonly #brightened: Uint32Array
  readonly #cellOf: Uint8Array
  readonly #sums = new Uint32Array(cellCount)
  readonly #noise = new NoiseLevel()
  readonly #view: ViewWatch
  readonly #onDone: (frame: Uint8Array) => void
  #frames: Uint8Array[] = []
  #gain = 1

  /** @param onDone called with a frame that is not looked at any more */
  constructor(picture: Picture, view = new ViewWatch(), onDone: (frame: Uint8Array) => void = () => {}) {
    this.#view = view
    this.#onDone = onDone
    const pixels = picture.width * picture.height
    this.#picture = picture
    this.#reference = new Uint32Array(pixels)
    this.#difference = new Uint32Array(pixels)
    this.#brightened = new Uint32Array(pixels)
    this.#cellOf = cellsOfPixels(picture)
  }

  /** Returns the threshold of the last comparison, as pixelmatch understands it. */
  get threshold(): number {
    return this.#noise.threshold
  }

  /** Returns by how much the last frame was brighter than its reference, as a factor. */
  get gain(): number {
    return this.#gain
  }

  push(frame: Uint8Array): FrameCells {
    this.#view.push(frame)
    return { ...this.#changes(frame), view: this.#view.seen }
  }

  /**
   * Takes a picture of a sleeping decoder, which later ones are compared with. So many frames would have come since the one before.
   * Returns the view that it shows.
   */
  remember(frame: Uint8Array, frames: number): View {
    this.#view.push(frame, frames)
    const reference = this.#next(frame)
    if (reference) this.#onDone(reference)
    return this.#view.seen
  }

  /** Notes that the decoder wakes: the noise may be another than before it slept. */
  resume(): void {
    this.#noise.resume()
  }

  /** Takes a frame, and returns the one that it is compared with. */
  #next(frame: Uint8Array): Uint8Array | undefined {
    const reference = this.#frames.length === framesBack ? this.#frames.shift() : undefined
    this.#frames.push(frame)
    return reference
  }

  #changes(frame: Uint8Array): Changes {
    const reference = this.#next(frame)
    if (!reference) return nothing
    const cells = this.#compare(reference, frame)
    this.#onDone(reference)
    return cells
  }

  /** Forgets earlier frames: the next ones come from another connection, and a comparison would see a jump. */
  reset(): void {
    this.#frames = []
    this.#view.reconnect()
  }

  #compare(reference: Uint8Array, frame: Uint8Array): Changes {
    const { width, height } = this.#picture
    const gain = medianGain(reference, frame)
    this.#gain = gain
    const seen = gain === 1 ? reference : this.#inLightOf(reference, gain)
    this.#noise.add(seen, frame)
    const marked = this.#mark(seen, frame)
    const isBrighter = Math.abs(Math.log2(gain)) > lightOctaves
    if (marked === 0) return isBrighter ? { ...nothing, whole: 'light' } : nothing
    const hasMoved = marked > movedShare * width * height
    this.#tolerate(seen, frame, hasMoved ? cameraShift(seen, frame, this.#picture) : unmoved)
    const changed = this.#shares()
    const busy = countOver(changed, 50)
    const comparison = { tone: 264 * this.threshold, inOtherLight: gain !== 1 }
    const explained = explainLight(reference, frame, changed, this.#picture, comparison)
    if (isBrighter) return { changed, whole: countOver(changed, 20) > viewShare * cellCount ? 'view' : 'light' }
    if (busy <= wholeShare * cellCount) return { changed, whole: null }
    return { changed, whole: explained > busy / 2 ? 'light' : 'view' }
  }

  /** Returns a picture as it would be in other light; valid until the next one. */
  #inLightOf(picture: Uint8Array, gain: number): Uint8Array {
    brighten(wordsOf(picture), gain, this.#brightened)
    return bytesOf(this.#brightened)
  }

  /** Marks the pixels that differ, and returns how many. pixelmatch need not look where all colors are nearly alike. */
  #mark(reference: Uint8Array, frame: Uint8Array): number {
    const before = wordsOf(reference)
    const now = wordsOf(frame)
    // Red, green and blue that differ by no more than this are never over the threshold of pixelmatch.
    const alike = Math.floor(175 * this.threshold)
    const result = this.#reference
    for (let i = 0; i < now.length; i += 1) {
      const a = now[i] ?? 0
      const b = before[i] ?? 0
      const red = (a & 255) - (b & 255)
      const green = ((a >> 8) & 255) - ((b >> 8) & 255)
      const blue = ((a >> 16) & 255) - ((b >> 16) & 255)
      const isRedAlike = red <= alike && red >= -alike
      const isGreenAlike = green <= alike && green >= -alike
      result[i] = isRedAlike && isGreenAlike && blue <= alike && blue >= -alike ? a : b
    }
    return this.#match(frame)
  }

  /**
   * Marks only pixels that differ from the neighbors in the reference too, so that a lens that trembles changes nothing. Each
   * marked pixel of the reference gives way to the closest color of nine.
   */
  #tolerate(reference: Uint8Array, frame: Uint8Array, shift: Shift): void {
    const before = wordsOf(reference)
    const now = wordsOf(frame)
    const result = this.#reference
    const marks = this.#difference
    for (let i = 0; i < now.length; i += 1) {
      const color = now[i] ?? 0
      result[i] = marks[i] === 0 ? color : closest(before, color, this.#place(i, shift), this.#picture)
    }
    this.#match(frame)
  }

  /** Returns the pixel that was where pixel `i` is now, away from the border. */
  #place(i: number, shift: Shift): number {
    const { width, height } = this.#picture
    const x = Math.min(Math.max((i % width) + shift.x, 1), width - 2)
    const y = Math.min(Math.max(Math.floor(i / width) + shift.y, 1), height - 2)
    return y * width + x
  }

  #match(frame: Uint8Array): number {
    const { width, height } = this.#picture
    this.#difference.fill(0)
    // includeAA turns the search for anti-aliasing off, which changes no score and is 15 times faster.
    const options = { threshold: this.threshold, includeAA: true, diffMask: true }
    return pixelmatch(bytesOf(this.#reference), frame, bytesOf(this.#difference), width, height, options)
  }

  #shares(): Uint8Array {
    const sums = this.#sums.fill(0)
    const marks = this.#difference
    const cellOf = this.#cellOf
    for (let i = 0; i < cellOf.length; i += 1) {
      if (marks[i] === 0) continue
      const cell = cellOf[i] ?? 0
      sums[cell] = (sums[cell] ?? 0) + 1
    }
    const percent = (100 * cellCount) / cellOf.length
    const shares = new Uint8Array(cellCount)
    for (let cell = 0; cell < cellCount; cell += 1) shares[cell] = Math.round((sums[cell] ?? 0) * percent)
    return shares
  }
}

const wordsOf = (bytes: Uint8Array): Uint32Array => new Uint32Array(bytes.buffer, 0, bytes.length / 4)
const bytesOf = (words: Uint32Array): Uint8Array => new Uint8Array(words.buffer)

function countOver(changed: Uint8Array, percent: number): number {
  let count = 0
  for (let cell = 0; cell < changed.length; cell += 1) if ((changed[cell] ?? 0) > percent) count += 1
  return count
}

/** Returns the color between the darkest and the brightest of nine pixels that is closest to `color`. */
function closest(before: Uint32Array, color: number, place: number, { width }: Picture): number {
  let red0 = 255
  let red1 = 0
  let green0 = 255
  let green1 = 0
  let blue0 = 255
  let blue1 = 0
  for (let row = place - width - 1; row <= place + width; row += width) {
    for (let i = row; i < row + 3; i += 1) {
      const pixel = before[i] ?? 0
      const red = pixel & 255
      const green = (pixel >> 8) & 255
      const blue = (pixel >> 16) & 255
      if (red < red0) red0 = red
      if (red > red1) red1 = red
      if (green < green0) green0 = green
      if (green > green1) green1 = green
      if (blue < blue0) blue0 = blue
      if (blue > blue1) blue1 = blue
    }
  }
  const red = Math.min(Math.max(color & 255, red0), red1)
  const green = Math.min(Math.max((color >> 8) & 255, green0), green1)
  const blue = Math.min(Math.max((color >> 16) & 255, blue0), blue1)
  return 0xff000000 | (blue << 16) | (green << 8) | red
}

function cellsOfPixels({ width, height }: Picture): Uint8Array {
  return Uint8Array.from({ length: width * height }, (_, i) => {
    const row = Math.floor((Math.floor(i / width) * rows) / height)
    return row * columns + Math.floor(((i % width) * columns) / width)
  })
}
