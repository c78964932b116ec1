import type { Damage } from './damage.ts'
import { type Clip, type Join, LiveVideo } from './live-video.ts'
import { Silence } from './silence.ts'
import type { Track } from './track.ts'

/**
 * Faults of a stream. These play: `freeze` (nothing comes, the connection stays), `garbage` (noise in place of packets), `corrupt`
 * (packets with wrong bits), `keyless` (no key frames). These refuse: `refuse` (401 for all credentials), `silent` (accepted and
 * never answered), `no-video` (sound alone), `full` (453), `unavailable` (503).
 */
export type Fault = Damage | 'refuse' | 'silent' | 'no-video' | 'full' | 'unavailable'

/** Counts of a stream's clients; a client is a connection that has named the stream. */
export type Clients = {
  /** Connected now. */
  readonly connected: number
  /** Connected clients that have asked to play. */
  readonly playing: number
  /** The most that were ever connected at once. */
  readonly mostAtOnce: number
  /** Connections since the start. */
  readonly total: number
  /** Requests that got a 401 although they brought credentials. */
  readonly refused: number
}

/** A connection as its stream sees it. */
export type Client = { readonly isPlaying: boolean; cut(how: Cut): void }

/** `close`: in good order, as a camera that restarts does. `reset`: as with a cable that is pulled and put back. */
export type Cut = 'close' | 'reset'

export type StreamOptions = { readonly join: Join; readonly sound: boolean; readonly changed: () => void }

/** One address of the server: its media, its faults and its clients. */
export class CameraStream {
  readonly name: string
  readonly video: LiveVideo
  readonly #sound: Silence
  readonly #options: StreamOptions
  readonly #clients = new Set<Client>()
  readonly #count = { mostAtOnce: 0, total: 0, refused: 0 }
  #fault: Fault | undefined

  constructor(name: string, clip: Clip, options: StreamOptions) {
    this.name = name
    this.video = new LiveVideo(clip, options.join)
    this.#sound = new Silence()
    this.#options = options
  }

  get fault(): Fault | undefined {
    return this.#fault
  }

  setFault(fault: Fault | undefined): void {
    this.#fault = fault
    this.video.setDamage(isDamage(fault) ? fault : undefined)
  }

  /** The tracks that a new client is offered. */
  get tracks(): Track[] {
    if (this.#fault === 'no-video') return [this.#sound]
    return this.#options.sound ? [this.video, this.#sound] : [this.video]
  }

  get clients(): Clients {
    const playing = [...this.#clients].filter((client) => client.isPlaying).length
    return { connected: this.#clients.size, playing, ...this.#count }
  }

  enter(client: Client): void {
    this.#clients.add(client)
    this.#count.total += 1
    this.#count.mostAtOnce = Math.max(this.#count.mostAtOnce, this.#clients.size)
    this.#options.changed()
  }

  leave(client: Client): void {
    this.#clients.delete(client)
    this.#options.changed()
  }

  /** A client that is here began or ended to play. */
  clientChanged(): void {
    this.#options.changed()
  }

  countRefused(): void {
    this.#count.refused += 1
    this.#options.changed()
  }

  /** A clip of another codec cannot go on in the same session: its clients are disconnected. */
  switchTo(clip: Clip): void {
    const sameCodec = clip.codec === this.video.clip.codec
    this.video.switchTo(clip)
    if (!sameCodec) this.drop('close')
  }

  drop(how: Cut): void {
    for (const client of this.#clients) client.cut(how)
  }

  stop(): void {
    this.drop('reset')
    this.video.stop()
    this.#sound.stop()
  }
}

function isDamage(fault: Fault | undefined): fault is Damage {
  return fault === 'freeze' || fault === 'garbage' || fault === 'corrupt' || fault === 'keyless'
}
