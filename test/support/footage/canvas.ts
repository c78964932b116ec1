/** Pictures in memory: YUV 4:2:0 planes, and shapes drawn into them with soft edges. */

/** Lengths are in heights of the picture, so that a scene looks the same in every size. */
export type Canvas = {
  readonly width: number
  readonly height: number
  readonly luma: Uint8Array
  readonly blue: Uint8Array
  readonly red: Uint8Array
}

export type Point = { readonly x: number; readonly y: number }

export type Paint = {
  readonly luma: number
  readonly blue?: number
  readonly red?: number
  /** Added to the luma; a function of the place on the thing, so that the pattern moves with it. */
  readonly texture?: (x: number, y: number) => number
  /** 1, the default, hides what is behind. */
  readonly opacity?: number
}

/** Signed distance of a point from an outline; negative inside. With the box outside of which nothing is painted. */
export type Shape = {
  readonly distance: (x: number, y: number) => number
  readonly from: Point
  readonly to: Point
}

/** A canvas that shares the bytes of a frame as ffmpeg's rawvideo has them. */
export function canvasOn(frame: Uint8Array, width: number, height: number): Canvas {
  const size = width * height
  return {
    width,
    height,
    luma: frame.subarray(0, size),
    blue: frame.subarray(size, size * 1.25),
    red: frame.subarray(size * 1.25, size * 1.5),
  }
}

/** A thick line with round ends. */
export function limb(from: Point, to: Point, radius: number): Shape {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const lengthSquared = dx * dx + dy * dy || 1
  return {
    from: { x: Math.min(from.x, to.x) - radius, y: Math.min(from.y, to.y) - radius },
    to: { x: Math.max(from.x, to.x) + radius, y: Math.max(from.y, to.y) + radius },
    distance: (x, y) => {
      const along = Math.min(1, Math.max(0, ((x - from.x) * dx + (y - from.y) * dy) / lengthSquared))
      return Math.hypot(x - from.x - along * dx, y - from.y - along * dy) - radius
    },
  }
}

export function disc(centre: Point, radius: number): Shape {
  return limb(centre, centre, radius)
}

export function box(from: Point, to: Point): Shape {
  return { from, to, distance: (x, y) => Math.max(from.x - x, x - to.x, from.y - y, y - to.y) }
}

/** Paints the shape with edges as soft as a pixel. `origin` is where the paint's texture begins. */
export function draw(canvas: Canvas, shape: Shape, paint: Paint, origin: Point = { x: 0, y: 0 }): void {
  const unit = canvas.height
  const { opacity = 1, texture, luma, blue = 128, red = 128 } = paint
  const coverage = (x: number, y: number) => Math.min(1, Math.max(0, 0.5 - shape.distance(x, y) * unit)) * opacity
  forPixels(canvas, shape, (column, row, x, y) => {
    const share = coverage(x, y)
    if (share === 0) return
    const at = row * canvas.width + column
    mix(canvas.luma, at, luma + (texture?.(x - origin.x, y - origin.y) ?? 0), share)
    if (column % 2 === 1 || row % 2 === 1) return
    const half = (row / 2) * (canvas.width / 2) + column / 2
    mix(canvas.blue, half, blue, share)
    mix(canvas.red, half, red, share)
  })
}

function forPixels(
  { width, height }: Canvas,
  { from, to }: Shape,
  act: (column: number, row: number, x: number, y: number) => void,
): void {
  const firstRow = Math.max(0, Math.floor(from.y * height) - 1)
  const lastRow = Math.min(height - 1, Math.ceil(to.y * height) + 1)
  const firstColumn = Math.max(0, Math.floor(from.x * height) - 1)
  const lastColumn = Math.min(width - 1, Math.ceil(to.x * height) + 1)
  for (let row = firstRow; row <= lastRow; row += 1)
    for (let column = firstColumn; column <= lastColumn; column += 1)
      act(column, row, (column + 0.5) / height, (row + 0.5) / height)
}

function mix(plane: Uint8Array, at: number, value: number, share: number): void {
  const before = plane[at] ?? 0
  plane[at] = Math.min(235, Math.max(16, before + (value - before) * share))
}
