import { readFileSync } from 'node:fs'
import { type AccessUnit, accessUnits, parameterSets } from './annexb.ts'
import { type CodecName, codecs } from './codec.ts'
import { type Damage, damaged, noise } from './damage.ts'
import { keepPace } from './pace.ts'
import { payloadsOf } from './rtp.ts'
import { jpegPayloads, jpegPayloadType } from './rtp-jpeg.ts'
import { firstTimestamp, type Track, type Viewer, wrapped } from './track.ts'

/** A file that a stream plays for ever. */
export type Clip = {
  /** An Annex B byte stream that begins with a keyframe; or JPEG pictures, one after the other. */
  readonly file: string
  readonly codec: CodecName
  readonly fps: number
  /** When each picture of the file is shown, in milliseconds; out of order with B-frames. Default: evenly. */
  readonly timesMs?: readonly number[]
  /** Length of one round; needed beside `timesMs`. */
  readonly durationMs?: number
}

/** Where a client that comes in the middle of a group of pictures begins. */
export type Join = 'keyframe' | 'anywhere'

type Picture = {
  readonly keyframe: boolean
  readonly payloads: readonly Buffer[]
  /** When it is sent: not before those that stand in front of it in the file. */
  readonly sentMs: number
  /** How much earlier than that it is shown. */
  readonly earlierMs: number
  /** From when it is sent until the next one is. */
  readonly stepMs: number
}
type Reel = {
  readonly clip: Clip
  readonly pictures: readonly Picture[]
  readonly formatParameters: string | undefined
}

const ticksPerMs = 90
/** As many are remembered: minutes. */
const mostSent = 5000

/** One camera's picture: it plays with or without viewers, and all viewers see the same. */
export class LiveVideo implements Track {
  readonly #join: Join
  #reel: Reel
  /** Index of the picture that comes next. */
  #next = 0
  #shown = 0
  /** Timestamp of the picture that comes next, not wrapped. */
  #ticks = firstTimestamp
  #damage: Damage | undefined
  /** The sent pictures, with their wall-clock time. */
  readonly #sent: { readonly picture: Picture; readonly at: number }[] = []
  readonly #viewers = new Set<Viewer>()
  /** Those of them that get nothing before the next keyframe. */
  readonly #waiting = new Set<Viewer>()
  readonly #pace: { stop(): void }

  constructor(clip: Clip, join: Join) {
    this.#join = join
    this.#reel = load(clip)
    this.#pace = keepPace(() => this.#beat())
  }

  get clip(): Clip {
    return this.#reel.clip
  }

  get payloadType(): number {
    return this.clip.codec === 'mjpeg' ? jpegPayloadType : 96
  }

  /** Where in the clip the picture now is. */
  get positionMs(): number {
    return this.#reel.pictures[this.#next]?.sentMs ?? 0
  }

  /** When the picture that is shown at this time of the clip was taken, in each round, by the wall clock. */
  takenAt(positionMs: number): number[] {
    const isIt = ({ sentMs, earlierMs }: Picture) => Math.abs(sentMs - earlierMs - positionMs) < 1
    return this.#sent.filter(({ picture }) => isIt(picture)).map(({ picture, at }) => at - picture.earlierMs)
  }

  /** Adds `ms` to the timestamps of later pictures. */
  jump(ms: number): void {
    this.#ticks += ms * ticksPerMs
  }

  description(): string[] {
    const { codec, fps } = this.clip
    const encoding = codec === 'mjpeg' ? 'JPEG' : codecs[codec].encoding
    const { formatParameters } = this.#reel
    return [
      `m=video 0 RTP/AVP ${this.payloadType}`,
      `a=rtpmap:${this.payloadType} ${encoding}/${1000 * ticksPerMs}`,
      ...(formatParameters === undefined ? [] : [`a=fmtp:${this.payloadType} ${formatParameters}`]),
      `a=framerate:${fps}`,
    ]
  }

  join(viewer: Viewer): number {
    this.#viewers.add(viewer)
    if (this.#join === 'anywhere') return wrapped(this.#ticks)
    this.#waiting.add(viewer)
    return wrapped(this.#ticks + this.#msToKeyframe() * ticksPerMs)
  }

  leave(viewer: Viewer): void {
    this.#viewers.delete(viewer)
    this.#waiting.delete(viewer)
  }

  /** Goes to the last keyframe at or before this time of the clip; timestamps go on evenly. */
  seek(positionMs: number): void {
    const { pictures } = this.#reel
    this.#next = Math.max(
      pictures.findLastIndex((picture) => picture.sentMs <= positionMs),
      0,
    )
    while (this.#next > 0 && !pictures[this.#next]?.keyframe) this.#next -= 1
  }

  /** Plays another clip from its beginning; timestamps go on evenly. */
  switchTo(clip: Clip): void {
    this.#reel = load(clip)
    this.#next = 0
  }

  /** Damages later pictures. Afterwards every viewer continues with the next key frame. */
  setDamage(damage: Damage | undefined): void {
    if (this.#damage) for (const viewer of this.#viewers) this.#waiting.add(viewer)
    this.#damage = damage
  }

  stop(): void {
    this.#pace.stop()
  }

  #beat(): number {
    this.#shown += 1
    const picture = this.#reel.pictures[this.#next]
    if (!picture) return 1000
    for (const viewer of this.#viewers) this.#show(picture, viewer)
    this.#sent.push({ picture, at: Date.now() })
    if (this.#sent.length > mostSent) this.#sent.shift()
    this.#next = (this.#next + 1) % this.#reel.pictures.length
    this.#ticks += picture.stepMs * ticksPerMs
    return picture.stepMs
  }

  #show(picture: Picture, viewer: Viewer): void {
    if (this.#damage === 'freeze' || (this.#damage === 'keyless' && picture.keyframe)) return
    if (viewer.isClogged()) this.#waiting.add(viewer)
    else if (picture.keyframe) this.#waiting.delete(viewer)
    if (this.#waiting.has(viewer)) return
    const bytes = picture.payloads.reduce((sum, payload) => sum + payload.length, 0)
    if (this.#damage === 'garbage') viewer.sendRaw(noise(bytes, this.#next))
    else {
      const timestamp = wrapped(this.#ticks - picture.earlierMs * ticksPerMs)
      viewer.send(this.#damage === 'corrupt' ? damaged(picture.payloads, this.#shown) : picture.payloads, timestamp)
    }
  }

  #msToKeyframe(): number {
    const { pictures } = this.#reel
    const ahead = [...pictures.slice(this.#next), ...pictures.slice(0, this.#next)]
    const skipped = ahead.slice(
      0,
      Math.max(
        ahead.findIndex((picture) => picture.keyframe),
        0,
      ),
    )
    return skipped.reduce((sum, picture) => sum + picture.stepMs, 0)
  }
}

const loaded = new Map<string, Reel>()

/** Read once, however many streams play it. */
function load(clip: Clip): Reel {
  const key = `${clip.codec} ${clip.fps} ${clip.file}`
  const reel = loaded.get(key) ?? read(clip)
  loaded.set(key, reel)
  return reel
}

function read(clip: Clip): Reel {
  const bytes = readFileSync(clip.file)
  if (clip.codec === 'mjpeg') {
    const pictures = jpegPayloads(bytes).map((payloads) => ({ keyframe: true, payloads }))
    return { clip, pictures: timed(pictures, clip), formatParameters: undefined }
  }
  const codec = codecs[clip.codec]
  const units = accessUnits(bytes, codec)
  if (!units[0]?.keyframe) throw new Error(`${clip.file} does not begin with a keyframe of ${clip.codec}`)
  const picture = (unit: AccessUnit) => ({ keyframe: unit.keyframe, payloads: payloadsOf(unit, codec) })
  const formatParameters = codec.formatParameters(parameterSets(units, codec))
  return { clip, pictures: timed(units.map(picture), clip), formatParameters }
}

function timed(pictures: readonly Pick<Picture, 'keyframe' | 'payloads'>[], clip: Clip): Picture[] {
  const evenly = (i: number) => (i * 1000) / clip.fps
  const roundMs = clip.durationMs ?? evenly(pictures.length)
  let latestMs = 0
  const sent = pictures.map((_, i) => {
    latestMs = Math.max(latestMs, clip.timesMs?.[i] ?? evenly(i))
    return latestMs
  })
  return pictures.map((picture, i) => {
    const sentMs = sent[i] ?? 0
    const earlierMs = sentMs - (clip.timesMs?.[i] ?? evenly(i))
    return { ...picture, sentMs, earlierMs, stepMs: (sent[i + 1] ?? roundMs) - sentMs }
  })
}
