import fc from 'fast-check'
import t from 'tap'
import { afterWrong, type Tries, waitMs } from '../../src/auth/rates/patience.ts'

t.test('five wrong PINs cost nothing, then each costs twice as long, up to a quarter of an hour', async (t) => {
  let tries: Tries | undefined
  const waits: number[] = []
  for (let n = 0; n < 12; n += 1) {
    tries = afterWrong(tries, 1000)
    waits.push(waitMs(tries, 1000) / 1000)
  }
  t.strictSame(waits, [0, 0, 0, 0, 30, 60, 120, 240, 480, 900, 900, 900])
  t.equal(waitMs(tries, 1000 + 60 * 60_000), 0, 'after an hour all is forgotten')
  t.strictSame(afterWrong(tries, 1000 + 60 * 60_000), { wrong: 1, lastMs: 1000 + 60 * 60_000 })
})

t.test('whoever guesses all day finds a PIN of four digits in no week', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60_000 }), (stepMs) => {
      let tries: Tries | undefined
      let looks = 0
      const day = 24 * 60 * 60_000
      for (let at = 0; at < day; at += Math.max(stepMs, waitMs(tries, at))) {
        if (waitMs(tries, at) > 0) continue
        tries = afterWrong(tries, at)
        looks += 1
      }
      t.ok(looks < 200, `${looks} looks a day`)
    }),
    { numRuns: 20 },
  )
})
