import { frameSize } from '../../../src/video/index.ts'

/** The canvas is larger than the picture by this on each side, so that a camera can shake. */
export const margin = 5
export const canvasWidth = frameSize.width + 2 * margin
export const canvasHeight = frameSize.height + 2 * margin

/** Brightness from 0 to 255 of every point of a canvas. Coordinates are those of the picture. */
export type Canvas = Float32Array

export function newCanvas(): Canvas {
  return new Float32Array(canvasWidth * canvasHeight)
}

/** Changes each point of a box: `paint` gets the brightness and the middle of the point. */
export function paintBox(
  canvas: Canvas,
  box: { left: number; top: number; right: number; bottom: number },
  paint: (before: number, x: number, y: number) => number,
): void {
  const left = Math.max(Math.floor(box.left), -margin)
  const right = Math.min(Math.ceil(box.right), frameSize.width + margin)
  const top = Math.max(Math.floor(box.top), -margin)
  const bottom = Math.min(Math.ceil(box.bottom), frameSize.height + margin)
  for (let y = top; y < bottom; y += 1) {
    let at = (y + margin) * canvasWidth + left + margin
    for (let x = left; x < right; x += 1) {
      canvas[at] = paint(canvas[at] ?? 0, x + 0.5, y + 0.5)
      at += 1
    }
  }
}

/** Returns the brightness at a point; outside, that of the border. */
export function brightnessAt(canvas: Canvas, x: number, y: number): number {
  const column = Math.min(Math.max(Math.round(x), -margin), frameSize.width + margin - 1)
  const row = Math.min(Math.max(Math.round(y), -margin), frameSize.height + margin - 1)
  return canvas[(row + margin) * canvasWidth + column + margin] ?? 0
}

/** Returns how much of a point at this distance inside (negative) or outside a border is covered, 0 to 1. */
export const coverage = (distance: number): number => Math.min(Math.max(0.5 - distance, 0), 1)

/** Returns the distance of a point from a line from a to b, less the radius: of a capsule. */
export function capsule(
  [x, y]: readonly [number, number],
  [ax, ay]: readonly [number, number],
  [bx, by]: readonly [number, number],
  radius: number,
): number {
  const [dx, dy] = [bx - ax, by - ay]
  const along = Math.min(Math.max(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1), 0), 1)
  return Math.hypot(x - ax - along * dx, y - ay - along * dy) - radius
}

/** Returns 0 below `low`, 1 above `high`, and a smooth step between. */
export function smoothStep(low: number, high: number, value: number): number {
  const share = Math.min(Math.max((value - low) / (high - low), 0), 1)
  return share * share * (3 - 2 * share)
}

/** Blurs in both directions by a mean of 2 × radius + 1 points. */
export function blurred(canvas: Canvas, radius: number): Canvas {
  const across = newCanvas()
  const both = newCanvas()
  const mean = (from: Canvas, to: Canvas, step: number, length: number, lines: number, lineStep: number) => {
    for (let line = 0; line < lines; line += 1) {
      for (let i = 0; i < length; i += 1) {
        let sum = 0
        for (let k = -radius; k <= radius; k += 1) {
          sum += from[line * lineStep + Math.min(Math.max(i + k, 0), length - 1) * step] ?? 0
        }
        to[line * lineStep + i * step] = sum / (2 * radius + 1)
      }
    }
  }
  mean(canvas, across, 1, canvasWidth, canvasHeight, canvasWidth)
  mean(across, both, canvasWidth, canvasHeight, canvasWidth, 1)
  return both
}
