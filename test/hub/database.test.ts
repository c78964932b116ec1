import t from 'tap'
import { findLog } from '../../src/hub/feed/store.ts'
import { connectionOf, HubDatabase } from '../../src/hub/store/database.ts'
import { migrateHub } from '../../src/hub/store/migrate.ts'
import { silentLogger } from '../../src/platform/index.ts'
import { testLog } from '../support/evidence/forge.ts'
import { floorLeaves } from '../support/floor-leaves.ts'
import { feedOf, feedPathOf, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { ownerOf, startPostgres } from '../support/postgres.ts'
import { behindLine } from '../support/postgres-line.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const migrated = (addressOf: (user: string) => string) => {
  const url = ownerOf(addressOf)
  const database = { url, ownerUrl: url, passwordFile: null, ownerPasswordFile: null, caFile: null } as never
  const connection = connectionOf(database, 'owner')
  return migrateHub({ connection, engine: 'postgresql', appPassword: null, grows: false })
}

t.test('a PostgreSQL that is too old is refused, and the message says which one it is', async (t) => {
  const [row] = await postgres.ask('postgres', 'SHOW server_version_num')
  const version = String(row?.['server_version_num'])
  const old = await behindLine(t, postgres, (bytes) => {
    const text = bytes.toString('latin1')
    return Buffer.from(text.replaceAll(version, '140012'), 'latin1')
  })
  const said = /^PostgreSQL 15 or later is needed; the server of hub\.database\.url is 14\.12$/
  await t.rejects(migrated(await old.database('toold')), { exitCode: 1, message: said })
  t.same(
    await postgres.ask('toold', `SELECT 1 FROM pg_tables WHERE schemaname = 'public'`),
    [],
    'nothing is made there',
  )
})

t.test(
  'the roles have time-outs, also one that somebody made by hand, and keep those of the database people',
  async (t) => {
    const addressOf = await postgres.database('roles')
    const of = async (role: string) => {
      const [row] = await postgres.ask('postgres', 'SELECT rolconfig FROM pg_roles WHERE rolname = $1', [role])
      return [...((row?.['rolconfig'] as string[] | null) ?? [])].toSorted()
    }
    const both = ['idle_in_transaction_session_timeout=60s', 'statement_timeout=60s']
    await migrated(addressOf)
    for (const role of ['hub_app', 'hub_read']) t.same(await of(role), both, role)
    await postgres.ask('postgres', 'ALTER ROLE hub_app RESET ALL')
    await postgres.ask('postgres', `ALTER ROLE hub_read SET statement_timeout = '5min'`)
    t.match(await migrated(addressOf), ['the schema is up to date', /hub_app.*time-outs/])
    t.same(await of('hub_app'), both)
    t.same(await of('hub_read'), [both[0], 'statement_timeout=5min'])
  },
)

t.test('a feed whose answer is lost behind its commit is sent again, and nothing of it is stored twice', async (t) => {
  let isCut = false
  const line = await behindLine(t, postgres, (bytes) => (isCut && bytes.includes('COMMIT\0') ? undefined : bytes))
  const hub = await testHub(t, line)
  const log = testLog({ leaves: floorLeaves({ count: 60 }) })
  const token = await hub.enrol(log)
  const send = (from: number, end: number) => hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, end) })
  t.equal((await send(0, 20)).status, 200)
  isCut = true
  t.match(await send(20, 40), { status: 503, body: { error: { code: 'NOT_READY' } } })
  isCut = false
  t.match(await hub.rows('SELECT size FROM log_head'), [{ size: '40' }], 'it was committed')
  t.match(await send(20, 40), { status: 200, body: { size: 40 } })
  t.match(await send(40, 60), { status: 200, body: { size: 60 } })
  t.same(await hub.rows('SELECT count(*)::int AS n, count(DISTINCT seq)::int AS seqs FROM placement'), [
    { n: 60, seqs: 60 },
  ])
  t.same(await hub.rows('SELECT width FROM entry_bundle'), [{ width: 60 }])
})

t.test('what still asks while the head office stops is asked to come again', async (t) => {
  const hub = await testHub(t, postgres)
  const db = new HubDatabase({ connection: connectionOf(hub.config.hub.database, 'app'), log: silentLogger() })
  const { logId } = testLog()
  t.equal(await findLog(db, logId), undefined)
  await db.close()
  await t.rejects(findLog(db, logId), { code: 'NOT_READY', retryAfterSeconds: 5 })
})
