import t from 'tap'
import { type TestLog, testLog } from '../support/evidence/forge.ts'
import { floorLeaves, judgedIn, replayed } from '../support/floor-leaves.ts'
import { askAs, continuation, headOffice } from '../support/head-office.ts'
import { feedOf, feedPathOf, type TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)

/** Rows of years before the test's own leaves, of the same slots. */
const olderRows = 800_000
const siteId = 'dc-9'
const leaves = floorLeaves({ siteId, count: 3000, slots: 60, assets: 1200 })

/** Makes the log one of years: none of the older events is the newest of anything that the leaves name. */
async function makeOld(hub: TestHub, { logId }: TestLog): Promise<void> {
  await hub.rows(
    `INSERT INTO placement (log_id, seq, at, slot_id, slot_code, event_type, asset_key)
     SELECT $1, 1, timestamptz '2020-01-01' + n * interval '1 minute', 1 + n % 60, 'A', CASE n % 2 WHEN 0 THEN 'P' ELSE 'V' END::"char",
       'F-' || n / 4 FROM generate_series(1, ${olderRows}) AS n`,
    [logId],
  )
  await hub.rows('VACUUM ANALYZE placement')
}

/** Lets the database end each statement of the head office after this time; its connections begin anew. */
async function hurry(hub: TestHub, ms: number): Promise<void> {
  await hub.rows(`ALTER ROLE hub_app IN DATABASE ${hub.database} SET statement_timeout = '${ms}ms'`)
  await hub.rows(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'hub_app' AND datname = $1`, [
    hub.database,
  ])
}

/** Returns the rows of the registers for a log. */
async function shown(hub: TestHub, { logId }: TestLog) {
  const newest = async (key: string, is: string, table: string, letter = 'event_type') => {
    const rows = await hub.rows(
      `SELECT ${key} AS key, ${letter}::text || ' ' || seq || ' ' || ${is} AS is FROM ${table} WHERE log_id = $1 AND ${letter} <> '-'`,
      [logId],
    )
    return new Map(rows.map((row) => [row['key'], row['is']]))
  }
  return {
    slots: await newest('slot_id', 'asset_key', 'slot_state'),
    assets: await newest('asset_key', 'slot_code', 'asset_position'),
    judged: await newest(
      `slot_id || ' ' || asset_key`,
      `to_char(at AT TIME ZONE 'UTC', 'HH24:MI')`,
      'judgement',
      'verdict',
    ),
  }
}

/** A head office with this log, which has grown for years, and little time for each statement. */
async function withOldLog(t: { teardown(work: () => unknown): void }, log: TestLog) {
  const hub = await headOffice(t, postgres)
  const token = await hub.enrol(log)
  const fed = async (one: TestLog, from: number, end: number) =>
    (await hub.ask('POST', feedPathOf(one), { token, body: feedOf(one, from, end) })).status
  for (const from of [0, 1000, 2000]) await fed(log, from, from + 1000)
  await makeOld(hub, log)
  await hurry(hub, 200)
  return { hub, fed }
}

const log = testLog({ siteId, leaves })
const { hub, fed } = await withOldLog(t, log)

t.test('the floor of a past time is read as fast in a log of years', async (t) => {
  // Leaf 601 is of that minute. Some of the leaves after it came late, with an earlier time.
  const at = '2026-03-02T16:00:00.000Z'
  const { status, body } = await askAs(hub, `/api/hub/sites/${siteId}/slots?at=${at}`)
  t.equal(status, 200)
  const before = leaves.filter((leaf) => JSON.parse(leaf.toString()).timestamp <= at)
  const occupied = [...replayed(before).slots.values()].filter((is) => is.startsWith('P'))
  const found = body.data.filter((one: { isOccupied: boolean }) => one.isOccupied)
  t.same(
    found.map((one: { assetBarcode: string }) => one.assetBarcode).toSorted(),
    occupied.map((is) => is.split(' ')[2]).toSorted(),
  )
})

t.test('a restore of a log of years ends its floor at the fork in statements that take no longer for it', async (t) => {
  // The second backup is newer than the first, the third older than both.
  for (const [end, size] of [
    ['d', 1500],
    ['e', 2300],
    ['f', 700],
  ] as const) {
    const child = await continuation(hub, log, size, log.logId.replace(/.$/, end), [['09:00', 'PLACED', 1, 'P-1']])
    t.equal(await fed(child, 0, 2), 200, `restored to ${size}`)
    const left = leaves.slice(0, size)
    t.same(await shown(hub, log), { ...replayed(left), judged: judgedIn(left) })
  }
})
