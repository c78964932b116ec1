import { frameSize } from '../../../src/video/index.ts'
import { capsule, coverage, paintBox } from './canvas.ts'
import type { Chance } from './chance.ts'
import { type MakeDisturbance, timesOf, wind } from './disturbance.ts'
import { lighten } from './light.ts'

const { width, height } = frameSize

/** Rain that comes and goes: streaks in each picture at other places, some close to the lens. */
export const rain: MakeDisturbance = (chance, _, durationMs) => {
  const most = chance.between(20, 140)
  const lean = chance.between(-0.4, 0.4)
  const strength = chance.between(10, 45)
  const amount = wind(chance, durationMs)
  return {
    over: (canvas, atMs) => {
      for (let count = most * (0.3 + 0.7 * amount(atMs)); count > 0; count -= 1) {
        const near = chance.happens(0.04)
        const long = near ? chance.between(12, 25) : chance.between(3, 9)
        const [x, y] = [chance.between(-5, width + 5), chance.between(-10, height)]
        const end: [number, number] = [x + lean * long, y + long]
        const tone = strength * (near ? 0.6 : 1)
        const box = { left: Math.min(x, end[0]) - 2, top: y - 2, right: Math.max(x, end[0]) + 2, bottom: y + long + 2 }
        paintBox(canvas, box, (before, px, py) => {
          return before + tone * coverage(capsule([px, py], [x, y], end, near ? 0.9 : 0.3))
        })
      }
    },
  }
}

type Insect = {
  fromMs: number
  toMs: number
  at: (atMs: number) => readonly [number, number]
  size: number
  tone: number
}

function insect(chance: Chance, fromMs: number): Insect {
  // Close to the lens: large, blurred and fast.
  const size = chance.between(1, 6)
  const speed = chance.between(60, 120) * (0.6 + size / 4)
  const [angle, turn] = [chance.between(0, 2 * Math.PI), chance.between(-2.5, 2.5)]
  const [x, y] = [chance.between(0, width), chance.between(0, height)]
  const lifeMs = chance.between(300, 2500)
  const at = (atMs: number) => {
    const s = (atMs - fromMs - lifeMs / 2) / 1000
    const wobble = 6 * Math.sin(9 * s + angle)
    return [x + speed * s * Math.cos(angle + turn * s) + wobble, y + speed * s * Math.sin(angle + turn * s)] as const
  }
  return { fromMs, toMs: fromMs + lifeMs, at, size, tone: chance.between(60, 160) }
}

/** Insects in the infrared light of a camera at night: bright, blurred, fast, every few seconds. */
export const insects: MakeDisturbance = (chance, _, durationMs) => {
  const pauseMs = chance.between(1000, 12_000)
  const all = timesOf(durationMs, 2000, () => chance.between(100, 2 * pauseMs)).map((ms) => insect(chance, ms))
  return {
    over: (canvas, atMs) => {
      lighten(canvas, 0.5)
      for (const { fromMs, toMs, at, size, tone } of all) {
        if (atMs < fromMs || atMs > toMs) continue
        const [x, y] = at(atMs)
        const [ex, ey] = at(atMs + 40)
        const reach = 2 * size + 8
        const box = { left: x - reach, top: y - reach, right: x + reach, bottom: y + reach }
        paintBox(canvas, box, (before, px, py) => {
          const distance = Math.max(capsule([px, py], [x, y], [ex, ey], 0), 0)
          return before + tone * Math.exp(-((distance / size) ** 2))
        })
      }
    },
    grain: 2.5,
  }
}

/** A spider on the lens: large, blurred, slow, for minutes, then gone for minutes. */
export const spider: MakeDisturbance = (chance, _, durationMs) => {
  const visits = timesOf(durationMs, chance.between(60_000, 300_000), () => chance.between(240_000, 900_000))
  const path = [chance.between(2000, 5000), chance.between(3000, 7000)]
  const size = chance.between(5, 10)
  return {
    over: (canvas, atMs) => {
      const fromMs = visits.findLast((ms) => ms <= atMs)
      if (fromMs === undefined || atMs > fromMs + 60_000) return
      const x = width * (0.5 + 0.6 * Math.sin((2 * Math.PI * (atMs - fromMs)) / (8 * (path[0] ?? 1)) - Math.PI / 2))
      const y = height * (0.5 + 0.3 * Math.sin((2 * Math.PI * atMs) / (5 * (path[1] ?? 1))))
      const box = { left: x - 3 * size, top: y - 3 * size, right: x + 3 * size, bottom: y + 3 * size }
      paintBox(canvas, box, (before, px, py) => before + 90 * Math.exp(-((Math.hypot(px - x, py - y) / size) ** 2)))
    },
    grain: 2.5,
  }
}

/** A camera on a mast in gusts: up to two points of the small picture to each side, at 0.5 to 3 Hz. */
export const shake: MakeDisturbance = (chance, _, durationMs) => {
  const gusts = wind(chance, durationMs)
  const [a, b] = [chance.between(0.5, 3), chance.between(0.5, 3)]
  return {
    shift: (atMs) => {
      const most = 2 * gusts(atMs)
      return [most * Math.sin((2 * Math.PI * a * atMs) / 1000), most * Math.sin((2 * Math.PI * b * atMs) / 1000 + 1)]
    },
  }
}
