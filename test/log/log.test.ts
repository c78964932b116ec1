import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t from 'tap'
import type { UnsealedRow } from '../../src/ledger/record/placement-leaf.ts'
import { placementFacts } from '../../src/ledger/record/placement-leaf.ts'
import {
  canonicalJson,
  commitmentOf,
  leafHash,
  leafOf,
  leafPath,
  MerkleFrontier,
  Person,
  sha256,
} from '../../src/log/index.ts'

// The golden leaves were written by hand and hashed with sha256sum; nothing here may be regenerated from the code.
const golden = {
  full: '47b4d52daba26270473fb8008d03c372064b720d4f7cce4a15d21d16b1a25eac',
  fullLeaf: '185f2f2aa6ede1234d53869e45e192b5a435241705c8208482f62ff9eb525066',
  small: 'af342e9ae55a948479f7646354f11bea7f3cda1ca867af875b3e7f25c9e9ee6b',
  smallLeaf: 'f41278643d3673a746128a97a8a45a7709c2e10abc74686c480a700eedc2c714',
  opening: '7b5183ba46234d8899cbc1bc4227464a460ba61930e6a67e3066aa064f901ee0',
  openingLeaf: '59ea583310b281f753193b0ccc9fbf0066877a71d43f197ff4e84f1a7bb5ffdf',
  counted: 'b531e7b36364ae208c45a9542949370d1ddab1c0184676f9101087e4b100c9b9',
  countedLeaf: '0c9827fe6268e873c09c35f1c3d4af198f0f517678abaa2dce738fb69b75419a',
}
const leafFile = (name: string) => readFileSync(new URL(`../fixtures/leaves/${name}.json`, import.meta.url))
const salt = (from: number) => Buffer.from(Array.from({ length: 16 }, (_, i) => from + i))
const olga = commitmentOf(salt(0), 'olga')

const nothing = {
  device_timestamp_ms: null,
  clock_offset_ms: null,
  photo_url: null,
  photo_sha256: null,
  photo_evidence: null,
  photo_taken_at_ms: null,
  scale_weight_kg: null,
  cctv_clip_url: null,
  work_order_ref: null,
  notes_commitment: null,
  scan: null,
  scan_evidence: null,
  client_event_id: null,
  client_evidence_hash: null,
  corrects_event_id: null,
  opening_list: null,
  opening_line: null,
  count_id: null,
  count_scan_id: null,
  count_scan_sha256: null,
}

const small: UnsealedRow = {
  ...nothing,
  id: 1,
  event_id: '0190a5c4-3c01-7000-8000-000000000002',
  event_type: 'REMOVED',
  slot_id: 7,
  slot_code: 'Halle Süd 1',
  asset_barcode: 'P-1',
  asset_key: 'P-1',
  operator_commitment: olga,
  actor_commitment: olga,
  timestamp_ms: Date.parse('2026-03-02T08:00:00Z'),
  received_at_ms: Date.parse('2026-03-02T08:00:00Z'),
  time_quality: 'synced',
  warnings: '[]',
}

const opening: UnsealedRow = { ...small, event_type: 'PLACED', opening_list: 'ab'.repeat(32), opening_line: 7 }

const counted: UnsealedRow = {
  ...small,
  event_type: 'VERIFIED',
  count_id: 3,
  count_scan_id: 12,
  count_scan_sha256: 'cd'.repeat(32),
}

const full: UnsealedRow = {
  ...small,
  id: 41,
  event_type: 'PLACED',
  slot_code: 'A-01-01',
  asset_barcode: ']C100340123450000000017',
  asset_key: '00340123450000000017',
  actor_commitment: commitmentOf(salt(16), 'scanner-1'),
  device_timestamp_ms: Date.parse('2026-03-02T08:00:03.250Z'),
  received_at_ms: Date.parse('2026-03-02T08:00:00.250Z'),
  clock_offset_ms: -3250,
  time_quality: 'corrected',
  photo_url: `https://gatehouse.dc7.example/api/whms/evidence/photos/${'ab'.repeat(32)}`,
  photo_sha256: 'ab'.repeat(32),
  photo_evidence: 'held',
  photo_taken_at_ms: Date.parse('2026-03-02T07:59:58Z'),
  scale_weight_kg: 412.5,
  cctv_clip_url: 'https://cctv.example/clip/9',
  work_order_ref: 'WO-7',
  notes_commitment: commitmentOf(salt(32), 'Ecke oben eingedrückt'),
  scan: JSON.stringify({ symbology: 'GS1-128', slot: 'A-01-01', asset: ']C100340123450000000017' }),
  client_event_id: 'b7c1',
  client_evidence_hash: 'cd'.repeat(32),
  corrects_event_id: 40,
  warnings: '["CLOCK_AHEAD","UNKNOWN_ASSET"]',
}

const head = { kind: 'placement' as const, logId: '0190a5c4-3c00-7000-8000-000000000001', siteId: 'dc-7' }

t.test('a placement leaf has the bytes and hashes that it has always had', async (t) => {
  for (const { name, row, seq, hash, leaf } of [
    { name: 'placement-full', row: full, seq: 42, hash: golden.full, leaf: golden.fullLeaf },
    { name: 'placement-small', row: small, seq: 1, hash: golden.small, leaf: golden.smallLeaf },
    { name: 'placement-opening', row: opening, seq: 1, hash: golden.opening, leaf: golden.openingLeaf },
    { name: 'placement-counted', row: counted, seq: 1, hash: golden.counted, leaf: golden.countedLeaf },
  ]) {
    const bytes = canonicalJson(leafOf({ v: 1, ...head, seq }, placementFacts(row)))
    t.equal(bytes, leafFile(name).toString('utf8'), `${name}: the bytes`)
    t.equal(sha256(bytes).toString('hex'), hash, `${name}: evidence hash, as sha256sum says`)
    t.equal(
      leafHash(Buffer.from(bytes)).toString('hex'),
      leaf,
      `${name}: leaf hash, as (printf '\\0'; cat) | sha256sum says`,
    )
  }
})

// Made with openssl and sha256sum from what the README beside them says.
const goldenOfVersion2 = {
  'placement-full-v2': [
    '337bc2fd3f42b16a2cfc537bcd3c700b9a11c895b378480e40a2f8681f5b862a',
    '80aca3e1a97f295af3ca9d96340d22568775f82229c785caa6c9fd2441cf8c02',
  ],
  'placement-small-v2': [
    '44ce9bfdebe35422ee6bbd73629313cb99f2543944d8e8a10a783994e1e0bfad',
    '88d199058f8e45b03c89e2210ad766aefa197ba9a71fa096a8bcb77d86d29f23',
  ],
}

t.test('a placement leaf of version 2 holds people as commitments of its own', async (t) => {
  const person = (name: string, instance: string | null, from: number) =>
    new Person({ id: 1, name, instance, salt: Buffer.from(Array.from({ length: 32 }, (_, i) => from + i)) })
  const olga2 = person('olga', 'https://cloud.example.com', 0)
  const scanner = person('scanner-1', 'https://gatehouse.dc7.example', 32)
  const ruben = person('Ruben (Zeitarbeit)', null, 64)
  const noteSalt = Buffer.from(Array.from({ length: 32 }, (_, i) => 96 + i))
  for (const { name, row, seq, operator, actor } of [
    {
      name: 'placement-full-v2' as const,
      row: { ...full, notes_commitment: commitmentOf(noteSalt, 'Ecke oben eingedrückt') },
      seq: 42,
      operator: ruben,
      actor: scanner,
    },
    { name: 'placement-small-v2' as const, row: small, seq: 43, operator: olga2, actor: olga2 },
  ]) {
    const place = { logId: head.logId, seq }
    const people = {
      operator_commitment: operator.inLeaf(place, 'operator'),
      actor_commitment: actor.inLeaf(place, 'actor'),
    }
    t.not(people.operator_commitment, people.actor_commitment, 'also when both are the same person')
    const bytes = canonicalJson(leafOf({ v: 2, ...head, seq }, placementFacts({ ...row, ...people })))
    t.equal(bytes, leafFile(name).toString('utf8'), `${name}: the bytes`)
    const hashes = [sha256(bytes), leafHash(Buffer.from(bytes))].map((hash) => hash.toString('hex'))
    t.strictSame(hashes, goldenOfVersion2[name], `${name}: as sha256sum says`)
  }
})

t.test('whoever is shown the salt of a row opens that one and no other', async (t) => {
  const olga2 = new Person({ id: 1, name: 'olga', instance: 'https://cloud.example.com', salt: Buffer.alloc(32, 7) })
  const path = (seq: number, key: string, logId = 'log-1') => leafPath({ logId, seq }, key)
  const salt = olga2.rowSalt(path(7, 'actor'))
  t.equal(commitmentOf(salt, 'olga@https://cloud.example.com'), olga2.commitment(path(7, 'actor')))
  const others = [path(8, 'actor'), path(7, 'operator'), path(7, 'actor', 'log-2')]
  for (const other of others) t.notSame(olga2.rowSalt(other), salt, other)
  t.equal(new Set([path(7, 'actor'), ...others].map((one) => olga2.commitment(one))).size, 4)
})

t.test('canonical JSON is that of RFC 8785', async (t) => {
  // Section 3.2.3 and appendix B of the RFC.
  t.equal(
    canonicalJson({
      '€': 'Euro Sign',
      '\r': 'Carriage Return',
      '1': 'One',
      '😂': 'Smiley',
      '\u0080': 'Control',
      ö: 'o',
      '\ufb33': 'Hebrew',
    }),
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"o","€":"Euro Sign","😂":"Smiley","\ufb33":"Hebrew"}',
  )
  t.equal(
    canonicalJson([Number('333333333.33333329'), 1e30, 4.5, 2e-3, 1e-27, -0]),
    '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
  )
  t.throws(() => canonicalJson(Number.NaN), 'what JSON cannot say is refused')
})

t.test('the tree has the roots of RFC 6962', async (t) => {
  // Inputs and roots of the test vectors that certificate-transparency implementations share.
  const leaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
  const roots = [
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ]
  const tree = new MerkleFrontier()
  t.equal(tree.root().toString('hex'), createHash('sha256').digest('hex'), 'the empty tree')
  for (const [i, leaf] of leaves.entries()) {
    tree.append(leafHash(Buffer.from(leaf, 'hex')))
    t.equal(tree.root().toString('hex'), roots[i], `${i + 1} leaves`)
  }
})
