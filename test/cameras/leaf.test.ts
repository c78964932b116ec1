import { readFileSync } from 'node:fs'
import t from 'tap'
import { detectionFacts, type UnsealedDetection } from '../../src/cameras/detections/leaf.ts'
import { gapFacts, type UnsealedGap } from '../../src/cameras/gaps/leaf.ts'
import { canonicalJson, leafHash, leafOf, sha256 } from '../../src/log/index.ts'

const lost: UnsealedDetection = {
  row: 1,
  id: 9,
  event_id: '0190a5c4-3c01-7000-8000-000000000005',
  cctv_id: 7,
  timestamp_ms: Date.parse('2026-03-02T08:00:00Z'),
  score: 0.25,
  scene_change: 0,
  clip_status: 'lost',
  reason: 'the disk was full',
  clip_sha256: null,
  snapshot_sha256: null,
  clip_start_ms: null,
  clip_end_ms: null,
  pre_roll_seconds: null,
  duration_seconds: null,
  asked_pre_roll_seconds: null,
  clip_pictures: null,
  longest_gap_seconds: null,
  clip_original: null,
  closed_by: null,
  event_ids: null,
  triggered_by: null,
  kinds: null,
  recorded_at_ms: Date.parse('2026-03-02T08:00:09Z'),
}

t.test('a leaf of a detection has the bytes and hashes that it has always had', async (t) => {
  const place = { logId: '0190a5c4-3c00-7000-8000-000000000001', siteId: 'dc-7', seq: 47 }
  const bytes = canonicalJson(leafOf({ v: 2, kind: 'detection', ...place }, detectionFacts(lost)))
  t.equal(bytes, readFileSync(new URL('../fixtures/leaves/detection-v2.json', import.meta.url), 'utf8'))
  t.equal(sha256(bytes).toString('hex'), '0cc035f87da6b723103f2a2d60642eb30f12acfc8a8c106126818bfd8246f2ee')
  t.equal(
    leafHash(Buffer.from(bytes)).toString('hex'),
    'e0ba2ae3e4714e0e3fa651c5bd54995b627295e48074980fbe915c4bde14bed9',
  )
})

t.test('a leaf of a gap has the bytes and hashes that it has always had', async (t) => {
  const gap: UnsealedGap = {
    id: 3,
    event_id: '0190a5c4-3c01-7000-8000-000000000006',
    cctv_id: 7,
    from_ms: Date.parse('2026-03-02T08:00:00Z'),
    to_ms: Date.parse('2026-03-02T08:04:09.250Z'),
    cause: 'offline',
    detail: 'Nothing answers at the address of the camera.',
    recorded_at_ms: Date.parse('2026-03-02T08:04:10Z'),
  }
  const place = { logId: '0190a5c4-3c00-7000-8000-000000000001', siteId: 'dc-7', seq: 48 }
  const bytes = canonicalJson(leafOf({ v: 2, kind: 'camera-gap', ...place }, gapFacts(gap)))
  t.equal(bytes, readFileSync(new URL('../fixtures/leaves/camera-gap-v2.json', import.meta.url), 'utf8'))
  t.equal(sha256(bytes).toString('hex'), 'ea8a691250303af516b292e8f22a48d5bc3b57a9534e4b448070da0edaf5febf')
  t.equal(
    leafHash(Buffer.from(bytes)).toString('hex'),
    '8a75ce2fede81f1ef6c065b8b33151b2ad866bd020d872019ea0d9df9fe73288',
  )
  t.notOk('detail' in gapFacts({ ...gap, detail: null }))
})

t.test('the leaf of what the analytics of a camera found says so, and what they named', async (t) => {
  const facts = detectionFacts({ ...lost, triggered_by: 'camera', kinds: '["person","line"]' })
  t.match(facts, { trigger: 'camera', kinds: ['person', 'line'] })
  t.strictSame(detectionFacts({ ...lost, kinds: '["person"]' }), { ...detectionFacts(lost), kinds: ['person'] })
})

t.test('the leaf of a film names the events that it was made for; that of motion has no such key', async (t) => {
  const place = { logId: '0190a5c4-3c00-7000-8000-000000000001', siteId: 'dc-7', seq: 47 }
  const film = { ...lost, score: 0, event_ids: '[12,13]' }
  const bytes = canonicalJson(leafOf({ v: 2, kind: 'detection', ...place }, detectionFacts(film)))
  t.equal(bytes, readFileSync(new URL('../fixtures/leaves/detection-film-v2.json', import.meta.url), 'utf8'))
  t.equal(sha256(bytes).toString('hex'), '42907d3be5e118d27894dc882343cdbb9e907ae3cd6f2225fda498b76ce81a92')
})
