import fc from 'fast-check'
import t from 'tap'
import { untilNextMs } from '../../src/console/page/data/odd-rounds.ts'

const everyMs = 10_000

t.test('every screen asks for contradictions at full ten seconds, not twice in five and soon after a change', (t) => {
  const times = fc.record({ nowMs: fc.nat(), sinceMs: fc.nat(60_000) })
  fc.assert(
    fc.property(times, ({ nowMs, sinceMs }) => {
      const waitMs = untilNextMs(nowMs, sinceMs)
      return (nowMs + waitMs) % everyMs === 0 && waitMs > 0 && waitMs < 15_000 && sinceMs + waitMs >= 5000
    }),
  )
  t.end()
})

t.test('screens that were opened at different times ask together from the second time on', (t) => {
  for (const openedMs of [1000, 4999])
    t.equal(openedMs + untilNextMs(openedMs, 0), 10_000, `opened after ${openedMs} ms`)
  for (const openedMs of [5001, 9000])
    t.equal(openedMs + untilNextMs(openedMs, 0), 20_000, `opened after ${openedMs} ms`)
  t.equal(untilNextMs(10_000, 0), everyMs)
  t.end()
})
