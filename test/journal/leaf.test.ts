import { readFileSync } from 'node:fs'
import t from 'tap'
import { type AuditEntryRow, entryHash, entryJson } from '../../src/journal/audit-hash.ts'
import { digestFacts, type UnsealedDigest } from '../../src/journal/digest-leaf.ts'
import { canonicalJson, leafHash, leafOf, MerkleFrontier, sha256 } from '../../src/log/index.ts'

// Written by hand and hashed with sha256sum; nothing here may be regenerated from the code.
const leafFile = (name: string) => readFileSync(new URL(`../fixtures/leaves/${name}.json`, import.meta.url), 'utf8')
const hashes = [
  'f04c0772e2b7590d08145d1d491be8b4d38bf5412cdc9e3d11f9a9d14b3607a9',
  '1013efdfe4208324080fffc3c37c1286b53e1cdf10b1a2429bb272b92c4ed5ab',
]
const root = '0733127b2895cb67af9e84c120bd220f3748dfebf90ff7948c47fc6fa95524aa'

const reloaded: AuditEntryRow = {
  id: 101,
  timestamp_ms: Date.parse('2026-03-02T08:00:00Z'),
  operator_commitment: null,
  actor_commitment: null,
  action: 'config.reloaded',
  entity: 'config',
  entity_id: null,
  changes: '{"live":["ledger"]}',
  request_id: '0190a5c4-3c01-7000-8000-000000000008',
  address: 'local',
  auth_mode: 'signal',
  log_id: 1,
}
const renamed: AuditEntryRow = {
  id: 102,
  timestamp_ms: Date.parse('2026-03-02T08:00:00.123Z'),
  operator_commitment: '47b4d52daba26270473fb8008d03c372064b720d4f7cce4a15d21d16b1a25eac',
  actor_commitment: 'b531e7b36364ae208c45a9542949370d1ddab1c0184676f9101087e4b100c9b9',
  action: 'slot.updated',
  entity: 'slot',
  entity_id: '7',
  changes: String.raw`{"name":["Ecke \"A\"","Écke\u0001"]}`,
  request_id: null,
  address: '127.0.0.1',
  auth_mode: 'local',
  log_id: 1,
}

t.test('an audit entry has the text and the hash that it has always had', async (t) => {
  for (const [i, entry] of [reloaded, renamed].entries()) {
    t.equal(entryJson(entry), leafFile(`audit-entry-${entry.id}`))
    t.equal(entryHash(entry).toString('hex'), hashes[i])
  }
})

t.test('a leaf of an audit digest has the bytes and hashes that it has always had', async (t) => {
  const tree = new MerkleFrontier()
  for (const entry of [reloaded, renamed]) tree.append(entryHash(entry))
  t.equal(tree.root().toString('hex'), root)
  const digest: UnsealedDigest = {
    id: 2,
    event_id: '0190a5c4-3c01-7000-8000-000000000007',
    from_entry: 101,
    to_entry: 102,
    entries: 2,
    root,
    made_at_ms: Date.parse('2026-03-02T09:00:00Z'),
  }
  const place = { logId: '0190a5c4-3c00-7000-8000-000000000001', siteId: 'dc-7', seq: 49 }
  const bytes = canonicalJson(leafOf({ v: 2, kind: 'audit-digest', ...place }, digestFacts(digest)))
  t.equal(bytes, leafFile('audit-digest-v2'))
  t.equal(sha256(bytes).toString('hex'), 'ba1d2ace1e5816af86cbe6ebdf28d34fd26cf3295b124ce45ce6bb4de677af54')
  t.equal(
    leafHash(Buffer.from(bytes)).toString('hex'),
    '64038e7494b7bc3eedd93b523d3cb307a902b94c53c8fe2e294f7997b20ff106',
  )
})
