import { readFileSync } from 'node:fs'
import t from 'tap'
import { canonicalJson, leafHash, leafOf, removalFacts, sha256, type UnsealedRemoval } from '../../src/log/index.ts'

const clip: UnsealedRemoval = {
  id: 3,
  event_id: '0190a5c4-3c01-7000-8000-000000000006',
  sha256: 'ab'.repeat(32),
  media_kind: 'clip',
  detection_id: 9,
  cause: 'age',
  policy: 'retention.clips.maxAgeDays: 30',
  removed_at_ms: Date.parse('2026-04-01T08:00:10Z'),
}
const place = { logId: '0190a5c4-3c00-7000-8000-000000000001', siteId: 'dc-7', seq: 48 }

t.test('a leaf of a removal has the bytes and hashes that it has always had', async (t) => {
  const bytes = canonicalJson(leafOf({ v: 2, kind: 'media-removed', ...place }, removalFacts(clip)))
  t.equal(bytes, readFileSync(new URL('../fixtures/leaves/media-removed-v2.json', import.meta.url), 'utf8'))
  t.equal(sha256(bytes).toString('hex'), '640635eaa950d54928db371d784a26c7c41a5a58cb50e359234ac09d661814a5')
  t.equal(
    leafHash(Buffer.from(bytes)).toString('hex'),
    'bfa380787791bf9d606adc92a6203c55e688d733ce6855dd9180a602de75a866',
  )
})

t.test('a photo belongs to no detection, and its leaf says none', async (t) => {
  t.notOk('detectionId' in removalFacts({ ...clip, media_kind: 'photo', detection_id: null }))
})
