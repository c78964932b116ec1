/** Longest time between two pictures of a stream, in the last half to whole minute. Pure; milliseconds. */
export type Silence = {
  /** When the present half minute began. */
  readonly fromMs: number
  readonly longestMs: number
  /** The longest of the half minute before. */
  readonly beforeMs: number
}

const rememberedMs = 30_000

/** Returns the silence of a stream that begins. `expectedMs`: what it may be like, until its pictures have shown it. */
export function newSilence(fromMs: number, expectedMs: number): Silence {
  return { fromMs, longestMs: 0, beforeMs: expectedMs }
}

/** Returns the silence after a picture that came `gapMs` after the one before. */
export function noted(silence: Silence, gapMs: number, nowMs: number): Silence {
  if (nowMs - silence.fromMs < rememberedMs)
    return gapMs <= silence.longestMs ? silence : { ...silence, longestMs: gapMs }
  return { fromMs: nowMs, longestMs: gapMs, beforeMs: silence.longestMs }
}

export function longestMs({ longestMs: now, beforeMs }: Silence): number {
  return Math.max(now, beforeMs)
}
