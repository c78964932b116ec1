import pg from 'pg'
import t from 'tap'
import { type TestLog, testLog } from '../support/evidence/forge.ts'
import { floorLeaves } from '../support/floor-leaves.ts'
import { cheapHash, signedIn } from '../support/gateway.ts'
import { feedOf, feedPathOf, type HeldBody, heldBody, type TestHub, testHub } from '../support/hub.ts'
import { startPostgres } from '../support/postgres.ts'
import { waitUntil } from '../support/waiting.ts'

const postgres = await startPostgres(t)
const ada = { username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') }

/** A body that does not say how long it is takes as much room as the longest: of 64 MiB, 15 times 4 MiB and a little. */
const mostOfUnknownLength = 15

t.test('feeds for which there is no room are told when to come again, are counted, and nothing is lost', async (t) => {
  const hub = await testHub(t, postgres, { users: [ada] })
  const log = testLog({ leaves: floorLeaves({ count: mostOfUnknownLength + 1 }) })
  const token = await hub.enrol(log)
  const feed = (i: number, held?: HeldBody) =>
    hub.ask('POST', feedPathOf(log), { token, ...(held ? { stream: held.body } : { body: feedOf(log, i, i + 1) }) })
  // Each has come when its body is asked for, and waits for it.
  const held = Array.from({ length: mostOfUnknownLength }, (_, i) => heldBody(feedOf(log, i, i + 1)))
  const answers = held.map((one, i) => feed(i, one))
  await Promise.all(held.map(({ isRead }) => isRead))
  const refused = await feed(mostOfUnknownLength)
  t.match(refused, { status: 503, body: { error: { code: 'NOT_READY' } } })
  t.equal(refused.headers.get('retry-after'), '2')
  for (const [i, answer] of answers.entries()) {
    held[i]?.release()
    t.match(await answer, { status: 200, body: { size: i + 1 } })
    if (i === 0) t.match(await feed(mostOfUnknownLength), { status: 409, body: { size: 1 } }, 'there is room again')
  }
  t.match(await feed(mostOfUnknownLength), { status: 200, body: { size: mostOfUnknownLength + 1 } })
  const stored = { n: mostOfUnknownLength + 1, last: mostOfUnknownLength + 1 }
  t.same(await hub.rows('SELECT count(*)::int AS n, max(seq)::int AS last FROM placement'), [stored])
  const headers = signedIn({ username: 'ada', role: 'admin' }, { 'X-Storage-Instance': 'https://hub.example' })
  const lines = (await hub.ask('GET', '/api/metrics', { headers })).text.split('\n')
  t.ok(lines.includes('gatehouse_office_feeds_total{outcome="unavailable"} 1'))
})

t.test('a thousand gateways may feed at once, since a feed takes no more room than it says', async (t) => {
  const hub = await testHub(t, postgres)
  const log = testLog({ leaves: floorLeaves({ count: 1 }) })
  const token = await hub.enrol(log)
  const held = Array.from({ length: 1000 }, () => heldBody(feedOf(log, 0, 1)))
  const headers = { 'Content-Length': '2000' }
  const answers = held.map(({ body }) => hub.ask('POST', feedPathOf(log), { token, stream: body, headers }))
  const allAreRead = Promise.all(held.map(({ isRead }) => isRead)).then(() => 'all are read')
  t.equal(await Promise.race([allAreRead, ...answers]), 'all are read', 'and none is answered before')
  for (const { release } of held) release()
  const statuses = new Set((await Promise.all(answers)).map(({ status, body }) => `${status} ${body.error?.code}`))
  t.ok(statuses.has('200 undefined'))
  t.notOk(
    (await Promise.all(answers)).some(({ body }) => body.error?.message === 'Too many feeds at once'),
    [...statuses].join(),
  )
})

type Fed = { readonly log: TestLog; readonly token: string }

const first = ({ log, token }: Fed, hub: TestHub) =>
  hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, 0, 1) })

/** Feeds the first leaf of each log; the database stores none of them before `release`. Resolves when eight wait there. */
async function held(hub: TestHub, logs: readonly Fed[]) {
  const client = new pg.Client({ host: postgres.folder, user: 'super', database: hub.database })
  await client.connect()
  await client.query('BEGIN')
  await client.query('LOCK TABLE entry_bundle IN EXCLUSIVE MODE')
  const answers = logs.map((one) => first(one, hub))
  await waitUntil('eight feeds wait for the table', async () => {
    const [row] = await hub.rows(
      `SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND relation = 'entry_bundle'::regclass`,
    )
    return row?.['n'] === 8
  })
  return { answers, release: () => client.end() }
}

t.test('a gateway whose feed has queued is asked to gather leaves four times as long before the next', async (t) => {
  const hub = await testHub(t, postgres)
  const logs: Fed[] = []
  for (let i = 0; i < 9; i += 1) {
    const of = { siteId: `dc-${i}`, logId: `0190a5c4-3c00-7000-8000-00000000000${i}` }
    const log = testLog({ ...of, leaves: floorLeaves({ ...of, count: 2 }) })
    logs.push({ log, token: await hub.enrol(log) })
  }
  const { answers, release } = await held(hub, logs)
  hub.clock.advance(700)
  await release()
  const all = await Promise.all(answers)
  t.same(
    all.map(({ status }) => status),
    Array.from({ length: 9 }, () => 200),
  )
  t.same(
    all.map(({ body }) => body.pauseMs).filter((ms) => ms !== undefined),
    [2800],
    'the ninth has waited for one of eight places; the others have not',
  )
  const again = await first(logs[0] as Fed, hub)
  t.match(again, { status: 200 })
  t.notOk('pauseMs' in again.body, 'nobody waits now')
})
