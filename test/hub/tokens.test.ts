import t from 'tap'
import { AppError } from '../../src/errors/index.ts'
import { SlidingWindow } from '../../src/flow/index.ts'
import { composeHub } from '../../src/hub/compose.ts'
import { TokenLimit } from '../../src/hub/enrol/tokens.ts'
import { silentLogger, systemRandom } from '../../src/platform/index.ts'
import { testLog } from '../support/evidence/forge.ts'
import { askAs, headOffice } from '../support/head-office.ts'
import { feedOf, feedPathOf, type TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const logOf = (n: number) =>
  testLog({ siteId: `dc-${n}`, logId: `0190a5c4-3c00-7000-8000-${String(n).padStart(12, '0')}`, size: 4 })
const good = logOf(21)

const feed = (hub: Pick<TestHub, 'ask'>, token: string, log = good) =>
  hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, 0, 4) })

/** Sends so many wrong tokens and returns the different statuses of the answers. */
async function guess(hub: TestHub, count: number, log = (_: number) => good): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i += 1) statuses.push((await feed(hub, `guess-${i}`, log(i))).status)
  return [...new Set(statuses)]
}

t.test('wrong tokens for one log are limited, and a right one for it comes through', async (t) => {
  const hub = await headOffice(t, postgres)
  const token = await hub.enrol(good)
  t.same(await guess(hub, 10), [401])
  const refused = await feed(hub, 'guess')
  t.equal(refused.status, 429)
  t.match(refused.body, { error: { code: 'RATE_LIMITED' } })
  t.match(refused.headers.get('retry-after'), /^\d+$/)
  t.equal((await feed(hub, token)).status, 200, 'the box itself is not kept out')
  t.same(await guess(hub, 1, () => logOf(22)), [401], 'nor is another log')
  hub.clock.advance(60_000)
  t.equal((await feed(hub, 'guess')).status, 401, 'a minute later it is looked up again')
})

t.test('wrong tokens for many logs from one address are limited, and its fleet feeds on', async (t) => {
  const hub = await headOffice(t, postgres)
  const token = await hub.enrol(good)
  t.same(await guess(hub, 130, (i) => logOf(1000 + i)), [401, 429])
  t.equal((await feed(hub, token)).status, 200)
  const another = logOf(23)
  t.equal((await feed(hub, await hub.enrol(another), another)).status, 200, 'a box that joined just now, too')
})

t.test('a stranger who claims many logs does not make the head office forget who was limited', async (t) => {
  const clock = new SimulatedClock()
  const refused = () => Promise.reject(new AppError('INVALID_CREDENTIALS', 'no'))
  let looks = 0
  const limit = await TokenLimit.read(
    { rows: async () => [] as never },
    { window: new SlidingWindow({ clock }), log: silentLogger(), onRefused: () => undefined },
  )
  const claim = (address: string, logId: string) =>
    limit
      .check({ token: 'guess', logId, address }, () => {
        looks += 1
        return refused()
      })
      .catch((error: AppError) => error.code)
  for (let i = 0; i < 10; i += 1) t.equal(await claim('192.0.2.1', good.logId), 'INVALID_CREDENTIALS')
  t.equal(await claim('192.0.2.1', good.logId), 'RATE_LIMITED')
  looks = 0
  // More than there is room for; behind IPv6 a stranger has as many addresses.
  for (let i = 0; i < 60_000; i += 1) await claim(`2001:db8::${(i % 65_535).toString(16)}`, `log-${i}`)
  t.equal(looks, 120, 'of a network that is over its limit no log is counted')
  t.equal(await claim('192.0.2.1', good.logId), 'RATE_LIMITED', 'the other is still limited')
})

t.test('after a restart of the head office its fleet is not kept out by a box with a wrong token', async (t) => {
  const hub = await headOffice(t, postgres)
  const token = await hub.enrol(good)
  const next = await composeHub(hub.config, { clock: hub.clock, random: systemRandom, log: silentLogger() })
  t.teardown(() => next.close())
  const wrong = { method: 'POST', headers: { Authorization: 'Bearer x' }, body: '{}' }
  for (let i = 0; i < 12; i += 1) await next.api.request(feedPathOf(good), wrong)
  t.equal((await next.api.request(feedPathOf(good), wrong)).status, 429)
  const right = { ...wrong, headers: { Authorization: `Bearer ${token}` } }
  t.equal((await next.api.request(feedPathOf(good), right)).status, 400, 'its body is read')
})

t.test('a token that was revoked is refused, and counts as a wrong one from then on', async (t) => {
  const hub = await headOffice(t, postgres)
  const token = await hub.enrol(good)
  await hub.rows('UPDATE gateway_token SET revoked_at = now()')
  for (let i = 0; i < 10; i += 1) t.equal((await feed(hub, token)).status, 401)
  t.equal((await feed(hub, token)).status, 429)
})

t.test('refused tokens are counted in the metrics and named in the log, few times and without the token', async (t) => {
  const lines: unknown[] = []
  const log = Object.assign(silentLogger(), { warn: (...line: unknown[]) => void lines.push(line) })
  const hub = await headOffice(t, postgres, { log })
  await guess(hub, 12)
  const { text } = await askAs(hub, '/api/metrics', 'adam')
  t.match(text, /gatehouse_office_refused_tokens_total\{how="wrong"\} 10\n/)
  t.match(text, /gatehouse_office_refused_tokens_total\{how="limited"\} 2\n/)
  t.match(lines, [[{ logId: good.logId }, /wrong token/]])
  t.equal(lines.length, 1)
  t.notMatch(JSON.stringify(lines), /guess/)
})
