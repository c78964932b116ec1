import type { Clock, Logger } from '../../platform/index.ts'
import type { Unit } from '../format/transport-stream.ts'
import type { FromCameras, LiveEnded, LiveFormat } from '../messages.ts'
import type { Ring } from '../stream/ring.ts'
import { Mpeg1 } from './mpeg1.ts'

export type LiveFeedsNeeds = {
  readonly cameraId: number
  /** Path of ffmpeg. */
  readonly ffmpeg: string
  readonly ring: Ring
  readonly clock: Clock
  readonly log: Logger
  /** Posts a message; the buffers of `handOver` belong to the receiver afterwards. */
  readonly emit: (message: FromCameras, handOver?: readonly ArrayBuffer[]) => void
}

/** Ends a feed. */
type Stop = () => void

/**
 * Sends the live pictures of one camera to the main thread, one feed for each format, only while it is wanted. A feed
 * begins with the newest group of pictures and never skips one; a viewer that is too slow is skipped in the main thread.
 */
export class LiveFeeds {
  readonly #needs: LiveFeedsNeeds
  readonly #open = new Map<LiveFormat, Stop>()

  constructor(needs: LiveFeedsNeeds) {
    this.#needs = needs
  }

  /** Begins the feed of a format, in place of the one before; null ends it. */
  want(format: LiveFormat, feed: number | null): void {
    this.#open.get(format)?.()
    this.#open.delete(format)
    if (feed !== null) this.#open.set(format, format === 'mpegts' ? this.#original(feed) : this.#converted(feed))
  }

  /** Ends all feeds. */
  stop(): void {
    for (const format of [...this.#open.keys()]) this.want(format, null)
  }

  #original(feed: number): Stop {
    const { ring } = this.#needs
    const group = ring.newestGroup()
    let begun = group !== undefined
    if (group) this.#send(feed, true, [group.tables, ...group.units.map(({ bytes }) => bytes)])
    return ring.subscribe({
      unit: (unit) => {
        begun ||= unit.key
        if (begun) this.#sendUnit(feed, unit, ring.tables)
      },
      broken: () => {
        if (begun) this.#end('mpegts', feed, 'interrupted')
      },
    })
  }

  /** Waits for a key frame, because before it the codec may be unknown. */
  #converted(feed: number): Stop {
    const { ring } = this.#needs
    let mpeg1: Mpeg1 | undefined
    const begin = () => {
      mpeg1 = this.#mpeg1(feed)
    }
    if (ring.newestGroup()) begin()
    const unsubscribe = ring.subscribe({
      unit: ({ key }) => {
        if (!mpeg1 && key) begin()
      },
      broken: () => {
        if (mpeg1) this.#end('mpeg1', feed, 'interrupted')
      },
    })
    return () => {
      unsubscribe()
      mpeg1?.stop()
    }
  }

  #mpeg1(feed: number): Mpeg1 {
    const { ffmpeg, ring, clock, log } = this.#needs
    return new Mpeg1({
      ...{ ffmpeg, ring, clock, log },
      onPicture: (unit, tables) => this.#sendUnit(feed, unit, tables),
      onFailed: () => this.#end('mpeg1', feed, 'failed'),
    })
  }

  #sendUnit(feed: number, { key, bytes }: Unit, tables: Buffer): void {
    this.#send(feed, key, key ? [tables, bytes] : [bytes])
  }

  /** Copies once, because the ring keeps its bytes; the copy changes hands without another one. */
  #send(feed: number, key: boolean, parts: readonly Uint8Array[]): void {
    const { cameraId, ring, emit } = this.#needs
    const bytes = joined(parts)
    emit({ type: 'livePicture', feed, cameraId, codec: ring.codec, key, bytes }, [bytes.buffer])
  }

  #end(format: LiveFormat, feed: number, why: LiveEnded['why']): void {
    this.want(format, null)
    this.#needs.emit({ type: 'liveEnded', feed, cameraId: this.#needs.cameraId, why })
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
