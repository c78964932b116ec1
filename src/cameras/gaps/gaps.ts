import type { UnitOfWork } from '../../database/index.ts'
import { keysOfPage, type ReadTx } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import { type Caller, countLimit, type TimePlace, timeCursor } from '../../http/index.ts'
import { type Clock, isoTime } from '../../platform/index.ts'
import type { ConfiguredCameras } from '../configured.ts'
import type { Span } from '../span.ts'
import { pendingIds, sliceOfIds } from '../store.ts'
import type { CameraGapRow } from '../tables.ts'
import { type CameraGap, presentGap, presentOpen } from './schema.ts'
import * as store from './store.ts'

type Asked = { readonly from?: number | undefined; readonly to?: number | undefined }
type Page = { readonly limit: number; readonly offset: number; readonly before?: TimePlace | undefined }

/** Largest list in GET …/watched; the share counts all. */
const mostGaps = 1000
const mostDetections = 10_000

type GapsNeeds = { readonly work: UnitOfWork; readonly clock: Clock; readonly cameras: ConfiguredCameras }

/** Says when cameras watched, when they did not, and why. */
export class Gaps {
  readonly #needs: GapsNeeds

  constructor(needs: GapsNeeds) {
    this.#needs = needs
  }

  /** Lists gaps that overlap a time, newest first; the one that lasts comes first of all. Throws NOT_FOUND. */
  async list(
    id: number | undefined,
    asked: Asked,
    { limit, offset, before }: Page,
    caller: Caller,
    signal?: AbortSignal,
  ) {
    const cctvId = this.#visible(id, caller)
    const { open, filter } = this.#needs.work.read((tx) => this.#asked(tx, cctvId, asked))
    const first = open && before === undefined ? [open] : []
    const rest = {
      offset: Math.max(offset - first.length, 0),
      limit: limit - first.slice(offset).slice(0, limit).length,
    }
    const page = { ...rest, before: before && [before.timestampMs, before.id] }
    const found = await keysOfPage(this.#needs.work, store.newestGaps(filter), page, countLimit, signal)
    const rows = this.#needs.work.read((tx) => found.keys.flatMap(([, id = 0]) => store.findGap(tx, id) ?? []))
    const data = [...first.slice(offset).slice(0, limit), ...rows.map(presentGap)]
    const total = found.total === null ? null : found.total + (open ? 1 : 0)
    const last = data.at(-1)
    const place = last && { timestampMs: Date.parse(last.from), id: last.id ?? 0 }
    return { data, hasMore: found.hasMore, total, nextCursor: found.hasMore && place ? timeCursor(place) : null }
  }

  /**
   * Returns the share of a time in which a camera watched, with gaps and detections. A time that ends in the future counts up
   * to now. Throws NOT_FOUND; VALIDATION_ERROR for a time that is empty or has not begun.
   */
  async watched(
    id: number | undefined,
    { from, to }: { from: number; to: number },
    caller: Caller,
    signal?: AbortSignal,
  ) {
    const cctvId = this.#visible(id, caller)
    const nowMs = this.#needs.clock.now()
    if (to <= from) throw AppError.field('to', 'must be later than from')
    if (from >= nowMs) throw AppError.field('from', 'is not in the past')
    const span = { fromMs: from, toMs: Math.min(to, nowMs) }
    const { missed: _, ...seen } = await this.#seen(cctvId, span, signal)
    return { ...seen, from: isoTime(from), to: isoTime(span.toMs) }
  }

  /**
   * Returns the share of a time in which at least one of these cameras watched, with each camera's gaps and recordings. The caller
   * must be allowed to see them; the time must be over.
   */
  async sight(cctvIds: readonly number[], span: Span, signal?: AbortSignal) {
    const cameras = []
    let missedByAll: readonly Span[] = [span]
    for (const cctvId of cctvIds) {
      const { missed, ...seen } = await this.#seen(cctvId, span, signal)
      cameras.push(seen)
      missedByAll = common(missedByAll, missed)
    }
    return { watchedShare: shareWithout(span, missedByAll), cameras }
  }

  /** Returns the newest 500 gaps of a camera that overlap a time, newest first. The caller must be allowed to see it. */
  gapsIn(cctvId: number, span: Span): CameraGap[] {
    return this.#needs.work.read((tx) => {
      const { open } = this.#asked(tx, cctvId, { from: span.fromMs, to: span.toMs })
      return [...(open ? [open] : []), ...store.gapsIn(tx, cctvId, span).map(presentGap)]
    })
  }

  /** Says whether a camera watched all of a time. The caller must be allowed to see it. */
  watchedAll(cctvId: number, span: Span): boolean {
    return this.#needs.work.read((tx) => {
      const { open, knownSinceMs } = this.#asked(tx, cctvId, { from: span.fromMs, to: span.toMs })
      return (
        !open && knownSinceMs !== null && knownSinceMs <= span.fromMs && store.gapsIn(tx, cctvId, span).length === 0
      )
    })
  }

  /** Returns since when a camera is in the config; null when it never was. */
  knownSinceMs(cctvId: number): number | null {
    return this.#needs.work.read((tx) => store.findWatch(tx, cctvId)?.known_since_ms ?? null)
  }

  async #seen(cctvId: number, span: Span, signal?: AbortSignal) {
    const asked = { from: span.fromMs, to: span.toMs }
    const { open, knownSinceMs } = this.#needs.work.read((tx) => this.#asked(tx, cctvId, asked))
    const rows = await this.#everyRow(cctvId, span, signal)
    const detections = await this.#detectionIds(cctvId, span, signal)
    const lasting = open ? [{ fromMs: Date.parse(open.from), toMs: span.toMs }] : []
    const gaps = [...rows.map(({ from_ms, to_ms }) => ({ fromMs: from_ms, toMs: to_ms })), ...lasting]
    const missed = missedIn(span, knownSinceMs, gaps)
    return {
      cctvId,
      missed,
      watchedShare: shareWithout(span, missed),
      knownSince: knownSinceMs === null ? null : isoTime(knownSinceMs),
      gaps: [...(open ? [open] : []), ...rows.slice(0, mostGaps).map(presentGap)].slice(0, mostGaps),
      detections: detections.slice(0, mostDetections),
      complete: lasting.length + rows.length <= mostGaps && detections.length <= mostDetections,
    }
  }

  #visible(id: number | undefined, caller: Caller): number {
    if (id === undefined) throw AppError.notFound('Camera')
    return this.#needs.cameras.visible(id, caller).id
  }

  /** Reads the gap that lasts, if it overlaps the time, and makes the filter for those that have ended. */
  #asked(tx: ReadTx, cctvId: number, { from, to }: Asked) {
    const row = store.findWatch(tx, cctvId)
    const lasting = row && presentOpen(row)
    const open = lasting && (to === undefined || Date.parse(lasting.from) < to) ? lasting : undefined
    const fromMs = from === undefined ? undefined : store.beginOfOverlap(tx, cctvId, from)
    return { open, knownSinceMs: row?.known_since_ms ?? null, filter: { cctvId, fromMs, toMs: to } }
  }

  /** Reads the gaps of a span a slice at a time: a camera that flickers has thousands a week. */
  async #everyRow(cctvId: number, span: Span, signal?: AbortSignal): Promise<CameraGapRow[]> {
    const { work } = this.#needs
    const rows: CameraGapRow[] = []
    const fromMs = work.read((tx) => store.beginOfOverlap(tx, cctvId, span.fromMs))
    const slice = (tx: ReadTx, place: store.GapPlace) => store.sliceOfGaps(tx, cctvId, fromMs, place)
    for await (const found of work.readInSlices<CameraGapRow[], store.GapPlace>([span.toMs, 0], slice, signal)) {
      rows.push(...found)
    }
    return rows
  }

  /** Lists those whose clip is still being recorded, too. Ends when there are more than can be listed. */
  async #detectionIds(cctvId: number, { fromMs, toMs }: Span, signal?: AbortSignal): Promise<number[]> {
    const { work } = this.#needs
    const ids = work.read((tx) => pendingIds(tx, cctvId, { fromMs, toMs }))
    const slice = (tx: ReadTx, place: readonly [number, number]) => sliceOfIds(tx, cctvId, fromMs, place)
    for await (const found of work.readInSlices<number[], readonly [number, number]>([toMs, 0], slice, signal)) {
      ids.push(...found)
      if (ids.length > mostDetections) break
    }
    return ids
  }
}

/** Returns the share of a span in which a camera watched: that which neither gaps cover nor the time before it was known. */
export function watchedShare(span: Span, knownSinceMs: number | null, gaps: readonly Span[]): number {
  return shareWithout(span, missedIn(span, knownSinceMs, gaps))
}

/** Returns what a camera missed of a span: the time before it was known, and its gaps; in order and without overlaps. */
function missedIn(span: Span, knownSinceMs: number | null, gaps: readonly Span[]): Span[] {
  if (knownSinceMs === null) return [span]
  const unknown = { fromMs: Number.NEGATIVE_INFINITY, toMs: knownSinceMs }
  const clipped = [unknown, ...gaps]
    .map(({ fromMs, toMs }) => ({ fromMs: Math.max(fromMs, span.fromMs), toMs: Math.min(toMs, span.toMs) }))
    .filter(({ fromMs, toMs }) => toMs > fromMs)
    .toSorted((a, b) => a.fromMs - b.fromMs)
  const missed: Span[] = []
  for (const one of clipped) {
    const last = missed.at(-1)
    if (last && one.fromMs <= last.toMs) {
      missed[missed.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, one.toMs) }
    } else missed.push(one)
  }
  return missed
}

/** Returns the time that two lists of spans have in common; each is in order and without overlaps. */
export function common(one: readonly Span[], other: readonly Span[]): Span[] {
  const both: Span[] = []
  let [i, j] = [0, 0]
  for (let [a, b] = [one[i], other[j]]; a && b; [a, b] = [one[i], other[j]]) {
    const span = { fromMs: Math.max(a.fromMs, b.fromMs), toMs: Math.min(a.toMs, b.toMs) }
    if (span.toMs > span.fromMs) both.push(span)
    if (a.toMs < b.toMs) i += 1
    else j += 1
  }
  return both
}

function shareWithout(span: Span, missed: readonly Span[]): number {
  const lengthMs = span.toMs - span.fromMs
  return (lengthMs - missed.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)) / lengthMs
}
