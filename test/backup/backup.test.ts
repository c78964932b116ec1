import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { verifyLedger } from '../../src/evidence/index.ts'
import { manifestIn, newFolder, place, sha256Of, stocked, unpacked } from '../support/backups.ts'
import { people } from '../support/gateway.ts'

t.test(
  'a backup is one tar file for its owner alone, and every file in it has the hash that the manifest states',
  async (t) => {
    const gateway = await stocked(t)
    const target = join(newFolder(t), 'monday.tar')
    const made = await gateway.backup({ target, media: true }, 'root')
    t.equal(statSync(target).mode & 0o777, 0o600)
    t.equal(made.sizeBytes, statSync(target).size)
    const folder = unpacked(t, target)
    const manifest = manifestIn(folder)
    for (const { name, sizeBytes, sha256: stated } of manifest.files) {
      t.equal(sha256Of(join(folder, name)), stated, name)
      t.equal(statSync(join(folder, name)).size, sizeBytes, name)
    }
    const names = manifest.files.map(({ name }: { name: string }) => name)
    for (const name of ['gatehouse.db', 'keys/box.key', 'keys/log.key', 'keys/log-mldsa.key', 'keys/log.head']) {
      t.ok(names.includes(name), name)
    }
    t.match(manifest, {
      format: 'gatehouse-backup/1',
      siteId: 'test-site',
      size: 1,
      media: { included: true },
      missing: { length: 0 },
    })
    t.equal(names.filter((name: string) => name.startsWith('photos/')).length, 1)
    t.equal(manifest.settings[0].path, join(gateway.folder, 'gatehouse.yaml'))
    t.equal(manifest.rootHash, verifyLedger(gateway.live.config.dataDir).root)
    t.equal(
      new BetterSqlite3(join(folder, 'gatehouse.db'), { readonly: true }).pragma('integrity_check', { simple: true }),
      'ok',
    )
  },
)

t.test('a backup without --media lists the photos with their hashes and leaves them out', async (t) => {
  const gateway = await stocked(t)
  const target = join(newFolder(t), 'small.tar')
  const made = await gateway.backup({ target, media: false }, 'root')
  t.match(made, { mediaFiles: 0, mediaLeftOut: 1 })
  const folder = unpacked(t, target)
  t.notOk(existsSync(join(folder, 'photos')))
  const [photo] = manifestIn(folder).media.files
  t.equal(sha256Of(join(gateway.live.config.dataDir, photo.path)), photo.sha256)
})

t.test('a backup ends while events come without a pause, and holds what was recorded before it began', async (t) => {
  const gateway = await stocked(t)
  const target = join(newFolder(t), 'busy.tar')
  let isDone = false
  const scans = (async () => {
    for (let n = 2; !isDone; n++) await place(gateway, n)
  })()
  const made = await gateway.backup({ target, media: true }, 'root').finally(() => {
    isDone = true
  })
  await scans
  t.ok(made.size >= 1)
  const db = new BetterSqlite3(join(unpacked(t, target), 'gatehouse.db'), { readonly: true })
  t.equal(
    db.prepare('SELECT count(*) FROM placement_event').pluck().get(),
    made.size,
    'one moment: as many events as leaves',
  )
})

t.test('photos and clips are held while they are copied, and let go afterwards', async (t) => {
  const gateway = await stocked(t)
  const db = new BetterSqlite3(join(gateway.live.config.dataDir, 'gatehouse.db'), { readonly: true })
  t.teardown(() => db.close())
  const held = () => db.prepare(`SELECT count(*) FROM media_hold WHERE reason = 'backup'`).pluck().get()
  const target = join(newFolder(t), 'held.tar')
  const during: unknown[] = []
  const watching = setInterval(() => during.push(held()), 1)
  await gateway.backup({ target, media: true }, 'root').finally(() => clearInterval(watching))
  t.ok(during.includes(1), 'held meanwhile')
  t.equal(held(), 0)
})

t.test('a backup that cannot be made leaves no part behind and says why', async (t) => {
  const gateway = await stocked(t)
  const { retention } = gateway.live.config
  const reserve = (ledgerReserveBytes: number) => {
    gateway.live.config = { ...gateway.live.config, retention: { ...retention, ledgerReserveBytes } }
  }
  const folder = join(gateway.folder, 'backups')
  const wrong = async (target: string) =>
    (await gateway.backup({ target, media: false }, 'root').catch((error: Error) => error)) as Error
  t.match(await wrong(join(folder, 'x.tar')), { message: /folder .*backups is not there/ })
  mkdirSync(folder)
  reserve(2 ** 50)
  t.match(await wrong(join(folder, 'x.tar')), { message: /no room for the backup.*kept for the ledger/ })
  reserve(1)
  writeFileSync(join(folder, 'x.tar'), 'mine')
  t.match(await wrong(join(folder, 'x.tar')), { message: /exists already/ })
  t.equal(readFileSync(join(folder, 'x.tar'), 'utf8'), 'mine')
  rmSync(join(folder, 'x.tar'))
  t.same(readdirSync(folder), [])
})

t.test('the audit trail says who made which backup, and no key appears in what the command answers', async (t) => {
  const gateway = await stocked(t)
  const target = join(newFolder(t), 'told.tar')
  const made = await gateway.backup({ target, media: false }, 'root')
  const { body } = await gateway.ask('GET', '/api/governance/audit?action=backup.made', { by: people.ada })
  t.match(body.data, [{ actor: 'root', action: 'backup.made', changes: { file: target, logId: made.logId } }])
  const key = readFileSync(join(gateway.live.config.dataDir, 'keys', 'box.key'))
  for (const form of ['hex', 'base64', 'base64url'] as const) t.notMatch(JSON.stringify(made), key.toString(form))
  t.notMatch(JSON.stringify(made), 'PRIVATE')
})
