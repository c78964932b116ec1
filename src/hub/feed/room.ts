/** Memory for the feeds that have come or are on their way, packed; more wait at their gateways. */
const roomBytes = 64 * 1024 * 1024
/** Memory of a feed beside its body: its connection and its place in the queue. */
const bytesBeside = 32 * 1024
/** A gateway sends one feed after the other. The second place is for one that lost its connection and tries again. */
const mostOfGateway = 2

/** Why a feed gets no place: none is left, or its gateway has two already. */
export type Refusal = 'full' | 'gateway'
/** A place that a feed has until it gives it back. */
export type Place = { readonly free: () => void } | { readonly refusal: Refusal }

/** The room for feeds that have come or are on their way. One gateway cannot fill it. */
export class FeedRoom {
  #takenBytes = 0
  readonly #ofGateway = new Map<string, number>()

  /** Takes a place for the body of a feed, as long as it may become, that came with this token. */
  take(token: string, bodyBytes: number): Place {
    const before = this.#ofGateway.get(token) ?? 0
    if (before >= mostOfGateway) return { refusal: 'gateway' }
    const bytes = bytesBeside + bodyBytes
    if (this.#takenBytes + bytes > roomBytes) return { refusal: 'full' }
    this.#takenBytes += bytes
    this.#ofGateway.set(token, before + 1)
    return { free: () => this.#free(token, bytes) }
  }

  #free(token: string, bytes: number): void {
    this.#takenBytes -= bytes
    const left = (this.#ofGateway.get(token) ?? 1) - 1
    if (left === 0) this.#ofGateway.delete(token)
    else this.#ofGateway.set(token, left)
  }
}
