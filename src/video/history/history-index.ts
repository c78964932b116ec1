/** A file of continuous video. Times are wall clock milliseconds. */
export type Segment = {
  readonly cameraId: number
  /** Start of its run. Segments of one run follow each other without a break. */
  readonly runMs: number
  readonly startMs: number
}

/** Span that a film should show, with its moment `atMs`. */
export type FilmSpan = { readonly fromMs: number; readonly atMs: number; readonly toMs: number }

/** A clock that is wrong by this much is still the same moment for a film. */
const toleranceMs = 500

export function segmentName({ cameraId, runMs, startMs }: Segment): string {
  return `${cameraId}_${runMs}_${startMs}.ts`
}

/** Returns the segment that a file name states; undefined for other names. */
export function readSegmentName(name: string): Segment | undefined {
  const [, cameraId, runMs, startMs] = /^(\d{1,9})_(\d{1,15})_(\d{1,15})\.ts$/.exec(name) ?? []
  if (startMs === undefined) return undefined
  return { cameraId: Number(cameraId), runMs: Number(runMs), startMs: Number(startMs) }
}

/** `order` grows with each one that was added. */
type Known = { readonly segment: Segment; endMs: number; readonly order: number }

/** Index of the segments and of the time that each covers. It is made from file names, so it needs no database. */
export class HistoryIndex {
  /** Segments of each camera, by start. */
  readonly #cameras = new Map<number, Known[]>()
  #added = 0

  /** Adds a segment. `endMs` is when its video ends, as far as is known; a later segment of its run says it exactly. */
  add(segment: Segment, endMs: number): void {
    const known = this.#cameras.get(segment.cameraId) ?? []
    const after = known.findLastIndex((one) => one.segment.startMs <= segment.startMs)
    const before = known.findLast((one, i) => i <= after && one.segment.runMs === segment.runMs)
    if (before) before.endMs = segment.startMs
    this.#added += 1
    known.splice(after + 1, 0, { segment, endMs: Math.max(endMs, segment.startMs), order: this.#added })
    this.#cameras.set(segment.cameraId, known)
  }

  /** Notes that a segment, which is being written, has video until `endMs`. */
  extend(segment: Segment, endMs: number): void {
    const one = this.#find(segment)
    if (one) one.endMs = Math.max(one.endMs, endMs)
  }

  /** Gives a segment another start. */
  rename(segment: Segment, as: Segment): void {
    const endMs = this.#find(segment)?.endMs ?? as.startMs
    this.remove(segment)
    this.add(as, endMs)
  }

  remove(segment: Segment): void {
    const known = this.#cameras.get(segment.cameraId)
    const at = known?.findIndex((one) => isSame(one.segment, segment)) ?? -1
    if (at >= 0) known?.splice(at, 1)
  }

  /**
   * Returns the run that shows a film's moment; undefined when none does. A film cannot continue from one run into the next,
   * because the time of the stream begins anew. When the clock was set back, two runs have the moment; the newer one wins.
   */
  runOf(cameraId: number, { atMs }: FilmSpan): number | undefined {
    const known = this.#cameras.get(cameraId) ?? []
    const shows = (one: Known) => one.segment.startMs <= atMs + toleranceMs && one.endMs >= atMs - toleranceMs
    return known.filter(shows).reduce(newer, undefined)?.segment.runMs
  }

  /** Returns the segments of a run to read for a film, oldest first. */
  segmentsOf(cameraId: number, { fromMs, toMs }: FilmSpan, runMs: number): Segment[] {
    const known = this.#cameras.get(cameraId) ?? []
    const run = known.filter(({ segment }) => segment.runMs === runMs)
    return run.filter((one) => one.segment.startMs <= toMs && one.endMs >= fromMs).map(({ segment }) => segment)
  }

  /** Returns segments that end before `olderThanMs` says for their camera, oldest first, at most `most`. */
  expired(olderThanMs: (cameraId: number) => number, most: number): Segment[] {
    const old = [...this.#cameras].flatMap(([cameraId, known]) =>
      known.filter(({ endMs }) => endMs < olderThanMs(cameraId)).slice(0, most),
    )
    return inOrder(old).slice(0, most)
  }

  /** Returns the oldest segments of all cameras, at most `most`. */
  oldest(most: number): Segment[] {
    return inOrder([...this.#cameras.values()].flatMap((known) => known.slice(0, most))).slice(0, most)
  }

  #find(segment: Segment): Known | undefined {
    return this.#cameras.get(segment.cameraId)?.findLast((one) => isSame(one.segment, segment))
  }
}

function newer(one: Known | undefined, other: Known): Known {
  return one && one.order > other.order ? one : other
}

function inOrder(known: readonly Known[]): Segment[] {
  return known.map(({ segment }) => segment).sort((a, b) => a.startMs - b.startMs)
}

function isSame(a: Segment, b: Segment): boolean {
  return a.cameraId === b.cameraId && a.runMs === b.runMs && a.startMs === b.startMs
}
