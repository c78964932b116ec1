import { box, type Canvas, disc, draw, limb, type Paint, type Point } from './canvas.ts'
import { grain } from './grain.ts'

/** Something that crosses the hall. Lengths are in heights of the picture. */
export type Figure = {
  /** How far it reaches to either side of its middle, shadow included. */
  readonly reach: number
  /** Paints it with its middle at `x`, having gone `way`. It goes to the right. */
  paint(canvas: Canvas, x: number, way: number): void
}

const skin: Paint = { luma: 150, blue: 112, red: 148 }
const trousers: Paint = { luma: 48, blue: 138, red: 124, texture: (x, y) => 6 * grain(x * 70, y * 70) }
const vest: Paint = {
  luma: 178,
  blue: 58,
  red: 138,
  texture: (x, y) => 9 * grain(x * 50, y * 50) + (Math.abs(y + 0.36) < 0.012 || Math.abs(y + 0.42) < 0.012 ? 45 : 0),
}
const sleeve: Paint = { luma: 82, blue: 140, red: 122, texture: (x, y) => 5 * grain(x * 80, y * 80) }
const helmet: Paint = { luma: 215, blue: 122, red: 132 }

const personHeight = 0.66
const personGround = 0.88

/** A person of 1.75 m in a vest and helmet, walking. */
export const person: Figure = {
  reach: 0.19,
  paint(canvas, x, way) {
    const at = (dx: number, dy: number): Point => ({
      x: x + dx * personHeight,
      y: personGround - dy * personHeight - 0.006 * Math.abs(Math.sin(stride(way))),
    })
    const origin = at(0, 0)
    const swing = Math.sin(stride(way))
    const part = (from: Point, to: Point, radius: number, paint: Paint) =>
      draw(canvas, limb(from, to, radius * personHeight), paint, origin)
    paintShadow(canvas, { x, y: personGround }, 0.17)
    part(at(0, 0.78), at(-0.16 * swing, 0.48), 0.042, sleeve)
    leg(part, at, -swing)
    part(at(0, 0.56), at(0.01, 0.76), 0.125, vest)
    leg(part, at, swing)
    part(at(0, 0.78), at(0.16 * swing, 0.48), 0.042, sleeve)
    part(at(0.16 * swing, 0.47), at(0.18 * swing, 0.45), 0.034, skin)
    part(at(0.02, 0.92), at(0.02, 0.93), 0.065, skin)
    part(at(-0.02, 0.965), at(0.04, 0.965), 0.045, helmet)
  },
}

const yellow: Paint = { luma: 158, blue: 52, red: 152, texture: (x, y) => 8 * grain(x * 40, y * 40) }
const dark: Paint = { luma: 34 }
const steel: Paint = { luma: 92, texture: (x, y) => 6 * grain(x * 90, y * 90) }
const carton: Paint = {
  luma: 132,
  blue: 106,
  red: 146,
  texture: (x, y) => 10 * grain(x * 60, y * 60) - ((x * 8) % 1 < 0.08 || (y * 9 + 9) % 1 < 0.1 ? 40 : 0),
}
const wood: Paint = { luma: 118, blue: 108, red: 144, texture: (x) => ((x * 25 + 50) % 1 < 0.25 ? -45 : 0) }

const truckGround = 0.92

/** A forklift with a driver and a pallet of cartons on the forks. */
export const forklift: Figure = {
  reach: 0.56,
  paint(canvas, x, way) {
    const at = (dx: number, dy: number): Point => ({ x: x + dx, y: truckGround - dy })
    const origin = at(0, 0)
    const block = (from: Point, to: Point, paint: Paint) =>
      draw(canvas, box({ x: from.x, y: to.y }, { x: to.x, y: from.y }), paint, origin)
    paintShadow(canvas, { x, y: truckGround }, 0.55)
    draw(canvas, limb(at(-0.2, 0.3), at(-0.22, 0.46), 0.07), vest, origin)
    draw(canvas, disc(at(-0.2, 0.58), 0.045), helmet, origin)
    block(at(-0.5, 0.08), at(0.05, 0.3), yellow)
    block(at(-0.52, 0.16), at(-0.36, 0.4), yellow)
    for (const post of [-0.38, 0.02]) block(at(post, 0.3), at(post + 0.025, 0.7), dark)
    block(at(-0.4, 0.68), at(0.06, 0.71), dark)
    block(at(0.07, 0.03), at(0.12, 0.74), steel)
    block(at(0.12, 0.1), at(0.54, 0.12), steel)
    block(at(0.14, 0.12), at(0.54, 0.16), wood)
    block(at(0.15, 0.16), at(0.53, 0.5), carton)
    for (const wheel of [-0.38, -0.02]) paintWheel(canvas, at(wheel, 0.08), way)
  },
}

type Part = (from: Point, to: Point, radius: number, paint: Paint) => void

/** From the hip over the knee to the foot. */
function leg(part: Part, at: (dx: number, dy: number) => Point, swing: number): void {
  const knee = at(0.1 * swing + 0.02, 0.28)
  const foot = at(0.2 * swing - 0.02 * (1 - swing), 0.04)
  part(at(0, 0.52), knee, 0.062, trousers)
  part(knee, foot, 0.048, trousers)
  part(foot, { x: foot.x + 0.05 * personHeight, y: foot.y + 0.005 }, 0.034, dark)
}

function paintWheel(canvas: Canvas, centre: Point, way: number): void {
  draw(canvas, disc(centre, 0.08), dark)
  draw(canvas, disc(centre, 0.04), steel)
  for (const quarter of [0, 1, 2, 3]) {
    const turn = way / 0.08 + (quarter * Math.PI) / 2
    const nut = { x: centre.x + 0.03 * Math.cos(turn), y: centre.y + 0.03 * Math.sin(turn) }
    draw(canvas, disc(nut, 0.008), { luma: 20 })
  }
}

function paintShadow(canvas: Canvas, foot: Point, half: number): void {
  const left = { x: foot.x - half + 0.03, y: foot.y + 0.005 }
  draw(canvas, limb(left, { x: foot.x + half - 0.03, y: foot.y + 0.005 }, 0.03), { luma: 52, opacity: 0.45 })
}

/** Angle of the walk: one round is two steps of 0.75 m. */
function stride(way: number): number {
  return (way / (1.5 * (personHeight / 1.75))) * 2 * Math.PI
}
