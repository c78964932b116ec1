import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import Database from 'better-sqlite3'
import t from 'tap'
import { joinHub } from '../../src/cli/hub/join.ts'
import { loadConfig } from '../../src/config/index.ts'
import { isWell, paintFor, statusWords } from '../../src/doctor/index.ts'
import { acceptFork } from '../../src/evidence/index.ts'
import type { Fleet } from '../../src/feed/wire.ts'
import { HttpListener } from '../../src/http/index.ts'
import { OfferService } from '../../src/hub/offers/service.ts'
import { connectionOf, HubDatabase } from '../../src/hub/store/database.ts'
import { keepErasedName } from '../../src/log/index.ts'
import { silentLogger, systemRandom, uuidv7Maker } from '../../src/platform/index.ts'
import { enrol, joined, pass, place } from '../support/fed-gateway.ts'
import { heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { askAs, headOffice } from '../support/head-office.ts'
import { type TestHub, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { waitUntil } from '../support/waiting.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const plain = paintFor({ isTTY: false })
const fromFile = { file: '/etc/gatehouse/gatehouse.yaml', loadedMs: 0, refused: null, waiting: [] }
type T = { teardown(work: () => unknown): void }

/** The same folder again, feeding, as after a restart. */
async function started({ clock, folder }: TestGateway): Promise<TestGateway> {
  const again = await testGateway({ clock, folder })
  again.live.config = loadConfig(join(folder, 'gatehouse.yaml')).config
  again.feeder.start()
  await again.feeder.settled()
  return again
}

/** Ends with the state of now, after the head office has seen one pallet more in A-01, and what else happened `meanwhile`. */
async function restoreBehind(
  gateway: TestGateway,
  meanwhile: (grown: TestGateway) => Promise<unknown> = async () => undefined,
): Promise<void> {
  const state = gateway.live.config.dataDir
  await gateway.feeder.stop()
  gateway.close()
  cpSync(state, `${state}-before`, { recursive: true })
  const grown = await started(gateway)
  await place(grown, 'P-9')
  await meanwhile(grown)
  await pass(grown)
  await grown.feeder.stop()
  grown.close()
  rmSync(state, { recursive: true })
  renameSync(`${state}-before`, state)
}

/** A gateway with a pallet in A-01, and the head office that has heard of it. */
async function withPallet(t: T) {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  await place(gateway, 'P-1')
  await pass(gateway)
  return { hub, gateway }
}

/** A gateway with a pallet of lot L-7 in A-01, and the head office that has heard of it. */
async function withLabel(t: T) {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const asset = { asset_id: 'P-1', type: 'pallet', gtin: '09521234543213', lot: 'L-7' }
  const made = await gateway.ask('POST', '/api/whms/assets', { by: people.ada, body: asset })
  if (made.status !== 201) throw new Error(`the label is not stored: ${made.text}`)
  await place(gateway, 'P-1')
  await pass(gateway)
  return { hub, gateway }
}

const leavesAt = async (hub: TestHub) => Number((await hub.rows('SELECT sum(size) AS n FROM log_head'))[0]?.['n'])

t.test('what happens on the floor is at the head office a second later, byte for byte', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  for (const barcode of ['P-1', 'P-2', 'P-3']) t.equal((await place(gateway, barcode)).status, 201)
  await pass(gateway)
  const { size } = gateway.checkpoints.newest() ?? { size: 0 }
  t.ok(size >= 3)
  t.equal(await leavesAt(hub), size)
  const entries = await gateway.ask('GET', `/api/log/tile/entries/000.p/${size}`, { by: people.ada })
  const [row] = await hub.rows('SELECT packed FROM entry_bundle')
  t.ok(zstdDecompressSync(row?.['packed'] as Buffer).equals(entries.bytes))
  t.match(await hub.rows(`SELECT slot_code, asset_key FROM slot_state`), [{ slot_code: 'A-01', asset_key: 'P-3' }])
  t.match(gateway.feeder.seen(), { size, trouble: undefined })
})

t.test('how a gateway is comes along in figures', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const fleetAt = async () => {
    const [row] = await hub.rows(`SELECT status -> 'fleet' AS fleet FROM log_head`)
    return row?.['fleet'] as Fleet
  }
  const fleet = await fleetAt()
  t.match(fleet, {
    openAlerts: 0,
    alerts: { length: 0 },
    cameras: { configured: 0, withoutPictures: 0 },
    backupAt: null,
    certificateUntil: null,
  })
  t.ok((fleet.freeBytes ?? 0) > 0)
  t.match(fleet.configHash, /^[0-9a-f]{64}$/)
  const { rateLimit } = gateway.live.config
  gateway.live.config = { ...gateway.live.config, rateLimit: { ...rateLimit, requestsPerMinute: 7 } }
  await pass(gateway, 600_000)
  t.not((await fleetAt()).configHash, fleet.configHash, 'another config shows')
})

t.test(
  'the open alerts of a gateway come along: of what and since when, and no words that may name people',
  async (t) => {
    const hub = await headOffice(t, postgres, { listens: true })
    const gateway = await joined(t, hub)
    const db = new Database(join(gateway.live.config.dataDir, 'gatehouse.db'))
    db.exec(
      `INSERT INTO alert (kind, subject, message, created_at_ms) VALUES ('uploads.late', 'Dana', 'a file of Dana waits', 1772438400000)`,
    )
    db.close()
    await pass(gateway, 600_000)
    const { data } = (await askAs(hub, '/api/hub/sites')).body
    const site = data.find((one: { siteId: string }) => one.siteId === 'test-site')
    t.match(site.fleet, { openAlerts: 1, alerts: [{ kind: 'uploads.late', at: '2026-03-02T08:00:00.000Z' }] })
    t.notMatch(JSON.stringify(site), /Dana/)
    const [columns = '', ...rows] = (await askAs(hub, '/api/hub/sites?format=csv')).text.split('\r\n')
    const row = rows.find((one) => one.startsWith('test-site,')) ?? ''
    const cell = (name: string) => row.split(',')[columns.split(',').indexOf(name)]
    t.same([cell('gatewayAlerts'), cell('gatewayAlertKinds')], ['1', 'uploads.late'])
  },
)

t.test('the confirmation of the head office makes a fact witnessed', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const { body } = await place(gateway, 'P-1')
  await pass(gateway)
  const { evidence } = (await gateway.ask('GET', `/api/whms/events/${body.id}`, { by: people.ada })).body
  t.match(evidence, { state: 'witnessed', witnesses: [{ name: 'hub.example/w1' }] })
  t.match((await gateway.ask('GET', '/api/log/checkpoint', { by: people.ada })).text, '\u2014 hub.example/w1 ')
})

t.test('a notification shows the confirmation of the head office as soon as there is one', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const address = { url: 'https://198.41.0.4/hook', events: ['whms.placement'] }
  const hook = { ...address, active: false, hold: true, checkpoint: true }
  t.equal((await gateway.ask('POST', '/api/webhooks', { by: people.ada, body: hook })).status, 201)
  gateway.webhooks.worker.start()
  await place(gateway, 'P-1')
  await gateway.checkpoints.make()
  await place(gateway, 'P-2', 'A-02')
  t.notMatch(await newestNote(gateway), '\u2014 hub.example/w1 ', 'nobody has confirmed this checkpoint yet')
  await pass(gateway)
  await place(gateway, 'P-3')
  t.match(await newestNote(gateway), '\u2014 hub.example/w1 ')
})

/** The signed checkpoint that the newest delivery carries. */
async function newestNote({ live, webhooks }: TestGateway): Promise<string> {
  await webhooks.worker.settled()
  const db = new Database(join(live.config.dataDir, 'gatehouse.db'), { readonly: true })
  const newest = db.prepare('SELECT checkpoint FROM webhook_checkpoint ORDER BY from_seq DESC LIMIT 1').pluck().get()
  db.close()
  return JSON.parse(String(newest)).note
}

t.test('a head office that is away changes nothing on the floor, and gets what it missed', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  await hub.down()
  for (let day = 0; day < 7; day += 1) {
    t.equal((await place(gateway, `P-${day}`)).status, 201)
    await pass(gateway, 24 * 60 * 60 * 1000)
  }
  t.match(gateway.feeder.seen(), { trouble: { finding: 'unreachable' } })
  const away = await gateway.status(fromFile, true)
  t.match(away.hub, { url: hub.url, trouble: { finding: 'unreachable', words: /no answer/ } })
  t.ok((away.hub?.trouble?.forSeconds ?? 0) > 3600)
  t.match(statusWords(away, gateway.clock.now(), plain), /head office https:.*no answer/)
  t.notOk(isWell(away), 'after a week somebody should look')
  await gateway.health.look()
  t.match((await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.hub, {
    status: 'degraded',
    reason: /over an hour/,
  })
  await hub.up()
  await pass(gateway, 600_000)
  t.equal(gateway.feeder.seen()?.trouble, undefined)
  t.match((await gateway.status(fromFile, true)).hub, { lag: 0, trouble: null, acknowledged: await leavesAt(hub) })
  t.equal(await leavesAt(hub), gateway.checkpoints.newest()?.size)
  t.same(await hub.rows('SELECT count(*)::int AS n FROM placement'), [{ n: 7 }])
})

t.test('after a restart the gateway goes on where the head office is', async (t) => {
  const { hub, gateway } = await withPallet(t)
  await gateway.feeder.stop()
  await place(gateway, 'P-2')
  const again = await gateway.restart()
  t.teardown(() => again.end())
  await again.checkpoints.make()
  again.feeder.start()
  await again.feeder.settled()
  t.same(await hub.rows('SELECT count(*)::int AS n FROM placement'), [{ n: 2 }])
  await again.feeder.stop()
})

t.test('names go to the head office where both sides want it, and an erasure takes them away there', async (t) => {
  const hub = await headOffice(t, postgres, { listens: true, hub: { openings: 'names' } })
  const gateway = await joined(t, hub)
  await place(gateway, 'P-1')
  await pass(gateway)
  t.same(await hub.rows('SELECT value FROM opening'), [], 'never is the default')
  const { config } = gateway.live
  gateway.live.config = { ...config, hub: { ...config.hub, openings: 'names' } }
  gateway.feeder.onReload()
  await gateway.feeder.settled()
  const trailFor = async (username: string) =>
    (await askAs(hub, '/api/hub/search?code=P-1', username)).body.trail.filter(
      ({ siteId }: { siteId: string }) => siteId === 'test-site',
    )
  t.match(await trailFor('sven'), [{ operator: /^ada@/ }], 'what was sent before gets its names')
  t.equal('operator' in (await trailFor('dora'))[0], false, 'a viewer sees none')
  t.match((await gateway.status(fromFile, true)).hub, { names: 'sent' })
  await gateway.erasePerson({ name: 'ada', texts: false }, 'root')
  await pass(gateway)
  t.same(await hub.rows('SELECT DISTINCT value FROM opening'), [{ value: null }])
  t.equal('operator' in (await trailFor('sven'))[0], false)
  await hub.rows('UPDATE log_head SET named_to = 0')
  gateway.feeder.onReload()
  await gateway.feeder.settled()
  t.same(await hub.rows('SELECT DISTINCT value FROM opening'), [{ value: null }], 'nor after everything again')
})

t.test('a gateway whose log forked goes on sending erasures, some at a time', async (t) => {
  const hub = await testHub(t, postgres, { listens: true, hub: { openings: 'names' } })
  const gateway = await joined(t, hub)
  const { config } = gateway.live
  gateway.live.config = { ...config, hub: { ...config.hub, openings: 'names' } }
  gateway.feeder.onReload()
  await gateway.feeder.settled()
  await place(gateway, 'P-1')
  await pass(gateway)
  const names = () => hub.rows('SELECT DISTINCT value FROM opening')
  t.match(await names(), [{ value: /^ada@/ }])
  await hub.rows(`UPDATE log_head SET state = 'forked'`)
  // More erased names of old rows than one feed has; they come before the numbers of people.
  await gateway.work.write((tx) => {
    for (let i = 0; i < 500; i += 1) {
      keepErasedName(tx, { commitment: i.toString(16).padStart(64, '0'), nameMark: `${i}`, erasedAtMs: 1 })
    }
  })
  await gateway.erasePerson({ name: 'ada', texts: false }, 'root')
  await pass(gateway)
  t.match(gateway.feeder.seen()?.trouble, { finding: 'forked' })
  for (let hour = 0; hour < 3; hour += 1) await pass(gateway, 3_600_000)
  t.same(await names(), [{ value: null }], 'the person behind the first 500 too')
})

t.test('a head office that takes no names is told none, and the gateway says so', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const { config } = gateway.live
  gateway.live.config = { ...config, hub: { ...config.hub, openings: 'names' } }
  await place(gateway, 'P-1')
  await pass(gateway)
  t.match(statusWords(await gateway.status(fromFile, true), gateway.clock.now(), plain), /it takes no names of people/)
  t.same(await hub.rows('SELECT 1 FROM opening'), [])
})

t.test('slots come along with their zones, and an outbound unit says that a pallet is on its way', async (t) => {
  const hub = await headOffice(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const sscc = '095201234567891235'
  await place(gateway, sscc)
  const { body: unit } = await gateway.ask('POST', '/api/whms/transport-units', {
    by: people.sven,
    body: { reference: 'LKW-7', direction: 'outbound', warehouseId: 1, sscc },
  })
  t.equal(unit.sscc, sscc)
  await pass(gateway)
  const photo_url = await heldPhoto(gateway, 77)
  const body = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: sscc, photo_url }
  t.equal((await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })).status, 201)
  await pass(gateway, 2000)
  const found = (await askAs(hub, `/api/hub/search?code=${sscc}`)).body
  t.match(found.data, [{ siteId: 'test-site', slot: null, state: 'in_transit' }])
  t.match(found.unit, { siteId: 'test-site', reference: 'LKW-7', direction: 'outbound', status: 'active' })
  const { data } = (await askAs(hub, '/api/hub/sites/test-site/slots')).body
  t.match(data, [
    { slot: 'A-01', zone: /./, warehouse: /./, isOccupied: false },
    { slot: 'A-02', zone: /./, isOccupied: false, since: null },
  ])
})

t.test(
  'a version that the head office offers shows in the status of the gateway, unless its config ignores it',
  async (t) => {
    const hub = await testHub(t, postgres, { listens: true })
    const gateway = await joined(t, hub)
    const db = new HubDatabase({ connection: connectionOf(hub.config.hub.database, 'app'), log: silentLogger() })
    t.teardown(() => db.close())
    await new OfferService({ db, clock: hub.clock }).begin('99.1.0', 'ada')
    hub.clock.advance(11_000)
    await pass(gateway, 300_000)
    const status = () => gateway.status(fromFile, true)
    t.match((await status()).hub, { offer: { version: '99.1.0', isTakenNow: false, why: /updates\.offers is show/ } })
    t.match(statusWords(await status(), gateway.clock.now(), plain), /the head office offers version 99\.1\.0/)
    t.ok(isWell(await status()), 'an offer is no trouble')
    const { config } = gateway.live
    gateway.live.config = { ...config, updates: { ...config.updates, offers: 'ignore' } }
    t.equal((await status()).hub?.offer, null)
    const timezone = { body: { name: 'Hall', timezone: 'Asia/Tokyo' }, by: people.ada }
    t.equal((await gateway.ask('PUT', '/api/whms/warehouses/1', timezone)).status, 200)
    const offerIn = async (hour: number) => {
      const window = [`Mo-Su ${String(hour).padStart(2, '0')}:00-${String(hour).padStart(2, '0')}:59`]
      gateway.live.config = { ...config, updates: { ...config.updates, offers: 'take', window } }
      return (await status()).hub?.offer
    }
    const hour = new Date(gateway.clock.now()).getUTCHours()
    t.match(await offerIn((hour + 9) % 24), { isTakenNow: true, why: /in Asia.Tokyo/ }, 'by the clock of the warehouse')
    t.match(await offerIn(hour), { isTakenNow: false })
  },
)

t.test('what is printed on a new pallet comes along at once, and a corrected lot a second later', async (t) => {
  const { hub, gateway } = await withLabel(t)
  const rows = () => hub.rows('SELECT asset_key, gtin, lot FROM asset')
  t.match(await rows(), [{ asset_key: 'P-1', lot: 'L-7' }], 'with its first event')
  const change = { by: people.ada, body: { lot: 'L-8' } }
  t.equal((await gateway.ask('PUT', '/api/whms/assets/P-1', change)).status, 200)
  await pass(gateway)
  t.match(await rows(), [{ asset_key: 'P-1', lot: 'L-8' }], 'though no event comes with it')
  await hub.down()
  for (const lot of ['L-9', 'L-10']) {
    t.equal((await gateway.ask('PUT', '/api/whms/assets/P-1', { by: people.ada, body: { lot } })).status, 200)
  }
  await pass(gateway, 2000)
  await hub.up()
  await pass(gateway, 10_000)
  t.match(await rows(), [{ asset_key: 'P-1', lot: 'L-10' }], 'also when the head office was away')
})

t.test('all slots and assets are sent again after a start and after a week, and not in between', async (t) => {
  const { hub, gateway } = await withLabel(t)
  const lose = () => hub.rows(`WITH s AS (UPDATE slot SET zone = 'lost') UPDATE asset SET lot = 'lost'`)
  const there = async () =>
    (await hub.rows('SELECT DISTINCT zone, lot FROM slot, asset')).map(({ zone, lot }) => [zone, lot])
  const dayMs = 24 * 60 * 60 * 1000
  await lose()
  for (let day = 0; day < 6; day += 1) await pass(gateway, dayMs)
  t.same(await there(), [['lost', 'lost']])
  await pass(gateway, dayMs)
  await pass(gateway, 600_000)
  t.same(await there(), [['S', 'L-7']], 'what was lost unnoticed is mended')
  await lose()
  await gateway.feeder.stop()
  gateway.feeder.start()
  await gateway.feeder.settled()
  t.same(await there(), [['S', 'L-7']])
})

t.test(
  'what changes in the plan of a floor is at the head office a second later, and nothing else is sent',
  async (t) => {
    const hub = await headOffice(t, postgres, { listens: true })
    const gateway = await joined(t, hub)
    await hub.rows(`UPDATE slot SET zone = 'as before'`)
    const change = async (method: string, path: string, body: object) => {
      const { status } = await gateway.ask(method, `/api/whms/${path}`, { by: people.ada, body })
      t.ok(status < 300, `${method} ${path}`)
    }
    const floor_plan_polygon = [0, 1, 2].map((x) => ({ x, y: x * x }))
    const floor = async () => {
      await pass(gateway)
      const { data } = (await askAs(hub, '/api/hub/sites/test-site/slots')).body
      return data.map((one: Record<string, string>) => [one['slot'], one['zone'], one['warehouse']])
    }
    await change('POST', 'slots', { slot_id: 'A-03', zone: 'S', floor_plan_polygon })
    const before = [
      ['A-01', 'as before', 'Hall'],
      ['A-02', 'as before', 'Hall'],
    ]
    t.same(await floor(), [...before, ['A-03', 'S', 'Hall']], 'the new one alone')
    await change('POST', 'zones', { name: 'R', zone_type: 'storage', warehouseId: 1 })
    await change('PUT', 'slots/A-03', { zone: 'R' })
    t.same((await floor())[2], ['A-03', 'R', 'Hall'])
    await change('PUT', 'zones/1', { name: 'T' })
    await change('PUT', 'warehouses/1', { name: 'Yard' })
    t.same(await floor(), [
      ['A-01', 'T', 'Yard'],
      ['A-02', 'T', 'Yard'],
      ['A-03', 'R', 'Yard'],
    ])
    await hub.down()
    await change('POST', 'slots', { slot_id: 'A-04', zone: 'T', floor_plan_polygon })
    await change('PUT', 'slots/A-02', { retired: true })
    await pass(gateway, 2000)
    await hub.up()
    await pass(gateway, 10_000)
    t.same(
      (await floor()).map(([slot = '']) => slot),
      ['A-01', 'A-03', 'A-04'],
      'also when the head office was away',
    )
  },
)

t.test('a gateway that was restored behind the head office says so by name', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  await restoreBehind(gateway)
  const restored = await started(gateway)
  t.teardown(() => restored.feeder.stop())
  const seen = restored.feeder.seen()?.trouble
  t.match(seen, { finding: 'ahead', words: /restored from an older copy.*--accept-fork/ })
  await restored.health.look()
  const { status, checks } = (await restored.ask('GET', '/api/health', { by: people.ada })).body
  t.match({ status, hub: checks.hub }, { status: 'degraded', hub: { reason: /another history/ } })
})

t.test(
  'a gateway that was restored and has grown past the head office is a fork, and both sides are kept',
  async (t) => {
    const { hub, gateway } = await withPallet(t)
    await restoreBehind(gateway)
    const restored = await testGateway({ clock: gateway.clock, folder: gateway.folder })
    restored.live.config = loadConfig(join(gateway.folder, 'gatehouse.yaml')).config
    for (const barcode of ['P-2', 'P-3', 'P-4']) t.equal((await place(restored, barcode)).status, 201)
    restored.feeder.start()
    t.teardown(() => restored.feeder.stop())
    await restored.feeder.settled()
    t.match(restored.feeder.seen()?.trouble, { finding: 'forked' })
    t.match(await hub.rows('SELECT kind, sent IS NOT NULL AS kept FROM fork_evidence'), [{ kind: 'root', kept: true }])
  },
)

t.test('a restored gateway that accepts the fork goes on with a new log, and what was lost is named', async (t) => {
  const { hub, gateway } = await withPallet(t)
  await restoreBehind(gateway)
  const { clock, live } = gateway
  const fork = acceptFork(live.config.dataDir, { makeId: uuidv7Maker(clock, systemRandom), nowMs: clock.now() })
  const restored = await started(gateway)
  t.teardown(() => restored.feeder.stop())
  await place(restored, 'P-2', 'A-02')
  await pass(restored)
  t.equal(restored.feeder.seen()?.trouble, undefined)
  const logs = await hub.rows(
    'SELECT l.log_id, l.superseded_by, h.state FROM log l JOIN log_head h USING (log_id) ORDER BY l.enrolled_at, h.state DESC',
  )
  t.match(logs, [
    { log_id: fork.parentLogId, superseded_by: fork.log.logId, state: 'retired' },
    { log_id: fork.log.logId, superseded_by: null, state: 'live' },
  ])
  const floor = 'SELECT slot_code, asset_key, event_type FROM slot_state ORDER BY slot_code'
  t.match(await hub.rows(floor), [{ asset_key: 'P-1', event_type: 'P' }, { asset_key: 'P-2' }], 'as on the floor now')
  t.match(await hub.rows('SELECT type, detail FROM alert'), [
    { type: 'log.leaves-behind-fork', detail: { parentSize: fork.parentSize } },
  ])
})

/** Returns `gatehouse restore --accept-fork` of a box, without a backup. */
const acceptOf =
  ({ clock, live }: TestGateway) =>
  () =>
    acceptFork(live.config.dataDir, { makeId: uuidv7Maker(clock, systemRandom), nowMs: clock.now() })

t.test('a box that is put back a second time accepts the fork a second time', async (t) => {
  const { hub, gateway } = await withPallet(t)
  const accept = acceptOf(gateway)
  await restoreBehind(gateway)
  accept()
  const once = await started(gateway)
  await place(once, 'P-2', 'A-02')
  await pass(once)
  await restoreBehind(once)
  t.throws(accept, { message: /would repair nothing/ }, 'the box itself cannot see it')
  const behind = await started(gateway)
  t.match(behind.feeder.seen()?.trouble, { finding: 'ahead' })
  await behind.health.look()
  await behind.feeder.stop()
  behind.close()
  const { log } = accept()
  const again = await started(gateway)
  t.teardown(() => again.feeder.stop())
  await pass(again)
  t.equal(again.feeder.seen()?.trouble, undefined)
  t.match(await hub.rows(`SELECT log_id FROM log_head WHERE state = 'live'`), [{ log_id: log.logId }])
  const floor = `SELECT slot_code, asset_key FROM slot_state WHERE event_type <> '-' ORDER BY slot_code`
  t.match(await hub.rows(floor), [{ asset_key: 'P-1' }, { asset_key: 'P-2' }], 'as on the floor now')
})

t.test('a box that forked before and is put back to before its keys were exchanged takes a second fork', async (t) => {
  const { hub, gateway } = await withPallet(t)
  const accept = acceptOf(gateway)
  await restoreBehind(gateway)
  accept()
  const once = await started(gateway)
  await place(once, 'P-2', 'A-02')
  await pass(once)
  await restoreBehind(once, async (grown) => {
    await grown.rotateKeys('root')
    await grown.checkpoints.make()
  })
  const behind = await started(gateway)
  t.match(behind.feeder.seen()?.trouble, { finding: 'unknown-key' })
  await behind.health.look()
  await behind.feeder.stop()
  behind.close()
  gateway.clock.advance(1000)
  const { log } = accept()
  const unvouched = await started(gateway)
  t.match(unvouched.feeder.seen()?.trouble, { finding: 'unvouched' })
  await unvouched.health.look()
  await unvouched.feeder.stop()
  unvouched.close()
  t.throws(accept, { message: /would repair nothing/ }, 'for new keys alone a third one would help no one')
  const again = await started(gateway)
  t.teardown(() => again.feeder.stop())
  await enrol(again, hub)
  again.feeder.onReload()
  await pass(again)
  t.equal(again.feeder.seen()?.trouble?.words, undefined)
  t.match(await hub.rows(`SELECT log_id FROM log_head WHERE state = 'live'`), [{ log_id: log.logId }])
})

t.test(
  'a gateway that was restored to before its keys were exchanged says what to do, and goes on by it',
  async (t) => {
    const { hub, gateway } = await withPallet(t)
    await restoreBehind(gateway, async (grown) => {
      await grown.rotateKeys('root')
      await grown.checkpoints.make()
    })
    const restored = await started(gateway)
    const remedy = /key rotation.*restore --accept-fork.*hub join with a new code/
    t.match(restored.feeder.seen()?.trouble, { finding: 'unknown-key', words: remedy })
    await restored.health.look()
    t.match((await restored.ask('GET', '/api/health', { by: people.ada })).body, {
      checks: { hub: { status: 'degraded' } },
    })
    await t.rejects(
      enrol(restored, hub),
      { message: /409: .*other keys.*restore --accept-fork first/ },
      'not the same log',
    )
    await restored.feeder.stop()
    restored.close()
    const { clock, live } = gateway
    const { parentLogId, log } = acceptFork(live.config.dataDir, {
      ...{ makeId: uuidv7Maker(clock, systemRandom), nowMs: clock.now() },
    })
    const again = await started(gateway)
    t.teardown(() => again.feeder.stop())
    t.match(
      again.feeder.seen()?.trouble,
      { finding: 'unvouched', words: /^(?!.*accept-fork).*hub enrol.*hub join/ },
      'the old keys let no log in, and a second fork would help nobody',
    )
    await enrol(again, hub)
    await place(again, 'P-2', 'A-02')
    again.feeder.onReload()
    await pass(again)
    t.equal(again.feeder.seen()?.trouble?.words, undefined)
    const ended = await hub.rows('SELECT superseded_by FROM log WHERE log_id = $1', [parentLogId])
    t.same(ended, [{ superseded_by: log.logId }], 'its new log ends the one before')
    const floor = 'SELECT slot_code, asset_key, event_type FROM slot_state ORDER BY slot_code'
    t.match(await hub.rows(floor), [{ asset_key: 'P-1', event_type: 'P' }, { asset_key: 'P-2' }], 'as on the floor now')
  },
)

t.test(
  'keys that were exchanged while the head office was away are followed also in a log that a restore has ended',
  async (t) => {
    const { hub, gateway } = await withPallet(t)
    await gateway.feeder.stop()
    const { keys } = await gateway.rotateKeys('root')
    await place(gateway, 'P-2', 'A-02')
    await gateway.checkpoints.make()
    gateway.close()
    const { clock, live } = gateway
    const { parentLogId, parentSize, log } = acceptFork(live.config.dataDir, {
      ...{ makeId: uuidv7Maker(clock, systemRandom), nowMs: clock.now() },
    })
    const restored = await started(gateway)
    t.teardown(() => restored.feeder.stop())
    await pass(restored)
    t.equal(restored.feeder.seen()?.trouble?.words, undefined, 'without another code')
    const logs = await hub.rows('SELECT h.log_id, h.size, h.vkeys, h.state FROM log_head h ORDER BY state DESC')
    t.match(logs, [
      { log_id: parentLogId, size: String(parentSize), vkeys: keys, state: 'retired' },
      { log_id: log.logId, state: 'live' },
    ])
    const floor = 'SELECT slot_code, asset_key FROM slot_state ORDER BY slot_code'
    t.match(await hub.rows(floor), [{ asset_key: 'P-1' }, { asset_key: 'P-2' }])
  },
)

t.test('after a restore slots and assets come with the new log, from the first on', async (t) => {
  const { hub, gateway } = await withLabel(t)
  await restoreBehind(gateway)
  await hub.rows('UPDATE slot SET version = 0')
  const { clock, live } = gateway
  const { log } = acceptFork(live.config.dataDir, { makeId: uuidv7Maker(clock, systemRandom), nowMs: clock.now() })
  const restored = await started(gateway)
  t.teardown(() => restored.feeder.stop())
  const ofNewLog = async (column: string, table: string) =>
    (await hub.rows(`SELECT ${column} AS is FROM ${table} WHERE log_id = $1 ORDER BY 1`, [log.logId])).map(
      (row) => row['is'],
    )
  t.same(await ofNewLog('slot_code', 'slot'), ['A-01', 'A-02'])
  t.same(await ofNewLog('lot', 'asset'), ['L-7'])
  t.same(
    await hub.rows('SELECT 1 FROM slot WHERE version > 0 AND log_id <> $1', [log.logId]),
    [],
    'none with the old log',
  )
})

t.test(
  'a head office that was away while the keys were exchanged follows, and believes the old ones no more',
  async (t) => {
    const { hub, gateway } = await withPallet(t)
    await gateway.feeder.stop()
    const first = (await gateway.rotateKeys('root')).previousKeys
    await place(gateway, 'P-2', 'A-02')
    await gateway.checkpoints.make()
    const { keys } = await gateway.rotateKeys('root')
    await place(gateway, 'P-3', 'A-02')
    await gateway.checkpoints.make()
    gateway.feeder.start()
    await gateway.feeder.settled()
    t.match(gateway.feeder.seen(), { size: gateway.checkpoints.newest()?.size, trouble: undefined })
    t.same(await hub.rows('SELECT vkeys FROM log_head'), [{ vkeys: keys }])
    t.notSame(first, keys)
    gateway.feeder.onReload()
    await gateway.feeder.settled()
    t.equal(gateway.feeder.seen()?.trouble, undefined, 'and under the newest keys alone')
  },
)

t.test('keys that were exchanged are followed although the head office is out of reach in between', async (t) => {
  const { hub, gateway } = await withPallet(t)
  await gateway.feeder.stop()
  await gateway.rotateKeys('root')
  await place(gateway, 'P-2', 'A-02')
  await gateway.checkpoints.make()
  const answers: number[] = []
  const url = await passingOn(t, hub, async (request) => {
    // The first is refused for its keys; the next, under the earlier ones, finds no one.
    const answer = answers.length === 1 ? new Response('', { status: 503 }) : await hub.api.fetch(request)
    answers.push(answer.status)
    return answer
  })
  const { config } = gateway.live
  gateway.live.config = { ...config, hub: { ...config.hub, url } }
  gateway.feeder.start()
  await gateway.feeder.settled()
  t.match(gateway.feeder.seen()?.trouble, { finding: 'unavailable' })
  gateway.clock.advance(Math.ceil(gateway.clock.nextInMs ?? 0))
  await gateway.feeder.settled()
  t.same([answers.slice(0, 2), gateway.feeder.seen()?.trouble], [[403, 503], undefined])
})

t.test('a wrong token, another authority and a head office that talks nonsense are named', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const tried = async (more: Record<string, unknown>) => {
    const { config } = loadConfig(join(gateway.folder, 'gatehouse.yaml'))
    gateway.live.config = { ...config, hub: { ...config.hub, ...more } }
    gateway.feeder.onReload()
    await gateway.feeder.settled()
    return gateway.feeder.seen()?.trouble
  }
  const wrong = join(gateway.folder, 'wrong-token')
  writeFileSync(wrong, 'a guess')
  t.match(await tried({ tokenFile: wrong }), { finding: 'refused', words: /\(401\)/ })
  t.match(await tried({ tokenFile: join(gateway.folder, 'none') }), { finding: 'refused', words: /does not exist/ })
  t.match(await tried({ caFile: null }), { finding: 'unreachable', words: /CERT|UNABLE/ })
  t.match(await tried({ url: `${hub.url}/elsewhere` }), { finding: 'unknown-log', words: /hub.url is wrong/ })
  t.equal(await tried({}), undefined, 'and it recovers')
})

t.test('a gateway joins only the head office whose fingerprint is in the code', async (t) => {
  const [hub, other] = [await testHub(t, postgres, { listens: true }), await testHub(t, postgres, { listens: true })]
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const configFile = join(gateway.folder, 'gatehouse.yaml')
  const code = await hub.code('test-site')
  await t.rejects(joinHub({ url: other.url, code, configFile }), {
    exitCode: 1,
    message: /somebody intercepts the connection/,
  })
  await t.rejects(joinHub({ url: 'http://10.0.0.1', code, configFile }), {
    exitCode: 2,
    message: /not the address of a head office/,
  })
  const made = await joinHub({ url: hub.url, code, configFile })
  t.match(loadConfig(configFile).config.hub, { url: hub.url, tokenFile: made.tokenFile, vkey: made.vkey })
  t.ok(readFileSync(made.caFile ?? '').equals(readFileSync(hub.caFile)), 'it trusts that authority alone')
  await t.rejects(joinHub({ url: hub.url, code, configFile }), { exitCode: 1, message: /403: This code is wrong/ })
})

/** Listens with the certificate of a head office, and leaves each request to `fetch`. Returns its address. */
async function passingOn(t: T, of: TestHub, fetch: (request: Request) => Promise<Response>) {
  const tls = { certFile: join(of.folder, 'cert.pem'), keyFile: join(of.folder, 'key.pem') }
  const listener = new HttpListener({ host: '127.0.0.1', port: 0, tls }, { fetch } as never)
  t.teardown(() => listener.stop())
  return `https://127.0.0.1:${await listener.start()}`
}

/** Listens with the certificate of one head office and passes on to it, but shows both authorities, the wanted one first. */
async function showingTwo(t: T, of: TestHub, wanted: TestHub, other: TestHub) {
  const asked: string[] = []
  const both = `${readFileSync(wanted.caFile)}${readFileSync(other.caFile)}`
  const headers = { 'Content-Type': 'application/x-pem-file' }
  const fetch = async (request: Request) => {
    const { pathname } = new URL(request.url)
    asked.push(pathname)
    return pathname === '/api/hub/v1/ca' ? new Response(both, { headers }) : of.api.fetch(request)
  }
  return { url: await passingOn(t, of, fetch), asked }
}

t.test('of two authorities that an address shows, only the one that the code names is trusted', async (t) => {
  const [hub, thief] = [await testHub(t, postgres), await testHub(t, postgres)]
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const configFile = join(gateway.folder, 'gatehouse.yaml')
  const codeFile = join(gateway.folder, 'code')
  writeFileSync(codeFile, `${await hub.code('test-site')}\n`)
  const between = await showingTwo(t, thief, hub, thief)
  await t.rejects(joinHub({ url: between.url, codeFile, configFile }), {
    exitCode: 1,
    message: /reached: .*certificate/,
  })
  t.same(between.asked, ['/api/hub/v1/ca'], 'the code was not sent')
  const right = await showingTwo(t, hub, hub, thief)
  const { caFile } = await joinHub({ url: right.url, codeFile, configFile })
  t.ok(readFileSync(caFile ?? '').equals(readFileSync(hub.caFile)), 'the other one is not kept')
  await t.rejects(joinHub({ url: right.url, configFile }), { exitCode: 2, message: /either --code or --code-file/ })
  await t.rejects(joinHub({ url: right.url, codeFile: `${codeFile}2`, configFile }), { message: /cannot be read/ })
})

t.test('a slow line is not filled: no more bytes a second go out than the config says', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const { config } = gateway.live
  gateway.live.config = { ...config, hub: { ...config.hub, maxBytesPerSecond: 300 } }
  await place(gateway, 'P-1')
  const before = gateway.clock.monotonic()
  gateway.clock.advance(1000)
  let isDone = false
  const done = gateway.feeder.settled().then(() => {
    isDone = true
  })
  const isOver = () => {
    gateway.clock.advance(5)
    return isDone
  }
  await waitUntil('the feed is over', isOver, { everyMs: 1 })
  await done
  t.ok(gateway.clock.monotonic() - before > 5000, 'a checkpoint with two signatures took more than five seconds')
})

type Between = {
  feeds: number
  readonly ports: Set<number | undefined>
  answer: (nth: number, from: () => Promise<Response>) => Promise<Response>
}

/** The gateway feeds its head office through a listener that may answer in its place. */
async function answeredBetween(t: T, gateway: TestGateway, hub: TestHub, between: Between): Promise<void> {
  const fetch = (request: Request, { incoming }: { incoming: IncomingMessage }) => {
    between.feeds += 1
    between.ports.add(incoming.socket.remotePort)
    return between.answer(between.feeds, async () => hub.api.fetch(request))
  }
  const tls = { certFile: join(hub.folder, 'cert.pem'), keyFile: join(hub.folder, 'key.pem') }
  const listener = new HttpListener({ host: '127.0.0.1', port: 0, tls }, { fetch } as never)
  t.teardown(() => listener.stop())
  const url = `https://127.0.0.1:${await listener.start()}`
  const { config } = gateway.live
  gateway.live.config = { ...config, hub: { ...config.hub, url } }
  gateway.feeder.onReload()
  await gateway.feeder.settled()
}

t.test('all feeds of a gateway go over one connection', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const between: Between = { feeds: 0, ports: new Set(), answer: (_nth, from) => from() }
  await answeredBetween(t, gateway, hub, between)
  for (const barcode of ['P-1', 'P-2', 'P-3']) {
    await place(gateway, barcode)
    await pass(gateway)
  }
  t.ok(between.feeds >= 4)
  t.equal(between.ports.size, 1)
})

t.test('new leaves wait as long as a busy head office asks, and then go in one feed', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const between: Between = {
    feeds: 0,
    ports: new Set(),
    answer: async (_nth, from) => {
      const answer = (await (await from()).json()) as object
      return Response.json({ ...answer, pauseMs: 5000 })
    },
  }
  await answeredBetween(t, gateway, hub, between)
  const [before, fedBefore] = [await leavesAt(hub), between.feeds]
  await place(gateway, 'P-1')
  await pass(gateway, 3000)
  await place(gateway, 'P-2')
  await pass(gateway, 1900)
  t.equal(await leavesAt(hub), before, 'nothing for 4.9 s')
  await pass(gateway, 100)
  t.equal(await leavesAt(hub), gateway.checkpoints.newest()?.size)
  t.ok((await leavesAt(hub)) >= before + 2)
  t.equal(between.feeds, fedBefore + 1)
})

t.test('a head office that says when to come again is asked then, and not later and later', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const refusal = () => Response.json({}, { status: 503, headers: { 'Retry-After': '2' } })
  const between: Between = { feeds: 0, ports: new Set(), answer: async (nth, from) => (nth < 9 ? refusal() : from()) }
  await answeredBetween(t, gateway, hub, between)
  await place(gateway, 'P-1')
  for (let nth = 2; nth < 9; nth += 1) {
    await pass(gateway, 3000)
    t.equal(between.feeds, nth)
  }
  await pass(gateway, 3000)
  t.equal(await leavesAt(hub), gateway.checkpoints.newest()?.size)
})
