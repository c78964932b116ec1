import { type Day, highest, ticks, type Window } from '../../data/day-line.ts'
import { formatted } from '../../i18n/words.ts'
import type { Trial } from '../tune-trial.ts'
import type { Scores } from './data.ts'
import type { Entry } from './entries.ts'

export type Picture = {
  readonly day: Day
  readonly window: Window
  readonly entries: readonly Entry[]
  readonly scores: Scores
  readonly sensitivity: number
  readonly cursorMs: number
  readonly timeZone: string | undefined
  readonly nowMs: number
  /** Result of other settings on the day. */
  readonly trial: Trial | undefined
}

/** Heights in CSS pixels: of times, of clips, of gaps, of the trace. */
export const bands = { times: [0, 24], clips: [28, 52], gaps: [56, 76], trace: [82, 148] } as const
export const lineHeight = 152
const leastMark = 3
const tickRoom = 76

/** Draws a day on a canvas, in the colors of its style. */
export function drawDay(canvas: HTMLCanvasElement, picture: Picture): void {
  const width = canvas.clientWidth
  const scale = devicePixelRatio
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(lineHeight * scale)
  const to = canvas.getContext('2d')
  if (!to || width === 0) return
  to.scale(scale, scale)
  const style = getComputedStyle(canvas)
  const color = (name: string) => style.getPropertyValue(name)
  const { window, day } = picture
  const x = (ms: number) => ((ms - window.fromMs) / (window.toMs - window.fromMs)) * width
  drawTimes(to, picture, { width, x, color, font: style.fontFamily })
  for (const entry of picture.entries) drawEntry(to, entry, x, color)
  drawTrial(to, picture, x, color)
  drawTrace(to, picture, width, color)
  // The future is no gap.
  if (picture.nowMs < day.toMs && picture.nowMs < window.toMs) {
    to.fillStyle = color('--off-ground')
    const from = Math.max(0, x(picture.nowMs))
    to.fillRect(from, bands.clips[0], width - from, lineHeight)
  }
  to.fillStyle = color('--text')
  to.fillRect(x(picture.cursorMs) - 1, bands.times[1], 2, lineHeight)
}

type Brush = { width: number; x: (ms: number) => number; color: (name: string) => string; font: string }

function drawTimes(to: CanvasRenderingContext2D, picture: Picture, { width, x, color, font }: Brush): void {
  const { everyMs, at } = ticks(picture.window, picture.day, Math.max(2, Math.floor(width / tickRoom)))
  const second = everyMs < 60_000 ? ({ second: '2-digit' } as const) : {}
  to.font = `13px ${font}`
  to.textBaseline = 'middle'
  for (const ms of at) {
    to.fillStyle = color('--line')
    to.fillRect(x(ms), bands.times[1] - 6, 1, lineHeight)
    to.fillStyle = color('--muted')
    const text = formatted(ms, picture.timeZone, { hour: '2-digit', minute: '2-digit', ...second })
    if (x(ms) + to.measureText(text).width + 4 < width) to.fillText(text, x(ms) + 4, 10)
  }
}

function drawEntry(
  to: CanvasRenderingContext2D,
  entry: Entry,
  x: (ms: number) => number,
  color: (name: string) => string,
): void {
  const [from, end] = [x(entry.fromMs), x(entry.toMs)]
  const width = Math.max(leastMark, end - from)
  if (entry.kind === 'detection') {
    const [top, bottom] = bands.clips
    const hasClip = entry.detection.clipStatus === 'recorded'
    to.fillStyle = color(hasClip ? '--accent' : '--muted')
    // One without a clip is lower, so that it is not recognized by its color alone.
    const low = hasClip ? top : top + 12
    to.fillRect(from, low, width, bottom - low)
    return
  }
  const [top, bottom] = bands.gaps
  const isOurs = entry.gap.cause === 'outside_hours' || entry.gap.cause === 'disarmed'
  to.fillStyle = color(isOurs ? '--off-ground' : '--danger-ground')
  to.fillRect(from, top, width, bottom - top)
  to.strokeStyle = color(isOurs ? '--muted' : '--danger')
  to.save()
  to.beginPath()
  to.rect(from, top, width, bottom - top)
  to.clip()
  to.beginPath()
  const [first, last] = [Math.max(from, 0) - 20, Math.min(from + width, to.canvas.width)]
  for (let at = first - (first % 8); at < last; at += 8) {
    to.moveTo(at, bottom)
    to.lineTo(at + 20, top)
  }
  to.stroke()
  to.restore()
  to.strokeRect(from, top + 0.5, width, bottom - top - 1)
}

/** Crosses out the events that would be gone, and outlines those that would be added. */
function drawTrial(
  to: CanvasRenderingContext2D,
  { entries, trial }: Picture,
  x: (ms: number) => number,
  color: (name: string) => string,
): void {
  if (!trial) return
  const [top, bottom] = bands.clips
  to.lineWidth = 2
  for (const entry of entries) {
    if (entry.kind !== 'detection' || trial.verdicts.get(entry.detection.id) !== 'gone') continue
    const [from, end] = [x(entry.fromMs), x(entry.toMs)]
    const middle = (from + end) / 2
    const half = Math.max(6, (end - from) / 2)
    to.fillStyle = color('--sunken')
    to.fillRect(middle - half, top, 2 * half, bottom - top)
    to.strokeStyle = color('--danger')
    to.beginPath()
    to.moveTo(middle - half, top)
    to.lineTo(middle + half, bottom)
    to.moveTo(middle + half, top)
    to.lineTo(middle - half, bottom)
    to.stroke()
  }
  to.strokeStyle = color('--ok')
  for (const { atMs } of trial.added) to.strokeRect(x(atMs) - 4, top + 1, 8, bottom - top - 2)
  to.lineWidth = 1
}

function drawTrace(
  to: CanvasRenderingContext2D,
  { scores, day, window, sensitivity }: Picture,
  width: number,
  color: (name: string) => string,
): void {
  const [top, bottom] = bands.trace
  const found = highest(scores.values, scores.intervalMs, day, window, Math.max(1, Math.floor(width)))
  // Most motion is small: the root gives it room.
  const y = (score: number) => bottom - Math.sqrt(score) * (bottom - top)
  for (const [column, score] of found.entries()) {
    if (Number.isNaN(score)) continue
    to.fillStyle = color(score >= sensitivity ? '--accent' : '--muted')
    to.fillRect(column, Math.min(y(score), bottom - 1), 1, Math.max(1, bottom - y(score)))
  }
  to.strokeStyle = color('--warn')
  to.setLineDash([6, 4])
  to.beginPath()
  to.moveTo(0, y(sensitivity))
  to.lineTo(width, y(sensitivity))
  to.stroke()
  to.setLineDash([])
}
