import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  incidentFacts,
  reportFacts,
  type UnsealedIncidentChange,
  type UnsealedReport,
} from '../../src/governance/index.ts'
import { canonicalJson, commitmentOf, type LeafFacts, leafHash, leafOf, Person, sha256 } from '../../src/log/index.ts'

// The golden leaves were written by hand and hashed with sha256sum; nothing here may be regenerated from the code.
const salt = (from: number) => Buffer.from(Array.from({ length: 16 }, (_, i) => from + i))
const olga = commitmentOf(salt(0), 'olga')
const head = { logId: '0190a5c4-3c00-7000-8000-000000000001', siteId: 'dc-7' }
const leafFile = (name: string) => readFileSync(new URL(`../fixtures/leaves/${name}.json`, import.meta.url), 'utf8')

const opened: UnsealedIncidentChange = {
  id: 1,
  event_id: '0190a5c4-3c01-7000-8000-000000000002',
  incident_id: 1,
  status: 'open',
  severity: 'high',
  category: 'damage',
  warehouse_id: 1,
  title_commitment: commitmentOf(salt(32), 'Palette gekippt'),
  description_commitment: commitmentOf(salt(48), 'Olga hörte sie fallen'),
  evidence: JSON.stringify([
    { type: 'event', id: '41' },
    { type: 'external', text: commitmentOf(salt(64), 'ask at the gate') },
  ]),
  resolution_commitment: null,
  actor_commitment: olga,
  timestamp_ms: Date.parse('2026-03-02T08:05:00Z'),
}

const resolved: UnsealedIncidentChange = {
  ...opened,
  id: 2,
  event_id: '0190a5c4-3c01-7000-8000-000000000003',
  status: 'resolved',
  severity: null,
  category: null,
  warehouse_id: null,
  title_commitment: null,
  description_commitment: null,
  evidence: null,
  resolution_commitment: commitmentOf(salt(80), 'Regal repariert'),
  timestamp_ms: Date.parse('2026-03-02T09:05:00Z'),
}

const report: UnsealedReport = {
  id: 1,
  event_id: '0190a5c4-3c01-7000-8000-000000000004',
  type: 'compliance',
  from_ms: Date.parse('2026-03-02T00:00:00Z'),
  to_ms: Date.parse('2026-03-03T00:00:00Z'),
  warehouses: '[1,2]',
  log_size: 44,
  log_root: 'ab'.repeat(32),
  sha256: 'cd'.repeat(32),
  size_bytes: 1234,
  actor_commitment: olga,
  created_at_ms: Date.parse('2026-03-03T06:00:00Z'),
}

t.test('leaves of incidents and reports have the bytes and hashes that they have always had', async (t) => {
  const golden: {
    name: string
    kind: 'incident-change' | 'report'
    seq: number
    facts: LeafFacts
    hashes: string[]
  }[] = [
    {
      name: 'incident-open',
      kind: 'incident-change',
      seq: 43,
      facts: incidentFacts(opened),
      hashes: [
        '49720c291ab9f90c0d8508b50fa746a5846fba7fed30c96c9678260e4fd2a065',
        'efb2b9510aa8d7a96f8b737c999ee9be5d60ef842451484f32d507347722761a',
      ],
    },
    {
      name: 'incident-resolved',
      kind: 'incident-change',
      seq: 44,
      facts: incidentFacts(resolved),
      hashes: [
        'fe530eec61c5f20765e910d07b416c898dfe038dff7025a7cab45454d6747414',
        '74b57b0bc2ad96c25a7d70f510307ce7eee559f82b60e2074f78e5f24acc1cd5',
      ],
    },
    {
      name: 'report',
      kind: 'report',
      seq: 45,
      facts: reportFacts(report),
      hashes: [
        '51bffff853e6ac45462d5caf2d6756f22b1dc1b140b3cbac4447e87682986947',
        '24ad5870df1f266a3de244b9d05c730ed8385d526920d1da2ba5f0895edb08b1',
      ],
    },
  ]
  for (const { name, kind, seq, facts, hashes } of golden) {
    const bytes = canonicalJson(leafOf({ v: 1, ...head, kind, seq }, facts))
    t.equal(bytes, leafFile(name), `${name}: the bytes`)
    const found = [sha256(bytes), leafHash(Buffer.from(bytes))].map((hash) => hash.toString('hex'))
    t.strictSame(found, hashes, `${name}: as sha256sum says`)
  }
})

t.test('in version 2 they hold people as commitments of their own', async (t) => {
  const bytesFrom = (from: number) => Buffer.from(Array.from({ length: 32 }, (_, i) => from + i))
  const person = new Person({ id: 1, name: 'olga', instance: 'https://cloud.example.com', salt: bytesFrom(0) })
  const by = (seq: number) => ({ actor_commitment: person.inLeaf({ logId: head.logId, seq }, 'actor') })
  const resolution_commitment = commitmentOf(bytesFrom(128), 'Regal repariert')
  const golden: {
    name: string
    kind: 'incident-change' | 'report'
    seq: number
    facts: LeafFacts
    hashes: string[]
  }[] = [
    {
      name: 'incident-resolved-v2',
      kind: 'incident-change',
      seq: 45,
      facts: incidentFacts({ ...resolved, resolution_commitment, ...by(45) }),
      hashes: [
        'ba0333a57f1f23e6ec8b0c3249abb464fb8cdfc9fddf1f8d44ed014b4dd7034b',
        '7943767205995e491eabef52edcdfd1ee773acba3477159d96681d48aaa65542',
      ],
    },
    {
      name: 'report-v2',
      kind: 'report',
      seq: 46,
      facts: reportFacts({ ...report, ...by(46) }),
      hashes: [
        '01ce61676c48261a069c870cf497ad82c5dc45ff2e7698c2e81418c410273ccf',
        'bde0bf3ce10e382a1214e3ea27fc92e02488a132d8a8b3bdaf0c627d97d46b8e',
      ],
    },
  ]
  for (const { name, kind, seq, facts, hashes } of golden) {
    const bytes = canonicalJson(leafOf({ v: 2, ...head, kind, seq }, facts))
    t.equal(bytes, leafFile(name), `${name}: the bytes`)
    const found = [sha256(bytes), leafHash(Buffer.from(bytes))].map((hash) => hash.toString('hex'))
    t.strictSame(found, hashes, `${name}: as sha256sum says`)
  }
})
