import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Decrypter } from 'age-encryption'
import t, { type Test } from 'tap'
import { recoveryLine, restoreBackup } from '../../src/backup/index.ts'
import { systemRandom, uuidv7Maker } from '../../src/platform/index.ts'
import { authorizationsOf, DavFolder } from '../../src/upload/index.ts'
import { barcodes, newFolder, opened, place, unpacked } from '../support/backups.ts'
import { startRclone } from '../support/dav-servers.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { blocksOf } from '../support/manual-box.ts'
import { fileOf } from '../support/manual-play.ts'
import { needs } from '../support/needs.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { filesBelow, recoveryKeyOf } from '../support/segments.ts'
import { StorageServer } from '../support/storage-server.ts'
import { allAre, begin, queue, settled, uploadConfig, uploader } from '../support/uploads.ts'

const hour = 3_600_000
const day = 24 * hour

/** A gateway with slot A and one pallet, whose scheduled backups go to a storage server. */
async function stockedWith(t: Test, url: string, file: object = {}): Promise<TestGateway> {
  const folder = t.testdir()
  const upload = uploadConfig(folder, url, { root: '/gatehouse' })
  const gateway = await testGateway({ folder, config: { ...upload, backup: { file: { to: 'storage', ...file } } } })
  await begin(t, gateway)
  t.teardown(() => gateway.backupJobs.stop())
  await furnish(gateway, ['A'])
  await place(gateway, 1)
  return gateway
}

/** Makes what is due, waits until it is on the server, and rehearses it there. */
async function backedUpAndRehearsed(gateway: TestGateway): Promise<void> {
  await gateway.backupSchedule.look()
  await settled(gateway, allAre('uploaded'))
  await gateway.backupSchedule.look()
}

async function health(gateway: TestGateway): Promise<Record<string, unknown>> {
  await gateway.health.look()
  return (await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.backup
}

const folderAt = (url: string, password = uploader.appPasswords[0] ?? '') =>
  new DavFolder({ url, authorizations: authorizationsOf(uploader.id, password), caFile: null, version: '0.0.0-test' })

function restoredInto(dataDir: string, backup: Parameters<typeof restoreBackup>[0]['backup'], recoveryKey?: Buffer) {
  const nowMs = Date.parse('2026-03-09T08:00:00Z')
  return restoreBackup({
    ...{ dataDir, siteId: 'test-site', backup, recoveryKey, acceptFork: false, reserveBytes: 0, nowMs },
    ...{ makeId: uuidv7Maker({ now: () => nowMs }, systemRandom), erase: async () => {} },
  })
}

/** Restores into a new box by the command of the manual, with the sign-in of the server where `sealed` is an address. */
function restoredByCommand(t: Test, sealed: string, key: string) {
  const lines = blocksOf(fileOf('backup')).flatMap(({ text }) => text.split('\n'))
  const [command, ...others] = lines.filter((line) => line.includes(' SEALED '))
  t.same(others, [])
  const box = newFolder(t)
  writeFileSync(join(box, 'g.yaml'), JSON.stringify({ site: { id: 'test-site' }, dataDir: 'state', runtimeDir: '.' }))
  writeFileSync(join(box, 'password'), `${uploader.appPasswords[0]}\n`, { mode: 0o600 })
  const signIn = sealed.startsWith('http') ? ['--username', uploader.id, '--password-file', 'password'] : []
  const [, ...args] = (command ?? '')
    .replace('sudo ', '')
    .replace('SEALED', sealed)
    .replace(/\S+\.key$/, key)
    .split(' ')
  return runToEnd(gatehouse, [...args, ...signIn, '--config', 'g.yaml', '--json'], { cwd: box })
}

/** Opens a sealed file with another implementation of age. */
function openedByAge(file: Buffer, recoveryKey: Buffer): Promise<Uint8Array> {
  const decrypter = new Decrypter()
  decrypter.addIdentity(recoveryLine(recoveryKey))
  return decrypter.decrypt(file)
}

t.test(
  'sealed backups go to a real WebDAV server, the newest stay, and each comes back from there',
  needs('rclone'),
  async (t) => {
    const server = await startRclone(t)
    const gateway = await stockedWith(t, server.url, { keep: 2 })
    const there = join(server.files, 'gatehouse/test-site/backups')
    for (const n of [2, 3, 4]) {
      await backedUpAndRehearsed(gateway)
      const at = new Date(gateway.clock.now()).toISOString()
      t.match(await health(gateway), { status: 'healthy', newestAt: at, rehearsedAt: at })
      gateway.clock.advance(day)
      await place(gateway, n)
    }
    const names = ['gatehouse-test-site-20260303T080000Z.tar.sealed', 'gatehouse-test-site-20260304T080000Z.tar.sealed']
    t.same(readdirSync(there).toSorted(), names)
    const { dataDir } = gateway.live.config
    t.same(filesBelow(join(dataDir, 'backups')), [], 'what is on the server is removed here')
    t.same(
      readdirSync(dataDir).filter((name) => name.endsWith('.part')),
      [],
    )
    const recoveryKey = recoveryKeyOf(gateway)
    const sealed = readFileSync(join(there, names[1] ?? ''))
    t.notOk(sealed.includes('SQLite format') || sealed.includes('manifest.json'), 'nothing of it is plain')
    const plain = join(newFolder(t), 'plain.tar')
    writeFileSync(plain, await openedByAge(sealed, recoveryKey))
    t.ok(existsSync(join(unpacked(t, plain), 'gatehouse.db')), 'the usual tools unpack what is inside')

    const box = newFolder(t)
    const above = folderAt(`${server.url}/gatehouse`)
    t.match(await restoredInto(join(box, 'state'), { folder: above, path: null }, recoveryKey), { events: 3 })
    t.same(await barcodes(await opened(t, box)), ['P-1', 'P-2', 'P-3'])
    const other = folderAt(`${server.url}/gatehouse/test-site/backups`)
    t.match(await restoredInto(join(newFolder(t), 'state'), { folder: other, path: names[0] ?? '' }, recoveryKey), {
      ...{ events: 2, madeAt: '2026-03-03T08:00:00.000Z' },
    })

    const key = join(newFolder(t), 'recovery.key')
    writeFileSync(key, `${recoveryLine(recoveryKey)}\n`, { mode: 0o600 })
    const newest = `gatehouse/test-site/backups/${names[1]}`
    for (const from of [join(there, names[1] ?? ''), `${server.url}/${newest}`, `${server.url}/gatehouse`])
      t.match(await restoredByCommand(t, from, key), { code: 0, stdout: /"events":3/ }, from)
    return undefined
  },
)

t.test('a sealed backup that is cut, changed, without its key or under another one changes nothing', async (t) => {
  const server = await StorageServer.start({ users: [{ ...uploader }] })
  t.teardown(() => server.stop())
  const gateway = await stockedWith(t, server.url)
  await backedUpAndRehearsed(gateway)
  const recoveryKey = recoveryKeyOf(gateway)
  const found = [...server.dav.files].find(([path]) => path.endsWith('.sealed')) ?? ['', Buffer.alloc(0)]
  const bytes = found[1] as Buffer
  const box = newFolder(t)
  const restoredOf = (file: Buffer, key?: Buffer) => {
    const path = join(box, 'backup.sealed')
    writeFileSync(path, file)
    return restoredInto(join(box, 'state'), path, key)
  }
  mkdirSync(join(box, 'state'))
  const whole = 64 * 1024 + 16
  const begin = bytes.indexOf('\n', bytes.indexOf('\n--- ') + 1) + 1 + 16
  const changed = Buffer.from(bytes)
  changed[begin + 20] = (changed[begin + 20] ?? 0) ^ 1
  t.ok(bytes.length > begin + whole, 'it has more than one piece')
  const exchanged = Buffer.concat([bytes.subarray(0, begin), bytes.subarray(begin + whole)])
  await t.rejects(restoredOf(bytes), { message: /is sealed under a recovery key: add --recovery-key FILE/ })
  await t.rejects(restoredOf(bytes, Buffer.alloc(32, 7)), { message: /under another recovery key: its mark is / })
  await t.rejects(restoredOf(changed, recoveryKey), {
    message: `backup.sealed does not open at byte ${begin}: it was cut or changed`,
  })
  for (const cut of [40, begin - 5, begin + 3, begin + whole, bytes.length - 1]) {
    await t.rejects(
      restoredOf(bytes.subarray(0, cut), recoveryKey),
      { message: /is cut|it was cut or changed/ },
      `${cut}`,
    )
  }
  await t.rejects(restoredOf(exchanged, recoveryKey), { message: /it was cut or changed/ }, 'a piece is left out')
  t.same(readdirSync(join(box, 'state')), ['gatehouse.lock'])

  gateway.clock.advance(day)
  await gateway.backupSchedule.look()
  await settled(gateway, allAre('uploaded'))
  server.dav.files.set(found[0].replace('0302T', '0303T'), changed)
  await gateway.backupSchedule.look()
  t.match(await health(gateway), {
    ...{ status: 'degraded', rehearsedAt: '2026-03-02T08:00:00.000Z' },
    reason: /could not be restored in a rehearsal/,
  })
  const { body } = await gateway.ask('GET', '/api/alerts', { by: people.ada })
  const alert = body.data.find(({ kind }: { kind: string }) => kind === 'backup.unrestorable')
  t.match(alert.message, `backups/gatehouse-test-site-20260303T080000Z.tar.sealed does not open at byte ${begin}`)
})

t.test('a backup that the storage server made itself, renamed or dated ahead is not taken for ours', async (t) => {
  const server = await StorageServer.start({ users: [{ ...uploader }] })
  t.teardown(() => server.stop())
  const gateway = await stockedWith(t, server.url)
  await backedUpAndRehearsed(gateway)
  const recoveryKey = recoveryKeyOf(gateway)
  const [path, bytes] = [...server.dav.files].find(([name]) => name.endsWith('.sealed')) ?? ['', Buffer.alloc(0)]
  const plain = Buffer.from(await openedByAge(bytes as Buffer, recoveryKey))
  const box = newFolder(t)
  const folder = folderAt(`${server.url}/remote.php/dav/files/${uploader.id}/gatehouse`)
  const restoring = (key?: Buffer) => restoredInto(join(box, 'state'), { folder, path: null }, key)
  server.dav.files.set(path, plain)
  await t.rejects(restoring(recoveryKey), { message: /0302T080000Z\.tar\.sealed is not sealed, as a backup of a / })
  await t.rejects(restoring(), { message: /is not sealed/ })
  writeFileSync(join(box, 'plain.tar'), plain)
  await t.rejects(restoredInto(join(box, 'state'), join(box, 'plain.tar'), recoveryKey), { message: /is not sealed/ })

  server.dav.files.set(path.replace('0302T', '0303T'), bytes)
  await t.rejects(restoring(recoveryKey), { message: /0303T.* holds a backup of 2026-03-02T08:00:00\.000Z/ })
  t.same(readdirSync(join(box, 'state')), ['gatehouse.lock'])
  server.dav.files.set(path, bytes)
  server.dav.files.set(path.replace('20260302', '99991231'), bytes)
  gateway.clock.advance(day + hour)
  await gateway.backupSchedule.look()
  t.match(await health(gateway), { status: 'degraded', reason: /could not be restored in a rehearsal/ })
  server.dav.files.delete(path.replace('0302T', '0303T'))
  gateway.clock.advance(day)
  await backedUpAndRehearsed(gateway)
  const at = new Date(gateway.clock.now()).toISOString()
  t.match(await health(gateway), { status: 'healthy', newestAt: at, rehearsedAt: at }, 'backups go on')
})

t.test(
  'while the server is away one backup waits sealed, and an erasure names those that still have the name',
  async (t) => {
    const server = await StorageServer.start({ users: [{ ...uploader }] })
    t.teardown(() => server.stop())
    const gateway = await stockedWith(t, server.url)
    await place(gateway, 2, { operator: 'Dana Dock' })
    await backedUpAndRehearsed(gateway)
    server.misbehave('maintenance')
    for (const _ of [1, 2]) {
      gateway.clock.advance(day)
      await gateway.backupSchedule.look()
      await settled(gateway, (rows) => rows.at(-1)?.status === 'pending' && rows.at(-1)?.lastError !== null)
    }
    const out = filesBelow(join(gateway.live.config.dataDir, 'backups'))
    t.equal(out.length, 1)
    t.notOk(readFileSync(out[0] ?? '').includes('Dana Dock'))
    t.match((await gateway.backupSchedule.seen()).makeFault, null)
    const { kept } = await gateway.erasePerson({ name: 'Dana Dock', texts: true }, 'root')
    t.match(kept, {
      problem: null,
      copies: [
        { kind: 'backup', name: 'test-site/backups/gatehouse-test-site-20260303T080000Z.tar.sealed' },
        { kind: 'backup', name: 'test-site/backups/gatehouse-test-site-20260302T080000Z.tar.sealed' },
      ],
    })
    server.misbehave(undefined)
    gateway.clock.advance(hour)
    gateway.uploadWorker.tryNow()
    await settled(gateway, allAre('uploaded'))
    await gateway.backupSchedule.look()
    t.equal((await queue(gateway)).filter(({ kind }) => kind === 'backup').length, 3, 'the next one is made only now')
    t.match(await health(gateway), { newestAt: '2026-03-03T08:00:00.000Z', rehearsedAt: '2026-03-04T09:00:00.000Z' })
    const { body } = await gateway.ask('GET', '/api/alerts', { by: people.ada })
    t.same(
      body.data.filter(({ kind }: { kind: string }) => kind.startsWith('backup.')),
      [],
    )
  },
)
