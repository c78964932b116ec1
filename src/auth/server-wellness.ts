/** How a storage server is, for health. */
export type ServerWellness = {
  readonly url: string
  /** How long it has not been well, in milliseconds; null while it answers in time. */
  readonly illForMs: number | null
  /** Whether it answers at all. */
  readonly answers: boolean
  /** Why the newest question has no answer; empty when it has one. */
  readonly why: string
}

/** An answer that takes longer is slow. */
const slowMs = 2000

/** Since when a storage server has not been well. Only an answer in time ends that: one that is slow is no recovery. */
export class WellnessOf {
  readonly #url: string
  #illSinceMs: number | undefined
  #why = ''

  constructor(url: string) {
    this.#url = url
  }

  /** @param failure undefined: it answered; times are monotonic milliseconds */
  asked(startedMs: number, endedMs: number, failure: string | undefined): void {
    this.#why = failure ?? ''
    if (failure === undefined && endedMs - startedMs <= slowMs) this.#illSinceMs = undefined
    else this.#illSinceMs ??= endedMs
  }

  at(nowMs: number): ServerWellness {
    const illForMs = this.#illSinceMs === undefined ? null : nowMs - this.#illSinceMs
    return { url: this.#url, illForMs, answers: this.#why === '', why: this.#why }
  }
}
