/**
 * Messages of the decoders of H.264 and H.265 about a picture that is not whole. They say much more, also of streams in which
 * nothing is missing.
 */
const complaint = /error while decoding MB|cu_qp_delta|CABAC_MAX_BIN|Could not find ref with POC/
const secondMs = 1000
/** Damaged: the decoder complained in so many of the last seconds. One lost packet shows in one or two of them. */
const spanSeconds = 10
const badSeconds = 5
/** A weak radio link is well for seconds, and bad again: that is one problem. */
const wellSeconds = 60

/**
 * Detects from the messages of ffmpeg that the pictures of a stream arrive damaged, again and again. Times are monotonic
 * milliseconds.
 */
export class DamageSigns {
  /** Seconds in which the decoder complained, the newest last. */
  #seconds: number[] = []
  #isBad = false

  heard(said: string, nowMs: number): void {
    const second = Math.floor(nowMs / secondMs)
    if (this.#seconds.at(-1) === second || !complaint.test(said)) return
    this.#seconds = [...this.#seconds, second].slice(-spanSeconds)
  }

  /** Says so from five bad seconds of ten on, until a minute without any. */
  isDamaged(nowMs: number): boolean {
    const now = Math.floor(nowMs / secondMs)
    const within = (seconds: number) => this.#seconds.filter((second) => second > now - seconds).length
    this.#isBad = this.#isBad ? within(wellSeconds) > 0 : within(spanSeconds) >= badSeconds
    return this.#isBad
  }
}
