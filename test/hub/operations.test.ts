import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { postgresBin } from '../../scripts/bench/postgres.ts'
import { migrateHub } from '../../src/hub/store/migrate.ts'
import { citusBesides } from '../support/citus.ts'
import { type TestLog, testLog } from '../support/evidence/forge.ts'
import { floorLeaves } from '../support/floor-leaves.ts'
import { cheapHash, signedIn } from '../support/gateway.ts'
import { askAs, forkOf, headOffice } from '../support/head-office.ts'
import { feedOf, feedPathOf, type TestHub, testHub } from '../support/hub.ts'
import { fileNeeds, needs } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { waitUntil } from '../support/waiting.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)

const ada = { username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') }
const narrow = { username: 'ivo', role: 'admin', secretHash: cheapHash('ivo-secret'), sites: ['dc-8'] }
const metricsOf = (hub: TestHub, username = 'ada') =>
  hub.ask('GET', '/api/metrics', {
    headers: signedIn({ username, role: 'admin' }, { 'X-Storage-Instance': 'https://hub.example' }),
  })

t.test('health says how the head office is, names no site, and needs no sign-in', async (t) => {
  const hub = await headOffice(t, postgres)
  const health = async () => {
    hub.clock.advance(2000)
    return hub.ask('GET', '/api/health')
  }
  t.match(await health(), { status: 200, body: { status: 'healthy', checks: { database: { status: 'healthy' } } } })
  t.equal(await forkOf(hub), 422)
  t.match((await health()).body, { status: 'degraded', checks: { logs: { status: 'degraded' } } })
  t.notMatch((await health()).text, /dc-8/)
  hub.clock.advance(20 * 60_000)
  t.same((await health()).body.checks.gateways, { status: 'degraded' }, 'and no more: everybody may ask')
})

t.test('the metrics count feeds, logs and leaves, and are for who may read metrics and see every site', async (t) => {
  const hub = await headOffice(t, postgres, { users: [ada, narrow] })
  t.equal((await hub.ask('GET', '/api/metrics')).status, 401)
  t.equal((await metricsOf(hub, 'ivo')).status, 403, 'an admin of one site')
  t.equal(await forkOf(hub), 422)
  const { text } = await metricsOf(hub)
  const lines = text.split('\n')
  for (const line of [
    'gatehouse_office_feeds_total{outcome="fed"} 2',
    'gatehouse_office_feeds_total{outcome="forked"} 1',
    'gatehouse_office_fed_leaves_total 9',
    'gatehouse_office_sites 2',
    'gatehouse_office_logs{state="live"} 1',
    'gatehouse_office_logs{state="forked"} 1',
    'gatehouse_office_stored_leaves 9',
    'gatehouse_office_open_alerts 1',
    'gatehouse_office_database_up 1',
  ]) {
    t.ok(lines.includes(line), line)
  }
  t.notMatch(text, /dc-[78]/)
  await t.test('promtool has nothing to say', needs('prometheus'), async (t) => {
    t.equal(execFileSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' }), '')
  })
})

t.test('a viewer may not read the metrics', async (t) => {
  const hub = await headOffice(t, postgres)
  const refusal = { status: 403, body: { error: { message: 'This needs the permission metrics:read' } } }
  t.match(await askAs(hub, '/api/metrics'), refusal)
})

t.test('the metrics are for an account that reads them at every site by its second role', async (t) => {
  const olaf = { username: 'olaf', role: 'viewer', secretHash: cheapHash('olaf-secret') }
  const rita = { username: 'rita', role: 'viewer', secretHash: cheapHash('rita-secret') }
  const anna = { username: 'anna', role: 'viewer', secretHash: cheapHash('anna-secret') }
  const hub = await headOffice(t, postgres, {
    users: [
      { ...olaf, elsewhere: [{ role: 'admin' }] },
      { ...rita, elsewhere: [{ role: 'admin', sites: ['dc-7'] }] },
      { ...anna, elsewhere: [{ role: 'auditor' }] },
    ],
  })
  t.equal((await metricsOf(hub, 'olaf')).status, 200)
  t.equal((await metricsOf(hub, 'rita')).status, 403, 'of one site')
  t.equal((await metricsOf(hub, 'anna')).status, 403, 'an auditor')
})

t.test('a database that comes back from pg_dump goes on with its gateways', async (t) => {
  const hub = await testHub(t, postgres)
  const log = testLog({ leaves: floorLeaves({ count: 40 }) })
  const token = await hub.enrol(log)
  const feed = (to: TestHub, from: number, end: number) =>
    to.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, end) })
  t.match(await feed(hub, 0, 20), { status: 200, body: { size: 20 } })
  const bin = postgresBin() ?? ''
  const file = join(hub.folder, 'hub.dump')
  const at = ['-h', postgres.folder, '-U', 'super']
  execFileSync(join(bin, 'pg_dump'), [...at, '--format=custom', `--file=${file}`, hub.database])
  t.match(await feed(hub, 20, 30), { status: 200, body: { size: 30 } }, 'after the backup')
  // As the room's page says.
  await postgres.database('restored')
  const connection = { host: postgres.folder, user: 'super', database: 'restored' }
  await migrateHub({ connection, engine: 'postgresql', appPassword: null, grows: false })
  const over = ['--clean', '--if-exists', '--exit-on-error', '--dbname=restored']
  execFileSync(join(bin, 'pg_restore'), [...at, ...over, file])
  const back = await testHub(t, postgres, { database: 'restored' })
  t.match(await feed(back, 30, 40), { status: 409, body: { size: 20 } }, 'it says where it is')
  t.match(await feed(back, 20, 40), { status: 200, body: { size: 40 } }, 'nothing is missing')
  const rows = await back.rows('SELECT count(*)::int AS n, max(seq)::int AS last FROM placement')
  t.same(rows, await hub.rows('SELECT count(*)::int + 10 AS n, 40 AS last FROM placement'))
  await t.rejects(execAs(back.database, 'DELETE FROM placement'), /permission denied/, 'the rights came back too')
})

/** Sends a log in feeds of five leaves until all is acknowledged; tried again at once while there is no room. */
async function sendAll(hub: TestHub, log: TestLog, token: string, onFed: () => void): Promise<void> {
  for (let from = 0; from < log.leaves.length; ) {
    const end = Math.min(from + 5, log.leaves.length)
    const { status, body } = await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, end) })
    if (status !== 200 && status !== 503) throw new Error(`a feed was answered with ${status}: ${JSON.stringify(body)}`)
    if (status !== 200) continue
    onFed()
    from = body.size
  }
}

t.test(
  'a migration, and the step to a Citus cluster, while gateways feed lose nothing and leave nothing twice',
  async (t) => {
    const hub = await testHub(t, postgres)
    await hub.rows(citusBesides)
    // As the version before left it. An earlier one cannot feed: the daemon of this version reads what came with 0005.
    await hub.rows('DROP INDEX asset_lot')
    await hub.rows(`DELETE FROM hub_migration WHERE name >= '0006-lots-of-any-item'`)
    const logs = ['5', '6', '7'].map((end) => {
      const names = { siteId: `dc-${end}`, logId: `0190a5c4-3c00-7000-8000-00000000000${end}` }
      return testLog({ ...names, leaves: floorLeaves({ ...names, count: 600 }) })
    })
    let fed = 0
    const tokens = await Promise.all(logs.map((log) => hub.enrol(log)))
    const sending = logs.map((log, i) => sendAll(hub, log, tokens[i] ?? '', () => (fed += 1)))
    // Before the head office is closed, so that a step that breaks off is the first thing that is said.
    t.teardown(() => Promise.allSettled(sending))
    const feeding = Promise.all(sending)
    feeding.catch(() => undefined)
    const connection = { host: postgres.folder, user: 'super', database: hub.database }
    const migrate = (grows: boolean) => migrateHub({ connection, engine: 'postgresql', appPassword: null, grows })
    await waitUntil('feeds are acknowledged', () => fed > 0)
    const unmigrated = fed
    t.match((await migrate(false))[0], /applied 0006/)
    t.ok(fed > unmigrated, 'feeds were acknowledged while it migrated')
    const before = fed
    t.match((await migrate(true)).join('\n'), /distributed the tables/)
    t.ok(fed > before, 'feeds were acknowledged meanwhile')
    await feeding
    const stored = await hub.rows(`SELECT h.size::int, h.witnessed_size::int AS signed, sum(b.width)::int AS leaves,
    (SELECT count(*)::int FROM placement p WHERE p.log_id = h.log_id) AS events
    FROM log_head h JOIN entry_bundle b ON b.log_id = h.log_id GROUP BY h.log_id`)
    t.same(stored, Array(3).fill({ size: 600, signed: 600, leaves: 600, events: 600 }))
  },
)

t.test('the step to a Citus cluster goes on behind a feed that waits for it while it waits for the feed', async (t) => {
  const hub = await testHub(t, postgres)
  await hub.rows(citusBesides)
  const log = testLog({ leaves: floorLeaves({ count: 2 }) })
  const token = await hub.enrol(log)
  const feed = (from: number) => hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, from + 1) })
  t.match(await feed(0), { status: 200 })
  const client = new pg.Client({ host: postgres.folder, user: 'super', database: hub.database })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('BEGIN')
  await client.query('SELECT 1 FROM log_head FOR UPDATE')
  const connection = { host: postgres.folder, user: 'super', database: hub.database }
  const grown = migrateHub({ connection, engine: 'postgresql', appPassword: null, grows: true })
  const waits = async () => (await hub.rows('SELECT 1 FROM pg_locks WHERE NOT granted')).length > 0
  await waitUntil('the step waits', waits, { everyMs: 5 })
  // PostgreSQL looks for a deadlock when one has waited for a second, so it ends the step.
  await client.query('SELECT 1 FROM site')
  await client.query('COMMIT')
  t.match((await grown).join('\n'), /distributed the tables/)
  t.match(await feed(1), { status: 200, body: { size: 2 } })
})

t.test('a feed on a connection that has prepared what a migration changed is asked to come again', async (t) => {
  const hub = await testHub(t, postgres)
  const log = testLog({ leaves: floorLeaves({ count: 2 }) })
  const token = await hub.enrol(log)
  const feed = (from: number) => hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, from + 1) })
  t.match(await feed(0), { status: 200 })
  await hub.rows('ALTER TABLE gateway_token ALTER site_id TYPE varchar(300)')
  const refused = await feed(1)
  t.match(refused, { status: 503, body: { error: { code: 'NOT_READY' } } })
  t.equal(refused.headers.get('retry-after'), '5')
  const later = async () => (await feed(1)).status === 200
  await waitUntil('each connection has prepared it anew', later)
  await hub.rows('ALTER TABLE gateway_token RENAME revoked_at TO ended_at')
  t.equal((await feed(1)).status, 500, 'a column that is not there is no passing trouble')
})

async function execAs(database: string, sql: string): Promise<void> {
  const client = new pg.Client({ host: postgres.folder, user: 'hub_app', database })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}
