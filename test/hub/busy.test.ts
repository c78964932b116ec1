import { createHash } from 'node:crypto'
import pg from 'pg'
import t from 'tap'
import { type TestLog, testLog } from '../support/evidence/forge.ts'
import { floorLeaves } from '../support/floor-leaves.ts'
import { cheapHash, signedIn } from '../support/gateway.ts'
import { feedOf, feedPathOf, type HeldBody, heldBody, type TestHub, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { waitUntil } from '../support/waiting.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const ada = { username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') }

/** Gives the site of a log so many tokens beside its own, as that many gateways have. */
async function tokensOf(hub: TestHub, log: TestLog, count: number): Promise<string[]> {
  const tokens = Array.from({ length: count }, (_, i) => `token-${i}`)
  const hashes = tokens.map((token) => createHash('sha256').update(token).digest())
  const added =
    'INSERT INTO gateway_token (token_hash, site_id, made_at) SELECT h, $2, now() FROM unnest($1::bytea[]) h'
  await hub.rows(added, [hashes, log.siteId])
  return tokens
}

/** A body of unknown length takes as much room as the longest: 4 MiB and a little. So 15 fit in 64 MiB. */
const mostOfUnknownLength = 15

t.test('feeds for which there is no room are told when to come again, are counted, and nothing is lost', async (t) => {
  const hub = await testHub(t, postgres, { users: [ada] })
  const log = testLog({ leaves: floorLeaves({ count: mostOfUnknownLength + 1 }) })
  await hub.enrol(log)
  const tokens = await tokensOf(hub, log, mostOfUnknownLength + 1)
  const feed = (i: number, held?: HeldBody) =>
    hub.ask('POST', feedPathOf(log), {
      token: tokens[i] as string,
      ...(held ? { stream: held.body } : { body: feedOf(log, i, i + 1) }),
    })
  // The gateway has accepted a feed when it reads the body, and then waits for it.
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

t.test('one gateway has two feeds on their way at most, so it takes the room of no other', async (t) => {
  const hub = await testHub(t, postgres)
  const [one, other] = (await enrolled(hub, 2)) as [Fed, Fed]
  const feed = ({ log, token }: Fed, held?: HeldBody) =>
    hub.ask('POST', feedPathOf(log), { token, ...(held ? { stream: held.body } : { body: feedOf(log, 0, 1) }) })
  const held = [heldBody(feedOf(one.log, 0, 1)), heldBody(feedOf(one.log, 0, 1))] as const
  const answers = held.map((body) => feed(one, body))
  await Promise.all(held.map(({ isRead }) => isRead))
  const third = heldBody(feedOf(one.log, 0, 1))
  third.release()
  const refused = await feed(one, third)
  t.match(refused, { status: 503, body: { error: { code: 'NOT_READY' } } })
  t.equal(refused.headers.get('retry-after'), '1')
  t.match(await feed(other), { status: 200 }, 'another gateway is not held up')
  held[0].release()
  t.match(await answers[0], { status: 200 })
  t.match(await feed(one), { status: 200 }, 'one feed has ended, so there is a place again')
  held[1].release()
  t.match(await answers[1], { status: 200 })
})

t.test('a thousand gateways may feed at once, since a feed takes no more room than it says', async (t) => {
  const hub = await testHub(t, postgres)
  const log = testLog({ leaves: floorLeaves({ count: 1 }) })
  await hub.enrol(log)
  const tokens = await tokensOf(hub, log, 1000)
  const held = tokens.map((token) => ({ token, ...heldBody(feedOf(log, 0, 1)) }))
  const headers = { 'Content-Length': '2000' }
  const answers = held.map(({ token, body }) => hub.ask('POST', feedPathOf(log), { token, stream: body, headers }))
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

async function enrolled(hub: TestHub, count: number): Promise<Fed[]> {
  const logs: Fed[] = []
  for (let i = 0; i < count; i += 1) {
    const of = { siteId: `dc-${i}`, logId: `0190a5c4-3c00-7000-8000-00000000000${i}` }
    const log = testLog({ ...of, leaves: floorLeaves({ ...of, count: 2 }) })
    logs.push({ log, token: await hub.enrol(log) })
  }
  return logs
}

/** Feeds the first leaf of each log; the database stores that of a log only once it is released. */
async function held(hub: TestHub, logs: readonly Fed[]) {
  const releases = await Promise.all(
    logs.map(async ({ log }) => {
      const client = new pg.Client({ host: postgres.folder, user: 'super', database: hub.database })
      await client.connect()
      await client.query('BEGIN')
      // A row of the same key, of which no one knows yet whether it stays.
      await client.query(`INSERT INTO entry_bundle (log_id, n, width, packed) VALUES ($1, 0, 1, '')`, [log.logId])
      return () => client.end()
    }),
  )
  const wait = (count: number) =>
    waitUntil(`${count} feeds wait in the database`, async () => {
      const [row] = await hub.rows(`SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted`)
      return row?.['n'] === count
    })
  const answers: ReturnType<TestHub['ask']>[] = []
  // One after the other: which of them the database gets first, and whether the last two are in the queue yet, would be chance.
  for (const { log, token } of logs) {
    const { body, isRead, release } = heldBody(feedOf(log, 0, 1))
    answers.push(hub.ask('POST', feedPathOf(log), { token, stream: body }))
    await isRead
    release()
    await wait(Math.min(answers.length, 8))
  }
  return { answers, releases, eightWait: () => wait(8) }
}

t.test(
  'where feeds queue, gateways are asked to come again one after the other, as fast as feeds are stored',
  async (t) => {
    const hub = await testHub(t, postgres)
    const logs = await enrolled(hub, 10)
    const { answers, releases, eightWait } = await held(hub, logs)
    const stored = async (i: number) => {
      await releases[i]?.()
      const { status, body } = await (answers[i] as (typeof answers)[number])
      t.equal(status, 200)
      return body.pauseMs as unknown
    }
    t.equal(await stored(0), undefined, 'nobody knows yet how long a feed takes')
    await eightWait()
    hub.clock.advance(2000)
    t.equal(await stored(1), 2000, 'with others waiting, the next one ended after two seconds')
    t.equal(await stored(2), 4000, 'and this gateway comes behind that one')
    for (const i of [3, 4, 5, 6, 7, 8, 9]) await stored(i)
    hub.clock.advance(60_000)
    const { log, token } = logs[0] as Fed
    const again = await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, 1, 2) })
    t.match(again, { status: 200 })
  },
)
