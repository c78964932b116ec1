import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { logKeysOf, verifyLedger } from '../../src/evidence/index.ts'
import { loadLogKeys } from '../../src/evidence/transparency/keys.ts'
import { people, testGateway } from '../support/gateway.ts'
import { forgetSignatures, place, rewriteEvent, signedLedger, withoutGuards } from '../support/tamper.ts'

/** Somebody puts a checkpoint into the table, by another connection. */
function putHead(dataDir: string, size: number, root: string): void {
  const db = new BetterSqlite3(databaseFile(dataDir))
  db.exec(`INSERT INTO log_checkpoint SELECT max(row) + 1, 1, ${size}, ${root}, note, signed_at_ms FROM log_checkpoint`)
  db.close()
}

t.test('nothing smaller is signed after a head that is stored', async (t) => {
  const gateway = await signedLedger(t)
  putHead(gateway.dataDir, 99, 'root')
  await place(gateway, 8)
  await t.rejects(gateway.checkpoints.make(), { message: /a checkpoint over 99 leaves comes before one over 8/ })
  t.equal(gateway.checkpoints.newest()?.size, 7)
})

t.test('no other root is signed or shown at a size that was signed', async (t) => {
  const gateway = await signedLedger(t)
  putHead(gateway.dataDir, 8, 'zeroblob(32)')
  await place(gateway, 8)
  await t.rejects(gateway.checkpoints.make(), { message: /a checkpoint over 8 leaves comes before one over 8/ })
  t.equal(gateway.checkpoints.newest()?.size, 7)
})

t.test('a database with other leaves is refused at the start', async (t) => {
  const gateway = await signedLedger(t)
  gateway.close()
  withoutGuards(gateway.dataDir, (db) => {
    rewriteEvent(db, 3, { assetBarcode: 'P-9' }, `asset_barcode = 'P-9'`)
    forgetSignatures(db)
  })
  await t.rejects(testGateway({ clock: gateway.clock, folder: gateway.folder }), {
    exitCode: 78,
    message: /the first 7 leaves of the log do not have the root that was signed.*restore --accept-fork/,
  })
})

t.test('keys/log.head names a head before anybody sees it', async (t) => {
  const gateway = await signedLedger(t)
  const seen: [number, number][] = []
  gateway.checkpoints.onCheckpoint(({ size }) => {
    seen.push([size, JSON.parse(readFileSync(join(gateway.dataDir, 'keys', 'log.head'), 'utf8')).size])
  })
  await place(gateway, 8)
  await gateway.checkpoints.make()
  t.strictSame(seen, [[8, 8]])
})

t.test('entries of every warehouse are not for a caller to whom one is hidden', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 1, viewers: ['ada'] }] } })
  t.teardown(() => gateway.end())
  await gateway.checkpoints.make()
  await gateway.ask('POST', '/api/governance/incidents', {
    by: people.ada,
    body: { severity: 'low', category: 'noise' },
  })
  await gateway.ask('POST', '/api/whms/warehouses', {
    by: people.ada,
    body: { name: 'Hall', timezone: 'Europe/Berlin' },
  })
  await gateway.checkpoints.make()
  const status = async (by: (typeof people)['ada' | 'sven'], path: string) =>
    (await gateway.ask('GET', `/api/log/tile/${path}`, { by })).status
  t.equal(await status(people.sven, 'entries/000.p/1'), 403)
  t.equal(await status(people.ada, 'entries/000.p/1'), 200)
  t.equal(await status(people.sven, '0/000.p/1'), 200, 'hashes tell nothing')
})

t.test('heads of which the key was lost, and not handed over, are named', async (t) => {
  const gateway = await signedLedger(t)
  for (const name of ['log.key', 'log-mldsa.key']) rmSync(join(gateway.dataDir, 'keys', name))
  loadLogKeys(gateway.dataDir)
  t.throws(
    () => logKeysOf(gateway.dataDir),
    { message: /log\.key is not the key that signed/ },
    'a command shows no others',
  )
  const lost = verifyLedger(gateway.dataDir).mismatches
  t.equal(lost.length, 3)
  for (const { where, what } of lost) {
    t.match(where, /^checkpoint over [047] leaves/)
    t.equal(what, 'was signed by no key that this log has had')
  }
})
