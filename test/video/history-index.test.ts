import fc from 'fast-check'
import t from 'tap'
import { HistoryIndex, readSegmentName, type Segment, segmentName } from '../../src/video/history/history-index.ts'
import { filmSource } from '../../src/video/redaction/films.ts'

const minute = 60_000

/** Segments of two minutes, one after the other. */
function run(cameraId: number, startMs: number, count: number): Segment[] {
  return Array.from({ length: count }, (_, i) => ({ cameraId, runMs: startMs, startMs: startMs + i * 2 * minute }))
}

/** Known from file names alone, but for the end of the last segment of each run. */
function indexOf(...runs: Segment[][]): HistoryIndex {
  const index = new HistoryIndex()
  for (const segment of runs.flat().sort((a, b) => a.startMs - b.startMs)) index.add(segment, segment.startMs)
  for (const last of runs.map((one) => one.at(-1))) if (last) index.extend(last, last.startMs + 2 * minute)
  return index
}

const starts = (segments: readonly Segment[]) => segments.map(({ startMs }) => startMs / minute)
function choose(index: HistoryIndex, cameraId: number, film: ReturnType<typeof span>): Segment[] {
  const runMs = index.runOf(cameraId, film)
  return runMs === undefined ? [] : index.segmentsOf(cameraId, film, runMs)
}
const span = (atMs: number) => ({ fromMs: atMs - 10_000, atMs, toMs: atMs + 10_000 })

t.test('the name of a segment says which camera it is of and when it begins', async (t) => {
  const number = fc.integer({ min: 0, max: 999_999_999 })
  fc.assert(
    fc.property(number, number, number, (cameraId, runMs, startMs) => {
      const segment = { cameraId, runMs, startMs }
      t.strictSame(readSegmentName(segmentName(segment)), segment)
    }),
  )
  for (const name of ['7.mp4', '7_1_2.ts.part', '7_1.ts', '../7_1_2.ts', '7_-1_2.ts']) {
    t.equal(readSegmentName(name), undefined, name)
  }
})

t.test('a film is made of the segments that overlap it', async (t) => {
  const index = indexOf(run(7, 0, 5), run(8, 0, 5))
  t.strictSame(starts(choose(index, 7, span(3 * minute))), [2])
  t.strictSame(starts(choose(index, 7, span(4 * minute + 5000))), [2, 4], 'it begins in the one before')
  t.strictSame(choose(index, 9, span(3 * minute)), [], 'another camera has none')
})

t.test('a film never runs over a break: it has the segments of the run that shows its moment', async (t) => {
  const index = indexOf(run(7, 0, 2), run(7, 4 * minute + 3000, 2))
  const before = choose(index, 7, span(4 * minute - 2000))
  t.strictSame(
    before.map(({ runMs }) => runMs),
    [0],
  )
  const after = choose(index, 7, span(4 * minute + 5000))
  t.strictSame(
    after.map(({ runMs }) => runMs),
    [4 * minute + 3000],
  )
  t.strictSame(choose(index, 7, span(4 * minute + 1500)), [], 'the moment itself was not recorded')
})

t.test('whatever there is, the chosen segments overlap the film and are of one run and one camera', async (t) => {
  const runs = fc.array(fc.record({ start: fc.integer({ min: 0, max: 100 }), count: fc.integer({ min: 1, max: 4 }) }))
  fc.assert(
    fc.property(runs, fc.integer({ min: 0, max: 120 }), (made, at) => {
      const index = indexOf(...made.map(({ start, count }) => run(7, start * minute, count)))
      const film = span(at * minute)
      const chosen = choose(index, 7, film)
      const isHeld = made.some(({ start, count }) => at >= start && at <= start + 2 * count)
      t.equal(chosen.length > 0, isHeld, 'there are some when the moment was recorded')
      t.ok(new Set(chosen.map(({ runMs }) => runMs)).size <= 1)
      t.ok(chosen.every(({ startMs }) => startMs <= film.toMs && startMs + 2 * minute >= film.fromMs))
    }),
  )
})

t.test(
  'what is older than the hours of its camera is removed, the oldest first, and not more at once than is bearable',
  async (t) => {
    const index = indexOf(run(7, 0, 5), run(8, minute, 5))
    const hours = (cameraId: number) => (cameraId === 7 ? 5 * minute : 4 * minute)
    t.strictSame(starts(index.expired(hours, 10)), [0, 1, 2], 'they end at 2, 3 and 4 minutes')
    t.strictSame(starts(index.expired(hours, 2)), [0, 1])
    t.strictSame(starts(index.oldest(3)), [0, 1, 2])
    for (const segment of index.oldest(3)) index.remove(segment)
    t.strictSame(starts(index.oldest(1)), [3])
  },
)

t.test('a corrected start moves a segment', async (t) => {
  const index = indexOf(run(7, minute, 1))
  const [known] = run(7, minute, 1)
  if (known) index.rename(known, { ...known, startMs: minute - 900 })
  t.strictSame(starts(choose(index, 7, span(minute))), [(minute - 900) / minute])
})

t.test('a film is made of the ring when that has all of it, else of history, else of what there is', async (t) => {
  const film = { fromMs: 10_000, atMs: 20_000, toMs: 30_000 }
  const has = (ringFromMs: number | undefined, hasHistory: boolean, nowMs = 21_000) =>
    filmSource(film, { nowMs, ringFromMs, hasHistory })
  t.equal(has(9000, true), 'live')
  t.equal(has(12_000, true), 'history', 'the ring begins too late')
  t.equal(has(12_000, false), 'live', 'better than nothing')
  t.equal(has(undefined, false), 'live', 'the camera may come')
  t.equal(has(undefined, false, 31_000), 'none')
  t.equal(has(25_000, false, 31_000), 'none', 'the moment is not in the ring')
  t.equal(has(undefined, true, 31_000), 'history')
})
