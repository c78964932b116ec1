import { readFileSync } from 'node:fs'
import { type AccessUnit, accessUnits, parameterSets } from './annexb.ts'
import { type CodecName, codecs } from './codec.ts'
import { type Damage, damaged, noise } from './damage.ts'
import { keepPace } from './pace.ts'
import { payloadsOf } from './rtp.ts'
import { firstTimestamp, type Track, type Viewer, wrapped } from './track.ts'

/** A file that a stream plays for ever. */
export type Clip = {
  /** An Annex B byte stream that begins with a keyframe and has no B-frames: pictures are shown in file order. */
  readonly file: string
  readonly codec: CodecName
  readonly fps: number
}

/** Where a client that comes in the middle of a group of pictures begins. */
export type Join = 'keyframe' | 'anywhere'

type Picture = { readonly keyframe: boolean; readonly payloads: readonly Buffer[] }
type Reel = { readonly clip: Clip; readonly pictures: readonly Picture[]; readonly parameterSets: readonly Buffer[] }

const ticksPerSecond = 90_000

/** One camera's picture: it goes on whether anybody looks or not, and all who look see the same. */
export class LiveVideo implements Track {
  readonly payloadType = 96
  readonly #join: Join
  #reel: Reel
  /** Index of the picture that comes next. */
  #next = 0
  /** Timestamp of the picture that comes next, not wrapped. */
  #ticks = firstTimestamp
  #damage: Damage | undefined
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

  /** Where in the clip the picture now is. */
  get positionMs(): number {
    return (this.#next * 1000) / this.clip.fps
  }

  description(): string[] {
    const codec = codecs[this.clip.codec]
    return [
      `m=video 0 RTP/AVP ${this.payloadType}`,
      `a=rtpmap:${this.payloadType} ${codec.encoding}/${ticksPerSecond}`,
      `a=fmtp:${this.payloadType} ${codec.formatParameters(this.#reel.parameterSets)}`,
      `a=framerate:${this.clip.fps}`,
    ]
  }

  join(viewer: Viewer): number {
    this.#viewers.add(viewer)
    if (this.#join === 'anywhere') return wrapped(this.#ticks)
    this.#waiting.add(viewer)
    return wrapped(this.#ticks + this.#picturesToKeyframe() * this.#ticksPerPicture)
  }

  leave(viewer: Viewer): void {
    this.#viewers.delete(viewer)
    this.#waiting.delete(viewer)
  }

  /** Goes to the last keyframe at or before this time of the clip; timestamps go on evenly. */
  seek(positionMs: number): void {
    const { pictures } = this.#reel
    this.#next = Math.floor((positionMs * this.clip.fps) / 1000) % pictures.length
    while (this.#next > 0 && !pictures[this.#next]?.keyframe) this.#next -= 1
  }

  /** Plays another clip from its beginning; timestamps go on evenly. */
  switchTo(clip: Clip): void {
    this.#reel = load(clip)
    this.#next = 0
  }

  /** From now on; when it ends, everybody goes on with the next keyframe. */
  setDamage(damage: Damage | undefined): void {
    if (this.#damage) for (const viewer of this.#viewers) this.#waiting.add(viewer)
    this.#damage = damage
  }

  stop(): void {
    this.#pace.stop()
  }

  get #ticksPerPicture(): number {
    return ticksPerSecond / this.clip.fps
  }

  #beat(): number {
    const picture = this.#reel.pictures[this.#next]
    if (picture) for (const viewer of this.#viewers) this.#show(picture, viewer)
    this.#next = (this.#next + 1) % this.#reel.pictures.length
    this.#ticks += this.#ticksPerPicture
    return 1000 / this.clip.fps
  }

  #show(picture: Picture, viewer: Viewer): void {
    if (this.#damage === 'freeze') return
    if (viewer.isClogged()) this.#waiting.add(viewer)
    else if (picture.keyframe) this.#waiting.delete(viewer)
    if (this.#waiting.has(viewer)) return
    const bytes = picture.payloads.reduce((sum, payload) => sum + payload.length, 0)
    if (this.#damage === 'garbage') viewer.sendRaw(noise(bytes, this.#next))
    else viewer.send(this.#damage === 'corrupt' ? damaged(picture.payloads) : picture.payloads, wrapped(this.#ticks))
  }

  #picturesToKeyframe(): number {
    const { pictures } = this.#reel
    const ahead = pictures.findIndex((_, i) => pictures[(this.#next + i) % pictures.length]?.keyframe)
    return Math.max(0, ahead)
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
  const codec = codecs[clip.codec]
  const pictures = accessUnits(readFileSync(clip.file), codec)
  if (!pictures[0]?.keyframe) throw new Error(`${clip.file} does not begin with a keyframe of ${clip.codec}`)
  const picture = (unit: AccessUnit) => ({ keyframe: unit.keyframe, payloads: payloadsOf(unit, codec) })
  return { clip, pictures: pictures.map(picture), parameterSets: parameterSets(pictures, codec) }
}
