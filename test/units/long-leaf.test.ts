import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'

const longestLeaf = 65_535

function newestLeaf({ live }: TestGateway): { seq: number; bytes: number } {
  const db = new BetterSqlite3(databaseFile(live.config.dataDir), { readonly: true })
  try {
    return db.prepare('SELECT seq, length(bytes) AS bytes FROM log_leaf ORDER BY row DESC LIMIT 1').get() as never
  } finally {
    db.close()
  }
}

/** Addresses of other servers' photos: 31 of 2,000 characters, and one of `last`. */
const addresses = (last: number) =>
  [...Array<number>(31).fill(2000), last].map((length, i) => `https://photos.example/${i % 10}`.padEnd(length, 'p'))

t.test('a step of a unit that is longer than an entry of the log can be is refused, to the byte', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const by = people.sven
  const path = '/api/whms/transport-units'
  const unit = await gateway.ask('POST', path, { by, body: { reference: 'T-1', direction: 'inbound', warehouseId: 1 } })
  const add = (last: number) =>
    gateway.ask('POST', `${path}/${unit.body.id}/evidence`, { by, body: { photo_urls: addresses(last) } })
  t.equal((await add(100)).status, 200)
  const first = newestLeaf(gateway)
  const fitting = 100 + longestLeaf - first.bytes
  t.equal((await add(fitting)).status, 200)
  t.strictSame(newestLeaf(gateway), { seq: first.seq + 1, bytes: longestLeaf }, 'the longest one there is')
  const refused = await add(fitting + 1)
  t.equal(refused.status, 400)
  t.match(refused.body.error, {
    code: 'VALIDATION_ERROR',
    message: 'This needs 65536 bytes in the log',
    details: /unit-history takes at most 65535 bytes/,
  })
  t.equal(newestLeaf(gateway).seq, first.seq + 1, 'nothing is left behind')
  t.equal((await add(100)).status, 200, 'and the next step has its place')
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, size: first.seq + 2 })
})

t.test('an incident with everything at its greatest length is shorter than an entry of the log can be', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const evidenceReferences = Array.from({ length: 100 }, (_, i) => ({
    type: 't'.repeat(64),
    id: `${i}`.padEnd(2048, 'x'),
  }))
  const body = {
    severity: 'critical',
    category: '字'.repeat(64),
    title: 't'.repeat(200),
    evidenceReferences,
    warehouseId: 1,
  }
  const made = await gateway.ask('POST', '/api/governance/incidents', { by: people.sven, body })
  t.equal(made.status, 201, made.text)
  t.ok(newestLeaf(gateway).bytes < longestLeaf, `${newestLeaf(gateway).bytes} bytes`)
})

t.test('an event with everything at its greatest length is shorter than an entry of the log can be', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const label = '字'.repeat(64)
  await furnish(gateway, [label], { constraints: { max_weight: 1, max_height: 1, allowed_types: ['pallet'] } })
  // A group separator is six characters in JSON.
  const barcode = `p${'\u001d'.repeat(254)}q`
  const url = `https://photos.example/?${'字'.repeat(2024)}`
  const body = {
    event_type: 'PLACED',
    slot_code: label,
    asset_barcode: barcode,
    operator: '字'.repeat(128),
    photo_url: url,
    photo_sha256: 'f'.repeat(64),
    photo_taken_at: '2026-03-01T08:00:00.000Z',
    scale_weight_kg: 99_999.123456789,
    evidence_hash: 'f'.repeat(64),
    cctv_clip_url: url,
    work_order_ref: '字'.repeat(128),
    verification_notes: '字'.repeat(4000),
    scan: { slot: barcode, asset: barcode, symbology: '字'.repeat(64) },
    client_event_id: '字'.repeat(128),
  }
  const made = await gateway.ask('POST', '/api/whms/events', { by: people.sven, body })
  t.equal(made.status, 201, made.text.slice(0, 400))
  t.ok(newestLeaf(gateway).bytes < longestLeaf / 2, `${newestLeaf(gateway).bytes} bytes`)
})
