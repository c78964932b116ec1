import t from 'tap'
import { retryAfterMs } from '../../src/feed/retry.ts'
import type { FeedFinding } from '../../src/feed/verdict.ts'

const trouble = (finding: FeedFinding, retryAfterSeconds?: number) => ({ finding, retryAfterSeconds })

t.test('a line that is away is tried after 2 s, doubling to 5 minutes', async (t) => {
  const waits = [1, 2, 3, 8, 9, 60].map((failures) => retryAfterMs(trouble('unreachable'), failures, 0))
  t.same(waits, [2000, 4000, 8000, 256_000, 300_000, 300_000])
  t.equal(retryAfterMs(trouble('unreachable'), 3, 1), 4000, 'chance takes away up to half')
})

t.test('a head office that says when it takes feeds again is asked then, however often it says so', async (t) => {
  for (const failures of [1, 2, 60]) t.equal(retryAfterMs(trouble('unavailable', 2), failures, 0), 2000)
  t.equal(retryAfterMs(trouble('unavailable', 60), 1, 1), 90_000, 'never earlier, and not all at once')
})

t.test(
  'what somebody has to correct is tried after a minute, doubling to an hour, and not before it is said',
  async (t) => {
    t.same(
      [1, 2, 7, 8].map((failures) => retryAfterMs(trouble('refused'), failures, 0)),
      [60_000, 120_000, 3_600_000, 3_600_000],
    )
    t.equal(retryAfterMs(trouble('refused', 600), 1, 0), 600_000)
  },
)
