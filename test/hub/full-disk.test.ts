import { chownSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { testLog } from '../support/evidence/forge.ts'
import { joined, pass, place } from '../support/fed-gateway.ts'
import { floorLeaves } from '../support/floor-leaves.ts'
import { people } from '../support/gateway.ts'
import { askAs, headOffice } from '../support/head-office.ts'
import { feedOf, feedPathOf, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { onSmallDisk, type SmallDisk, smallDisk } from '../support/small-disk.ts'

fileNeeds(t, 'postgresql')

const disks: SmallDisk[] = []
// After the server has ended, which writes to all of them.
t.teardown(() => disks.map((disk) => disk.end()))
const postgres = await startPostgres(t)

/** Makes a database whose tables are on a small disk. */
async function databaseOnSmallDisk(name: string): Promise<SmallDisk> {
  const disk = smallDisk(40)
  disks.push(disk)
  const { uid, gid } = statSync(postgres.folder)
  const space = join(disk.folder, 'tables')
  mkdirSync(space)
  for (const folder of [disk.folder, space]) chownSync(folder, uid, gid)
  await postgres.database(name)
  await postgres.ask('postgres', `CREATE TABLESPACE ${name} LOCATION '${space}'`)
  await postgres.ask('postgres', `ALTER DATABASE ${name} SET TABLESPACE ${name}`)
  return disk
}

t.test(
  'a head office whose disk is full says so, and goes on where it was when there is room: nothing is lost or twice',
  onSmallDisk,
  async (t) => {
    const disk = await databaseOnSmallDisk('small')
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

t.test(
  'a full head office changes nothing on the floor: a gateway takes scans on, and they are sent when there is room',
  onSmallDisk,
  async (t) => {
    const disk = await databaseOnSmallDisk('fed')
    const hub = await testHub(t, postgres, { database: 'fed', listens: true })
    const gateway = await joined(t, hub)
    await place(gateway, 'P-0')
    await pass(gateway)
    const stored = async () => {
      const [row] = await hub.rows('SELECT count(*)::int AS n, count(DISTINCT seq)::int AS of FROM placement')
      return row
    }
    t.same(await stored(), { n: 1, of: 1 })
    disk.fill()
    for (let nth = 1; nth <= 90; nth += 1) {
      const { status } = await place(gateway, `P-${nth}`, nth % 2 === 0 ? 'A-01' : 'A-02')
      if (status !== 201) t.equal(status, 201, `scan ${nth}`)
    }
    await pass(gateway)
    t.match(gateway.feeder.seen()?.trouble, { finding: 'unavailable', words: /503/ })
    t.same(await stored(), { n: 1, of: 1 }, 'nothing of it is at the head office')
    await gateway.health.look()
    const { status, body } = await gateway.ask('GET', '/api/health', { by: people.ada })
    t.equal(status, 200)
    t.equal(body.checks.hub.status, 'healthy', 'which is no trouble of the gateway for an hour')
    const found = await gateway.ask('GET', '/api/whms/slots/A-02', { by: people.ada })
    t.equal(found.status, 200)
    disk.empty()
    // It was asked to come again in a minute.
    await pass(gateway, 90_000)
    t.match(gateway.feeder.seen(), { size: gateway.checkpoints.newest()?.size, trouble: undefined })
    t.same(await stored(), { n: 91, of: 91 }, 'nothing is lost and nothing is there twice')
  },
)
