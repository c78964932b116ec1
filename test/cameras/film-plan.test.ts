import fc from 'fast-check'
import t from 'tap'
import { filmSpan, joined, type WantedFilm } from '../../src/cameras/films/plan.ts'

const second = 1000
const film = (fromMs: number, toMs: number, more: Partial<WantedFilm> = {}): WantedFilm => ({
  fromMs: fromMs * second,
  toMs: toMs * second,
  events: 1,
  isBegun: true,
  ...more,
})
const seconds = (span: ReturnType<typeof joined>) => span && [span.fromMs / second, span.toMs / second]

t.test('a film shows ten seconds before and after its event', async (t) => {
  t.strictSame(filmSpan(100 * second), { fromMs: 90 * second, toMs: 110 * second })
})

t.test('an event soon after another one is shown by the same film, which lasts longer', async (t) => {
  t.strictSame(seconds(joined(film(0, 20), filmSpan(15 * second), 16 * second)), [0, 25])
  t.strictSame(seconds(joined(film(0, 20), filmSpan(9.7 * second), 16 * second)), [0, 20], 'clocks of scanners differ')
})

t.test('a film takes no event that it cannot show any more', async (t) => {
  t.equal(joined(film(0, 20), filmSpan(15 * second), 18.5 * second), undefined, 'it is about to end')
  t.equal(joined(film(0, 20), filmSpan(5 * second), 12 * second), undefined, 'it has begun')
  t.equal(joined(film(0, 55), filmSpan(51 * second), 51 * second), undefined, 'it would last over a minute')
  t.equal(joined(film(0, 20, { events: 200 }), filmSpan(15 * second), 16 * second), undefined, 'it is full')
})

t.test('a film that has not begun may begin earlier, and its time may be long past', async (t) => {
  t.strictSame(seconds(joined(film(0, 20, { isBegun: false }), filmSpan(-5 * second), 9999 * second)), [-15, 20])
})

t.test('a hundred events a minute in one slot make two or three films', async (t) => {
  const gaps = fc.array(fc.integer({ min: 0, max: 1200 }), { minLength: 100, maxLength: 100 })
  fc.assert(
    fc.property(gaps, (waits) => {
      let nowMs = 0
      const films: WantedFilm[] = []
      for (const waitMs of waits) {
        nowMs += waitMs
        const last = films.at(-1)
        const both = last && joined(last, filmSpan(nowMs), nowMs)
        if (both) films[films.length - 1] = { ...both, events: last.events + 1, isBegun: true }
        else films.push({ ...filmSpan(nowMs), events: 1, isBegun: true })
      }
      t.ok(films.length <= Math.ceil(nowMs / (40 * second)) + 1, `${films.length} films in ${nowMs} ms`)
    }),
  )
})
