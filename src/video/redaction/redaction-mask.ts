import { type LineSpan, spansAround } from '../../platform/index.ts'

/** A point of a picture: each 0 to 1 of its width and height, from the upper left. */
export type PicturePoint = { readonly x: number; readonly y: number }

/** A covered part of a picture: its place in pixels, and RGBA rows in which the covered part is opaque. */
export type Mask = {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly rgba: Buffer
}

/** Pixels around a region that are covered too: the colors of neighboring pixels share one sample. */
const marginPixels = 2
/** Dark gray, opaque, as a little-endian number. */
const fill = 0xff404040

/**
 * Draws a polygon as a mask with every pixel that it touches or goes around. Undefined when it lies outside the picture. One color
 * covers all, so nothing of the picture can be computed back. A blur or mosaic only spreads it. Many pictures of a moving thing
 * allow its reconstruction.
 */
export function maskOf(polygon: readonly PicturePoint[], size: { width: number; height: number }): Mask | undefined {
  const points = polygon.map(({ x, y }) => ({ x: x * size.width, y: y * size.height }))
  const xs = points.map(({ x }) => x)
  const ys = points.map(({ y }) => y)
  const left = even(Math.max(Math.min(...xs) - marginPixels, 0))
  const top = even(Math.max(Math.min(...ys) - marginPixels, 0))
  const width = Math.min(Math.ceil(Math.max(...xs) + marginPixels), size.width) - left
  const height = Math.min(Math.ceil(Math.max(...ys) + marginPixels), size.height) - top
  if (width <= 0 || height <= 0) return undefined
  const pixels = new Uint32Array(width * height)
  const edges = points.map((from, i) => ({ from, to: points[(i + 1) % points.length] ?? from }))
  for (let row = 0; row < height; row += 1) {
    for (const [begin, end] of [...alongEdges(edges, top + row), ...spansAround(points, top + row + 0.5)]) {
      const first = Math.max(Math.floor(begin) - left, 0)
      const last = Math.min(Math.ceil(end) - left, width)
      if (first < last) pixels.fill(fill, row * width + first, row * width + last)
    }
  }
  return { left, top, width, height, rgba: Buffer.from(pixels.buffer) }
}

type Edge = { readonly from: PicturePoint; readonly to: PicturePoint }

/** Returns the spans of a row that the edges, drawn with the margin, touch. */
function alongEdges(edges: readonly Edge[], y: number): LineSpan[] {
  const [above, below] = [y - marginPixels, y + 1 + marginPixels]
  return edges.flatMap(({ from, to }): LineSpan[] => {
    const [low, high] = from.y <= to.y ? [from, to] : [to, from]
    if (high.y < above || low.y > below) return []
    const at = (edgeY: number) =>
      high.y === low.y ? undefined : low.x + ((edgeY - low.y) / (high.y - low.y)) * (high.x - low.x)
    const ends = [at(Math.max(low.y, above)) ?? low.x, at(Math.min(high.y, below)) ?? high.x]
    return [[Math.min(...ends) - marginPixels, Math.max(...ends) + marginPixels]]
  })
}

const even = (pixel: number) => Math.floor(pixel / 2) * 2
