import { keepPace } from './pace.ts'
import { firstTimestamp, type Track, type Viewer, wrapped } from './track.ts'

const samplesPerSecond = 8000
const packetMs = 100
const samplesPerPacket = (samplesPerSecond * packetMs) / 1000

/** The microphone of a camera in a room where no one speaks: G.711 µ-law (RFC 3551), in which silence is all ones. */
export class Silence implements Track {
  readonly payloadType = 0
  #ticks = firstTimestamp
  readonly #packet = [Buffer.alloc(samplesPerPacket, 0xff)]
  readonly #viewers = new Set<Viewer>()
  readonly #pace = keepPace(() => this.#beat())

  description(): string[] {
    return ['m=audio 0 RTP/AVP 0', `a=rtpmap:0 PCMU/${samplesPerSecond}`, `a=ptime:${packetMs}`]
  }

  join(viewer: Viewer): number {
    this.#viewers.add(viewer)
    return wrapped(this.#ticks)
  }

  leave(viewer: Viewer): void {
    this.#viewers.delete(viewer)
  }

  stop(): void {
    this.#pace.stop()
  }

  #beat(): number {
    for (const viewer of this.#viewers) viewer.send(this.#packet, wrapped(this.#ticks))
    this.#ticks += samplesPerPacket
    return packetMs
  }
}
