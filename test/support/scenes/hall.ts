import { frameSize } from '../../../src/video/index.ts'
import { blurred, type Canvas, newCanvas, paintBox } from './canvas.ts'
import type { Chance } from './chance.ts'

const { width, height } = frameSize

/** The view of a camera when nothing moves. */
export type Hall = {
  readonly canvas: Canvas
  /** The same without detail, as the background of a person of low contrast. */
  readonly soft: Canvas
  /** Where the floor begins. */
  readonly horizon: number
}

/** Draws a hall: a wall, racks with goods, a floor with marks. The seed decides how much of each. */
export function drawHall(chance: Chance): Hall {
  const canvas = newCanvas()
  const horizon = chance.between(0.25, 0.5) * height
  const [wall, floor] = [chance.between(70, 150), chance.between(80, 160)]
  const slope = chance.between(-0.25, 0.25)
  paintBox(canvas, everything, (_, x, y) => {
    const base = y < horizon ? wall : floor + (y - horizon) * 0.25
    return base * (1 + slope * (x / width - 0.5))
  })
  for (let i = chance.below(3) + 1; i > 0; i -= 1) drawRack(canvas, chance, horizon)
  for (let i = chance.below(4); i > 0; i -= 1) drawMark(canvas, chance, horizon)
  drawGrain(canvas, chance)
  const seen = blurred(canvas, 1)
  return { canvas: seen, soft: blurred(blurred(seen, 5), 5), horizon }
}

const everything = { left: -9, top: -9, right: width + 9, bottom: height + 9 }

function drawRack(canvas: Canvas, chance: Chance, horizon: number): void {
  const left = chance.between(-10, width * 0.8)
  const wide = chance.between(25, 60)
  const top = horizon - chance.between(10, 25)
  const levels = 2 + chance.below(3)
  const high = chance.between(10, 15)
  for (let level = 0; level < levels; level += 1) {
    const y = top + level * high
    for (let x = left; x < left + wide; x += 9) {
      const goods = { left: x + 1, top: y + chance.between(1, 4), right: x + 8, bottom: y + high - 1 }
      const brightness = chance.between(40, 200)
      if (chance.happens(0.85)) paintBox(canvas, goods, () => brightness)
    }
    paintBox(canvas, { left, top: y + high - 1, right: left + wide, bottom: y + high }, () => 45)
  }
}

function drawMark(canvas: Canvas, chance: Chance, horizon: number): void {
  const x = chance.between(0, width)
  const lean = chance.between(-1, 1)
  paintBox(canvas, { left: 0, top: horizon + 2, right: width, bottom: height }, (before, px, py) =>
    Math.abs(px - x - lean * (py - horizon)) < 1.2 ? before + 60 : before,
  )
}

function drawGrain(canvas: Canvas, chance: Chance): void {
  const strength = chance.between(1, 5)
  paintBox(canvas, everything, (before) => before + strength * chance.normal())
}
