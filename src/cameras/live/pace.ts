/** Limits of the bytes that wait in a viewer's connection. */
export type PaceLimits = {
  /** Bytes that wait in a connection; above that, pictures are dropped. */
  readonly mostBytes: number
  /** Pictures begin again when no more than this waits. */
  readonly fewBytes: number
  /** How long a connection may stay above `fewBytes` after pictures were dropped. */
  readonly patienceMs: number
}

export const paceLimits: PaceLimits = { mostBytes: 2 * 1024 * 1024, fewBytes: 256 * 1024, patienceMs: 10_000 }

/** State of a viewer's connection. */
export type Pace =
  /** Nothing can be shown before the next key frame. */
  | { readonly kind: 'waiting' }
  /** Everything is sent. `mayWait`: bytes that may wait now; more than usual while the first group is on its way. */
  | { readonly kind: 'flowing'; readonly mayWait: number }
  /** Pictures are dropped until the connection is nearly empty. */
  | { readonly kind: 'behind'; readonly sinceMs: number }

export type PaceStep = { readonly pace: Pace; readonly act: 'send' | 'drop' | 'close' }

export const newPace: Pace = { kind: 'waiting' }

type Arrived = {
  /** Whether a decoder can begin with it. */
  readonly key: boolean
  readonly sizeBytes: number
  /** Bytes that wait in the viewer's connection. */
  readonly waitingBytes: number
  readonly nowMs: number
}

/**
 * Decides what happens with the next picture for one viewer. Pure. Sent pictures begin with a key frame and follow it without a
 * gap. A viewer who is too slow misses pictures up to a later key frame. One who stays too slow is ended.
 */
export function pace(before: Pace, arrived: Arrived, limits: PaceLimits = paceLimits): PaceStep {
  const { key, sizeBytes, waitingBytes, nowMs } = arrived
  switch (before.kind) {
    case 'waiting':
      return key ? send(sizeBytes + limits.mostBytes) : { pace: before, act: 'drop' }
    case 'flowing':
      if (waitingBytes > before.mayWait) return { pace: { kind: 'behind', sinceMs: nowMs }, act: 'drop' }
      return send(waitingBytes <= limits.mostBytes ? limits.mostBytes : before.mayWait)
    case 'behind':
      if (waitingBytes <= limits.fewBytes) return pace(newPace, arrived, limits)
      return { pace: before, act: nowMs - before.sinceMs > limits.patienceMs ? 'close' : 'drop' }
  }
}

function send(mayWait: number): PaceStep {
  return { pace: { kind: 'flowing', mayWait }, act: 'send' }
}
