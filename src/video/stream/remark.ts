import type { Clock } from '../../platform/index.ts'
import { neverBad, type Trouble } from '../motion/impairment.ts'
import type { Problem } from '../problems.ts'
import { PicturePace } from '../timing/picture-pace.ts'
import type { Ring } from './ring.ts'

export type StreamRemarkNeeds = {
  /** Ring of the recorded stream. */
  readonly ring: Pick<Ring, 'codec' | 'heldMs' | 'keylessMs' | 'picturesPerSecond'>
  readonly clock: Clock
  /** Says whether motion detection judges the recorded stream. */
  readonly isJudged: () => boolean
  /** Says whether no picture can be decoded, because ffmpeg fails. */
  readonly decoderFails: () => boolean
  /** Says whether the pictures of a stream arrive damaged. */
  readonly isDamaged: (stream: 'main' | 'detect') => boolean
}

const longestKeylessMs = 60_000

/** Finds problems that an admin should know of a camera whose recorded stream gives pictures. */
export class StreamRemark {
  readonly #needs: StreamRemarkNeeds
  readonly #pace = new PicturePace()
  #few = neverBad

  constructor(needs: StreamRemarkNeeds) {
    this.#needs = needs
  }

  /** Whether the judged stream has too few pictures. For a separate detection stream this is unknown. */
  get fewPictures(): Trouble {
    return this.#few
  }

  /** Returns the problem that counts most, after video has come; null: there is none. */
  now(): Problem | null {
    const { ring, isJudged, decoderFails, isDamaged } = this.#needs
    if (ring.codec === 'mjpeg') return 'motion-jpeg'
    if (ring.keylessMs > longestKeylessMs) return 'no-key-frame'
    if (decoderFails()) return 'program-failed'
    const isSlow = this.#pace.isSlow(ring.picturesPerSecond, ring.heldMs)
    this.#noteFew(isSlow && isJudged())
    if (isDamaged('main')) return 'damaged-pictures'
    if (isDamaged('detect')) return 'damaged-detection'
    return isSlow ? 'few-pictures' : null
  }

  /** Begins again: the process has ended. */
  restart(): void {
    this.#pace.restart()
    this.#noteFew(false)
  }

  /** The rate is that of all that is held: the stream was slow from its beginning on, and is well now. */
  #noteFew(isBad: boolean): void {
    if (isBad === this.#few.isBad) return
    const nowMs = this.#needs.clock.monotonic()
    this.#few = { isBad, sinceMs: isBad ? nowMs - this.#needs.ring.heldMs : nowMs }
  }
}
