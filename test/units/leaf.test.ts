import { readFileSync } from 'node:fs'
import t from 'tap'
import { canonicalJson, commitmentOf, leafOf, Person, sha256 } from '../../src/log/index.ts'
import { type UnsealedHistoryRow, unitHistoryFacts } from '../../src/units/unit-history-leaf.ts'

// Written by hand and hashed with sha256sum; nothing here may be regenerated from the code.
const golden = {
  'unit-history-small': '2eea3b1a0b5637bcd8e711d05d33a7a603067319a82a202bb376f505a8374ae7',
  'unit-history-full': 'e26dfa8951cef878b40311622cb6ed1374fc92851cf3997017a5d9ddcc951603',
}
const salt = (from: number) => Buffer.from(Array.from({ length: 16 }, (_, i) => from + i))
const olga = commitmentOf(salt(0), 'olga')

const small: UnsealedHistoryRow = {
  row: 1,
  event_id: '0190a5c4-3c01-7000-8000-000000000003',
  unit_id: '0190a5c4-3c01-7000-8000-000000000004',
  action: 'created',
  from_stage: null,
  stage: 'registered',
  status: 'active',
  operator_commitment: olga,
  actor_commitment: olga,
  note_commitment: null,
  reason_commitment: null,
  timestamp_ms: Date.parse('2026-03-02T08:00:00Z'),
  device_timestamp_ms: null,
  received_at_ms: Date.parse('2026-03-02T08:00:00Z'),
  clock_offset_ms: null,
  time_quality: 'synced',
  photos: null,
  scale_weight_kg: null,
  scale_reading_id: null,
  scale_id: null,
  scale_stable: null,
  reference: 'PO-77 Süd',
  sscc: null,
  direction: 'inbound',
  warehouse_id: 1,
  carrier: null,
  vehicle_commitment: null,
  client_event_id: null,
}

const full: UnsealedHistoryRow = {
  ...small,
  row: 5,
  event_id: '0190a5c4-3c01-7000-8000-000000000009',
  action: 'weighed',
  from_stage: 'storing',
  stage: 'storing',
  status: 'on_hold',
  actor_commitment: commitmentOf(salt(16), 'scale-gw'),
  note_commitment: commitmentOf(salt(32), 'zu schwer'),
  reason_commitment: commitmentOf(salt(48), 'Nachwiegen'),
  timestamp_ms: Date.parse('2026-03-02T09:00:00.250Z'),
  device_timestamp_ms: Date.parse('2026-03-02T09:00:03.500Z'),
  received_at_ms: Date.parse('2026-03-02T09:00:01Z'),
  clock_offset_ms: -3250,
  time_quality: 'corrected',
  photos: JSON.stringify([
    {
      url: `https://gatehouse.dc7.example/api/whms/evidence/photos/${'ab'.repeat(32)}`,
      sha256: 'ab'.repeat(32),
      evidence: 'held',
    },
    { url: 'https://elsewhere.example/1.jpg', evidence: 'claimed' },
  ]),
  scale_weight_kg: 412.5,
  scale_reading_id: 17,
  scale_id: 'ramp-2',
  scale_stable: 0,
  reference: null,
  direction: null,
  warehouse_id: null,
  sscc: '340123450000000017',
  carrier: 'Spedition Süd',
  vehicle_commitment: commitmentOf(salt(64), 'B-XY 123'),
  client_event_id: 'c-9',
}

t.test(
  'a leaf of a unit’s history has the bytes that it has always had, and holds every fact but names and texts',
  async (t) => {
    const head = { kind: 'unit-history' as const, logId: '0190a5c4-3c00-7000-8000-000000000001', siteId: 'dc-7' }
    for (const { name, row, seq } of [
      { name: 'unit-history-small' as const, row: small, seq: 3 },
      { name: 'unit-history-full' as const, row: full, seq: 9 },
    ]) {
      const bytes = canonicalJson(leafOf({ v: 1, ...head, seq }, unitHistoryFacts(row)))
      t.equal(bytes, readFileSync(new URL(`../fixtures/leaves/${name}.json`, import.meta.url), 'utf8'), name)
      t.equal(sha256(bytes).toString('hex'), golden[name], `${name}: as sha256sum says`)
    }
  },
)

t.test('a leaf of version 2 holds people as commitments of its own', async (t) => {
  const salt = Buffer.from(Array.from({ length: 32 }, (_, i) => i))
  const person = new Person({ id: 1, name: 'olga', instance: 'https://cloud.example.com', salt })
  const place = { logId: '0190a5c4-3c00-7000-8000-000000000001', seq: 44 }
  const row = {
    ...small,
    operator_commitment: person.inLeaf(place, 'operator'),
    actor_commitment: person.inLeaf(place, 'actor'),
  }
  const bytes = canonicalJson(leafOf({ v: 2, kind: 'unit-history', siteId: 'dc-7', ...place }, unitHistoryFacts(row)))
  t.equal(bytes, readFileSync(new URL('../fixtures/leaves/unit-history-small-v2.json', import.meta.url), 'utf8'))
  t.equal(sha256(bytes).toString('hex'), 'a0f04fd84a442e93bea15f1fa123335a287fe185d6277bfdbb89c792ebd90d17')
})
