import { chownSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { testLog } from '../support/evidence/forge.ts'
import { floorLeaves } from '../support/floor-leaves.ts'
import { askAs, headOffice } from '../support/head-office.ts'
import { feedOf, feedPathOf } from '../support/hub.ts'
import { startPostgres } from '../support/postgres.ts'
import { noSmallDisk, smallDisk } from '../support/small-disk.ts'

const postgres = await startPostgres(t)

t.test(
  'a head office whose disk is full says so, and goes on where it was when there is room: nothing is lost or twice',
  { skip: noSmallDisk() ?? false },
  async (t) => {
    const disk = smallDisk(40)
    // After the database is closed.
    t.teardown(() => disk.end())
    const { uid, gid } = statSync(postgres.folder)
    const space = join(disk.folder, 'tables')
    mkdirSync(space)
    for (const folder of [disk.folder, space]) chownSync(folder, uid, gid)
    await postgres.database('small')
    await postgres.ask('postgres', `CREATE TABLESPACE small LOCATION '${space}'`)
    await postgres.ask('postgres', 'ALTER DATABASE small SET TABLESPACE small')
    const hub = await headOffice(t, postgres, { database: 'small' })
    const leaves = floorLeaves({ siteId: 'dc-9', count: 2000 })
    const log = testLog({ siteId: 'dc-9', leaves })
    const token = await hub.enrol(log)
    const feed = (from: number, end: number) =>
      hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, end) })
    t.match(await feed(0, 100), { status: 200, body: { size: 100 } })
    disk.fill()
    const refused = await feed(100, 1100)
    t.match(refused, { status: 503, body: { error: { code: 'STORAGE_FULL' } } })
    t.equal(refused.headers.get('retry-after'), '60')
    t.match(await askAs(hub, '/api/hub/search?code=P-1'), { status: 200 }, 'people ask on')
    const health = () => hub.ask('GET', '/api/health')
    t.match(await health(), {
      status: 200,
      body: { status: 'degraded', checks: { disk: { status: 'degraded', reason: /disk of the database is full/ } } },
    })
    t.match((await feed(100, 1100)).status, 503, 'again and again')
    t.match(await hub.rows('SELECT size FROM log_head WHERE log_id = $1', [log.logId]), [{ size: '100' }])
    disk.empty()
    t.match(await feed(100, 1100), { status: 200, body: { size: 1100 } })
    t.match(await feed(1100, 2000), { status: 200, body: { size: 2000 } })
    hub.clock.advance(5 * 60_000)
    t.match((await health()).body, { status: 'healthy', checks: { disk: { status: 'healthy' } } })
    t.match(await feed(1000, 2000), { status: 200, body: { size: 2000 } }, 'sent again')
    const events = await hub.rows(
      'SELECT count(*)::int AS n, count(DISTINCT seq)::int AS of FROM placement WHERE log_id = $1',
      [log.logId],
    )
    t.same(events, [{ n: 2000, of: 2000 }])
  },
)
