/**
 * Decides whether a camera's decoder sleeps, on key frames alone, or is awake, on every picture. Pure: times are those of the pictures,
 * monotonic, in milliseconds.
 */

/**
 * Why every picture is decoded.
 * - `learning`: the connection is new, so usual noise and view are not known.
 * - `motion`: something has moved within the last ten seconds.
 * - `view`: the lens is covered, or the camera is turned.
 * - `key_frames_rare`: motion could begin and end between two key frames.
 * - `codec`: Motion JPEG has no key frames.
 * - `reordered`: with B-frames, a decoder returns a key frame only after the pictures behind it.
 */
export const awakeReasons = ['learning', 'motion', 'view', 'key_frames_rare', 'codec', 'reordered'] as const
export type AwakeReason = (typeof awakeReasons)[number]

export const decoderStates = ['asleep', 'waking', 'awake'] as const

export type Wakefulness =
  /** Key frames alone are decoded. Up to the one at `quietPtsMs`, nothing has moved. */
  | { readonly kind: 'asleep'; readonly quietPtsMs: number }
  /** The decoder works through the pictures of the ring, until the one at `untilMs` that woke it. */
  | { readonly kind: 'waking'; readonly why: AwakeReason; readonly untilMs: number }
  /** Every picture is decoded. `restlessMs`: when a picture last gave a reason. */
  | { readonly kind: 'awake'; readonly why: AwakeReason; readonly restlessMs: number }

export type WakeEvent =
  /** A connection or a decoder begins. */
  | { readonly kind: 'begun' }
  /** A picture was judged. `reason`: why every picture is needed; null: nothing moves. `keyPtsMs`: its time, if it is a key frame. */
  | { readonly kind: 'picture'; readonly reason: AwakeReason | null; readonly keyPtsMs: number | undefined }
  /** The picture of the next key frame has not come in time. */
  | { readonly kind: 'overdue'; readonly why: AwakeReason }

/** `wake`: every picture after the one at `afterPtsMs` is decoded. */
export type WakeCommand = { readonly kind: 'wake'; readonly afterPtsMs: number } | { readonly kind: 'sleep' }
export type WakeStep = { readonly wakefulness: Wakefulness; readonly command?: WakeCommand }

/** Key frames must be at most this far apart: a second, and a picture. At two seconds, motion of low contrast was missed. */
export const longestGroupMs = 1200
/** How long nothing must have happened before a decoder sleeps. */
const restMs: Readonly<Record<AwakeReason, number>> = {
  // Noise is learned for 30 s, the view for 20 s.
  learning: 30_000,
  motion: 10_000,
  view: 10_000,
  // A camera that has sent one long group sends more of them.
  key_frames_rare: 60_000,
  codec: 60_000,
  reordered: 600_000,
}

export function newlyAwake(nowMs: number): Wakefulness {
  return { kind: 'awake', why: 'learning', restlessMs: nowMs }
}

/** Returns the state after an event, and what the decoder is to do. */
export function stepWakefulness(wakefulness: Wakefulness, event: WakeEvent, nowMs: number): WakeStep {
  switch (event.kind) {
    case 'begun':
      return { wakefulness: newlyAwake(nowMs) }
    case 'overdue':
      return wakefulness.kind === 'asleep' ? wake(wakefulness, event.why, nowMs) : { wakefulness }
    case 'picture':
      return picture(wakefulness, event, nowMs)
  }
}

function picture(
  wakefulness: Wakefulness,
  { reason, keyPtsMs }: Extract<WakeEvent, { kind: 'picture' }>,
  nowMs: number,
): WakeStep {
  switch (wakefulness.kind) {
    case 'asleep':
      if (reason !== null) return wake(wakefulness, reason, nowMs)
      return { wakefulness: { kind: 'asleep', quietPtsMs: keyPtsMs ?? wakefulness.quietPtsMs } }
    case 'waking':
      if (nowMs < wakefulness.untilMs) return { wakefulness }
      return { wakefulness: { kind: 'awake', why: reason ?? wakefulness.why, restlessMs: nowMs } }
    case 'awake': {
      if (reason !== null) return { wakefulness: { kind: 'awake', why: reason, restlessMs: nowMs } }
      // It continues from this key frame when it wakes.
      if (keyPtsMs === undefined || nowMs - wakefulness.restlessMs < restMs[wakefulness.why]) return { wakefulness }
      return { wakefulness: { kind: 'asleep', quietPtsMs: keyPtsMs }, command: { kind: 'sleep' } }
    }
  }
}

function wake({ quietPtsMs }: Extract<Wakefulness, { kind: 'asleep' }>, why: AwakeReason, nowMs: number): WakeStep {
  return { wakefulness: { kind: 'waking', why, untilMs: nowMs }, command: { kind: 'wake', afterPtsMs: quietPtsMs } }
}
