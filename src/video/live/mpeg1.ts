import Mpeg1Muxer from 'node-rtsp-stream/mpeg1muxer.js'
import type { Clock, Logger } from '../../platform/index.ts'
import { ivfHeader, ivfPicture } from '../format/ivf.ts'
import { type Unit, UnitSplitter } from '../format/transport-stream.ts'
import { giveBack } from '../format/video-blocks.ts'
import type { Ring } from '../stream/ring.ts'

export type Mpeg1Needs = {
  /** Path of ffmpeg. */
  readonly ffmpeg: string
  readonly ring: Ring
  readonly clock: Clock
  readonly log: Logger
  /** Receives each encoded picture, with the program tables that go in front of a key frame. */
  readonly onPicture: (unit: Unit, tables: Buffer) => void
  /** Called once when ffmpeg cannot be started, or ends unasked. */
  readonly onFailed: () => void
}

/** A key frame at most every second, so that a viewer who joins or was too slow sees a picture soon. */
const pictureRate = 25
/** Wide enough to watch; decoding more in JavaScript is too slow for tablets. */
const mostWidth = 960
const encoding = {
  '-loglevel': 'error',
  '-an': '',
  '-vf': `scale='min(${mostWidth},iw)':-2`,
  // MPEG-1 knows a few rates only.
  '-r': pictureRate,
  ...{ '-b:v': '2M', '-maxrate': '3M', '-bufsize': '1M', '-bf': 0, '-g': pictureRate, '-threads': 1 },
  ...{ '-muxdelay': '0.001', '-flush_packets': 1 },
}
/** ffmpeg looks at 20 pictures before it encodes the first one, so it gets those of the past at once. */
const picturesToProbe = 25
/** With a transport stream, ffmpeg probes the first 5 s. */
const streamToProbeMs = 6000
/** An ffmpeg that is this far behind skips to a key frame. */
const mostWaitingBytes = 4 * 1024 * 1024

/**
 * Converts the pictures of a ring to MPEG-1, with node-rtsp-stream's muxer. Its input is IVF. With a transport stream, ffmpeg would
 * probe 5 s before the first picture, and the muxer has no argument that changes that. H.265 comes as a transport stream, with as
 * much of the past as the ring has, because ffmpeg does not know it in IVF.
 */
export class Mpeg1 {
  readonly #needs: Mpeg1Needs
  readonly #muxer: Mpeg1Muxer
  readonly #splitter = new UnitSplitter({ timesAreKnown: true })
  readonly #unsubscribe: () => void
  #fed = false
  #skipping = false
  #ended = false

  constructor(needs: Mpeg1Needs) {
    this.#needs = needs
    this.#muxer = new Mpeg1Muxer({ url: 'pipe:0', ffmpegPath: needs.ffmpeg, ffmpegOptions: encoding })
    const { stream } = this.#muxer
    stream.on('error', (err) => this.#failed({ err }))
    stream.on('exit', (code, signal) => this.#failed({ code, signal }))
    stream.stdin.on('error', () => {})
    this.#muxer.on('mpeg1data', (bytes: Buffer) => this.#take(bytes))
    this.#muxer.on('ffmpegStderr', (text: Buffer) => needs.log.debug({ said: String(text) }, 'ffmpeg for MPEG-1'))
    this.#unsubscribe = needs.ring.subscribe({ unit: (unit) => this.#feed(unit), broken: () => {} })
    this.#feedPast()
  }

  /** Ends the process. */
  stop(): void {
    this.#ended = true
    this.#unsubscribe()
    this.#muxer.stream.kill('SIGKILL')
  }

  #feedPast(): void {
    const { ring, clock } = this.#needs
    const picturesMs = (picturesToProbe * 1000) / (ring.picturesPerSecond ?? picturesToProbe)
    const pastMs = ring.codec === 'hevc' ? streamToProbeMs : picturesMs
    const cut = ring.since(clock.monotonic() - pastMs)
    for (const unit of cut?.units ?? []) this.#feed(unit)
  }

  #feed(unit: Unit): void {
    const { stdin } = this.#muxer.stream
    const { codec } = this.#needs.ring
    if (codec === 'other' || !stdin.writable) return
    if (stdin.writableLength > mostWaitingBytes) this.#skipping = true
    if ((this.#skipping || !this.#fed) && !(unit.key && stdin.writableLength < mostWaitingBytes)) return
    this.#skipping = false
    const isIvf = codec !== 'hevc'
    if (!this.#fed) stdin.write(isIvf ? ivfHeader(codec) : this.#needs.ring.tables)
    this.#fed = true
    stdin.write(isIvf ? ivfPicture(unit) : Buffer.from(unit.bytes))
  }

  #take(bytes: Buffer): void {
    if (this.#ended) return
    for (const unit of this.#splitter.push(bytes, this.#needs.clock.monotonic())) {
      this.#needs.onPicture(unit, this.#splitter.tables)
      giveBack(unit.bytes)
    }
  }

  #failed(ending: object): void {
    if (this.#ended) return
    this.stop()
    this.#needs.log.warn(ending, 'the conversion of a camera to MPEG-1 has ended')
    this.#needs.onFailed()
  }
}
