/** Size and rate of the pictures that are scored. */
export const frameSize = { width: 160, height: 90, bytes: 160 * 90 * 4 } as const
export const framesPerSecond = 5

export type Frame = {
  /** RGBA, `frameSize.bytes` long, at offset 0 of a buffer of its own: pixelmatch reads it as 32-bit words. */
  readonly pixels: Uint8Array
  /** Monotonic time at which its last byte arrived. */
  readonly arrivedMs: number
}

/** Cuts a stream of raw pictures, as it comes out of a pipe, into frames. */
export class FrameSplitter {
  #pixels = new Uint8Array(frameSize.bytes)
  #filled = 0

  /** The frames that `bytes` completes. */
  push(bytes: Uint8Array, arrivedMs: number): Frame[] {
    const frames: Frame[] = []
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + frameSize.bytes - this.#filled)
      this.#pixels.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === frameSize.bytes) frames.push(this.#complete(arrivedMs))
    }
    return frames
  }

  /** Forgets a frame that was begun: the next bytes come from another process. */
  reset(): void {
    this.#filled = 0
  }

  #complete(arrivedMs: number): Frame {
    const frame = { pixels: this.#pixels, arrivedMs }
    this.#pixels = new Uint8Array(frameSize.bytes)
    this.#filled = 0
    return frame
  }
}

/**
 * Frames that wait to be scored, at most `room`. Who puts one in never waits: when it is full, the oldest is dropped and
 * counted, because a late score is worth less than a stream whose pipe is empty.
 */
export class FrameQueue {
  readonly #room: number
  readonly #frames: Frame[] = []
  #dropped = 0

  constructor(room = framesPerSecond * 2) {
    this.#room = room
  }

  get dropped(): number {
    return this.#dropped
  }

  put(frame: Frame): void {
    this.#frames.push(frame)
    if (this.#frames.length <= this.#room) return
    this.#frames.shift()
    this.#dropped += 1
  }

  take(): Frame | undefined {
    return this.#frames.shift()
  }

  clear(): void {
    this.#frames.length = 0
  }
}
