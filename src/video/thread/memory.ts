import type { Recording } from '../clips/clip.ts'
import type { History } from '../history/history.ts'
import type { CameraSettings } from '../messages.ts'
import type { Ring } from '../stream/ring.ts'
import type { MemoryUser } from '../video-memory.ts'
import { keptStream } from './plan.ts'

export type CameraMemoryNeeds = {
  /** Returns the settings as they are now. */
  readonly settings: () => CameraSettings
  /** Ring of the recorded stream. */
  readonly ring: Ring
  readonly detectRing: Ring
  readonly history: Pick<History, 'pendingBytes' | 'shed'>
  /** Clips whose spools are open. */
  readonly spooling: ReadonlySet<Recording>
}

/** Counts the video that one camera keeps in memory, and chooses the part to give up first. */
export class CameraMemory implements MemoryUser {
  readonly #needs: CameraMemoryNeeds

  constructor(needs: CameraMemoryNeeds) {
    this.#needs = needs
  }

  /** Bytes in memory. Video that waits for the disk is the newest part of a ring, or reaches further back. */
  bytes(): number {
    const { ring, detectRing, spooling } = this.#needs
    const { main, sub } = this.#historyBytes()
    const clips = [...spooling].map(({ pendingBytes }) => pendingBytes)
    return Math.max(ring.sizeBytes, main, ...clips) + Math.max(detectRing.sizeBytes, sub)
  }

  /**
   * Gives up continuous video that waits for the disk, if it is more than its ring. Otherwise gives up a clip that waits, if it is
   * more than the ring; else the oldest of the ring.
   */
  shed(): boolean {
    const { settings, ring, detectRing, history, spooling } = this.#needs
    const { main, sub } = this.#historyBytes()
    const isBehind = main > ring.sizeBytes || sub > detectRing.sizeBytes
    if (isBehind && history.shed(settings().cameraId)) return true
    const waiting = [...spooling].find(({ pendingBytes }) => pendingBytes > ring.sizeBytes)
    if (!waiting) return ring.shed()
    waiting.giveUp()
    return true
  }

  /** Continuous video that waits for the disk, of the ring that it comes from. */
  #historyBytes(): { main: number; sub: number } {
    const settings = this.#needs.settings()
    const bytes = this.#needs.history.pendingBytes(settings.cameraId)
    const isSub = keptStream(settings) === 'sub'
    return { main: isSub ? 0 : bytes, sub: isSub ? bytes : 0 }
  }
}
