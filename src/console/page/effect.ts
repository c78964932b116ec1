import { useLayoutEffect } from 'hono/jsx/dom'

/**
 * Runs an effect in the frame after the drawing in which its values changed; what it returns ends it. It takes the place of hono's, which
 * runs an effect once more for each drawing before that frame, loses its first end, and begins it also when its part of the page
 * has gone meanwhile (https://github.com/honojs/hono/pull/5165).
 */
export const useEffect: typeof useLayoutEffect = (effect, values) =>
  useLayoutEffect(() => {
    let end: ReturnType<typeof effect>
    const frame = requestAnimationFrame(() => {
      end = effect()
    })
    return () => {
      cancelAnimationFrame(frame)
      end?.()
    }
  }, values)
