import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { controlActions } from '../../src/app/control/actions.ts'
import { openWriter } from '../../src/database/index.ts'
import { migrations } from '../../src/database/migrations/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { lookBack } from '../../src/upgrade/index.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { nodeOnSources } from '../support/process.ts'

const broken = () => Promise.reject(new Error('the new version has a fault'))
const well = () => Promise.resolve()

const place = (gateway: TestGateway, slot_code: string, asset_barcode: string) => {
  const body = { event_type: 'PLACED', slot_code, asset_barcode, photo_url: 'https://photos.example/1.jpg' }
  return gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
}

async function serving(t: Test, version: string, folder?: string): Promise<TestGateway> {
  const gateway = await testGateway({ version, ...(folder && { folder }) })
  if (!folder) t.teardown(() => rmSync(gateway.folder, { recursive: true, force: true }))
  return gateway
}

/** Does the start of a future version: it adds a table, which this schema may ignore. */
function expand(dataDir: string, nowMs: number, oldestReader: number): void {
  const version = (migrations.at(-1)?.version ?? 0) + 1
  const statements = ['CREATE TABLE pallet_note (id INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT']
  const grown = [...migrations, { version, name: 'pallet notes', oldestReader, statements }]
  openWriter({ dataDir, nowMs, migrations: grown }).close()
}
const ours = migrations.at(-1)?.version ?? 0

t.test('a new version that fails gives way to the one before, with every acknowledged event', async (t) => {
  const before = await serving(t, '1.0.0')
  await before.takeover.settle(well, 0)
  const slots = Array.from({ length: 10 }, (_, n) => `A-${10 + n}`)
  await furnish(before, slots)
  for (let n = 0; n < 100; n += 1) t.equal((await place(before, slots[n % 10] ?? '', `P-${n}`)).status, 201)
  before.close()

  expand(before.live.config.dataDir, before.clock.now(), ours)
  const next = await serving(t, '1.1.0', before.folder)
  const refused = await place(next, 'A-10', 'P-new')
  t.match(refused, { status: 503, body: { error: { code: 'NOT_READY' } } }, 'nothing is acknowledged yet')
  t.equal(refused.headers.get('retry-after'), '5')
  t.equal((await next.ask('GET', '/api/whms/slots', { by: people.vera })).status, 200, 'people can look meanwhile')
  const commands = controlActions(next, next.live.config.dataDir, next.clock)
  const waits = (command: Promise<unknown>) => t.rejects(command, { code: 'NOT_READY' }, 'commands of the box wait too')
  await waits(commands.erasePerson({ name: 'Olga', texts: true, by: 'root' }))
  await waits(commands.rotateKeys('root'))
  await waits(commands.backup({ target: join(before.folder, 'backup.tar'), media: false, by: 'root' }))
  await t.rejects(next.takeover.settle(broken, 0), /version 1\.1\.0 did not become healthy.*has a fault/)
  t.equal((await place(next, 'A-10', 'P-new')).status, 503)
  next.close()

  const back = await serving(t, '1.0.0', before.folder)
  const { body } = await back.ask('GET', '/api/whms/events?limit=1', { by: people.vera })
  t.equal(body.pagination.total, 100)
  t.equal(
    (await place(back, 'A-10', 'P-100')).status,
    201,
    'it records on, in the ledger that the new one had expanded',
  )
  t.match(verifyLedger(back.live.config.dataDir), { ok: true, events: 101 })
  back.close()
})

t.test('a new version that becomes healthy takes writes, and needs no second trial', async (t) => {
  const before = await serving(t, '1.0.0')
  await before.takeover.settle(well, 0)
  await furnish(before, ['A-10'])
  before.close()
  const next = await serving(t, '1.1.0', before.folder)
  t.equal((await place(next, 'A-10', 'P-1')).status, 503)
  await next.takeover.settle(well, 0)
  t.equal((await place(next, 'A-10', 'P-1')).status, 201)
  t.equal(readFileSync(join(next.live.config.dataDir, 'version-in-use'), 'utf8'), '1.1.0\n')
  next.close()
  const again = await serving(t, '1.1.0', before.folder)
  t.equal((await place(again, 'A-10', 'P-2')).status, 201)
  again.close()
})

t.test(
  'the way back is closed, in words, without a version, after 30 days, and for a ledger that it cannot serve',
  async (t) => {
    const gateway = await serving(t, '1.1.0')
    gateway.close()
    const { dataDir } = gateway.live.config
    const versions = join(gateway.folder, 'versions')
    const nowMs = gateway.clock.now()
    const run = () => [...nodeOnSources, join(import.meta.dirname, 'previous-version.ts'), 'same'] as const
    const look = (afterDays: number) => lookBack({ versions, dataDir, nowMs: nowMs + afterDays * 86_400_000, run })
    await t.rejects(look(0), /no previous version is kept/)
    mkdirSync(versions)
    writeFileSync(join(versions, 'previous'), '')
    await t.rejects(look(0), /nothing to go back from/)
    writeFileSync(join(versions, 'since'), `${nowMs / 1000}\n`)
    await t.rejects(look(31), /after 30 days there is no way back/)
    expand(dataDir, nowMs, ours)
    t.strictSame(await look(30), { version: '0.9.0', schema: ours }, 'it serves what was only added to')
    rmSync(join(dataDir, 'gatehouse.db'))
    expand(dataDir, nowMs, ours + 1)
    await t.rejects(look(1), /cannot serve the ledger as it is now.*needs a gatehouse that knows at least schema/)
  },
)
