import { box, type Canvas, draw } from './canvas.ts'
import { grain, speck } from './grain.ts'

/** Where wall and floor meet, in heights of the picture from its top. */
const horizon = 0.42
const rackWidth = 0.24
const shelves = [0.06, 0.18, 0.3]

/** Paints an empty hall: racks with boxes along the wall, a worn concrete floor with a marked lane. */
export function paintHall(canvas: Canvas): void {
  const width = canvas.width / canvas.height
  draw(canvas, box({ x: 0, y: 0 }, { x: width, y: horizon }), {
    luma: 96,
    blue: 131,
    red: 125,
    texture: (x, y) => 10 * grain(x * 60, y * 60) + 30 * y,
  })
  for (let rack = 0; rack * rackWidth < width; rack += 1) paintRack(canvas, rack)
  paintFloor(canvas, width)
}

function paintRack(canvas: Canvas, rack: number): void {
  const left = rack * rackWidth
  shelves.forEach((top, level) => {
    for (const slot of [0, 1]) paintLoad(canvas, left + 0.03 + slot * 0.1, top, speck(3 * rack + slot, level))
    const board = box({ x: left, y: top + 0.1 }, { x: left + rackWidth, y: top + 0.115 })
    draw(canvas, board, { luma: 120, blue: 100, red: 160 })
  })
  draw(canvas, box({ x: left, y: 0.02 }, { x: left + 0.014, y: horizon }), { luma: 70, blue: 160, red: 110 })
}

/** One slot in five is empty. */
function paintLoad(canvas: Canvas, left: number, top: number, chance: number): void {
  if (chance < 0.2) return
  const high = 0.045 + 0.05 * ((chance * 7) % 1)
  draw(canvas, box({ x: left, y: top + 0.1 - high }, { x: left + 0.085, y: top + 0.1 }), {
    luma: 70 + 110 * ((chance * 13) % 1),
    blue: 112,
    red: 142,
    texture: (x, y) => 12 * grain(x * 90, y * 90) - ((x * 37) % 1 < 0.12 ? 25 : 0),
  })
}

function paintFloor(canvas: Canvas, width: number): void {
  draw(canvas, box({ x: 0, y: horizon }, { x: width, y: 1 }), {
    luma: 104,
    blue: 126,
    red: 129,
    // Farther away is smaller: the pattern is stretched by the distance from the horizon.
    texture: (x, y) => {
      const near = y - horizon + 0.08
      return 45 * near + 12 * grain((x - width / 2) / near, 3 / near) + 7 * grain(x * 45, y * 80)
    },
  })
  for (const y of [horizon + 0.05, 0.93]) {
    const line = box({ x: 0, y }, { x: width, y: y + 0.012 + 0.01 * y })
    draw(canvas, line, { luma: 170, blue: 60, red: 150, texture: (x) => 20 * grain(x * 30, 1) })
  }
}
