import type { Ring } from '../stream/ring.ts'

/** Why clips may show less before the motion than they should. */
export type PreRollProblem = 'memory' | 'key-frames'

/** Times of pictures are this exact. */
const exactMs = 100

/**
 * Says why the ring gives less pre-roll than is wanted; null while it gives enough, and while it is only young. Key frames
 * further apart than the pre-roll: after each reconnection clips begin late, until the second one has come.
 */
export function preRollProblem(
  ring: Pick<Ring, 'playableMs' | 'groupMs' | 'wasShortened'>,
  wantedMs: number,
): PreRollProblem | null {
  if (wantedMs === 0) return null
  if (ring.wasShortened && ring.playableMs < wantedMs - exactMs) return 'memory'
  return ring.groupMs !== undefined && ring.groupMs > wantedMs + exactMs ? 'key-frames' : null
}
