import t from 'tap'
import { type DayDetection, entriesOf } from '../../src/console/page/cameras/day/entries.ts'
import { dateIn, dayOf, highest, panned, showing, ticks, zoomed } from '../../src/console/page/data/day-line.ts'
import type { Gap } from '../../src/console/page/data/shapes.ts'

const hourMs = 3_600_000
const berlin = 'Europe/Berlin'

t.test('a day goes from midnight to midnight in the zone of the hall, also when its clocks change', async (t) => {
  const long = dayOf('2026-10-25', berlin)
  t.equal(new Date(long.fromMs).toISOString(), '2026-10-24T22:00:00.000Z')
  t.equal(long.toMs - long.fromMs, 25 * hourMs)
  t.equal(dayOf('2026-03-29', berlin).toMs - dayOf('2026-03-29', berlin).fromMs, 23 * hourMs)
  t.equal(new Date(dayOf('2026-11-22', 'Asia/Kathmandu').fromMs).toISOString(), '2026-11-21T18:15:00.000Z')
  // Chile changes its clocks at midnight: the first minute of this day is 01:00.
  t.equal(new Date(dayOf('2026-09-06', 'America/Santiago').fromMs).toISOString(), '2026-09-06T04:00:00.000Z')
  t.equal(dateIn(Date.parse('2026-11-22T23:30:00Z'), berlin), '2026-11-23')
})

t.test('the shown part of a day stays within the day, however it is moved', async (t) => {
  const day = dayOf('2026-11-22', berlin)
  const noon = day.fromMs + 12 * hourMs
  t.same(zoomed(day, day, 0.25, noon), { fromMs: noon - 3 * hourMs, toMs: noon + 3 * hourMs })
  t.same(zoomed(day, day, 2, noon), { fromMs: day.fromMs, toMs: day.toMs })
  const hour = { fromMs: noon, toMs: noon + hourMs }
  t.same(panned(hour, day, 20 * hourMs), { fromMs: day.toMs - hourMs, toMs: day.toMs })
  t.equal(showing(hour, day, noon + 5), hour)
  t.same(showing(hour, day, day.fromMs), { fromMs: day.fromMs, toMs: day.fromMs + hourMs })
  t.same(ticks(hour, day, 7), { everyMs: 600_000, at: [0, 1, 2, 3, 4, 5, 6].map((n) => noon + n * 600_000) })
})

t.test('the trace shows the highest score of each column, and nothing where nothing is known', async (t) => {
  const day = dayOf('2026-11-22', berlin)
  const scores = new Float32Array(20).fill(Number.NaN)
  scores.set([0, 0.5, 0.25, 0], 4)
  const window = { fromMs: day.fromMs, toMs: day.fromMs + 2000 }
  t.same([...highest(scores, 200, day, window, 5)], [Number.NaN, Number.NaN, 0.5, 0.25, Number.NaN])
})

t.test('clips and gaps of a day are listed in the order of time; what lasts ends now', async (t) => {
  const day = dayOf('2026-11-22', 'UTC')
  const gap = { cctvId: 1, from: '2026-11-22T10:00:00Z', to: null, cause: 'offline', detail: null } satisfies Gap
  const clip: DayDetection = {
    ...{ id: 7, cctvId: 1, timestamp: '2026-11-22T09:00:05Z', duration: 10, clipStatus: 'recorded' },
    ...{
      clipUrls: { playback: null, storage: null, snapshot: null },
      score: 0.6,
      trigger: 'motion',
      kinds: [],
      reason: null,
      removal: null,
    },
    ...{ clipStart: '2026-11-22T09:00:00Z', clipEnd: '2026-11-22T09:00:10Z' },
  }
  const yesterday = { ...clip, id: 6, timestamp: '2026-11-21T09:00:05Z', clipStart: null, clipEnd: null }
  const nowMs = Date.parse('2026-11-22T11:00:00Z')
  t.same(
    entriesOf([clip, yesterday], [gap], day, nowMs).map(({ key, toMs }) => [key, new Date(toMs).toISOString()]),
    [
      ['detection 7', '2026-11-22T09:00:10.000Z'],
      ['gap 2026-11-22T10:00:00Z', '2026-11-22T11:00:00.000Z'],
    ],
  )
})
