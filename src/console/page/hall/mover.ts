/** Farther than the canvas of the plan reaches over it. */
const farthestPx = 1024

/**
 * Moves an element by two paused animations. Chromium moves the layer of an animated element alone. After a style changes its
 * transform, Chromium composes the layers of the whole page again, which takes longer than all else in a frame.
 */
export class PlanMover {
  readonly #across: Animation
  readonly #down: Animation

  constructor(element: HTMLElement) {
    this.#across = paused(element, 'translateX', 'replace')
    this.#down = paused(element, 'translateY', 'add')
  }

  stop(): void {
    this.#across.cancel()
    this.#down.cancel()
  }

  /** Moves the element to so many pixels right of and below its place, by at most `farthestPx`. */
  to(x: number, y: number): void {
    this.#across.currentTime = farthestPx + x
    this.#down.currentTime = farthestPx + y
  }
}

/** Makes an animation in which a millisecond is a pixel. */
function paused(element: HTMLElement, by: string, composite: CompositeOperation): Animation {
  const frames = [-farthestPx, farthestPx].map((px) => ({ transform: `${by}(${px}px)` }))
  const animation = element.animate(frames, { duration: 2 * farthestPx, fill: 'both', composite })
  animation.pause()
  animation.currentTime = farthestPx
  return animation
}
