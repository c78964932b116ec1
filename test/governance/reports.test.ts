import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile, executor, openReader } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { composeReport, type ReportSpec } from '../../src/governance/index.ts'
import { canonicalJson } from '../../src/log/index.ts'
import { furnish, heldPhoto, type Person, people, signedIn, type TestGateway, testGateway } from '../support/gateway.ts'

const path = '/api/governance/reports'
const march = { from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z' }

const generate = (gateway: TestGateway, body: unknown = march, by: Person = people.sven) =>
  gateway.ask('POST', path, { by, body })

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')

async function record(gateway: TestGateway, body: Record<string, unknown>, by: Person = people.olga) {
  const { status } = await gateway.ask('POST', '/api/whms/events', { by, body })
  t.equal(status, 201)
  gateway.clock.advance(1000)
}

/** A day: two placements, one verified by the one who made it, one disputed, a removal from an empty slot, an incident. */
async function aDay(gateway: TestGateway): Promise<void> {
  await furnish(gateway, ['A', 'B', 'C'])
  const photo_url = await heldPhoto(gateway)
  await record(gateway, { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url }, people.sven)
  await record(gateway, { event_type: 'VERIFIED', slot_code: 'A', asset_barcode: 'P-1' }, people.sven)
  const elsewhere = { photo_url: 'https://photos.example/1.jpg', operator: 'otto' }
  await record(gateway, { event_type: 'PLACED', slot_code: 'B', asset_barcode: 'P-2', ...elsewhere })
  await record(gateway, { event_type: 'DISPUTED', slot_code: 'B', asset_barcode: 'P-2' }, people.sven)
  await record(gateway, { event_type: 'REMOVED', slot_code: 'C', asset_barcode: 'P-3' })
  const late = { timestamp: '2026-03-01T23:59:59Z' }
  await record(gateway, { event_type: 'REMOVED', slot_code: 'C', asset_barcode: 'P-4', ...late })
  const incident = { severity: 'high', category: 'damage' }
  await gateway.ask('POST', '/api/governance/incidents', { by: people.olga, body: incident })
}

type SpecFacts = {
  checkpoint: { logId: string; size: number }
  clock: { rows: { states: number; steps: number }; until: string }
  evidence?: FiledEvidence
  gaps?: { lasting: { from: string; cause: 'offline' }[] }
}
type FiledEvidence = { logs: ReportSpec['secured']['logs']; asksWitnesses: boolean; checkpoint: SignedHead | null }
type SignedHead = NonNullable<ReportSpec['secured']['head']>

const specOf = (gateway: TestGateway, report: SpecFacts): ReportSpec => ({
  type: 'compliance',
  siteId: 'test-site',
  logId: report.checkpoint.logId,
  logSize: report.checkpoint.size,
  fromMs: Date.parse(march.from),
  toMs: Date.parse(march.to),
  warehouses: gateway ? [1] : [],
  clock: { rows: report.clock.rows, untilMs: Date.parse(report.clock.until) },
  secured: {
    logs: report.evidence?.logs ?? [],
    hasWitnesses: report.evidence?.asksWitnesses ?? false,
    head: headIn(report.evidence?.checkpoint ?? null),
  },
  lastingGaps: (report.gaps?.lasting ?? []).map(({ from, cause }) => ({ fromMs: Date.parse(from), cause })),
})

const headIn = (checkpoint: SignedHead | null) =>
  checkpoint && { rootHash: checkpoint.rootHash, signedAt: checkpoint.signedAt, note: checkpoint.note }

function recompute(gateway: TestGateway, spec: ReportSpec): Buffer {
  const db = openReader(databaseFile(gateway.live.config.dataDir))
  try {
    return Buffer.from(composeReport(executor(db), spec).file)
  } finally {
    db.close()
  }
}

t.test('categories are counted by whatever name they have', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  for (const category of ['valueOf', 'constructor', 'valueOf', '__proto__']) {
    const body = { severity: 'low', category }
    t.equal((await gateway.ask('POST', '/api/governance/incidents', { by: people.olga, body })).status, 201)
  }
  const { status, body } = await generate(gateway)
  t.equal(status, 201)
  t.strictSame(Object.entries(body.counts.incidents.byCategory), [
    ['__proto__', 1],
    ['constructor', 1],
    ['valueOf', 2],
  ])
})

async function reportOfADay(t: { teardown(end: () => void): void }) {
  const gateway = await testGateway({ config: { ledger: { assets: 'registered', photos: 'held' } } })
  t.teardown(() => gateway.end())
  await aDay(gateway)
  return { gateway, made: await generate(gateway) }
}

t.test('a report says what it is about, who made it, and up to where it has read the log', async (t) => {
  const { gateway, made } = await reportOfADay(t)
  t.equal(made.status, 201)
  t.equal(made.headers.get('location'), `${path}/1`)
  t.match(made.body, {
    success: true,
    id: 1,
    seq: 8,
    type: 'compliance',
    from: '2026-03-02T00:00:00.000Z',
    to: '2026-03-03T00:00:00.000Z',
    warehouses: [1],
    createdBy: 'sven',
    checkpoint: { size: 7, root: verifyRootOf(gateway, 7) },
    selfVerifications: [{ person: 'sven', count: 1 }],
  })
})

t.test('a report counts what the log says of its period', async (t) => {
  const { made } = await reportOfADay(t)
  t.strictSame(made.body.counts, {
    events: {
      total: 5,
      byType: { DISPUTED: 1, PLACED: 2, REMOVED: 1, VERIFIED: 1 },
      late: 0,
      unsynced: 0,
      corrected: 0,
      corrections: 0,
      photos: { held: 1, claimed: 1 },
      operators: 3,
    },
    warnings: {
      NO_EFFECT: 1,
      OPERATOR_DIFFERS: 1,
      PHOTO_NOT_HELD: 1,
      SELF_VERIFIED: 1,
      SLOT_EMPTY: 1,
      UNKNOWN_ASSET: 5,
    },
    slots: { occupied: 2, verified: 1, disputed: 1, unverified: 1 },
    detections: { total: 0, byClipStatus: {} },
    incidents: {
      opened: 1,
      resolved: 0,
      byState: { open: 1 },
      bySeverity: { high: 1 },
      byCategory: { damage: 1 },
    },
    units: { created: 0, byAction: {} },
    discrepancies: { total: 2, byCode: { DISPUTED: 1, SLOT_EMPTY: 1 } },
  })
})

t.test('a report names the contradictions of its period', async (t) => {
  const { made } = await reportOfADay(t)
  t.strictSame(made.body.discrepancies, [
    { code: 'DISPUTED', eventId: 4, slotId: 2, slot: 'B', assetBarcode: 'P-2', timestamp: '2026-03-02T08:00:03.000Z' },
    {
      code: 'SLOT_EMPTY',
      eventId: 5,
      slotId: 3,
      slot: 'C',
      assetBarcode: 'P-3',
      timestamp: '2026-03-02T08:00:04.000Z',
    },
  ])
})

t.test('a report can be read again, and the list has its heading', async (t) => {
  const { gateway, made } = await reportOfADay(t)
  t.strictSame((await gateway.ask('GET', `${path}/1`, { by: people.ada })).body, made.body)
  const { body: list } = await gateway.ask('GET', path, { by: people.sven })
  const details = ['counts', 'selfVerifications', 'discrepancies', 'clock', 'evidence', 'gaps', 'success']
  const item = Object.fromEntries(Object.entries(made.body).filter(([key]) => !details.includes(key)))
  t.strictSame(list.data, [item])
})

t.test('what happened on the day before is in the report of that day alone', async (t) => {
  const { gateway } = await reportOfADay(t)
  const yesterday = await generate(gateway, { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' })
  t.match(yesterday.body.counts, { events: { total: 1, late: 1 }, slots: { occupied: 0 }, incidents: { opened: 0 } })
})

t.test('a report is told to the receivers as the API answers it, and to the audit trail', async (t) => {
  const { gateway, made } = await reportOfADay(t)
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  const sent = db
    .prepare(`SELECT body FROM outbox WHERE type IN ('audit.report_generated', 'event.created') ORDER BY seq`)
    .pluck()
    .all()
    .map((body) => JSON.parse(String(body)))
  db.close()
  const { success: _, ...resource } = made.body
  const notification = sent.find(({ type, id }) => type === 'audit.report_generated' && id === made.body.eventId)
  t.strictSame(notification?.data, resource, 'the resource as the API answers it')
  t.ok(sent.some(({ type, data }) => type === 'event.created' && data.kind === 'audit.report_generated'))
  t.match(
    (await gateway.ask('GET', '/api/governance/audit?entity=report&entity_id=1', { by: people.sven })).body.data,
    [{ action: 'report.generated', actor: 'sven', changes: { sha256: made.body.file.sha256 } }],
  )
})

/** The root over the first leaves, by a plain second implementation. */
function verifyRootOf(gateway: TestGateway, size: number): string {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const leaves = db.prepare('SELECT bytes FROM log_leaf WHERE seq <= ? ORDER BY seq').pluck().all(size) as Buffer[]
  db.close()
  const hash = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
  const root = (nodes: readonly Buffer[]): Buffer => {
    const [only] = nodes
    if (only && nodes.length === 1) return hash(Buffer.of(0), only)
    let half = 1
    while (half * 2 < nodes.length) half *= 2
    return hash(Buffer.of(1), root(nodes.slice(0, half)), root(nodes.slice(half)))
  }
  return root(leaves).toString('hex')
}

t.test('the file is what its hash says, names nobody, and is made again from the log byte for byte', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await aDay(gateway)
  const { body: report } = await generate(gateway)
  const file = await gateway.ask('GET', `${path}/1/file`, { by: people.sven })
  t.match(file, { status: 200, body: { v: 2, type: 'compliance', siteId: 'test-site', warehouses: [1] } })
  t.equal(new URL(report.file.url).pathname, `${path}/1/file`)
  t.equal(sha256(file.text), report.file.sha256)
  t.equal(file.headers.get('etag'), `"${report.file.sha256}"`)
  t.equal(Buffer.byteLength(file.text), report.file.sizeBytes)
  t.equal(file.text, canonicalJson(JSON.parse(file.text)), 'RFC 8785')
  const { operators, ...events } = report.counts.events
  t.strictSame(file.body.counts, { ...report.counts, events }, 'all but how many people, who can be erased')
  t.equal(operators, 3)
  t.match(file.body.selfVerifications, [{ eventId: 2, person: /^[0-9a-f]{64}$/ }])
  for (const name of ['olga', 'sven', 'otto']) t.notMatch(file.text, name)
  const part = await gateway.api.request(`${path}/1/file`, { headers: signedIn(people.sven, { Range: 'bytes=0-9' }) })
  t.match([part.status, await part.text()], [206, file.text.slice(0, 10)])

  // Everything that can happen afterwards, also in the report's own period.
  const photo_url = 'https://photos.example/2.jpg'
  await record(gateway, { event_type: 'PLACED', slot_code: 'C', asset_barcode: 'P-9', photo_url })
  await record(gateway, {
    event_type: 'REMOVED',
    slot_code: 'A',
    asset_barcode: 'P-1',
    timestamp: '2026-03-02T08:00:01Z',
  })
  await record(gateway, { event_type: 'VERIFIED', slot_code: 'B', asset_barcode: 'P-2' }, people.sven)
  await gateway.ask('POST', '/api/governance/incidents/1/resolve', { by: people.sven, body: { resolution: 'x' } })
  await gateway.ask('POST', '/api/whms/warehouses', {
    by: people.ada,
    body: { name: 'Two', timezone: 'Europe/Berlin' },
  })
  await furnish(gateway, ['D'])
  const again = recompute(gateway, specOf(gateway, report))
  t.equal(again.toString('utf8'), file.text)
  t.not(recompute(gateway, { ...specOf(gateway, report), logSize: report.checkpoint.size + 3 }).toString(), file.text)
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, reports: 1, mismatches: { length: 0 } })

  const onDisk = join(gateway.live.config.dataDir, 'reports', `${report.file.sha256}.json`)
  t.equal(readFileSync(onDisk, 'utf8'), file.text)
  writeFileSync(onDisk, file.text.replace('"total":5', '"total":4'))
  t.match(verifyLedger(gateway.live.config.dataDir).mismatches, [
    { where: 'file of report 1', what: 'its file has other bytes' },
  ])
  rmSync(onDisk)
  t.equal((await gateway.ask('GET', `${path}/1/file`, { by: people.sven })).status, 404)
})

t.test('a report asked for twice under one key is one report', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await aDay(gateway)
  const ask = () => gateway.ask('POST', path, { by: people.sven, body: march, headers: { 'Idempotency-Key': 'k-1' } })
  const [one, two] = await Promise.all([ask(), ask()])
  const three = await ask()
  t.match([one.status, two.status, three.status], [201, 201, 201])
  t.strictSame([two.body, three.body], [one.body, one.body])
  t.strictSame(readdirSync(join(gateway.live.config.dataDir, 'reports')), [`${one.body.file.sha256}.json`])
  t.equal((await gateway.ask('GET', path, { by: people.sven })).body.pagination.total, 1)
})

t.test('a report covers what its author may see, and only who may see all of that reads it', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 2, viewers: ['olga'] }] } })
  t.teardown(() => gateway.end())
  await aDay(gateway)
  const by = people.ada
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Vault', timezone: 'Europe/Berlin' } })
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  await gateway.ask('POST', '/api/whms/slots', {
    by,
    body: { slot_id: 'V', zone: 'V', warehouseId: 2, floor_plan_polygon },
  })
  await record(gateway, { event_type: 'REMOVED', slot_code: 'V', asset_barcode: 'P-7' })
  const { body: admins } = await generate(gateway, march, people.ada)
  t.match(admins, { warehouses: [1, 2], counts: { events: { total: 6 } } })
  const { body: svens } = await generate(gateway)
  t.match(svens, { warehouses: [1], counts: { events: { total: 5 } } })
  for (const suffix of ['', '/file']) {
    t.equal((await gateway.ask('GET', `${path}/${admins.id}${suffix}`, { by: people.sven })).status, 404)
    t.equal((await gateway.ask('GET', `${path}/${svens.id}${suffix}`, { by: people.sven })).status, 200)
  }
  const ids = async (person: Person) =>
    (await gateway.ask('GET', path, { by: person })).body.data.map(({ id }: { id: number }) => id)
  t.strictSame(await ids(people.sven), [2])
  t.strictSame(await ids(people.ada), [2, 1])
})

t.test(
  'a report on a ledger without a leaf is a report too; a period that ends before it begins is none',
  async (t) => {
    const gateway = await testGateway()
    t.teardown(async () => {
      gateway.end()
    })
    const { status, body } = await generate(gateway)
    t.match({ status, body }, { status: 201, body: { warehouses: { length: 0 }, counts: { events: { total: 0 } } } })
    t.equal(body.checkpoint.root, sha256(''), 'RFC 6962: the hash of nothing')
    for (const wrong of [
      { from: march.to, to: march.from },
      { from: march.from, to: march.from },
      { from: march.from },
      { ...march, from: 'yesterday' },
      { ...march, type: 'financial' },
    ]) {
      t.match(await generate(gateway, wrong), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
    }
    t.equal((await generate(gateway, march, people.olga)).status, 403)
    t.equal((await gateway.ask('GET', `${path}/9`, { by: people.sven })).status, 404)
  },
)

t.test('what happened to transport units is counted from their leaves', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  const logId = db.prepare('SELECT log_id FROM log_identity').pluck().get() as string
  const leaf = db.prepare(`INSERT INTO log_leaf VALUES (?, 1, ?, 'unit-history', ?, ?, zeroblob(32))`)
  const facts = [
    { unitId: 'u-1', action: 'created', warehouseId: 1, timestamp: '2026-03-02T08:00:00.000Z' },
    { unitId: 'u-2', action: 'created', warehouseId: 2, timestamp: '2026-03-02T08:00:00.000Z' },
    { unitId: 'u-1', action: 'advanced', timestamp: '2026-03-02T09:00:00.000Z' },
    { unitId: 'u-2', action: 'advanced', timestamp: '2026-03-02T09:00:00.000Z' },
    { unitId: 'u-1', action: 'completed', timestamp: '2026-03-03T00:00:00.000Z' },
  ]
  for (const [i, one] of facts.entries()) leaf.run(i + 1, i + 1, String(i + 1), Buffer.from(canonicalJson(one)))
  db.close()
  const checkpoint = { logId, size: facts.length }
  const { counts } = JSON.parse(
    recompute(
      gateway,
      specOf(gateway, { checkpoint, clock: { rows: { states: 0, steps: 0 }, until: march.to } }),
    ).toString('utf8'),
  )
  t.strictSame(counts.units, { created: 1, byAction: { advanced: 1, created: 1 } })
})
