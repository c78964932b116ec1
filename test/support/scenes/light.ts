import { frameSize } from '../../../src/video/index.ts'
import { type Canvas, canvasWidth, margin, paintBox, smoothStep } from './canvas.ts'
import type { Chance } from './chance.ts'
import { type MakeDisturbance, timesOf } from './disturbance.ts'
import type { Painter } from './movers.ts'

const { width, height } = frameSize

/** Multiplies the whole canvas. */
export function lighten(canvas: Canvas, share: number): void {
  for (let i = 0; i < canvas.length; i += 1) canvas[i] = (canvas[i] ?? 0) * share
}

/** The sun rises in 8 to 20 minutes, and the camera's exposure follows in small steps. */
export const dawn: MakeDisturbance = (chance) => {
  const riseMs = chance.between(8, 20) * 60_000
  const from = chance.between(0.25, 0.5)
  const step = chance.between(0.01, 0.05)
  return {
    over: (canvas, atMs) => {
      const sun = from + (1 - from) * (0.5 - 0.5 * Math.cos((Math.PI * atMs) / riseMs))
      lighten(canvas, Math.exp(Math.round(Math.log(sun) / step) * step * 0.5 + Math.log(sun) * 0.5))
    },
    grain: 2.5,
  }
}

/** Clouds before the sun: patches of light that fade within seconds. */
export const clouds: MakeDisturbance = (chance) => {
  const [a, b] = [chance.between(7000, 20_000), chance.between(11_000, 30_000)]
  const strength = chance.between(0.1, 0.3)
  const border = chance.between(0.2, 0.8) * width
  return {
    over: (canvas, atMs) => {
      const gain = strength * (Math.sin((2 * Math.PI * atMs) / a) + Math.sin((2 * Math.PI * atMs) / b)) * 0.5
      paintBox(canvas, whole, (before, x) => before * (1 + gain * smoothStep(border - 25, border + 25, x)))
    },
  }
}

const whole = { left: -margin, top: -margin, right: width + margin, bottom: height + margin }

/** A level of light that is switched between full and low, as lamps and the camera's exposure make it. */
function switched(chance: Chance, durationMs: number): (atMs: number) => number {
  const low = chance.between(0.25, 0.6)
  const tubes = chance.happens(0.4)
  const exposureMs = chance.happens(0.6) ? chance.between(300, 1200) : 0
  const times = timesOf(durationMs, chance.between(15_000, 40_000), () => chance.between(40_000, 150_000))
  const flashes = times.map(() => (tubes ? chance.between(400, 1800) : 0))
  return (atMs) => {
    const count = times.filter((ms) => ms <= atMs).length
    if (count === 0) return 1
    const [sinceMs, flashMs] = [atMs - (times[count - 1] ?? 0), flashes[count - 1] ?? 0]
    const [before, after] = count % 2 === 1 ? [1, low] : [low, 1]
    if (after === 1 && sinceMs < flashMs) return chance.happens(0.5) ? 1 : low
    // The exposure first shows the whole step and then takes a part of it back.
    const back = exposureMs === 0 ? 0 : 0.35 * (1 - Math.exp(-sinceMs / exposureMs))
    return after + (before - after) * back
  }
}

/** The light of the hall is switched off and on, every one or two minutes. */
export const lightSwitch: MakeDisturbance = (chance, _, durationMs) => {
  const level = switched(chance, durationMs)
  return { over: (canvas, atMs) => lighten(canvas, level(atMs)) }
}

/** The lamps over a part of the hall are switched. */
export const zoneLight: MakeDisturbance = (chance, _, durationMs) => {
  const level = switched(chance, durationMs)
  const [x, y] = [chance.between(0.1, 0.9) * width, chance.between(0.3, 0.9) * height]
  const radius = chance.between(25, 60)
  const soft = chance.between(8, 20)
  const paint: Painter = (canvas, atMs) => {
    const now = level(atMs)
    paintBox(canvas, whole, (before, px, py) => {
      const inside = 1 - smoothStep(radius - soft, radius + soft, Math.hypot(px - x, (py - y) * 1.6))
      return before * (1 + (now - 1) * inside)
    })
  }
  return { over: paint }
}

/** Lamps on mains of 50 or 60 Hz: bands that roll over the picture, or the whole of it. */
export const flicker: MakeDisturbance = (chance) => {
  const strength = chance.between(0.01, 0.06)
  const bands = chance.happens(0.7) ? chance.between(0.5, 3) : 0
  const beat = chance.between(0.02, 2.4)
  return {
    over: (canvas, atMs) => {
      for (let row = 0; row < canvas.length / canvasWidth; row += 1) {
        const phase = (2 * Math.PI * bands * row) / height + (2 * Math.PI * beat * atMs) / 1000
        const gain = 1 + strength * Math.sin(phase)
        for (let i = row * canvasWidth; i < (row + 1) * canvasWidth; i += 1) canvas[i] = (canvas[i] ?? 0) * gain
      }
    },
  }
}

/** Headlights at night: 20 times an hour, light sweeps over floor and racks, often with the shadow of a post. */
export const headlights: MakeDisturbance = (chance, hall, durationMs) => {
  const sweeps = timesOf(durationMs, chance.between(30_000, 120_000), () => chance.between(60_000, 300_000)).map(
    (fromMs) => ({
      fromMs,
      tookMs: chance.between(1500, 5000),
      direction: chance.sign(),
      gain: chance.between(0.4, 2.5),
      y: chance.between(hall.horizon - 5, height),
      wide: chance.between(14, 40),
      high: chance.between(8, 22),
      post: chance.happens(0.4),
    }),
  )
  const paint: Painter = (canvas, atMs) => {
    lighten(canvas, 0.4)
    for (const { fromMs, tookMs, direction, gain, y, wide, high, post } of sweeps) {
      const share = (atMs - fromMs) / tookMs
      if (share < 0 || share > 1) continue
      const x = direction > 0 ? -60 + share * 280 : 220 - share * 280
      const fade = Math.min(share, 1 - share, 0.25) * 4
      paintBox(canvas, whole, (before, px, py) => {
        const light = Math.exp(-(((px - x) / wide) ** 2) - ((py - y) / high) ** 2)
        const shadow = post ? smoothStep(2, 5, Math.abs(px - x - 0.3 * wide * (1 - 2 * share))) : 1
        return before * (1 + gain * fade * light * shadow)
      })
    }
  }
  return { over: paint, grain: 2.5 }
}
