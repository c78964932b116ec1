import type { Point } from '../data/shapes.ts'
import type { Box } from './geometry.ts'
import { type Hall, isWhole, moved, type Size, showing, type View, wholeHall, zoomed } from './view.ts'

/** A touch that moves less than this is a tap. */
const slopPx = 6
const buttonStep = 1.6
const glideMs = 220

type Needs = {
  readonly plan: HTMLElement
  /** Draws the view; called whenever it changes, many times a second. */
  readonly draw: (view: View, size: Size) => void
}

/**
 * Controls the view of the plan: the whole hall, until the user zooms, drags, pinches, turns the wheel or chooses a
 * slot.
 */
export class PlanControl {
  readonly #plan: HTMLElement
  readonly #draw: Needs['draw']
  /** Where each pointer is in the window: asking in each move where the plan is would lay out the page. */
  readonly #pointers = new Map<number, Point>()
  readonly #observer: ResizeObserver
  #hall: Hall | undefined
  #size: Size = { width: 0, height: 0 }
  #view: View = { x: 0, y: 0, scale: 1 }
  #isWhole = true
  #dragged = false
  #glide = 0

  constructor({ plan, draw }: Needs) {
    this.#plan = plan
    this.#draw = draw
    this.#observer = new ResizeObserver(() => this.#measure())
    this.#observer.observe(plan)
    // Passive by default in some browsers, and then the page would scroll as well.
    plan.addEventListener('wheel', this.#wheel, { passive: false })
    plan.addEventListener('pointerdown', this.#down)
    plan.addEventListener('pointermove', this.#move)
    plan.addEventListener('pointerup', this.#up)
    plan.addEventListener('pointercancel', this.#up)
    plan.addEventListener('click', this.#click, true)
    this.#measure()
  }

  stop(): void {
    cancelAnimationFrame(this.#glide)
    this.#observer.disconnect()
  }

  /** Shows a hall. A new one is shown whole; the same one keeps its view. */
  show(hall: Hall): void {
    const before = this.#hall
    this.#hall = hall
    if (!before || !isSame(before, hall)) this.#set(wholeHall(hall, this.#size))
  }

  whole(): void {
    if (!this.#hall) return
    this.#go(wholeHall(this.#hall, this.#size))
  }

  nearer = (): void => this.#zoomBy(buttonStep)
  farther = (): void => this.#zoomBy(1 / buttonStep)

  /** Moves the view to where this box can be read; does nothing when it can be already. */
  goTo(target: Box): void {
    if (!this.#hall || this.#size.width === 0) return
    const next = showing(this.#view, target, this.#hall, this.#size)
    if (next !== this.#view) this.#go(next)
  }

  /** Moves the view by fractions of its size. */
  pan(across: number, down: number): void {
    if (!this.#hall) return
    const by = { x: -across * this.#size.width, y: -down * this.#size.height }
    this.#set(moved(this.#view, by, this.#hall, this.#size))
  }

  /** Returns the pixels of a length of the plan. */
  pixelsOf(length: number): number {
    return length * this.#view.scale
  }

  /** Returns the point of the plan at a pixel of the window. */
  pointAt(clientX: number, clientY: number): Point {
    const at = this.#inside(clientX, clientY)
    const { x, y, scale } = this.#view
    return { x: (at.x - x) / scale, y: (at.y - y) / scale }
  }

  #zoomBy(factor: number): void {
    if (!this.#hall) return
    const middle = { x: this.#size.width / 2, y: this.#size.height / 2 }
    this.#go(zoomed(this.#view, middle, factor, this.#hall, this.#size))
  }

  #measure(): void {
    const { width, height } = this.#plan.getBoundingClientRect()
    const before = this.#size
    // The observer calls once as it begins, and what is gone to by then must not be broken off.
    if (width === before.width && height === before.height) return
    this.#size = { width, height }
    if (!this.#hall || width === 0) return
    // The middle stays in the middle when a tablet is turned.
    const by = { x: (width - before.width) / 2, y: (height - before.height) / 2 }
    const next = this.#isWhole ? wholeHall(this.#hall, this.#size) : moved(this.#view, by, this.#hall, this.#size)
    this.#set(next)
  }

  readonly #wheel = (event: WheelEvent): void => {
    if (!this.#hall) return
    const perUnit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 0.05 : event.ctrlKey ? 0.01 : 0.002
    const at = this.#inside(event.clientX, event.clientY)
    const next = zoomed(this.#view, at, Math.exp(-event.deltaY * perUnit), this.#hall, this.#size)
    // At the last zoom step the wheel scrolls the page.
    if (next.scale === this.#view.scale) return
    event.preventDefault()
    this.#set(next)
  }

  readonly #down = (event: PointerEvent): void => {
    if (event.pointerType === 'mouse' && event.button !== 0) return
    if (this.#pointers.size === 0) this.#dragged = false
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY })
  }

  readonly #move = (event: PointerEvent): void => {
    const from = this.#pointers.get(event.pointerId)
    if (!from || !this.#hall) return
    const to = { x: event.clientX, y: event.clientY }
    const isTap = !this.#dragged && this.#pointers.size === 1 && distance(from, to) < slopPx
    if (isTap) return
    this.#dragged = true
    if (!this.#plan.hasPointerCapture(event.pointerId)) this.#plan.setPointerCapture(event.pointerId)
    const [other] = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point)
    this.#pointers.set(event.pointerId, to)
    const by = { x: to.x - from.x, y: to.y - from.y }
    this.#set(other ? this.#pinched(from, to, other, this.#hall) : moved(this.#view, by, this.#hall, this.#size))
  }

  /** Zooms around the point between two fingers. */
  #pinched(from: Point, to: Point, other: Point, hall: Hall): View {
    const inside = ({ x, y }: Point) => this.#inside(x, y)
    const [before, after] = [inside(between(from, other)), inside(between(to, other))]
    const factor = distance(to, other) / Math.max(distance(from, other), 1)
    const turned = zoomed(this.#view, before, factor, hall, this.#size)
    return moved(turned, { x: after.x - before.x, y: after.y - before.y }, hall, this.#size)
  }

  readonly #up = (event: PointerEvent): void => {
    this.#pointers.delete(event.pointerId)
  }

  /** Ignores the click at the end of a drag. */
  readonly #click = (event: MouseEvent): void => {
    if (this.#dragged && event.detail > 0) event.stopPropagation()
    this.#dragged = false
  }

  #inside(clientX: number, clientY: number): Point {
    const { left, top } = this.#plan.getBoundingClientRect()
    return { x: clientX - left, y: clientY - top }
  }

  /** Moves the view with a short animation; at once for users who asked for reduced motion. */
  #go(next: View): void {
    cancelAnimationFrame(this.#glide)
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.#set(next)
      return
    }
    const from = this.#view
    const startedMs = performance.now()
    const step = (nowMs: number) => {
      const part = Math.min(Math.max((nowMs - startedMs) / glideMs, 0), 1)
      this.#set(part === 1 ? next : partWay(from, next, part * (2 - part)))
      if (part < 1) this.#glide = requestAnimationFrame(step)
    }
    this.#glide = requestAnimationFrame(step)
  }

  #set(view: View): void {
    cancelAnimationFrame(this.#glide)
    if (!this.#hall || this.#size.width === 0) return
    this.#view = view
    this.#isWhole = isWhole(view, this.#hall, this.#size)
    this.#draw(view, this.#size)
  }
}

const partWay = (a: View, b: View, part: number): View => ({
  x: a.x + (b.x - a.x) * part,
  y: a.y + (b.y - a.y) * part,
  scale: a.scale + (b.scale - a.scale) * part,
})
const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y)
const between = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })
const isSame = (a: Hall, b: Hall): boolean =>
  a.unit === b.unit &&
  a.box.x === b.box.x &&
  a.box.y === b.box.y &&
  a.box.width === b.box.width &&
  a.box.height === b.box.height
