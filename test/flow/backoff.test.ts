import t from 'tap'
import { backoffMs } from '../../src/flow/index.ts'

const probe = { firstMs: 10_000, longestMs: 300_000 }

t.test('a wait doubles with each failure in a row, up to the longest', async (t) => {
  t.same(
    [1, 2, 3, 4, 5, 6, 7, 100].map((failures) => backoffMs(probe, failures)),
    [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000],
  )
  t.equal(backoffMs(probe, 5000), 300_000, 'a count beyond the numbers of a double stays finite')
})

t.test('chance takes up to half off a wait, so that many boxes do not ask at once', async (t) => {
  t.equal(backoffMs(probe, 2, 0), 20_000)
  t.equal(backoffMs(probe, 2, 1), 10_000)
  t.equal(backoffMs(probe, 100, 0.5), 225_000)
})
