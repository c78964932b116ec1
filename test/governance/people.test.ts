import { createHash, createHmac } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { reportFacts } from '../../src/governance/index.ts'
import { canonicalJson, leafHash, leafOf } from '../../src/log/index.ts'
import { byCloud, cloudFor, cloudUsers, inFile } from '../support/cloud.ts'
import { cheapHash, furnish, people, siteUrl, type TestGateway, testGateway, tinyPng } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const local = [...Object.values(people), { username: 'selma', role: 'supervisor' }]

/** A yard with two supervisors called selma: one of the config, one of the company's server. */
async function twoSelmas(t: { teardown(work: () => unknown): void }) {
  const users = local.map(({ username, role }) => ({ username, role, secretHash: cheapHash(`${username}-secret`) }))
  const groupRoles = { 'wh-operators': 'operator', 'wh-supervisors': 'supervisor' }
  const { server, gateway } = await cloudFor(t, { server: { users: cloudUsers() }, auth: { users, groupRoles } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  const ours = { by: { username: 'selma', role: 'supervisor' } as const }
  const theirs = byCloud(server, 'selma')
  return { gateway, ours, theirs, oursIs: `selma@${siteUrl}`, theirsIs: `selma@${server.url}`, cloud: server.url }
}

const removal = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
const get = async (gateway: TestGateway, path: string) => (await gateway.ask('GET', path, { by: people.sven })).body
const ids = async (gateway: TestGateway, path: string): Promise<number[]> =>
  (await get(gateway, path)).data.map(({ id }: { id: number }) => id)

t.test('two people of one name at two instances are two people, and the audit trail says which', async (t) => {
  const { gateway, ours, theirs, oursIs, theirsIs, cloud } = await twoSelmas(t)
  const post = (ask: object, more: object = {}) =>
    gateway.ask('POST', '/api/whms/events', { ...ask, body: { ...removal, ...more } })
  t.match(await post(ours), { status: 201, body: { id: 1, operator: 'selma', actor: 'selma' } })
  t.match(await post(theirs), { status: 201, body: { id: 2, operator: 'selma', actor: 'selma' } })
  t.match(await post({ by: people.olga }, { operator: 'selma' }), { status: 201, body: { id: 3, operator: 'selma' } })

  const entries = (await get(gateway, '/api/governance/audit?entity=event')).data
  t.match(entries, [
    { entityId: '3', operator: 'selma', actor: 'olga', instance: siteUrl },
    { entityId: '2', operator: 'selma', actor: 'selma', instance: cloud },
    { entityId: '1', operator: 'selma', actor: 'selma', instance: siteUrl },
  ])
  const of = (who: string) => `operator=${encodeURIComponent(who)}`
  t.strictSame(await ids(gateway, `/api/whms/events?${of('selma')}`), [3, 2, 1], 'a name is everybody of that name')
  t.strictSame(await ids(gateway, `/api/whms/events?${of(oursIs)}`), [3, 1], 'and who was only named may be either')
  t.strictSame(await ids(gateway, `/api/whms/events?${of(theirsIs)}`), [3, 2])
  t.strictSame(await ids(gateway, `/api/whms/events?${of(theirsIs)}&slot_code=A`), [3, 2], 'also as a second filter')
  t.strictSame(await ids(gateway, `/api/whms/events?${of('selma@https://nowhere.example')}`), [3])
  const audited = async (who: string) =>
    (await get(gateway, `/api/governance/audit?entity=event&${of(who)}`)).data.map(
      (entry: { entityId: string }) => entry.entityId,
    )
  t.strictSame(await audited('selma'), ['3', '2', '1'])
  t.strictSame(await audited(theirsIs), ['3', '2'])
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, mismatches: { length: 0 } })
})

t.test('one of them may verify what the other placed; whoever is only named counts as both', async (t) => {
  const { gateway, ours, theirs } = await twoSelmas(t)
  const photo_url = 'https://photos.example/1.jpg'
  const post = async (ask: object, body: object) => {
    const { status, body: answer } = await gateway.ask('POST', '/api/whms/events', { ...ask, body })
    t.equal(status, 201)
    gateway.clock.advance(1000)
    return answer.warnings.map(({ code }: { code: string }) => code).includes('SELF_VERIFIED')
  }
  const placed = { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url }
  const verified = { ...placed, event_type: 'VERIFIED', photo_url: undefined }
  await post(ours, placed)
  t.equal(await post(theirs, verified), false)
  t.equal(await post(ours, verified), true)
  await post({ by: people.olga }, { ...placed, slot_code: 'B', operator: 'selma' })
  t.equal(await post(theirs, { ...verified, slot_code: 'B' }), true)
})

t.test('a name that several have is erased of nobody until it is said of whom', async (t) => {
  const { gateway, ours, theirs, oursIs, theirsIs } = await twoSelmas(t)
  for (const ask of [ours, theirs]) await gateway.ask('POST', '/api/whms/events', { ...ask, body: removal })
  const named = { ...removal, operator: 'selma' }
  await gateway.ask('POST', '/api/whms/events', { by: people.olga, body: named })
  const erase = (name: string) => gateway.erasePerson({ name, texts: false }, 'root')
  const before = await get(gateway, '/api/whms/events')
  const asked = await erase('selma')
  t.match(asked, { outcome: 'ambiguous', compacted: false })
  t.strictSame('identities' in asked && [...asked.identities].sort(), [oursIs, theirsIs].sort())
  t.strictSame(await get(gateway, '/api/whms/events'), before, 'nothing was erased')

  t.match(await erase(theirsIs), { outcome: 'erased', shownAs: 'erased', olderRowsShownAs: null, nameStands: true })
  const shown = (await get(gateway, '/api/whms/events')).data.map((e: { operator: string }) => e.operator)
  t.strictSame(shown, ['selma', 'erased', 'selma'])
  t.strictSame(await ids(gateway, '/api/whms/events?operator=selma'), [3, 1])
  t.match(await erase(theirsIs), { outcome: 'erased-before', shownAs: 'erased' })
  t.match(await erase('selma'), { outcome: 'erased', nameStands: false }, 'only one is left')
  t.strictSame(await ids(gateway, '/api/whms/events?operator=selma'), [])
  t.match(await erase('selma'), { outcome: 'erased-before' })
  t.match(await erase('selma@https://nowhere.example'), { outcome: 'unknown' })
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, mismatches: { length: 0 } })
})

/** Something by this person in every room that writes down who did it. */
async function busyDay(gateway: TestGateway, ask: { by: { username: string; role: 'supervisor' | 'admin' } }) {
  const post = async (path: string, body: object) => {
    const answer = await gateway.ask('POST', path, { ...ask, body })
    t.ok(answer.status < 300, `${path}: ${answer.text}`)
    return answer.body
  }
  const photo = await gateway.ask('POST', '/api/whms/evidence/photos', {
    ...ask,
    bytes: tinyPng,
    headers: { 'Content-Type': 'image/png' },
  })
  t.equal(photo.status, 201)
  await post('/api/whms/events', { ...removal, event_type: 'PLACED', photo_url: photo.body.url })
  await post('/api/whms/events', { ...removal, event_type: 'VERIFIED' })
  const named = { ...removal, slot_code: 'B', operator: ask.by.username }
  t.equal((await gateway.ask('POST', '/api/whms/events', { by: people.olga, body: named })).status, 201)
  const unit = await post('/api/whms/transport-units', { reference: 'R-1', direction: 'inbound', warehouseId: 1 })
  await post(`/api/whms/transport-units/${unit.id}/advance`, { note: 'a note' })
  await post('/api/iot/scale-readings', { scaleId: 'ramp', weightKg: 10, transportUnitId: unit.id })
  const count = await post('/api/whms/counts', { slot_codes: ['A', 'B'] })
  await post(`/api/whms/counts/${count.id}/scans`, { slot_code: 'A', barcodes: ['P-1'] })
  await post(`/api/whms/counts/${count.id}/submit`, {})
  await post(`/api/whms/counts/${count.id}/recount`, { slot_codes: ['A'] })
  await post(`/api/whms/counts/${count.id}/scans`, { slot_code: 'A', barcodes: ['P-1'] })
  await post(`/api/whms/counts/${count.id}/submit`, {})
  await post(`/api/whms/counts/${count.id}/approve`, {})
  await post('/api/governance/incidents', { severity: 'low', category: 'noise', title: 'a title' })
  await post('/api/governance/incidents/1/resolve', { resolution: 'gone' })
  await post('/api/governance/reports', { from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z' })
  await post('/api/whms/labels/print', { slot_code: 'A' })
}

/** Every value of every table that could stand for somebody: 64 hex digits, wherever they stand. */
function marksIn(gateway: TestGateway): Map<string, string[]> {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const found = new Map<string, string[]>()
  try {
    const tables = db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).pluck().all() as string[]
    for (const table of tables) {
      const rows = db.prepare(`SELECT * FROM ${table}`).all()
      for (const [n, row] of (rows as Record<string, unknown>[]).entries()) {
        const { hash: _, ...rest } = row
        for (const [column, value] of Object.entries(rest)) {
          const text = Buffer.isBuffer(value) ? value.toString('latin1') : String(value)
          for (const [mark] of text.matchAll(/\b[0-9a-f]{64}\b/g)) {
            found.set(mark, [...(found.get(mark) ?? []), `${table} ${n + 1} ${column}`])
          }
        }
      }
    }
  } finally {
    db.close()
  }
  return found
}

/** A yard on which Zdenka did everything that one can do. */
async function zdenkasDay(t: { teardown(end: () => void): void }) {
  const zdenka = { username: 'zdenka.q', role: 'admin' } as const
  const gateway = await testGateway({
    people: [...Object.values(people), zdenka],
    config: { printers: [{ name: 'dock', host: '127.0.0.1' }] },
  })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  await busyDay(gateway, { by: zdenka })
  const erase = () => gateway.erasePerson({ name: 'zdenka.q', texts: false }, 'root')
  return { gateway, erase }
}

t.test('whoever did something stands in its row and its leaf alone, under a mark that no other row has', async (t) => {
  const { gateway } = await zdenkasDay(t)
  const columns = [
    ...['operator', 'actor'].flatMap((as) =>
      ['placement_event', 'unit_history', 'audit_entry'].map((table) => ({ table, column: `${as}_commitment` })),
    ),
    ...['incident_change', 'report', 'media', 'scale_reading', 'count_recount', 'print_job'].map((table) => ({
      table,
      column: 'actor_commitment',
    })),
    { table: 'count_scan', column: 'counter_commitment' },
    { table: 'count_session', column: 'created_by' },
    { table: 'count_session', column: 'closed_by' },
  ]
  const commitments = columns.flatMap(({ table, column }) => {
    const rows = inFile<{ c: string }>(gateway, `SELECT ${column} AS c FROM ${table} WHERE ${column} IS NOT NULL`)
    t.not(rows.length, 0, `${table}.${column} says who`)
    return rows.map(({ c }) => c)
  })
  t.equal(new Set(commitments).size, commitments.length, 'no two rows have the same')
  const marks = marksIn(gateway)
  for (const commitment of commitments) {
    const places = marks.get(commitment) ?? []
    const beyondItsRow = places.filter((place) => !place.startsWith('log_leaf '))
    t.equal(beyondItsRow.length, 1, `${commitment.slice(0, 8)} stands in its row and its leaf alone: ${places}`)
  }
})

t.test(
  'what one did leaves no mark in any table by which it could be put together once the name is gone',
  async (t) => {
    const { gateway, erase } = await zdenkasDay(t)
    const before = verifyLedger(gateway.live.config.dataDir)
    t.match(before, { ok: true, mismatches: { length: 0 } })
    const hers = inFile<{ id: number }>(gateway, `SELECT id FROM person WHERE name = 'zdenka.q'`).map(({ id }) => id)
    t.equal(hers.length, 2, 'who vouched for, and who was only named')
    t.match(await erase(), { outcome: 'erased', shownAs: 'erased' })
    t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, root: before.root, mismatches: { length: 0 } })
    const links = [
      ['placement_person', 'operator_id'],
      ['placement_person', 'actor_id'],
      ['audit_person', 'operator_id'],
      ['audit_person', 'actor_id'],
      ['person_link', 'person_id'],
      ['photo_bringer', 'person_id'],
      ['account_seen', 'person_id'],
      ['person', 'id'],
    ]
    for (const [table, column] of links) {
      t.strictSame(
        inFile(gateway, `SELECT ${column} FROM ${table} WHERE ${column} IN (${hers})`),
        [],
        `${table}.${column}`,
      )
    }
    const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
    const tables = db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).pluck().all() as string[]
    for (const table of tables) {
      const rows = db.prepare(`SELECT * FROM ${table}`).all() as Record<string, unknown>[]
      const found = rows.flatMap((row) => Object.values(row)).filter((v) => String(v).includes('zdenka.q'))
      t.strictSame(found, [], `${table} does not know the name`)
    }
    db.close()
  },
)

t.test('reports, incidents, counts and scale readings of somebody erased tell the name no more', async (t) => {
  const { gateway, erase } = await zdenkasDay(t)
  await erase()
  t.match(await get(gateway, '/api/governance/reports/1'), {
    createdBy: 'erased',
    selfVerifications: [{ person: 'erased', count: 1 }],
    counts: { events: { operators: 1 } },
  })
  t.match(await get(gateway, '/api/governance/incidents/1'), { reportedBy: 'erased', resolvedBy: 'erased' })
  t.match(await get(gateway, '/api/whms/counts/1'), { createdBy: null, closedBy: null })
  // The event of a scale shows its actor as null; everything else as erased.
  t.match((await get(gateway, '/api/iot/scale-readings')).data, [{ actor: null }])
})

type LogHead = { logId: string; siteId: string }

/** A copy of a data folder of an earlier schema, opened by this program. */
async function earlier(
  t: { teardown(work: () => unknown): void },
  version: string,
  prepare: (db: BetterSqlite3.Database, dataDir: string) => void = () => {},
): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-people-'))
  cpSync(new URL(`../fixtures/db/${version}/`, import.meta.url), join(folder, 'state'), { recursive: true })
  const db = new BetterSqlite3(join(folder, 'state', 'gatehouse.db'))
  prepare(db, join(folder, 'state'))
  db.close()
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 5, 1)),
    config: { site: { id: 'dc-7', url: siteUrl } },
  })
  t.teardown(() => gateway.end())
  return gateway
}

t.test(
  'what was recorded before rows had salts of their own is found with what comes after, and erased with it',
  async (t) => {
    const gateway = await earlier(t, 'v15')
    const first = verifyLedger(gateway.live.config.dataDir)
    t.match(first, { ok: true, mismatches: { length: 0 } })
    const olgas = await ids(gateway, '/api/whms/events?operator=olga')
    t.not(olgas.length, 0, 'found by the index of before')
    const body = { event_type: 'REMOVED', slot_code: 'A-02', asset_barcode: 'P-1' }
    t.match(await gateway.ask('POST', '/api/whms/events', { by: people.olga, body }), { status: 201 })
    const all = [(await ids(gateway, '/api/whms/events?limit=1'))[0], ...olgas]
    t.strictSame(await ids(gateway, '/api/whms/events?operator=olga'), all, 'newest first over both')
    t.strictSame(await ids(gateway, `/api/whms/events?operator=${encodeURIComponent(`olga@${siteUrl}`)}`), all)
    const trail = (await get(gateway, '/api/governance/audit?operator=olga&entity=event')).data
    t.match(trail[0], { actor: 'olga', instance: siteUrl })
    t.match(trail.at(-1), { actor: 'olga', instance: null }, 'nobody knows any more which instance it was')

    const whole = verifyLedger(gateway.live.config.dataDir)
    t.match(whole, { ok: true, mismatches: { length: 0 } })
    const erasedOlga = await gateway.erasePerson({ name: 'olga', texts: true }, 'root')
    t.match(erasedOlga, { outcome: 'erased', shownAs: 'erased', olderRowsShownAs: /^erased-[0-9a-f]{8}$/ })
    const older = 'olderRowsShownAs' in erasedOlga ? erasedOlga.olderRowsShownAs : ''
    const shown = (await get(gateway, '/api/whms/events')).data.map((e: { operator: string }) => e.operator)
    t.equal(shown[0], 'erased')
    for (const name of shown.slice(1)) if (name.startsWith('erased')) t.equal(name, older)
    t.strictSame(await ids(gateway, '/api/whms/events?operator=olga'), [])
    const acts = (await get(gateway, `/api/governance/audit?operator=${older}`)).data
    t.ok(acts.length > 0, 'older acts can still be told to be one person’s')
    t.ok(acts.every((entry: { instance: unknown }) => entry.instance === null))
    t.match(await gateway.erasePerson({ name: 'olga', texts: false }, 'root'), { outcome: 'erased-before' })
    t.match(verifyLedger(gateway.live.config.dataDir), {
      ok: true,
      size: whole.size,
      root: whole.root,
      mismatches: { length: 0 },
    })
  },
)

t.test('the accounts of the config are not told as new or gone because they have an instance now', async (t) => {
  const mark = createHash('sha256').update(cheapHash('olga-secret')).digest()
  const gateway = await earlier(t, 'v15', (db) => {
    const olga = db.prepare(`SELECT commitment FROM opening WHERE kind = 'person' AND value = 'olga'`).pluck().get()
    db.prepare(`INSERT INTO account_seen VALUES (?, 'operator', ?)`).run(olga, mark)
  })
  const found = async () =>
    (await get(gateway, '/api/governance/audit?entity=caller&limit=200')).data
      .filter(({ authMode }: { authMode: string }) => authMode === 'start')
      .map((entry: { action: string; operator: string }) => `${entry.action} ${entry.operator}`)
      .sort()
  await gateway.noteAccounts('start')
  const added = ['ada', 'sven', 'vera'].map((name) => `caller.account_added ${name}`)
  t.strictSame(await found(), added, 'olga is known by her name')
  await gateway.noteAccounts('start')
  t.strictSame(await found(), added)
})

t.test('a report of an earlier version still says who, from its own file, until the name is erased', async (t) => {
  const counts = { events: { total: 1, operators: 1 } }
  const gateway = await earlier(t, 'v15', (db, dataDir) => {
    const olga = db.prepare(`SELECT commitment FROM opening WHERE kind = 'person' AND value = 'olga'`).pluck().get()
    const head = db.prepare('SELECT log_id AS logId, site_id AS siteId FROM log_identity').get() as LogHead
    const size = db.prepare('SELECT max(seq) FROM log_leaf').pluck().get() as number
    const checkpoint = { logId: head.logId, size, root: 'ab'.repeat(32) }
    const people = { counts, selfVerifications: [{ person: String(olga), count: 1 }], discrepancies: [] }
    const file = canonicalJson({ v: 1, type: 'compliance', siteId: head.siteId, checkpoint, ...people })
    const hash = createHash('sha256').update(file).digest('hex')
    mkdirSync(join(dataDir, 'reports'), { recursive: true })
    writeFileSync(join(dataDir, 'reports', `${hash}.json`), file)
    const row = {
      id: 1,
      event_id: '0190a5c4-3c01-7000-8000-00000000000e',
      type: 'compliance' as const,
      from_ms: 0,
      to_ms: 1,
      warehouses: '[]',
      log_size: size,
      log_root: checkpoint.root,
      sha256: hash,
      size_bytes: Buffer.byteLength(file),
      actor_commitment: String(olga),
      created_at_ms: Date.UTC(2026, 4, 1),
    }
    const bytes = Buffer.from(canonicalJson(leafOf({ v: 1, kind: 'report', ...head, seq: size + 1 }, reportFacts(row))))
    db.prepare(`INSERT INTO log_leaf VALUES (?, 'report', '1', ?, ?)`).run(size + 1, bytes, leafHash(bytes))
    const whole = { ...row, leaf_seq: size + 1, evidence_hash: createHash('sha256').update(bytes).digest('hex') }
    const columns = Object.keys(whole)
    db.prepare(`INSERT INTO report (${columns}) VALUES (${columns.map(() => '?')})`).run(...Object.values(whole))
  })
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, reports: 1, mismatches: { length: 0 } })
  const report = () => get(gateway, '/api/governance/reports/1')
  t.match(await report(), { createdBy: 'olga', counts, selfVerifications: [{ person: 'olga', count: 1 }] })
  await gateway.erasePerson({ name: 'olga', texts: false }, 'root')
  const shown = /^erased-[0-9a-f]{8}$/
  t.match(await report(), { createdBy: shown, counts, selfVerifications: [{ person: shown, count: 1 }] })
})

t.test('a leaf of an event opens by a salt of its own, as the README of the log says', async (t) => {
  const { gateway, ours, oursIs } = await twoSelmas(t)
  for (let n = 0; n < 2; n += 1) await gateway.ask('POST', '/api/whms/events', { ...ours, body: removal })
  const [{ salt } = { salt: Buffer.alloc(0) }] = inFile<{ salt: Buffer }>(
    gateway,
    `SELECT salt FROM person WHERE name = 'selma' AND instance = '${siteUrl}'`,
  )
  const leaves = inFile<{ bytes: Buffer }>(gateway, 'SELECT bytes FROM log_leaf ORDER BY seq').map(({ bytes }) =>
    JSON.parse(bytes.toString('utf8')),
  )
  for (const leaf of leaves) {
    for (const key of ['operator', 'actor']) {
      const rowSalt = createHmac('sha256', salt).update(`${leaf.logId}/${leaf.seq}/${key}`).digest()
      t.equal(leaf[key], createHash('sha256').update(rowSalt).update(oursIs).digest('hex'), `leaf ${leaf.seq}: ${key}`)
    }
  }
  t.equal(leaves.length, 2)
})
