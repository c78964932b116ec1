import { frameSize } from '../../../src/video/index.ts'
import { brightnessAt, type Canvas, canvasWidth, margin, newCanvas, paintBox } from './canvas.ts'
import { type MakeDisturbance, wind } from './disturbance.ts'
import { rectangle } from './movers.ts'

const { width, height } = frameSize

/** A fan that turns without end. */
export const fan: MakeDisturbance = (chance, hall) => {
  const radius = chance.between(4, 12)
  const [x, y] = [chance.between(radius, width - radius), chance.between(radius, height - radius)]
  const blades = 3 + chance.below(3)
  const speed = chance.between(3, 70)
  const contrast = chance.between(20, 70)
  const behind = brightnessAt(hall.soft, x, y)
  return {
    under: (canvas, atMs) => {
      const turn = (speed * atMs) / 1000
      const box = { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }
      paintBox(canvas, box, (before, px, py) => {
        if (Math.hypot(px - x, py - y) > radius) return before
        return behind + (Math.sin(blades * (Math.atan2(py - y, px - x) + turn)) > 0.2 ? -contrast : 0)
      })
    },
  }
}

/** A conveyor with boxes at uneven distances. */
export const conveyor: MakeDisturbance = (chance, hall, durationMs) => {
  const y = chance.between(hall.horizon + 5, height - 15)
  const high = chance.between(6, 14)
  const speed = chance.between(10, 35)
  const toRight = chance.happens(0.5)
  const spread = chance.between(20, 60)
  const boxes: { at: number; long: number; tone: number }[] = []
  for (let at = -width; at < speed * (durationMs / 1000); at += chance.between(12, spread)) {
    boxes.push({ at, long: chance.between(6, 12), tone: chance.between(40, 210) })
  }
  return {
    under: (canvas, atMs) => {
      rectangle(canvas, { left: -9, top: y, right: width + 9, bottom: y + high }, 60)
      const moved = (speed * atMs) / 1000
      for (const { at, long, tone } of boxes) {
        const way = moved - at
        if (way < -20 || way > width + 20) continue
        const left = toRight ? way : width - way
        rectangle(canvas, { left, top: y + 1, right: left + long, bottom: y + high - 1 }, tone)
      }
    },
  }
}

/** A screen: pages that change every few seconds, and sometimes a film on it. */
export const screen: MakeDisturbance = (chance, _, durationMs) => {
  const [wide, high] = [chance.between(10, 24), chance.between(7, 14)]
  const [x, y] = [chance.between(0, width - wide), chance.between(0, height - high)]
  const pageMs = chance.between(800, 6000)
  const films = wind(chance, durationMs)
  const tone = (cell: number, page: number) =>
    50 + ((Math.imul(cell * 7919 + page * 104_729, 2_654_435_761) >>> 24) % 180)
  return {
    under: (canvas, atMs) => {
      const page = Math.floor(atMs / (films(atMs) > 0.5 ? 400 : pageMs))
      paintBox(canvas, { left: x, top: y, right: x + wide, bottom: y + high }, (_before, px, py) =>
        tone(Math.floor((px - x) / 4) + 100 * Math.floor((py - y) / 3), page),
      )
    },
  }
}

/** Trees or bushes along one side, moved by the wind. */
export const foliage: MakeDisturbance = (chance, _, durationMs) => {
  const gusts = wind(chance, durationMs)
  const side = chance.happens(0.5)
  const wide = chance.between(25, 60)
  const leaves = newCanvas()
  for (let i = 0; i < leaves.length; i += 1) leaves[i] = chance.between(20, 150)
  const strength = chance.between(0.8, 2.2)
  const phases = Array.from({ length: 8 }, () => [chance.between(0.8, 3), chance.between(0, 6)] as const)
  return {
    under: (canvas, atMs) => {
      const box = side
        ? { left: -margin, top: -margin, right: wide, bottom: height * 0.8 }
        : { left: width - wide, top: -margin, right: width + margin, bottom: height * 0.8 }
      const most = strength * (0.3 + 0.7 * gusts(atMs))
      const moves = phases.map(([hz, phase]) => most * Math.sin((2 * Math.PI * hz * atMs) / 1000 + phase))
      paintBox(canvas, box, (_before, px, py) => {
        const move = moves[(Math.floor(px / 12) + 3 * Math.floor(py / 12)) & 7] ?? 0
        return between(leaves, px / 2 + move, py / 2 + move * 0.5)
      })
    },
  }
}

/** Reads between four points. */
function between(canvas: Canvas, x: number, y: number): number {
  const [column, row] = [Math.floor(x), Math.floor(y)]
  const [right, down] = [x - column, y - row]
  const at = Math.max((row + margin) * canvasWidth + column + margin, 0)
  const upper = (canvas[at] ?? 0) * (1 - right) + (canvas[at + 1] ?? 0) * right
  const lower = (canvas[at + canvasWidth] ?? 0) * (1 - right) + (canvas[at + canvasWidth + 1] ?? 0) * right
  return upper * (1 - down) + lower * down
}

/** Plastic film around a pallet, with reflections that tremble in the draught. */
export const film: MakeDisturbance = (chance, hall, durationMs) => {
  const gusts = wind(chance, durationMs)
  const [wide, high] = [chance.between(10, 22), chance.between(10, 24)]
  const [x, y] = [chance.between(0, width - wide), chance.between(hall.horizon - 5, height - high)]
  const glints = Array.from({ length: 3 + chance.below(5) }, () => ({
    x: x + chance.between(0, wide),
    y: y + chance.between(0, high),
    hz: chance.between(0.5, 4),
    phase: chance.between(0, 6),
    tone: chance.between(20, 70),
  }))
  return {
    under: (canvas, atMs) => {
      const gust = Math.max(gusts(atMs) * 1.4 - 0.3, 0.05)
      for (const { x: gx, y: gy, hz, phase, tone } of glints) {
        const move = 2 * gust * Math.sin((2 * Math.PI * hz * atMs) / 1000 + phase)
        const shine = tone * (0.6 + 0.4 * gust * Math.sin((2 * Math.PI * hz * 1.7 * atMs) / 1000 + 2 * phase))
        const box = { left: gx - 6, top: gy - 6, right: gx + 6, bottom: gy + 6 }
        paintBox(canvas, box, (before, px, py) => {
          return before + shine * Math.exp(-(((px - gx - move) / 1.2) ** 2) - ((py - gy) / 3.5) ** 2)
        })
      }
    },
  }
}

/** A vent or a strip curtain: stripes that swing when it blows, and hang still between. */
export const curtain: MakeDisturbance = (chance, hall, durationMs) => {
  const gusts = wind(chance, durationMs)
  const wide = chance.between(12, 30)
  const [left, top] = [chance.between(0, width - wide), hall.horizon - 15]
  const bottom = Math.min(top + chance.between(20, 40), height)
  const contrast = chance.between(8, 25)
  const hz = chance.between(0.3, 1.2)
  return {
    under: (canvas, atMs) => {
      const swing = 2.5 * gusts(atMs) ** 2 * Math.sin((2 * Math.PI * hz * atMs) / 1000)
      paintBox(canvas, { left, top, right: left + wide, bottom }, (before, px, py) => {
        const at = px - left + (swing * (py - top)) / (bottom - top)
        return before + contrast * Math.sin((2 * Math.PI * at) / 5)
      })
    },
  }
}
