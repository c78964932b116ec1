import { mostDrift } from '../timing/earliest-offset.ts'
import { frameSize, framesPerSecond } from './frames.ts'

const windowMs = 10_000
/** More than real time by this much is a flood. Cameras and networks may send a backlog at once. */
const mostAheadMs = 15_000
const pictureMs = 1000 / framesPerSecond

/** How much longer the video is than the time that has passed since the beginning. */
type Ahead = { readonly atMs: number; readonly aheadMs: number }

/**
 * Detects that small pictures come faster than they can have been taken. A busy box may pass on its backlog at once. So the maximum
 * lead of the stream over the clock counts too, not only its rate now.
 */
export class PictureRate {
  #newest: Ahead | undefined
  /** Entries of the last 10 s. */
  #window: Ahead[] = []
  /** The maximum before that. */
  #most: Ahead | undefined

  /**
   * Begins with a connection that started at `beganMs` (monotonic). Its first pictures come together, after ffmpeg has probed them
   * for a while.
   */
  constructor(beganMs?: number) {
    if (beganMs !== undefined) this.#newest = { atMs: beganMs, aheadMs: 0 }
  }

  /** Notes bytes that arrived at `atMs` (monotonic). Returns true when they show over 15 s that cannot have passed. */
  isFlood(bytes: number, atMs: number): boolean {
    const before = this.#newest ?? { atMs, aheadMs: 0 }
    this.#most ??= before
    const aheadMs = before.aheadMs - (atMs - before.atMs) + (bytes / frameSize.bytes) * pictureMs
    this.#newest = { atMs, aheadMs }
    this.#window.push(this.#newest)
    for (let old = this.#window[0]; old && old.atMs <= atMs - windowMs; old = this.#window[0]) {
      this.#window.shift()
      this.#most = { atMs: old.atMs, aheadMs: Math.max(old.aheadMs, this.#mostAt(old.atMs)) }
    }
    return aheadMs > this.#mostAt(atMs) + mostAheadMs
  }

  #mostAt(atMs: number): number {
    return this.#most ? this.#most.aheadMs - (atMs - this.#most.atMs) * mostDrift : 0
  }
}
