import pg from 'pg'
import t from 'tap'
import { migrateHub } from '../../src/hub/store/migrate.ts'
import { fedSite } from '../support/head-office.ts'
import { type TestHub, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { waitUntil } from '../support/waiting.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const indexes = (hub: TestHub) =>
  hub.rows(`SELECT relname AS name, indisvalid AS valid FROM pg_index JOIN pg_class ON oid = indexrelid
    WHERE relname IN ('asset_lot', 'asset_sscc') ORDER BY 1`)
const bothValid = [
  { name: 'asset_lot', valid: true },
  { name: 'asset_sscc', valid: true },
]
const migrate = ({ database }: TestHub, more: pg.ClientConfig = {}) => {
  const connection = { host: postgres.folder, user: 'super', database, ...more }
  return migrateHub({ connection, engine: 'postgresql', appPassword: null, grows: false })
}

/** Takes a database back to the version before the newest index. */
async function takenBack(hub: TestHub): Promise<void> {
  await hub.rows('DROP INDEX asset_lot')
  await hub.rows(`DELETE FROM hub_migration WHERE name >= '0006-lots-of-any-item'`)
}

t.test('an index may take longer than a statement of the daemon, and feeds go on while it is made', async (t) => {
  const hub = await testHub(t, postgres)
  await fedSite(hub, 11, [['12:00', 'PLACED', 1, 'S-1']], { assets: [{ key: 'S-1', lot: 'L-1' }] })
  await takenBack(hub)
  await hub.rows(`ALTER ROLE super IN DATABASE ${hub.database} SET statement_timeout = '300ms'`)
  await hub.rows(`ALTER ROLE hub_app IN DATABASE ${hub.database} SET statement_timeout = '3s'`)
  await hub.rows(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'hub_app'`)
  // A write that is under way for long.
  const writer = new pg.Client({ host: postgres.folder, user: 'super', database: hub.database })
  await writer.connect()
  t.teardown(() => writer.end())
  await writer.query(`BEGIN; UPDATE asset SET lot = 'L-2'`)
  // Its failure is seen by those who wait for it below.
  let isOver = false
  const migrating = migrate(hub, { query_timeout: 300 }).finally(() => (isOver = true))
  migrating.catch(() => undefined)
  const isLong = `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX%' AND wait_event_type = 'Lock'
    AND clock_timestamp() - query_start > interval '1 s'`
  await waitUntil('the index is being made', async () => isOver || (await hub.rows(isLong)).length > 0)
  t.notOk(isOver, 'no time limit has ended it')
  await t.resolves(fedSite(hub, 12, [['12:00', 'PLACED', 1, 'S-2']], { assets: [{ key: 'S-2', lot: 'L-1' }] }))
  t.notOk(isOver, 'the feed came in between')
  await writer.query('COMMIT')
  t.match((await migrating)[0], /applied 0006/)
  t.same(await indexes(hub), bothValid)
})

t.test('an index that a migration which broke off has left is made anew', async (t) => {
  const hub = await testHub(t, postgres)
  t.same(await indexes(hub), bothValid)
  await hub.rows(`DELETE FROM hub_migration WHERE name >= '0006-lots-of-any-item'`)
  await hub.rows(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'asset_lot'::regclass`)
  t.match((await migrate(hub))[0], /applied 0006/)
  t.same(await indexes(hub), bothValid)
})

t.test('a migration that waits for another one holds up no index of that one', async (t) => {
  const hub = await testHub(t, postgres)
  await takenBack(hub)
  await hub.rows(`ALTER ROLE super IN DATABASE ${hub.database} SET lock_timeout = '10s'`)
  const reader = new pg.Client({ host: postgres.folder, user: 'super', database: hub.database })
  await reader.connect()
  t.teardown(() => reader.end())
  await reader.query('BEGIN; LOCK TABLE asset IN ROW EXCLUSIVE MODE')
  const first = migrate(hub)
  const at = (what: string) => hub.rows(`SELECT 1 FROM pg_stat_activity WHERE ${what} AND datname = '${hub.database}'`)
  await waitUntil(
    'it waits',
    async () => (await at(`query LIKE 'CREATE INDEX%' AND wait_event_type = 'Lock'`)).length > 0,
  )
  const second = migrate(hub)
  await waitUntil('both ask', async () => (await at(`query LIKE 'SELECT pg%advisory%'`)).length > 1)
  await reader.query('COMMIT')
  t.match((await first)[0], /applied 0006/)
  t.match((await second)[0], /up to date/)
})
