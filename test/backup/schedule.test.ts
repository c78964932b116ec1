import { cpSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { configSchema } from '../../src/config/schema.ts'
import { backedUp, manifestIn, newFolder, opened, place, restored, stocked, unpacked } from '../support/backups.ts'
import { people, type TestGateway } from '../support/gateway.ts'
import { uploadConfig } from '../support/uploads.ts'

const hour = 3_600_000

async function scheduled(t: Test, keep = 2): Promise<{ gateway: TestGateway; folder: string }> {
  const folder = newFolder(t)
  const gateway = await stocked(t, { backup: { file: { to: { folder }, every: '24h', keep } } })
  return { gateway, folder }
}

async function health(gateway: TestGateway): Promise<Record<string, unknown>> {
  await gateway.health.look()
  return (await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.backup
}

async function alerts(gateway: TestGateway): Promise<string[]> {
  const { body } = await gateway.ask('GET', '/api/alerts', { by: people.ada })
  return body.data.map(({ kind }: { kind: string }) => kind).filter((kind: string) => kind.startsWith('backup.'))
}

t.test('a backup is made every day, the oldest goes, and each comes back in a rehearsal', async (t) => {
  const { gateway, folder } = await scheduled(t)
  writeFileSync(join(folder, 'gatehouse-other-20260101T000000Z.tar'), 'of another site')
  const made: string[] = []
  for (const day of [1, 2, 3]) {
    await gateway.backupSchedule.look()
    await gateway.backupSchedule.look()
    const [newest] = readdirSync(folder)
      .filter((name) => name.startsWith('gatehouse-test-site'))
      .toSorted()
      .toReversed()
    made.push(newest ?? '')
    const at = new Date(gateway.clock.now()).toISOString()
    t.match(await health(gateway), { status: 'healthy', newestAt: at, rehearsedAt: at }, `day ${day}`)
    gateway.clock.advance(24 * hour)
  }
  t.same(made, [
    'gatehouse-test-site-20260302T080000Z.tar',
    'gatehouse-test-site-20260303T080000Z.tar',
    'gatehouse-test-site-20260304T080000Z.tar',
  ])
  t.same(readdirSync(folder).toSorted(), ['gatehouse-other-20260101T000000Z.tar', ...made.slice(1)])
  const db = new BetterSqlite3(join(unpacked(t, join(folder, made[2] ?? '')), 'gatehouse.db'), { readonly: true })
  t.equal(db.prepare('SELECT count(*) FROM placement_event').pluck().get(), 1)
  t.same(
    readdirSync(gateway.live.config.dataDir).filter((name) => name.endsWith('.part')),
    [],
  )
  const metrics = (await gateway.ask('GET', '/api/metrics', { by: people.ada })).text
  const newest = Date.UTC(2026, 2, 4, 8) / 1000
  t.match(metrics, `gatehouse_backup_timestamp_seconds ${newest}`)
  t.match(metrics, `gatehouse_backup_rehearsed_timestamp_seconds ${newest}`)
  t.same(await alerts(gateway), [])
})

t.test(
  'a backup whose leaves are not those of the living log raises an alert, and the last good one is remembered',
  async (t) => {
    const { gateway, folder } = await scheduled(t, 5)
    await gateway.backupSchedule.look()
    const { rehearsedAt } = await health(gateway)
    gateway.close()
    // A twin of the box records something else as the next event of the same log.
    const twinFolder = newFolder(t)
    cpSync(gateway.live.config.dataDir, join(twinFolder, 'state'), { recursive: true })
    const twin = await opened(t, twinFolder)
    await place(twin, 3)
    const foreign = await backedUp(t, twin)
    const living = await gateway.restart()
    t.teardown(() => living.close())
    t.teardown(() => living.backupJobs.stop())
    await place(living, 2)
    gateway.clock.advance(hour)
    renameSync(foreign, join(folder, 'gatehouse-test-site-20260302T090000Z.tar'))
    await living.backupSchedule.look()
    t.match(await health(living), {
      status: 'degraded',
      reason: /could not be restored in a rehearsal/,
      newestAt: '2026-03-02T09:00:00.000Z',
      rehearsedAt,
    })
    t.same(await alerts(living), ['backup.unrestorable'])
    const { body } = await living.ask('GET', '/api/alerts', { by: people.ada })
    t.match(body.data[0].message, /first 2 leaves of the log of this box have another root than the backup/)
  },
)

t.test(
  'a backup that cannot be made, and one that is too old, each raise an alert; both end by themselves',
  async (t) => {
    const { gateway, folder } = await scheduled(t)
    const away = join(folder, 'away')
    const settings = (to: string) => {
      const { live } = gateway
      live.config = {
        ...live.config,
        backup: { ...live.config.backup, file: { ...live.config.backup.file, to: { folder: to } } },
      }
    }
    settings(away)
    await gateway.backupSchedule.look()
    t.match(await health(gateway), { status: 'degraded', reason: /backup failed/, newestAt: null })
    gateway.clock.advance(49 * hour)
    await gateway.health.look()
    t.same((await alerts(gateway)).toSorted(), ['backup.failed', 'backup.late'])
    mkdirSync(away)
    await gateway.backupSchedule.look()
    t.match(await health(gateway), { status: 'healthy' })
    t.equal((await alerts(gateway)).filter((kind) => kind === 'backup.recovered').length, 2)
  },
)

t.test('without the key nothing is made, and health says that none is set up', async (t) => {
  const gateway = await stocked(t)
  await gateway.backupSchedule.look()
  const { responseTime: _, ...said } = await health(gateway)
  t.strictSame(said, { status: 'healthy', configured: false })
})

t.test('a scheduled backup has photos and clips, unless they are copied to a storage server', async (t) => {
  const { gateway, folder } = await scheduled(t, 9)
  const { live } = gateway
  const upload = uploadConfig(newFolder(t), 'https://cloud.example.com')
  const { storage } = configSchema.parse({ site: { id: 'test-site' }, ...upload })
  const madeWith = async (media: boolean | 'auto', isCopied: boolean) => {
    const { backup } = live.config
    live.config = {
      ...live.config,
      backup: { ...backup, file: { ...backup.file, media } },
      storage: isCopied ? storage : live.config.storage,
    }
    gateway.clock.advance(24 * hour)
    await gateway.backupSchedule.look()
    const content = unpacked(t, join(folder, readdirSync(folder).toSorted().at(-1) ?? ''))
    t.equal(manifestIn(content).media.included, readdirSync(content).includes('photos'))
    return manifestIn(content).media.included
  }
  t.equal(live.config.backup.file.media, 'auto', 'the default')
  t.equal(await madeWith('auto', false), true)
  const [first = ''] = readdirSync(folder)
  t.equal(await madeWith(false, false), false)
  t.equal(await madeWith('auto', true), false)
  t.equal(await madeWith(true, true), true)
  t.match(await health(gateway), { status: 'healthy' }, 'each came back in a rehearsal')

  const { body } = await gateway.ask('GET', '/api/whms/events', { by: people.ada })
  const { pathname } = new URL(body.data[0].photo_url)
  const photo = await gateway.ask('GET', pathname, { by: people.ada })
  const box = newFolder(t)
  t.match(await restored(join(folder, first), join(box, 'state')), { lacking: 0, events: 1 })
  const again = await (await opened(t, box)).ask('GET', pathname, { by: people.ada })
  t.same([again.status, again.text], [200, photo.text], 'a restore brings the photo back')
})
