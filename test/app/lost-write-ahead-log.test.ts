import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { acceptFork } from '../../src/evidence/index.ts'
import { createLogger } from '../../src/platform/index.ts'
import { furnish, people, siteUrl, type TestGateway, testGateway } from '../support/gateway.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { configText } from './daemon-folder.ts'

const config = { site: { id: 'daemon-test', url: siteUrl } }

function newFolder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-wal-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A gateway whose log is signed and whose database has all of it. */
async function yard(t: Test): Promise<TestGateway> {
  const folder = newFolder(t)
  const first = await testGateway({ folder, config })
  await furnish(first, ['A-01'])
  await scan(t, first, 1)
  await first.checkpoints.make()
  first.close()
  const gateway = await testGateway({ folder, config })
  t.teardown(() => gateway.close())
  return gateway
}

async function scan(t: Test, gateway: TestGateway, count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1) {
    const body = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: `P-${n}` }
    t.equal((await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })).status, 201)
  }
}

/** The files as a kill -9 leaves them. */
function killed(t: Test, { folder }: TestGateway): string {
  const copy = newFolder(t)
  cpSync(folder, copy, { recursive: true, filter: (path) => !/-shm$|\.lock/.test(path) })
  return copy
}

async function startOf(folder: string): Promise<{ exitCode: number; message: string }> {
  try {
    const gateway = await testGateway({ folder, config })
    gateway.close()
    return { exitCode: 0, message: 'it starts' }
  } catch (error) {
    return error as { exitCode: number; message: string }
  }
}

const lacking = {
  exitCode: 78,
  message:
    /lacks 9 leaves.*acknowledged.*newest event.*gatehouse\.db-wal.*gatehouse restore --accept-fork.*repeat the scans/s,
}

for (const [how, lose] of [
  ['removed', (wal: string) => rmSync(wal)],
  ['emptied', (wal: string) => truncateSync(wal)],
] as const) {
  t.test(`a write-ahead log that is ${how} after a kill is refused with the number of lost leaves`, async (t) => {
    const gateway = await yard(t)
    await scan(t, gateway, 9)
    const folder = killed(t, gateway)
    const wal = join(folder, 'state/gatehouse.db-wal')
    const kept = readFileSync(wal)
    lose(wal)
    t.match(await startOf(folder), lacking)
    t.match(await startOf(folder), lacking, 'a second start does not take the loss for the state')
    rmSync(`${wal.slice(0, -4)}-shm`, { force: true })
    writeFileSync(wal, kept)
    t.match(await startOf(folder), { exitCode: 0 }, 'the log that is put back ends it')
  })
}

t.test('a database from before a clean stop is refused, also when no checkpoint was signed', async (t) => {
  const gateway = await yard(t)
  const old = newFolder(t)
  cpSync(join(gateway.folder, 'state/gatehouse.db'), join(old, 'gatehouse.db'))
  await scan(t, gateway, 9)
  gateway.close()
  const folder = killed(t, gateway)
  cpSync(join(old, 'gatehouse.db'), join(folder, 'state/gatehouse.db'))
  t.match(await startOf(folder), lacking)
})

t.test('the daemon ends with 78 and the words on stderr', async (t) => {
  const gateway = await yard(t)
  await scan(t, gateway, 9)
  const cwd = killed(t, gateway)
  rmSync(join(cwd, 'state/gatehouse.db-wal'))
  const file = join(cwd, 'gatehouse.yaml')
  writeFileSync(file, configText())
  t.match(await runToEnd(gatehouse, ['serve', '--config', file], { cwd }), { code: 78, stderr: /lacks 9 leaves/ })
})

t.test('a box whose write-ahead log is lost for good goes on after the named remedy, more than once', async (t) => {
  const gateway = await yard(t)
  await scan(t, gateway, 9)
  let folder = killed(t, gateway)
  const accept = (id: string) => acceptFork(join(folder, 'state'), { makeId: () => id, nowMs: Date.now() })
  rmSync(join(folder, 'state/gatehouse.db-wal'))
  accept('0198c0de-0000-7000-8000-000000000001')
  const again = await testGateway({ folder, config })
  await scan(t, again, 9)
  folder = killed(t, again)
  again.close()
  rmSync(join(folder, 'state/gatehouse.db-wal'))
  t.match(await startOf(folder), { exitCode: 78, message: /lacks 9 leaves/ })
  t.doesNotThrow(() => accept('0198c0de-0000-7000-8000-000000000002'), 'the count is a sign of a break')
  t.match(await startOf(folder), { exitCode: 0 })
})

t.test('a kill without a loss starts, also where another program has emptied the write-ahead log', async (t) => {
  const gateway = await yard(t)
  await scan(t, gateway, 9)
  t.match(await startOf(killed(t, gateway)), { exitCode: 0 })
  const folder = killed(t, gateway)
  const file = join(folder, 'state/gatehouse.db')
  new BetterSqlite3(file).exec('PRAGMA wal_checkpoint(TRUNCATE)').close()
  t.notOk(existsSync(`${file}-wal`))
  t.match(await startOf(folder), { exitCode: 0 })
})

t.test('without a count that reached the disk, the start says that the write-ahead log is missing', async (t) => {
  const gateway = await yard(t)
  await scan(t, gateway, 1)
  const count = readFileSync(join(gateway.folder, 'state/keys/log.count'))
  await scan(t, gateway, 8)
  const folder = killed(t, gateway)
  // A power cut loses a write without a sync.
  writeFileSync(join(folder, 'state/keys/log.count'), count)
  const wal = join(folder, 'state/gatehouse.db-wal')
  new BetterSqlite3(wal.slice(0, -4)).exec('PRAGMA wal_checkpoint(TRUNCATE)').close()
  const lines: string[] = []
  const log = createLogger({ level: 'warn', write: (line: string) => void lines.push(line) } as never)
  const again = await testGateway({ folder, config, log })
  again.close()
  t.match(lines.join(''), /was not stopped cleanly.*gatehouse\.db-wal/)
})

t.test('a count that cannot be read or is of another log refuses no start', async (t) => {
  const gateway = await yard(t)
  await scan(t, gateway, 2)
  for (const content of ['', 'garbage', '{"logId":"other","size":1000,"isStopped":true}']) {
    const folder = killed(t, gateway)
    writeFileSync(join(folder, 'state/keys/log.count'), content)
    t.match(await startOf(folder), { exitCode: 0 }, JSON.stringify(content))
  }
})

t.test('a folder keys/ that cannot be written stops no event, and the count goes on with it', async (t) => {
  const gateway = await yard(t)
  await scan(t, gateway, 1)
  const keys = join(gateway.folder, 'state/keys')
  cpSync(keys, `${keys}.away`, { recursive: true })
  rmSync(keys, { recursive: true })
  await scan(t, gateway, 2)
  cpSync(`${keys}.away`, keys, { recursive: true })
  await gateway.checkpoints.make()
  await scan(t, gateway, 3)
  const { size } = JSON.parse(readFileSync(join(keys, 'log.count'), 'utf8'))
  t.equal(size, gateway.proofs ? JSON.parse(readFileSync(join(keys, 'log.head'), 'utf8')).size + 3 : 0)
})
