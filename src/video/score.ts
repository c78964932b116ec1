import pixelmatch from 'pixelmatch'
import { countedPixels, type Polygon } from './mask.ts'

/** How much a frame has changed. */
export type FrameScore = {
  /** 0 to 1, compared with the sensitivity: the smaller of this frame's and the previous one's. */
  readonly score: number
  /** Of this frame alone. */
  readonly raw: number
  /** The picture has changed as a whole: light, a cover, a moved camera. The score is 0 then. */
  readonly scene: boolean
}

export type Picture = { readonly width: number; readonly height: number }

/** The reference is the frame 0.6 s earlier, at five frames a second. */
export const framesBack = 3

const columns = 16
const rows = 9
/** includeAA turns the search for anti-aliasing off, which changes no score and is 15 times faster. */
const comparison = { threshold: 0.08, includeAA: true, diffMask: true } as const
/** A scene change has more than this share of its cells over half changed. */
const sceneShare = 0.6
/** A window that masks cover for more than three quarters counts as if a quarter were left. */
const leastOpenShare = 0.25

/** Share of the counted pixels of each cell that differ, and how many pixels count there. */
export type Cells = { readonly changed: Uint32Array; readonly counted: Uint32Array }

/**
 * Scores the frames of one camera in order. The same frames give the same scores, independent of time. Frames are RGBA
 * at offset 0 of separate buffers, and are kept for a while: do not write to them.
 */
export class Scorer {
  readonly #picture: Picture
  readonly #counted: Uint8Array
  readonly #countedInCell: Uint32Array
  readonly #difference: Uint8Array
  #frames: Uint8Array[] = []
  #rawBefore = 0

  constructor(picture: Picture, masks: readonly Polygon[] = []) {
    this.#picture = picture
    this.#counted = countedPixels(picture.width, picture.height, masks)
    this.#countedInCell = sumInCells(picture, this.#counted)
    this.#difference = new Uint8Array(picture.width * picture.height * 4)
  }

  push(frame: Uint8Array): FrameScore {
    const reference = this.#frames.length === framesBack ? this.#frames.shift() : undefined
    this.#frames.push(frame)
    if (!reference) return { score: 0, raw: 0, scene: false }
    const cells = this.#compare(reference, frame)
    const scene = isSceneChange(cells)
    const raw = scene ? 0 : busiestWindow(cells)
    const score = Math.min(raw, this.#rawBefore)
    this.#rawBefore = raw
    return { score, raw, scene }
  }

  /** Forgets earlier frames: the next ones come from another connection, and a comparison would see a jump. */
  reset(): void {
    this.#frames = []
    this.#rawBefore = 0
  }

  #compare(reference: Uint8Array, frame: Uint8Array): Cells {
    const { width, height } = this.#picture
    // pixelmatch marks differing pixels and leaves the others unchanged.
    this.#difference.fill(0)
    pixelmatch(reference, frame, this.#difference, width, height, comparison)
    const marked = this.#counted.map((counts, i) => (counts && this.#difference[4 * i + 3] ? 1 : 0))
    return { changed: sumInCells(this.#picture, marked), counted: this.#countedInCell }
  }
}

/** Returns the changed share of the busiest window of two by two cells. */
export function busiestWindow({ changed, counted }: Cells): number {
  const most = Math.max(...counted)
  let busiest = 0
  for (let row = 0; row + 1 < rows; row += 1) {
    for (let column = 0; column + 1 < columns; column += 1) {
      const open = Math.max(sumInWindow(counted, row, column), 4 * most * leastOpenShare)
      if (open > 0) busiest = Math.max(busiest, sumInWindow(changed, row, column) / open)
    }
  }
  return busiest
}

/** Says whether more than 60 % of the cells are over half changed; cells under a mask are left out. */
export function isSceneChange({ changed, counted }: Cells): boolean {
  const open = counted.filter((count) => count > 0).length
  const busy = changed.filter((count, i) => 2 * count > (counted[i] ?? 0)).length
  return open > 0 && busy > sceneShare * open
}

function sumInCells({ width, height }: Picture, marked: Uint8Array): Uint32Array {
  const sums = new Uint32Array(columns * rows)
  for (let y = 0; y < height; y += 1) {
    const row = Math.floor((y * rows) / height) * columns
    for (let x = 0; x < width; x += 1) {
      const cell = row + Math.floor((x * columns) / width)
      sums[cell] = (sums[cell] ?? 0) + (marked[y * width + x] ?? 0)
    }
  }
  return sums
}

function sumInWindow(cells: Uint32Array, row: number, column: number): number {
  const upper = row * columns + column
  const lower = upper + columns
  return (cells[upper] ?? 0) + (cells[upper + 1] ?? 0) + (cells[lower] ?? 0) + (cells[lower + 1] ?? 0)
}
