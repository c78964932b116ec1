import { readFileSync } from 'node:fs'
import t from 'tap'
import { resolutionFacts } from '../../src/ledger/index.ts'
import { canonicalJson, commitmentOf, leafHash, leafOf, Person, sha256 } from '../../src/log/index.ts'

// The golden leaf was written by the recipe of the fixtures and hashed with sha256sum; it is never made anew.
t.test('the leaf of a resolved dispute has the bytes and hashes that it has always had', async (t) => {
  const salt = (from: number) => Buffer.from(Array.from({ length: 32 }, (_, i) => from + i))
  const head = { v: 2, logId: '0190a5c4-3c00-7000-8000-000000000001', siteId: 'dc-7', seq: 48 } as const
  const olga = new Person({ id: 1, name: 'olga', instance: 'https://cloud.example.com', salt: salt(0) })
  const facts = resolutionFacts({
    id: 1,
    event_id: '0190a5c4-3c01-7000-8000-000000000005',
    dispute_event_id: 42,
    placement_event_id: 41,
    note_commitment: commitmentOf(salt(160), 'Von Hand gezählt'),
    actor_commitment: olga.inLeaf(head, 'actor'),
    timestamp_ms: Date.parse('2026-03-02T09:05:00Z'),
  })
  const json = Buffer.from(canonicalJson(leafOf({ ...head, kind: 'dispute-resolution' }, facts)))
  const golden = new URL('../fixtures/leaves/dispute-resolution-v2.json', import.meta.url)
  t.equal(json.toString('utf8'), readFileSync(golden, 'utf8'))
  t.equal(sha256(json).toString('hex'), '77c0943ef4efda5df15ef1eb3f91cdfd5ab4566a1ea721cc50f9e24c4d00ca23')
  t.equal(leafHash(json).toString('hex'), '941ffa1cc6ef088f157f58b896dee42e2a9de5f7a2c55e94ce49e08b5999e096')
})
