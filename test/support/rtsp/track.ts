/** Ticks a second of a track's timestamps begin here: both counters wrap within the first seconds of every stream. */
export const firstTimestamp = 0xffff_ffff - 8 * 90_000 - 1234
export const firstSequence = 0xff00

/** One medium of a stream, live: who joins gets what comes from then on. */
export type Track = {
  readonly payloadType: number
  /** Its section of the SDP, without `a=control`. */
  description(): string[]
  /** Begins to send; returns the timestamp of the first packet. */
  join(viewer: Viewer): number
  leave(viewer: Viewer): void
}

/** A client's end of a track. */
export type Viewer = {
  send(payloads: readonly Buffer[], timestamp: number): void
  /** Bytes that are no packets. */
  sendRaw(bytes: Buffer): void
  /** Whether the client reads too slowly: the next pictures are left out for it. */
  isClogged(): boolean
}

/** A timestamp as it goes into 32 bits. */
export function wrapped(ticks: number): number {
  return Math.round(ticks) % 2 ** 32
}
