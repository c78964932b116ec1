/** A point of the picture, each coordinate from 0 to 1 of width and height, from the upper left. */
export type PicturePoint = { readonly x: number; readonly y: number }
export type Polygon = readonly PicturePoint[]

/**
 * Returns one byte for each pixel: 1 where motion counts, 0 inside a polygon (even-odd rule, by the pixel's middle).
 */
export function countedPixels(width: number, height: number, masks: readonly Polygon[]): Uint8Array {
  const counted = new Uint8Array(width * height).fill(1)
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const middle = { x: (column + 0.5) / width, y: (row + 0.5) / height }
      if (masks.some((mask) => isInside(middle, mask))) counted[row * width + column] = 0
    }
  }
  return counted
}

function isInside({ x, y }: PicturePoint, polygon: Polygon): boolean {
  let inside = false
  polygon.forEach((a, i) => {
    const b = polygon[(i + 1) % polygon.length] ?? a
    if (a.y > y !== b.y > y && x < a.x + ((y - a.y) / (b.y - a.y)) * (b.x - a.x)) inside = !inside
  })
  return inside
}
