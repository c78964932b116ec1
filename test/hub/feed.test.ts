import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { openCheckpoint } from '../support/evidence/checkpoint.ts'
import { checkpointText, commitmentOf, noteOf, type TestLog, testLog } from '../support/evidence/forge.ts'
import { formatVkey, parseVkey } from '../support/evidence/note.ts'
import { floorLeaves, replayed } from '../support/floor-leaves.ts'
import { continuation } from '../support/head-office.ts'
import { feedOf, feedPathOf, partsOf, peaksOf, type TestHub, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)

const other = '0190a5c4-3c00-7000-8000-0000000000ff'
const floorLog = (count = 600, seed = 7): TestLog => testLog({ leaves: floorLeaves({ count, seed }) })

/** Sends the leaves from one size to another. */
const send = (hub: TestHub, token: string, log: TestLog, from: number, end: number, size = end) =>
  hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, end, size) })

async function storedEntries(hub: TestHub): Promise<Buffer> {
  const rows = await hub.rows('SELECT packed FROM entry_bundle ORDER BY n')
  return Buffer.concat(rows.flatMap(({ packed }) => partsOf(packed as Buffer)))
}

t.test('a log that comes in pieces is stored byte for byte, and shows the floor that a replay shows', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(600)
  const token = await hub.enrol(log)
  for (const [from, end] of [
    [0, 1],
    [1, 20],
    [20, 256],
    [256, 300],
    [300, 513],
    [513, 600],
  ] as const) {
    t.match(await send(hub, token, log, from, end), { status: 200, body: { size: end, witnessed: end } })
  }
  const entries = log.leaves.flatMap((leaf) => [Buffer.of(leaf.length >> 8, leaf.length & 255), leaf])
  t.ok((await storedEntries(hub)).equals(Buffer.concat(entries)), 'every byte')
  const truth = replayed(log.leaves)
  const slots = await hub.rows(
    `SELECT slot_id, event_type::text || ' ' || seq || ' ' || asset_key AS is FROM slot_state`,
  )
  t.same(new Map(slots.map(({ slot_id, is }) => [slot_id, is])), truth.slots)
  const assets = await hub.rows(
    `SELECT asset_key, event_type::text || ' ' || seq || ' ' || slot_code AS is FROM asset_position`,
  )
  t.same(new Map(assets.map(({ asset_key, is }) => [asset_key, is])), truth.assets)
  t.same(await hub.rows('SELECT count(*)::int AS n FROM placement'), [{ n: 600 }])
})

t.test('the head office confirms each checkpoint under its own key', async (t) => {
  const hub = await testHub(t, postgres, { hub: { witness: { name: 'hub.example/w1' } } })
  const log = floorLog(20)
  const token = await hub.enrol(log)
  const { body } = await send(hub, token, log, 0, 20)
  const vkey = (await hub.ask('GET', '/witness/logs')).text.split('\n')[0] ?? ''
  const { signed } = openCheckpoint(log.checkpoint() + body.cosignature, [parseVkey(vkey)])
  t.match(signed, [{ vkey: { name: 'hub.example/w1', type: 4 } }])
})

t.test('the same feed sent again changes nothing', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(300)
  const token = await hub.enrol(log)
  await send(hub, token, log, 0, 300)
  const count = () =>
    hub.rows('SELECT (SELECT count(*) FROM placement) AS p, (SELECT sum(width) FROM entry_bundle) AS l')
  const before = await count()
  t.match(await send(hub, token, log, 0, 300), { status: 200, body: { size: 300 } })
  t.match(await send(hub, token, log, 100, 200, 300), { status: 200, body: { size: 300 } }, 'a part of it')
  t.match(await send(hub, token, log, 250, 280), { status: 200, body: { size: 300 } }, 'under an older checkpoint')
  t.same(await count(), before)
})

t.test('a feed that begins too late is told where to go on', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(60)
  const token = await hub.enrol(log)
  await send(hub, token, log, 0, 10)
  const answer = await send(hub, token, log, 20, 60)
  t.equal(answer.status, 409)
  t.same(answer.body, { size: 10 })
})

t.test('leaves may come behind a checkpoint that covers more, and are held against it on the way', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(700)
  const token = await hub.enrol(log)
  t.match(await send(hub, token, log, 0, 100, 700), { status: 200, body: { size: 100, witnessed: 700 } })
  t.match(await send(hub, token, log, 100, 690, 700), { status: 200, body: { size: 690, witnessed: 700 } })
  t.match(await send(hub, token, log, 690, 700, 700), { status: 200, body: { size: 700, witnessed: 700 } })
})

t.test('another byte at a known place is a fork: both are kept, and the log takes no more feeds', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(40)
  const token = await hub.enrol(log)
  await send(hub, token, log, 0, 30)
  const forged = log.leaves.map((leaf, i) => (i === 17 ? Buffer.from(leaf.toString().replace('P-', 'Q-')) : leaf))
  const other = testLog({ leaves: forged })
  const note = noteOf(checkpointText(log.origin, 40, other.tree.root(40)), log.signers)
  const body = { ...feedOf(other, 10, 40), checkpoint: note, before: peaksOf(forged, 10) }
  t.match(await hub.ask('POST', feedPathOf(log), { token, body }), { status: 422, body: { code: 'LOG_FORKED' } })
  const [kept] = await hub.rows('SELECT place, kind, known, sent, sent_note FROM fork_evidence')
  t.match(kept, { place: '18', kind: 'leaf', sent_note: note })
  t.ok(log.leaves[17]?.equals(kept?.['known'] as Buffer) && forged[17]?.equals(kept?.['sent'] as Buffer), 'both leaves')
  t.match(await hub.rows('SELECT type, severity FROM alert'), [{ type: 'log.forked', severity: 'critical' }])
  t.equal((await send(hub, token, log, 30, 40)).status, 422, 'the honest half is refused too')
  t.same(await hub.rows('SELECT size FROM log_head'), [{ size: '30' }], 'nothing of the feed was stored')
})

t.test('another root for a known size, and leaves of another history under a signed root, are forks', async (t) => {
  const log = floorLog(40)
  const other = floorLog(40, 8)
  const rootOf = (of: TestLog, size: number) =>
    noteOf(checkpointText(log.origin, size, of.tree.root(size)), log.signers)
  const cases = {
    'a known size': [{ checkpoint: rootOf(other, 20), from: 20, leaves: [] }, 20],
    'new leaves': [{ ...feedOf(other, 20, 30), checkpoint: rootOf(other, 30), before: peaksOf(other.leaves, 20) }, 30],
    'leaves behind which the log has grown': [
      { ...feedOf(other, 20, 30, 40), checkpoint: rootOf(other, 40), before: peaksOf(other.leaves, 20) },
      40,
    ],
  } as const
  for (const [name, [body, place]] of Object.entries(cases)) {
    const hub = await testHub(t, postgres)
    const token = await hub.enrol(log)
    await send(hub, token, log, 0, 20)
    t.equal((await hub.ask('POST', feedPathOf(log), { token, body })).status, 422, name)
    t.match(await hub.rows('SELECT place, kind, sent_note FROM fork_evidence'), [
      { place: String(place), kind: 'root', sent_note: body.checkpoint },
    ])
  }
})

t.test('whoever has the token but no key of the log cannot end it with leaves that nobody signed', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(40)
  const token = await hub.enrol(log)
  await send(hub, token, log, 0, 30)
  const forged = testLog({ leaves: log.leaves.map((leaf) => Buffer.from(leaf.toString().replace('P-', 'Q-'))) })
  const cases: [string, Record<string, unknown>][] = [
    ['a known leaf under an old checkpoint', { ...feedOf(forged, 0, 20), checkpoint: log.checkpoint(20) }],
    ['the same with what is before', { ...feedOf(forged, 10, 20), checkpoint: log.checkpoint(20) }],
    ['new leaves that do not give the signed root', { ...feedOf(forged, 30, 40), checkpoint: log.checkpoint(40) }],
    ['new leaves behind the newest', { ...feedOf(forged, 30, 35, 40), checkpoint: log.checkpoint(40) }],
  ]
  for (const [name, body] of cases) {
    for (const before of [
      undefined,
      peaksOf(forged.leaves, Number(body['from'])),
      peaksOf(log.leaves, Number(body['from'])),
    ]) {
      t.equal((await hub.ask('POST', feedPathOf(log), { token, body: { ...body, before } })).status, 400, name)
    }
  }
  t.same(await hub.rows('SELECT place FROM fork_evidence'), [])
  t.match(await send(hub, token, log, 30, 40), { status: 200, body: { size: 40 } }, 'the log goes on')
})

t.test('a log ends only for a continuation whose first leaf its key has signed', async (t) => {
  const hub = await testHub(t, postgres)
  const parent = floorLog(20)
  const token = await hub.enrol(parent)
  await send(hub, token, parent, 0, 20)
  const logId = '0190a5c4-3c00-7000-8000-00000000000f'
  const fork = { parentLogId: parent.logId, parentSize: 20, parentRoot: parent.tree.root(20).toString('hex') }
  const first = Buffer.from(JSON.stringify({ v: 2, kind: 'log-fork', siteId: 'dc-7', logId, seq: 1, ...fork }))
  const old = floorLeaves({ logId, count: 5 })
  const child = testLog({ logId, leaves: [first, ...old.slice(1)] })
  // As after a restore: the parent's keys sign, under the new name.
  const keys = child.signers.map(({ vkey }) => formatVkey({ ...parseVkey(vkey), name: parent.origin }))
  await hub.rows('UPDATE log SET vkeys = $1', [keys])
  const note = noteOf(checkpointText(child.origin, 5, testLog({ logId, leaves: old }).tree.root(5)), child.signers)
  const body = { ...feedOf(child, 0, 5), checkpoint: note }
  t.equal((await hub.ask('POST', feedPathOf(child), { token, body })).status, 400, 'over another first leaf')
  const states =
    'SELECT h.state, l.superseded_by FROM log_head h JOIN log l USING (log_id) ORDER BY l.enrolled_at, 1 DESC'
  t.same(await hub.rows(states), [{ state: 'live', superseded_by: null }], 'the parent lives')
  t.match(await send(hub, token, child, 0, 3, 5), { status: 200, body: { size: 3 } })
  t.match(await hub.rows(states), [{ state: 'retired', superseded_by: logId }, { state: 'live' }])
})

t.test('a site cannot go on under the number of a log that another site has', async (t) => {
  const hub = await testHub(t, postgres)
  const [siteId, logId] = ['dc-8', '0190a5c4-3c00-7000-8000-000000000008']
  const other = testLog({ siteId, logId, leaves: floorLeaves({ siteId, logId, count: 5 }) })
  const tokenOfOther = await hub.enrol(other)
  t.equal((await send(hub, tokenOfOther, other, 0, 4)).status, 200)
  const own = floorLog(20)
  const token = await hub.enrol(own)
  await send(hub, token, own, 0, 20)
  const taken = await continuation(hub, own, 20, logId, [['09:00', 'PLACED', 1, 'P-1']])
  t.equal((await send(hub, token, taken, 0, 2)).status, 404)
  const states = `SELECT l.site_id, h.state, l.superseded_by FROM log_head h JOIN log l USING (log_id) ORDER BY l.site_id`
  t.same(await hub.rows(states), [
    { site_id: 'dc-7', state: 'live', superseded_by: null },
    { site_id: 'dc-8', state: 'live', superseded_by: null },
  ])
  t.equal((await send(hub, tokenOfOther, other, 4, 5)).status, 200, 'the other site goes on')
})

/** Feeds that are refused, with their status; the log has 20 leaves at the head office. */
function badFeeds(log: TestLog): [string, number, Record<string, unknown>][] {
  const stranger = testLog({ leaves: log.leaves })
  const ofOther = floorLeaves({ logId: '0190a5c4-3c00-7000-8000-00000000000f', count: 30 })
  const good = feedOf(log, 20, 30)
  const asBase64 = (leaves: readonly Buffer[]) => leaves.map((leaf) => leaf.toString('base64'))
  return [
    ['signed by another key', 403, { ...good, checkpoint: stranger.checkpoint(30) }],
    ['a note without a signature', 400, { ...good, checkpoint: checkpointText(log.origin, 30, log.tree.root(30)) }],
    ['a leaf of another log', 400, { ...good, leaves: asBase64(ofOther.slice(20, 30)) }],
    ['leaves in another order', 400, { ...good, leaves: asBase64(log.leaves.slice(20, 30).toReversed()) }],
    ['a leaf of another site', 400, { ...good, leaves: asBase64(floorLeaves({ siteId: 'dc-8' }).slice(20, 30)) }],
    ['a leaf that is no JSON', 400, { ...good, leaves: asBase64([Buffer.from('{')]) }],
    ['more leaves than the checkpoint covers', 400, { ...good, checkpoint: log.checkpoint(25) }],
    ['a checkpoint ahead without a proof', 400, { ...good, checkpoint: log.checkpoint(40) }],
    [
      'a proof from another size',
      400,
      { ...feedOf(log, 20, 30, 40), consistency: feedOf(log, 20, 29, 40)['consistency'] },
    ],
    ['a negative place', 400, { ...good, from: -1 }],
    ['too many leaves', 400, { ...good, leaves: Array.from({ length: 1025 }, () => 'e30=') }],
    [
      'an opening that opens nothing',
      400,
      { ...good, openings: [{ commitment: '0'.repeat(64), salt: 'AAAA', text: 'x' }] },
    ],
  ]
}

t.test('a feed that is wrong is refused, and nothing of it is stored', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(40)
  const token = await hub.enrol(log)
  await send(hub, token, log, 0, 20)
  for (const [name, status, body] of badFeeds(log)) {
    t.equal((await hub.ask('POST', feedPathOf(log), { token, body })).status, status, name)
  }
  const body = feedOf(log, 20, 30)
  t.equal((await hub.ask('POST', feedPathOf(log), { body })).status, 401, 'no token')
  t.equal((await hub.ask('POST', feedPathOf(log), { token: 'guessed', body })).status, 401, 'another token')
  const unknown = feedPathOf({ logId: '0190a5c4-3c00-7000-8000-00000000000f' })
  const elsewhere = testLog({ logId: '0190a5c4-3c00-7000-8000-00000000000f', size: 3 })
  t.equal((await hub.ask('POST', unknown, { token, body: feedOf(elsewhere, 0, 3) })).status, 404, 'an unknown log')
  t.same(await hub.rows('SELECT size, state FROM log_head'), [{ size: '20', state: 'live' }])
})

/** Feeds with wrong sizes, signed by the log itself; it has 20 leaves at the head office. */
function lyingFeeds(log: TestLog): [string, Record<string, unknown>][] {
  const good = feedOf(log, 20, 30)
  const claims = (size: string) =>
    noteOf(`${log.origin}\n${size}\n${log.tree.root(30).toString('base64')}\n`, log.signers)
  const hashes = (count: number) => Array.from({ length: count }, () => Buffer.alloc(32, 7).toString('base64'))
  const largest = Number.MAX_SAFE_INTEGER
  return [
    ['a place beyond every log', { ...good, from: largest }],
    ['a place that is no number of leaves', { ...good, from: 20.5 }],
    ['a checkpoint of more leaves than anybody can have', { ...good, checkpoint: claims('9223372036854775807') }],
    [
      'a checkpoint of the largest size, with the longest proof',
      { ...good, checkpoint: claims(`${largest}`), consistency: hashes(126) },
    ],
    ['a longer proof than any', { ...good, checkpoint: claims('31'), consistency: hashes(127) }],
    ['a size with zeros in front', { ...good, checkpoint: claims('030') }],
    ['more peaks before the leaves than their number has', { ...good, before: hashes(9) }],
    ['a leaf that no entry bundle can count', { ...good, leaves: [Buffer.alloc(65_536, ' ').toString('base64')] }],
    ['no leaves behind a place that is not there', { ...good, from: 29, leaves: [], checkpoint: claims('28') }],
  ]
}

t.test('a feed whose sizes lie, or whose bytes are cut or no JSON, is refused, and the log goes on', async (t) => {
  const hub = await testHub(t, postgres, { hub: { openings: 'names' } })
  const log = floorLog(40)
  const token = await hub.enrol(log)
  await send(hub, token, log, 0, 20)
  const post = async (ask: object) => (await hub.ask('POST', feedPathOf(log), { token, ...ask })).status
  for (const [name, body] of lyingFeeds(log)) t.equal(await post({ body }), 400, name)
  const whole = gzipSync(JSON.stringify(feedOf(log, 20, 30)))
  const bodies = {
    'cut in the middle': whole.subarray(0, whole.length / 2),
    'cut before its last byte': whole.subarray(0, -1),
    'not packed': Buffer.from(JSON.stringify(feedOf(log, 20, 30))),
    'a hundred thousand lists in each other': gzipSync(`${'['.repeat(100_000)}${']'.repeat(100_000)}`),
    'no JSON': gzipSync('leaves'),
    empty: Buffer.alloc(0),
  }
  for (const [name, bytes] of Object.entries(bodies)) t.equal(await post({ bytes }), 400, name)
  t.same(await hub.rows('SELECT size, state, named_to FROM log_head'), [{ size: '20', state: 'live', named_to: '0' }])
  const names = { from: 0, end: Number.MAX_SAFE_INTEGER }
  const answer = await hub.ask('POST', feedPathOf(log), { token, body: { ...feedOf(log, 20, 30), names } })
  t.match([answer.status, answer.body], [200, { size: 30, named: 0 }], 'names of leaves that never came are not there')
})

t.test('a body that unpacks to gigabytes is refused with little memory', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(20)
  const token = await hub.enrol(log)
  // 1 GiB of blanks in 1 MiB of gzip: members one behind the other are one stream.
  const bytes = Buffer.concat(Array.from({ length: 64 }, () => gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '))))
  const before = process.memoryUsage().arrayBuffers
  const answer = await hub.ask('POST', feedPathOf(log), { token, bytes })
  t.equal(answer.status, 413)
  const little = gzipSync(Buffer.alloc(5 * 1024 * 1024, ' '))
  t.equal((await hub.ask('POST', feedPathOf(log), { token, bytes: little })).status, 413, 'one MiB too much')
  t.ok(process.memoryUsage().arrayBuffers - before < 32 * 1024 * 1024, 'memory is bounded')
})

t.test('two feeds of one log at once: one is told to come again, and no leaf is stored twice', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(600)
  const token = await hub.enrol(log)
  await send(hub, token, log, 0, 1)
  const answers = await Promise.all(Array.from({ length: 6 }, () => send(hub, token, log, 1, 600)))
  const statuses = new Set(answers.map(({ status }) => status))
  t.ok(
    [...statuses].every((status) => status === 200 || status === 503),
    [...statuses].join(),
  )
  for (const { status, headers } of answers) if (status === 503) t.equal(headers.get('retry-after'), '1')
  t.same(await hub.rows('SELECT count(*)::int AS n FROM placement'), [{ n: 600 }])
})

/** Opening of a person's name. */
const nameOf = (salt: number, text: string, person: number) => ({
  ...{ commitment: commitmentOf(Buffer.of(salt), text), salt: Buffer.of(salt).toString('base64'), text, person },
})

t.test('names are stored only where the head office says so, and an erased name never comes back', async (t) => {
  const log = floorLog(20)
  const text = 'dana@https://cloud.example.com'
  const commitment = commitmentOf(Buffer.of(0, 1, 2, 3), text)
  const openings = [{ commitment, salt: 'AAECAw==', text }]
  const fedWith = async (mode: 'never' | 'names', bodies: Record<string, unknown>[]) => {
    const hub = await testHub(t, postgres, { hub: { openings: mode } })
    const token = await hub.enrol(log)
    for (const more of bodies) {
      const body = { ...feedOf(log, 0, 20), ...more }
      t.match(await hub.ask('POST', feedPathOf(log), { token, body }), { status: 200, body: { openings: mode } })
    }
    return hub.rows('SELECT value, erased_at IS NOT NULL AS erased FROM opening')
  }
  t.same(await fedWith('never', [{ openings }]), [])
  t.same(await fedWith('names', [{ openings }]), [{ value: text, erased: false }])
  t.same(await fedWith('names', [{ openings }, { erased: [commitment] }, { openings }]), [
    { value: null, erased: true },
  ])
  t.same(await fedWith('names', [{ erased: [commitment] }, { openings }]), [{ value: null, erased: true }])
})

t.test('a person who was erased at the gateway has no name here, whatever comes before or after', async (t) => {
  const log = floorLog(20)
  const [first, later, other] = [nameOf(1, 'dana', 4), nameOf(2, 'dana', 4), nameOf(3, 'ivo', 5)]
  const hub = await testHub(t, postgres, { hub: { openings: 'names' } })
  const token = await hub.enrol(log)
  const fed = async (more: Record<string, unknown>) =>
    (await hub.ask('POST', feedPathOf(log), { token, body: { ...feedOf(log, 0, 20), ...more } })).body
  const stored = () => hub.rows('SELECT value, person_id::int FROM opening ORDER BY value NULLS LAST')
  t.match(await fed({ openings: [first, other], names: { from: 0, end: 10 } }), { named: 10 })
  t.same(await stored(), [
    { value: 'dana', person_id: 4 },
    { value: 'ivo', person_id: 5 },
  ])
  await fed({ erasedPeople: [4] })
  t.same(await stored(), [
    { value: 'ivo', person_id: 5 },
    { value: null, person_id: null },
  ])
  await fed({ openings: [first, later], names: { from: 10, end: 20 } })
  t.same(await stored(), [
    { value: 'ivo', person_id: 5 },
    { value: null, person_id: null },
    { value: null, person_id: null },
  ])
  t.match(await fed({ openings: [], names: { from: 25, end: 30 } }), { named: 20 }, 'a gap is not taken for names')
})

t.test('an erasure reaches the logs that a restored gateway left behind', async (t) => {
  const hub = await testHub(t, postgres, { hub: { openings: 'names' } })
  const parent = floorLog(20)
  const token = await hub.enrol(parent)
  const opening = { commitment: commitmentOf(Buffer.of(1), 'dana'), salt: 'AQ==', text: 'dana', person: 4 }
  await hub.ask('POST', feedPathOf(parent), { token, body: { ...feedOf(parent, 0, 20), openings: [opening] } })
  const child = await continuation(hub, parent, 20, '0190a5c4-3c00-7000-8000-00000000000f', [
    ['09:00', 'PLACED', 1, 'P-1'],
  ])
  const body = { ...feedOf(child, 0, 2), erasedPeople: [4] }
  t.equal((await hub.ask('POST', feedPathOf(child), { token, body })).status, 200)
  t.same(await hub.rows('SELECT value FROM opening'), [{ value: null }])
})

t.test('an erasure reaches a log that shows two histories, before and after it takes no more feeds', async (t) => {
  const hub = await testHub(t, postgres, { hub: { openings: 'names' } })
  const log = floorLog(20)
  const token = await hub.enrol(log)
  const fed = async (body: Record<string, unknown>) => (await hub.ask('POST', feedPathOf(log), { token, body })).status
  const names = () => hub.rows('SELECT value FROM opening WHERE value IS NOT NULL ORDER BY value')
  const openings = [nameOf(1, 'dana', 4), nameOf(2, 'ivo', 5), nameOf(3, 'kai', 6)]
  t.equal(await fed({ ...feedOf(log, 0, 20), openings }), 200)
  const other = noteOf(checkpointText(log.origin, 20, floorLog(20, 8).tree.root(20)), log.signers)
  t.equal(await fed({ checkpoint: other, from: 20, leaves: [], erasedPeople: [4] }), 422)
  t.same(await names(), [{ value: 'ivo' }, { value: 'kai' }])
  t.equal(await fed({ ...feedOf(log, 20, 20), erasedPeople: [5] }), 422)
  t.same(await names(), [{ value: 'kai' }])
  const strange = testLog({ leaves: log.leaves }).checkpoint()
  t.equal(await fed({ checkpoint: strange, from: 20, leaves: [], erasedPeople: [6] }), 403)
  t.same(await names(), [{ value: 'kai' }], 'nobody else erases')
})

t.test('names behind a fork end with it, and a number means the same person in every log', async (t) => {
  const hub = await testHub(t, postgres, { hub: { openings: 'names' } })
  const people = new Map([
    [299, nameOf(1, 'dana', 50)],
    [300, nameOf(2, 'ivo', 51)],
    [590, nameOf(3, 'ivo', 51)],
  ])
  const leaves = floorLeaves({ count: 600 }).map((leaf, i) => {
    const operator = people.get(i)?.commitment
    return operator ? Buffer.from(JSON.stringify({ ...JSON.parse(leaf.toString()), operator })) : leaf
  })
  const parent = testLog({ leaves })
  const token = await hub.enrol(parent)
  const fed = async (log: TestLog, end: number, more: Record<string, unknown>) =>
    (await hub.ask('POST', feedPathOf(log), { token, body: { ...feedOf(log, 0, end), ...more } })).status
  const kept = async () => {
    const rows = await hub.rows('SELECT value, person_id::int AS n FROM opening WHERE salt IS NOT NULL ORDER BY value')
    return rows.map(({ value, n }) => `${value} ${n}`)
  }
  t.equal(await fed(parent, 600, { openings: [...people.values()] }), 200)
  const restored = (end: string) =>
    continuation(hub, parent, 300, `0190a5c4-3c00-7000-8000-00000000000${end}`, [['09:00', 'PLACED', 1, 'P-1']])
  const first = await restored('e')
  t.equal(await fed(first, 2, { openings: [nameOf(4, 'nora', 51), nameOf(5, 'dana', 50)] }), 200)
  t.same(await kept(), ['dana 50', 'dana 50', 'nora 51'], 'the first 51 is gone')
  const gone = 'SELECT count(*)::int AS n FROM opening WHERE erased_at IS NOT NULL AND person_id IS NULL'
  t.same(await hub.rows(gone), [{ n: 2 }])
  const second = await restored('f')
  t.equal(await fed(second, 2, { openings: [nameOf(6, 'otto', 51)] }), 200)
  t.same(await kept(), ['dana 50', 'otto 51'], 'with the branch its names are gone')
  t.equal(await fed(second, 2, { erasedPeople: [51] }), 200)
  t.same(await kept(), ['dana 50'])
  t.equal(await fed(second, 2, { erasedPeople: [50] }), 200)
  t.same(await kept(), [], 'before the fork it is the same person')
})

t.test('what is printed on assets follows the newest snapshot', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(20)
  const token = await hub.enrol(log)
  for (const [version, lot] of [
    [5, 'L-1'],
    [7, 'L-2'],
    [6, 'L-3'],
  ] as const) {
    const snapshot = { version, assets: [{ key: 'P-1', gtin: '09521234543213', lot, bestBefore: '2026-12-31' }] }
    t.match(await hub.ask('POST', feedPathOf(log), { token, body: { ...feedOf(log, 0, 20), snapshot } }), {
      status: 200,
    })
  }
  t.same(await hub.rows('SELECT gtin, lot, best_before::text FROM asset'), [
    { gtin: '09521234543213', lot: 'L-2', best_before: '2026-12-31' },
  ])
})

t.test('rows of a snapshot that say what is stored already are not written again', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(20)
  const token = await hub.enrol(log)
  const slot = { id: 1, code: 'A-01', zone: null, warehouse: 'Hall', isRetired: false }
  const asset = { key: 'P-1', gtin: '09521234543213', lot: null, bestBefore: '2026-12-31' }
  const send = async (version: number, more = {}, ofSlot = {}) => {
    const snapshot = { version, assets: [{ ...asset, ...more }], slots: [{ ...slot, ...ofSlot }] }
    t.match(await hub.ask('POST', feedPathOf(log), { token, body: { ...feedOf(log, 0, 20), snapshot } }), {
      status: 200,
    })
  }
  /** The transactions that have written the rows. */
  const written = async () =>
    (await hub.rows('SELECT a.xmin::text AS asset, s.xmin::text AS slot FROM asset a, slot s'))[0]
  await send(1)
  const first = await written()
  await send(2)
  t.same(await written(), first)
  for (const more of [{ lot: 'L-1' }, { lot: 'L-1', bestBefore: null }, { lot: 'L-1', bestBefore: null, sscc: '1' }]) {
    const before = await written()
    await send(3, more)
    t.not((await written())?.['asset'], before?.['asset'], JSON.stringify(more))
    t.equal((await written())?.['slot'], first?.['slot'])
  }
  for (const ofSlot of [{ zone: 'S' }, { zone: 'S', isRetired: true }, { zone: 'S', warehouse: null }]) {
    const before = await written()
    await send(4, {}, ofSlot)
    t.not((await written())?.['slot'], before?.['slot'], JSON.stringify(ofSlot))
  }
})

t.test(
  'a gateway of another version feeds too: what is not known is kept byte for byte, and stops nothing',
  async (t) => {
    const hub = await testHub(t, postgres)
    const logId = '0190a5c4-3c00-7000-8000-0000000000aa'
    const known = { siteId: 'dc-7', logId, slotId: 1, slotCode: 'A-01', timestamp: '2026-03-02T08:00:00.000Z' }
    const leaves = [
      { v: 3, kind: 'placement', seq: 1, ...known, eventType: 'PLACED', assetKey: 'P-1', robot: { id: 4 } },
      { v: 9, kind: 'drone-flight', seq: 2, siteId: 'dc-7', logId, path: [[1, 2]] },
      { v: 3, kind: 'placement', seq: 3, ...known, eventType: 'HELD', assetKey: 'P-1' },
      { v: 3, kind: 'unit-history', seq: 4, siteId: 'dc-7', logId, unit: 'U-1' },
      { kind: 'placement', seq: 5, ...known, slotId: 2, slotCode: 'A-02', eventType: 'PLACED', assetKey: 'P-2' },
      { v: 3, kind: 'placement', seq: 6, ...known, eventType: 'constructor', assetKey: 'P-1' },
      { v: 3, kind: 'placement', seq: 7, ...known, eventType: 'PLACED', assetKey: randomBytes(4000).toString('hex') },
    ].map((leaf) => Buffer.from(JSON.stringify(leaf)))
    const log = testLog({ siteId: 'dc-7', logId, leaves })
    const token = await hub.enrol(log)
    const asset = { key: 'P-1', gtin: '09521234543213', lot: 'L-1', colour: 'red' }
    const newer = { snapshot: { version: 1, assets: [asset], robots: [4] }, robots: [{ id: 4 }], protocol: 2 }
    const fed = await hub.ask('POST', feedPathOf(log), { token, body: { ...feedOf(log, 0, 4), ...newer } })
    t.match(fed, { status: 200, body: { size: 4 } })
    const { checkpoint, from, leaves: sent } = feedOf(log, 4, 7)
    const older = await hub.ask('POST', feedPathOf(log), { token, body: { checkpoint, from, leaves: sent } })
    t.match(older, { status: 200, body: { size: 7 } }, 'of before snapshots, names and figures')
    const entries = leaves.flatMap((leaf) => [Buffer.of(leaf.length >> 8, leaf.length & 255), leaf])
    t.ok((await storedEntries(hub)).equals(Buffer.concat(entries)))
    t.match(await hub.rows('SELECT slot_code, event_type::text AS is, asset_key FROM slot_state ORDER BY slot_id'), [
      { slot_code: 'A-01', is: 'P', asset_key: 'P-1' },
      { slot_code: 'A-02', is: 'P', asset_key: 'P-2' },
    ])
    t.match(await hub.rows('SELECT lot FROM asset'), [{ lot: 'L-1' }])
    const v2 = await hub.ask('POST', feedPathOf(log).replace('/v1/', '/v2/'), { token, body: feedOf(log, 4, 5) })
    t.match(v2, { status: 404, body: { error: { code: 'NOT_FOUND' } } }, 'a feed of another form has another path')
  },
)

t.test('a feed is acknowledged only when the database has committed it', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(20)
  const token = await hub.enrol(log)
  t.match(await send(hub, token, log, 0, 10), { status: 200, body: { size: 10 } })
  // It fails at COMMIT, after every statement of the feed was taken in.
  await hub.rows(`CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$`)
  await hub.rows(`CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON placement DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION fails()`)
  t.match(await send(hub, token, log, 10, 20), { status: 503, body: { error: { code: 'STORAGE_FULL' } } })
  t.match(await hub.rows('SELECT size FROM log_head'), [{ size: '10' }])
  await hub.rows('DROP TRIGGER at_commit ON placement')
  t.match(await send(hub, token, log, 10, 20), { status: 200, body: { size: 20 } })
})

t.test('what a gateway says of itself is cut to size, and stops no feed', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(20)
  const token = await hub.enrol(log)
  const trouble = { component: 'disk', kind: 'full', message: 'm'.repeat(600), since: '2026-03-02T08:00:00.000Z' }
  const status = {
    ...{ version: { tag: 'meta' }, health: 'splendid', fleet: [], more: 'x'.repeat(100_000) },
    troubles: [null, ...Array.from({ length: 30 }, () => trouble)],
  }
  const body = { ...feedOf(log, 0, 20), status }
  t.equal((await hub.ask('POST', feedPathOf(log), { token, body })).status, 200)
  const troubles = Array.from({ length: 19 }, () => ({ ...trouble, message: 'm'.repeat(500) }))
  t.same(await hub.rows('SELECT status FROM log_head'), [
    { status: { version: null, health: null, fleet: null, troubles } },
  ])
})

t.test('texts that the database cannot hold stop no feed', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(20)
  const token = await hub.enrol(log)
  const since = '2026-03-02T08:00:00.000Z'
  const trouble = { component: 'disk', kind: 'full', message: 'no disk', since }
  const messages = [`${'x'.repeat(499)}\u{1F600}`, 'a\0b', '\ud83d', 'Halle Süd \u{1F600}']
  const status = {
    ...{ version: '1.0\0', health: 'healthy', fleet: null },
    troubles: [
      ...messages.map((message) => ({ ...trouble, message })),
      { ...trouble, component: '\0', kind: '\ud83d' },
    ],
  }
  const slot = { id: 1, code: 'A\0', zone: '\ud83d', warehouse: 'x\0', isRetired: false }
  const asset = { key: 'P\0', gtin: '\0', lot: '\ud83d', serial: 'a\0b', sscc: null, bestBefore: '0000-12-31' }
  const assets = [asset, ...['\ud83d', '\ud83e'].map((key) => ({ key }))]
  const body = { ...feedOf(log, 0, 20), status, snapshot: { version: 1, slots: [slot], assets } }
  t.match(await hub.ask('POST', feedPathOf(log), { token, body }), { status: 200, body: { size: 20 } })
  const said = await hub.rows(
    `SELECT t.one ->> 'message' AS message FROM log_head, jsonb_array_elements(status -> 'troubles') t (one)`,
  )
  t.same(
    said.map(({ message }) => message),
    [`${'x'.repeat(499)}\ufffd`, 'ab', '\ufffd', 'Halle Süd \u{1F600}', 'no disk'],
  )
  t.same(await hub.rows('SELECT slot_code, zone, warehouse FROM slot'), [
    { slot_code: 'A', zone: '\ufffd', warehouse: 'x' },
  ])
  t.same(await hub.rows('SELECT asset_key, lot, serial, best_before FROM asset ORDER BY asset_key'), [
    { asset_key: 'P', lot: '\ufffd', serial: 'ab', best_before: null },
    { asset_key: '\ufffd', lot: null, serial: null, best_before: null },
  ])
})

t.test('a leaf with texts that the database cannot hold is kept and shown nowhere', async (t) => {
  const hub = await testHub(t, postgres)
  const { siteId, logId } = floorLog(1)
  const at = { siteId, logId, v: 2, timestamp: '2026-03-02T08:00:00.000Z' }
  const event = { ...at, kind: 'placement', eventType: 'PLACED', slotId: 1, slotCode: 'A' }
  const facts = [
    ...['\0', '\ud83d', '\ud83e', 'P-1'].map((assetKey) => ({ ...event, assetKey })),
    { ...at, kind: 'unit-history', unitId: '\ud83d', status: 'active', toStage: 'x' },
  ]
  const log = testLog({ leaves: facts.map((one, i) => Buffer.from(JSON.stringify({ ...one, seq: i + 1 }))) })
  const token = await hub.enrol(log)
  t.match(await send(hub, token, log, 0, 5), { status: 200, body: { size: 5 } })
  t.same(await hub.rows('SELECT asset_key FROM placement'), [{ asset_key: 'P-1' }])
  const fork = {
    ...at,
    kind: 'log-fork',
    seq: 1,
    logId: other,
    parentLogId: 'no number',
    parentSize: 1,
    parentRoot: 'x',
  }
  const child = testLog({ siteId, logId: other, leaves: [Buffer.from(JSON.stringify(fork))] })
  t.equal((await send(hub, token, child, 0, 1)).status, 404, 'a log that continues none')
})

t.test('a config of more sections than any gateway has is not stored', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(20)
  const token = await hub.enrol(log)
  const stored = async (sections: number) => {
    const names = Array.from({ length: sections }, (_, i) => [`s${i}`, 'a'.repeat(16)])
    const fleet = {
      ...{ openAlerts: 0, cameras: { configured: 0, withoutPictures: 0 }, freeBytes: 1, certificateUntil: null },
      ...{ backupAt: null, rehearsedAt: null, configHash: 'a'.repeat(64), configSections: Object.fromEntries(names) },
    }
    const body = { ...feedOf(log, 0, 20), status: { version: '1', health: 'healthy', troubles: [], fleet } }
    t.equal((await hub.ask('POST', feedPathOf(log), { token, body })).status, 200)
    const [row] = await hub.rows(`SELECT status ->> 'version' AS version, status -> 'fleet' AS fleet FROM log_head`)
    return row
  }
  t.match(await stored(64), { version: '1', fleet: { configSections: { s63: /a/ } } })
  t.same(await stored(65), { version: '1', fleet: null })
})

t.test('a killed database costs nothing that was acknowledged, and the feed goes on by itself', async (t) => {
  const hub = await testHub(t, postgres)
  const log = floorLog(300)
  const token = await hub.enrol(log)
  await send(hub, token, log, 0, 100)
  await postgres.kill()
  const refused = await send(hub, token, log, 100, 200)
  t.equal(refused.status, 503)
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  await postgres.start()
  t.match(await send(hub, token, log, 100, 200), { status: 200, body: { size: 200 } })
  t.same(await hub.rows('SELECT count(*)::int AS n FROM placement'), [{ n: 200 }])
})
