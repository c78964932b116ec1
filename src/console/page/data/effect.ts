import { useLayoutEffect } from 'hono/jsx/dom'

/**
 * Runs an effect in the frame after the drawing in which its values changed; its return value ends it. Replaces the effect of hono.
 * The one of hono runs an effect once more for each drawing before that frame, and loses its first end. It also begins an effect whose
 * part of the page has gone meanwhile (https://github.com/honojs/hono/pull/5165).
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
