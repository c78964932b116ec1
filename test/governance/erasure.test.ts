import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { furnish, type Person, people, type TestGateway, testGateway } from '../support/gateway.ts'

/** A name that is nowhere by chance. */
const zdenka: Person = { username: 'zdenka.q', role: 'supervisor' }
const shown = 'erased'

async function filled(t: { teardown(end: () => void): void }): Promise<TestGateway & { dataDir: string }> {
  const gateway = await testGateway({ people: [...Object.values(people), zdenka] })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  const removal = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
  const record = (by: Person, more: object, headers = {}) =>
    gateway.ask('POST', '/api/whms/events', { by, body: { ...removal, ...more }, headers })
  const key = (name: string) => ({ 'Idempotency-Key': name })
  await record(zdenka, { verification_notes: 'the corner is dented' }, key('z-1'))
  await record(people.olga, { operator: 'zdenka.q', verification_notes: 'she asked for it' }, key('o-1'))
  await record(people.olga, { verification_notes: 'Zdenka.Q told me to' })
  await record(people.olga, { verification_notes: 'nothing to do with her' })
  const incident = { severity: 'low', category: 'noise', title: 'Her report', evidenceReferences: ['her own words'] }
  await gateway.ask('POST', '/api/governance/incidents', { by: zdenka, body: incident })
  await gateway.ask('POST', '/api/session', { body: { username: 'zdenka.q', secret: 'zdenka.q-secret' } })
  return { ...gateway, dataDir: gateway.live.config.dataDir }
}

const get = async (gateway: TestGateway, path: string) => (await gateway.ask('GET', path, { by: people.sven })).body

t.test('an erased person is a placeholder wherever they acted, and the log still verifies', async (t) => {
  const gateway = await filled(t)
  const before = verifyLedger(gateway.dataDir)
  const result = await gateway.erasePerson({ name: 'zdenka.q', texts: false }, 'root')
  t.match(result, {
    outcome: 'erased',
    shownAs: shown,
    olderRowsShownAs: null,
    texts: 0,
    textsThatNameThem: 1,
    sessions: 1,
  })
  const shownAs = shown
  t.match(verifyLedger(gateway.dataDir), { ok: true, root: before.root, mismatches: { length: 0 } })

  t.match(await get(gateway, '/api/whms/events/1'), { operator: shownAs, actor: shownAs })
  t.match(await get(gateway, '/api/whms/events/2'), { operator: shownAs, actor: 'olga' })
  t.match(await get(gateway, '/api/whms/events/3'), { operator: 'olga', verification_notes: 'Zdenka.Q told me to' })
  t.match(await get(gateway, '/api/governance/incidents/1'), {
    reportedBy: shownAs,
    title: 'Her report',
    history: [{ actor: shownAs }],
  })
  const { data: trail } = await get(gateway, '/api/governance/audit')
  t.match(trail[0], {
    action: 'person.erased',
    actor: 'root',
    entity: 'caller',
    entityId: shownAs,
    address: 'local',
    authMode: 'command',
  })
  t.notMatch(JSON.stringify(trail), 'zdenka.q')
  for (const asked of [shownAs, 'zdenka.q', 'zdenka.q@http://127.0.0.1:8480']) {
    t.strictSame(
      (await get(gateway, `/api/governance/audit?operator=${asked}`)).data,
      [],
      `${asked}: what one did is not found together`,
    )
    t.strictSame((await get(gateway, `/api/whms/events?operator=${asked}`)).data, [], asked)
  }
  t.equal((await get(gateway, '/api/governance/audit?operator=zdenka.q')).data.length, 0)
  for (const path of ['/api/whms/events', '/api/whms/events/export?format=csv', '/api/whms/epcis']) {
    const { status, text } = await gateway.ask('GET', path, { by: people.sven })
    t.equal(status, 200, path)
    t.notMatch(text, 'zdenka.q', path)
  }
  const replayed = await gateway.ask('POST', '/api/whms/events', {
    by: people.olga,
    body: {
      event_type: 'REMOVED',
      slot_code: 'A',
      asset_barcode: 'P-1',
      operator: 'zdenka.q',
      verification_notes: 'she asked for it',
    },
    headers: { 'Idempotency-Key': 'o-1' },
  })
  t.match(replayed, { status: 201, body: { id: 2, operator: shownAs } }, 'an answer that is sent again tells no name')
})

t.test('the name is nowhere in the files of the ledger any more', async (t) => {
  const gateway = await filled(t)
  const filesWith = (word: string) =>
    readdirSync(gateway.dataDir).filter(
      (name) => name.startsWith('gatehouse.db') && readFileSync(join(gateway.dataDir, name)).includes(word),
    )
  t.not(filesWith('zdenka.q').length, 0)
  const left = await gateway.erasePerson({ name: 'zdenka.q', texts: true }, 'root', 0)
  t.equal(left.compacted, false, 'a file that is too large to be written anew beside the work')
  const done = await gateway.erasePerson({ name: 'zdenka.q', texts: true }, 'root')
  t.match(done, { outcome: 'erased-before', compacted: true })
  for (const word of ['zdenka.q', 'Zdenka.Q', 'the corner is dented', 'her own words'])
    t.strictSame(filesWith(word), [], word)
  t.not(filesWith('nothing to do with her').length, 0)
  t.match(verifyLedger(gateway.dataDir), { ok: true, mismatches: { length: 0 } })
  const rows = (sql: string) => {
    const db = new BetterSqlite3(databaseFile(gateway.dataDir), { readonly: true })
    try {
      return db.prepare(sql).pluck().all()
    } finally {
      db.close()
    }
  }
  for (const body of rows('SELECT body FROM outbox') as Buffer[]) t.ok(JSON.parse(body.toString('utf8')).metadata)
  t.strictSame(rows(`SELECT count(*) FROM idempotency`), [1], 'only those of others')
})

t.test('texts go on request alone: those that the person wrote, and those with the name in them', async (t) => {
  const gateway = await filled(t)
  const result = await gateway.erasePerson({ name: 'zdenka.q', texts: true }, 'root')
  t.match(result, { outcome: 'erased', texts: 5, textsThatNameThem: 0 })
  for (const id of [1, 2, 3]) t.match(await get(gateway, `/api/whms/events/${id}`), { verification_notes: null })
  t.match(await get(gateway, '/api/whms/events/4'), { verification_notes: 'nothing to do with her' })
  t.match(await get(gateway, '/api/governance/incidents/1'), {
    title: null,
    evidenceReferences: [{ type: 'external', id: null }],
  })
  t.match(verifyLedger(gateway.dataDir), { ok: true, mismatches: { length: 0 } })
})

t.test('erasing twice is erasing once, a stranger is unknown, and one who comes back is another person', async (t) => {
  const gateway = await filled(t)
  await gateway.erasePerson({ name: 'zdenka.q', texts: false }, 'root')
  t.strictSame(await gateway.erasePerson({ name: 'zdenka.q', texts: false }, 'root'), {
    outcome: 'erased-before',
    shownAs: shown,
    erasedAt: '2026-03-02T08:00:00.000Z',
    compacted: true,
    kept: { problem: null, copies: [] },
  })
  t.strictSame(await gateway.erasePerson({ name: 'Zdenka.Q', texts: false }, 'root'), {
    outcome: 'unknown',
    compacted: false,
    kept: { problem: null, copies: [] },
  })
  const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
  t.match(await gateway.ask('POST', '/api/whms/events', { by: zdenka, body }), { body: { operator: 'zdenka.q' } })
  t.match(await get(gateway, '/api/whms/events/1'), { operator: shown })
  const { data: hers } = await get(gateway, '/api/whms/events?operator=zdenka.q')
  t.strictSame(
    hers.map(({ id }: { id: number }) => id),
    [5],
  )
  const again = await gateway.erasePerson({ name: 'zdenka.q', texts: false }, 'zdenka.q')
  t.match(again, { outcome: 'erased', shownAs: shown })
  const { data } = await get(gateway, '/api/governance/audit?action=person.erased')
  t.match(
    data,
    [{ actor: null, authMode: 'command' }, { actor: 'root' }],
    'who erases himself is not written down again',
  )
  t.match(verifyLedger(gateway.dataDir), { ok: true })
})

t.test('reports and notifications from before tell no name that was erased since', async (t) => {
  const gateway = await filled(t)
  const period = { from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z' }
  const made = await gateway.ask('POST', '/api/governance/reports', { by: zdenka, body: period })
  t.match(made.body, { createdBy: 'zdenka.q' })
  await gateway.erasePerson({ name: 'zdenka.q', texts: false }, 'root')
  const read = await gateway.ask('GET', '/api/governance/reports/1', { by: people.sven })
  t.match(read, { status: 200, body: { createdBy: shown, file: made.body.file } })
  t.notMatch(read.text, 'zdenka.q')
  const db = new BetterSqlite3(databaseFile(gateway.dataDir), { readonly: true })
  const sent = db.prepare('SELECT body FROM outbox').pluck().all().map(String)
  db.close()
  t.ok(sent.length > 8)
  t.notMatch(sent.join('\n'), 'zdenka.q"')
})
