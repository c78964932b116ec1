import { SmallestOffset } from '../timing/smallest-offset.ts'

/** Size and rate of the pictures that are scored. */
export const frameSize = { width: 160, height: 90, bytes: 160 * 90 * 4 } as const
export const framesPerSecond = 5

export type Frame = {
  /** RGBA, `frameSize.bytes` long, at offset 0 of a separate buffer: pixelmatch reads it as 32-bit words. */
  readonly pixels: Uint8Array
  /** Monotonic time at which its last byte arrived. */
  readonly arrivedMs: number
  /**
   * Estimated monotonic time at which its picture came from the camera, in whole milliseconds. A busy box decodes up to a
   * second late; frames are evenly spaced, so earlier frames show how late this one is.
   */
  readonly takenMs: number
}

/** ffmpeg's fps filter outputs a frame when it has seen what comes half a frame later. */
const filterDelayMs = 100
const frameMs = 1000 / framesPerSecond
/** Buffers of frames without a reader, for later ones of all cameras. */
const spare: Uint8Array[] = []
const mostSpare = 32

/** Returns a buffer for the pixels of a frame, with anything in it. */
export function takeFrame(): Uint8Array {
  return spare.pop() ?? new Uint8Array(frameSize.bytes)
}

/** Takes the pixels of a frame that has no reader left; a later frame overwrites them. */
export function giveBackFrame(pixels: Uint8Array): void {
  if (spare.length < mostSpare) spare.push(pixels)
}

/** Returns the same pixels in a separate buffer. */
export function copyFrame(pixels: Uint8Array): Uint8Array {
  const copy = takeFrame()
  copy.set(pixels)
  return copy
}

/** Cuts a stream of raw pictures, as it comes out of a pipe, into frames. */
export class FrameSplitter {
  #pixels = takeFrame()
  #filled = 0
  #count = 0
  #takenMs = -Infinity
  readonly #offset = new SmallestOffset()

  /** Returns the frames that `bytes` completes. */
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

  /** Drops an incomplete frame: the next bytes come from another process. */
  reset(): void {
    this.#filled = 0
    this.#count = 0
    this.#offset.reset()
  }

  #complete(arrivedMs: number): Frame {
    const frame = { pixels: this.#pixels, arrivedMs, takenMs: this.#taken(arrivedMs) }
    this.#pixels = takeFrame()
    this.#filled = 0
    return frame
  }

  /** Estimates when the picture was taken; never earlier than the frame before. */
  #taken(arrivedMs: number): number {
    const streamMs = this.#count * frameMs
    this.#count += 1
    this.#offset.note(streamMs, arrivedMs)
    this.#takenMs = Math.max(this.#takenMs, streamMs + Math.round(this.#offset.ms ?? 0) - filterDelayMs)
    return this.#takenMs
  }
}

/**
 * Holds frames that wait to be scored, at most `room`. Adding never waits: when it is full, the oldest frame is dropped
 * and counted, because emptying the stream's pipe matters more than a late score.
 */
export class FrameQueue<F extends Frame = Frame> {
  readonly #room: number
  readonly #frames: F[] = []
  #dropped = 0

  constructor(room = framesPerSecond * 2) {
    this.#room = room
  }

  get dropped(): number {
    return this.#dropped
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0
  }

  /** Returns the frame that had to leave; undefined while there is room. */
  put(frame: F): F | undefined {
    this.#frames.push(frame)
    if (this.#frames.length <= this.#room) return undefined
    this.#dropped += 1
    return this.#frames.shift()
  }

  take(): F | undefined {
    return this.#frames.shift()
  }

  clear(): void {
    this.#frames.length = 0
  }
}
