import t from 'tap'
import { outcomeOf } from '../../src/console/page/scan/outcome.ts'

const refusal = (code: string) => ({ success: false, error: { code, message: 'why', details: 'slot_code: unknown' } })

t.test('a scan leaves the queue only by the gateway’s own words', async (t) => {
  t.match(outcomeOf(201, { success: true, warnings: [{ code: 'X', message: 'odd' }] }, null), {
    kind: 'acknowledged',
    warnings: ['odd'],
  })
  t.match(outcomeOf(200, { success: true, removed: null, placed: { warnings: [{ message: 'odd' }] } }, null), {
    kind: 'acknowledged',
    warnings: ['odd'],
  })
  t.match(outcomeOf(400, refusal('REFERENCE_NOT_FOUND'), null), {
    kind: 'refused',
    words: /^why \(slot_code: unknown\)\. Read the slot label again/,
  })
  t.match(outcomeOf(403, refusal('PERMISSION_DENIED'), null), { kind: 'refused', words: /Ask a supervisor/ })
  t.match(outcomeOf(401, refusal('INVALID_CREDENTIALS'), null), { kind: 'sign-in' })
})

t.test('the page of a hotspot or a proxy is no answer: the scan stays and is sent again', async (t) => {
  for (const status of [200, 201, 204, 302, 400, 401, 403, 404, 502]) {
    t.match(outcomeOf(status, undefined, null), { kind: 'later' }, `${status}`)
  }
})

t.test('what passes by itself is waited for, as long as the gateway says', async (t) => {
  t.match(outcomeOf(429, refusal('RATE_LIMITED'), '17'), { kind: 'later', words: 'why', afterSeconds: 17 })
  t.match(outcomeOf(409, refusal('IN_FLIGHT'), null), { kind: 'later' })
  t.match(outcomeOf(503, refusal('NOT_READY'), '3'), { kind: 'later', afterSeconds: 3 })
})
