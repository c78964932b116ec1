/** Pictures that a finished file shows, read from the file. Times count from the file's own zero. */
export type Shown = {
  readonly firstMs: number
  readonly lastMs: number
  readonly pictures: number
  readonly longestGapMs: number
}

/**
 * Reads the list that ffmpeg's framecrc muxer writes: `stream, dts, pts, duration, size, checksum`, one line a picture.
 * Pictures before zero are there for the decoder only; an edit list hides them. Undefined when nothing is shown.
 */
export function shownBy(list: string): Shown | undefined {
  const base = /^#tb 0: (\d+)\/(\d+)$/m.exec(list)
  const msPerTick = (1000 * Number(base?.[1])) / Number(base?.[2])
  return shownAt([...list.matchAll(/^0,\s*-?\d+,\s*(-?\d+),/gm)].map(([, pts]) => Number(pts) * msPerTick))
}

/** Returns the facts of pictures that have these times, in any order. Those before zero are hidden. */
export function shownAt(timesMs: readonly number[]): Shown | undefined {
  const times = timesMs.filter((ms) => ms >= 0).sort((a, b) => a - b)
  const [firstMs, lastMs] = [times[0], times.at(-1)]
  if (firstMs === undefined || lastMs === undefined) return undefined
  const longestGapMs = times.reduce((longest, ms, i) => Math.max(longest, ms - (times[i - 1] ?? ms)), 0)
  return { firstMs, lastMs, pictures: times.length, longestGapMs }
}
