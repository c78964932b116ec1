import t, { type Test } from 'tap'
import { ask, gatewayNow, keepExactTime } from '../../src/console/page/data/ask.ts'

/** The gateway is this far ahead of the page. */
const aheadMs = 3_600_000

/** Asks a gateway at a moment of the page's clock; its answer is so long on its way. */
async function asked(t: Test, pageMs: number, onItsWayMs: number): Promise<string> {
  const gatewayMs = pageMs + aheadMs
  const date = new Date(Math.floor(gatewayMs / 1000) * 1000).toUTCString()
  t.intercept(globalThis, 'fetch', { value: async () => Response.json({}, { headers: { Date: date } }) })
  t.intercept(Date, 'now', { value: () => pageMs + onItsWayMs })
  await ask('/api/health')
  return new Date(gatewayMs).toISOString()
}

const errorMs = () => gatewayNow() - Date.now() - aheadMs

t.test(
  'all screens know the time of the gateway to some milliseconds, whatever second their answers are of',
  async (t) => {
    await asked(t, 10_900, 5)
    t.ok(Math.abs(errorMs()) <= 500, 'half a second is the fairest guess')
    keepExactTime(await asked(t, 20_950, 5))
    t.equal(errorMs(), -5, 'but for the way of the answer')
    for (const pageMs of [30_000, 40_999, 50_500]) {
      await asked(t, pageMs, 30)
      t.equal(errorMs(), -5, 'a header without milliseconds that fits changes nothing')
    }
  },
)

t.test('a clock that was set, and a time that is not of now, do not stay', async (t) => {
  keepExactTime(await asked(t, 60_000, 5))
  const later = await asked(t, 57_000, 5)
  t.equal(errorMs(), -5)
  keepExactTime(new Date(Date.parse(later) - 60_000).toISOString())
  t.equal(errorMs(), -5, 'a minute old: the header of the answer knows better')
  t.intercept(Date, 'now', { value: () => 57_000 - 5000 })
  await ask('/api/health')
  t.ok(errorMs() > 4000, 'the clock of the page was set back by five seconds')
})
