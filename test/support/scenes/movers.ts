import { frameSize } from '../../../src/video/index.ts'
import { brightnessAt, type Canvas, capsule, coverage, paintBox } from './canvas.ts'
import type { Chance } from './chance.ts'
import type { Hall } from './hall.ts'

const { width, height } = frameSize

/** Paints its content at a time, over the earlier painting. */
export type Painter = (canvas: Canvas, atMs: number) => void

/** Something that a camera should find, and when it is in the picture and moves. */
export type Mover = { readonly fromMs: number; readonly toMs: number; readonly paint: Painter }

export type PersonLook = {
  /** Size in percent of the picture. */
  readonly percent: number
  /** Difference in brightness from the background, 0 to 255. */
  readonly contrast: number
  /** Speed as a multiple of walking. */
  readonly pace?: number
}

/** Makes a person who walks through the hall, or appears from behind something and goes again. */
export function person(chance: Chance, hall: Hall, fromMs: number, look: PersonLook): Mover {
  const tall = Math.sqrt((look.percent / 100) * width * height * 4.4)
  const metre = tall / 1.75
  const speed = metre * chance.between(1, 1.6) * (look.pace ?? 1)
  const direction = chance.sign()
  const wide = tall * 0.3
  const through = chance.happens(0.5)
  const way = Math.min(through ? width + wide : chance.between(2.5, 5) * metre * (look.pace ?? 1), 8 * speed)
  const startX = through
    ? direction > 0
      ? -wide / 2
      : width + wide / 2
    : chance.between(0.2, 0.8) * width - (direction * way) / 2
  const feetY = Math.min(chance.between(hall.horizon + 8, height - 2), height - 2) + Math.max(0, tall - 70)
  const slope = chance.between(-0.2, 0.2)
  const contrast = look.contrast * chance.sign()
  const toMs = fromMs + (way / speed) * 1000
  const paint: Painter = (canvas, atMs) => {
    if (atMs < fromMs || atMs > toMs) return
    const walked = ((atMs - fromMs) / 1000) * speed
    const x = startX + direction * walked
    const y = feetY + slope * walked * 0.3
    drawPerson(canvas, hall, { x, y, tall, contrast, stride: Math.sin((walked / metre) * 4) })
  }
  return { fromMs, toMs, paint }
}

function drawPerson(
  canvas: Canvas,
  hall: Hall,
  { x, y, tall, contrast, stride }: { x: number; y: number; tall: number; contrast: number; stride: number },
): void {
  const behind = brightnessAt(hall.soft, x, y - tall / 2)
  // A person who would be too dark or too bright has the opposite contrast.
  const shift = behind + contrast < 12 || behind + contrast > 245 ? -contrast : contrast
  const hip: [number, number] = [x, y - tall * 0.47]
  const foot = stride * tall * 0.14
  const box = { left: x - tall * 0.3, top: y - tall - 1, right: x + tall * 0.3, bottom: y + 1 }
  paintBox(canvas, box, (before, px, py) => {
    const at: [number, number] = [px, py]
    const head = coverage(Math.hypot(px - x, py - y + tall * 0.92) - tall * 0.075)
    const body = coverage(capsule(at, [x, y - tall * 0.76], hip, tall * 0.115))
    const legs = Math.max(
      coverage(capsule(at, hip, [x + foot, y - tall * 0.04], tall * 0.055)),
      coverage(capsule(at, hip, [x - foot, y - tall * 0.04], tall * 0.055)),
    )
    const covered = Math.max(head, body, legs)
    if (covered === 0) return before
    const shade = body >= legs ? shift : shift * 0.85
    return before * (1 - covered) + (behind + shade) * covered
  })
}

/** Makes a forklift that drives through, 3 to 10 percent of the picture. */
export function forklift(chance: Chance, hall: Hall, fromMs: number): Mover {
  const area = chance.between(0.03, 0.1) * width * height
  const high = Math.sqrt(area / 1.1)
  const long = high * 1.5
  const speed = (high / 2.1) * chance.between(1.5, 3.5)
  const direction = chance.sign()
  const feetY = chance.between(Math.max(hall.horizon + 12, high * 0.7), height - 3)
  const body = chance.between(40, 80) * chance.sign()
  const toMs = fromMs + ((width + long) / speed) * 1000
  const paint: Painter = (canvas, atMs) => {
    if (atMs < fromMs || atMs > toMs) return
    const x = (direction > 0 ? -long / 2 : width + long / 2) + (direction * speed * (atMs - fromMs)) / 1000
    const behind = brightnessAt(hall.soft, x, feetY - high / 2)
    const tone = behind + body < 15 || behind + body > 240 ? behind - body : behind + body
    rectangle(
      canvas,
      { left: x - long * 0.35, top: feetY - high * 0.55, right: x + long * 0.3, bottom: feetY - 1 },
      tone,
    )
    rectangle(
      canvas,
      { left: x - long * 0.2, top: feetY - high, right: x + long * 0.1, bottom: feetY - high * 0.9 },
      40,
    )
    const mast = x + direction * long * 0.33
    rectangle(canvas, { left: mast - 1, top: feetY - high, right: mast + 1, bottom: feetY }, 35)
    for (const wheel of [-0.22, 0.22]) disc(canvas, x + wheel * long, feetY - high * 0.1, high * 0.12, 20)
  }
  return { fromMs, toMs, paint }
}

/** Makes a lorry that comes to the dock, 10 to 25 percent of the picture, and stays. */
export function lorry(chance: Chance, hall: Hall, fromMs: number): Mover {
  const area = chance.between(0.1, 0.25) * width * height
  const high = Math.sqrt(area / 1.6)
  const long = high * 1.6
  const direction = chance.sign()
  const way = chance.between(0.5, 0.8) * width
  const driveMs = chance.between(4000, 9000)
  const feetY = Math.min(hall.horizon + high * 0.8, height - 2)
  const tone = chance.happens(0.5) ? chance.between(170, 220) : chance.between(25, 50)
  const toMs = fromMs + driveMs
  const paint: Painter = (canvas, atMs) => {
    if (atMs < fromMs) return
    const share = Math.min((atMs - fromMs) / driveMs, 1)
    const front = way * (1 - (1 - share) ** 2)
    const x = direction > 0 ? front - long / 2 : width - front + long / 2
    rectangle(canvas, { left: x - long / 2, top: feetY - high, right: x + long / 2, bottom: feetY - high * 0.12 }, tone)
    for (const wheel of [-0.35, -0.2, 0.35]) disc(canvas, x + wheel * long, feetY - high * 0.08, high * 0.1, 20)
  }
  return { fromMs, toMs, paint }
}

type Box = { left: number; top: number; right: number; bottom: number }

/** Draws a rectangle whose borders cover points in part. */
export function rectangle(canvas: Canvas, box: Box, tone: number): void {
  paintBox(canvas, { ...box, left: box.left - 1, right: box.right + 1 }, (before, x, y) => {
    const inside = Math.max(box.left - x, x - box.right, box.top - y, y - box.bottom)
    const covered = coverage(inside)
    return before * (1 - covered) + tone * covered
  })
}

export function disc(canvas: Canvas, x: number, y: number, radius: number, tone: number): void {
  const box = { left: x - radius - 1, top: y - radius - 1, right: x + radius + 1, bottom: y + radius + 1 }
  paintBox(canvas, box, (before, px, py) => {
    const covered = coverage(Math.hypot(px - x, py - y) - radius)
    return before * (1 - covered) + tone * covered
  })
}
