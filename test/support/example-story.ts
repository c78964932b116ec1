import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { stepAt, totpOf } from '../../src/auth/factors/totp.ts'
import { databaseFile } from '../../src/database/index.ts'
import type { Example } from '../../src/http/index.ts'
import { isoTime } from '../../src/platform/index.ts'
import type { CameraState, FromCameras } from '../../src/video/index.ts'
import { plainWords } from '../../src/video/problems.ts'
import { Authenticator } from './authenticator.ts'
import { type Answer, type Ask, people, siteUrl, type TestGateway, testGateway, tinyPng } from './gateway.ts'
import { startProvider } from './provider.ts'
import { headersOfPerson } from './provider-site.ts'
import { busyCells, quietCells, storeCells } from './stored-cells.ts'
import { brightModel } from './tiny-model.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Json = any

/** One request and its answer. */
export type Exchange = { readonly operationId: string; readonly request: Json; readonly answer: Answer }

type Described = { readonly method: string; readonly pattern: RegExp; readonly operationId: string }

const { ada, olga, sven } = people
const morning = Date.UTC(2026, 2, 2, 8)
const photo_url = 'https://photos.example/dock-3/0815.jpg'
/** Public key of RFC 8292, 2.4; nothing is signed with the private one. */
const vapidPair = {
  publicKey: 'BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs',
  privateKey: Buffer.alloc(32, 1).toString('base64url'),
}
/** Keys of the browser of RFC 8291, 5. */
const subscription = {
  endpoint: 'https://push.example/f1Lb1iQ',
  keys: {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
}
const polygon = [
  { x: 0, y: 0 },
  { x: 1.2, y: 0 },
  { x: 1.2, y: 0.8 },
  { x: 0, y: 0.8 },
]

/**
 * A day at a small warehouse that uses every operation of the API once. Where the examples of the description come
 * from: chance and time are made up, so a second run answers the same.
 */
export async function playDay(): Promise<Exchange[]> {
  let drawn = 0
  const random = (size: number) => {
    drawn += 1
    return createHash('shake256', { outputLength: size }).update(`day ${drawn}`).digest()
  }
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-day-'))
  const modelFile = join(folder, 'model.onnx')
  writeFileSync(modelFile, brightModel({ names: `{0: 'bright'}` }))
  const gateway = await testGateway({
    random,
    config: {
      console: { objectDetection: { enabled: true, modelFile } },
      labels: { sscc: { companyPrefix: '0614141', extensionDigit: 1 } },
      printers: [{ name: 'dock', host: '127.0.0.1', port: 9 }],
      webhooks: { timeout: '1ms' },
      alerts: {
        // No mail server listens there.
        smtp: { host: '127.0.0.1', port: 9, from: 'gatehouse@dc7.example' },
        channels: [{ name: 'night', mail: { to: ['lead@dc7.example'] }, webPush: {} }],
      },
      cameras: [
        {
          id: 7,
          name: 'Dock door 1',
          url: 'rtsp://192.0.2.7/main',
          owner: 'ada',
          viewers: ['sven'],
          slots: ['A-01-01'],
          purpose: 'To show in what condition pallets are received.',
        },
      ],
      privacy: {
        controller: 'Example Logistics GmbH, Hamburg',
        contact: 'privacy@example.com',
        fourEyesForExport: true,
      },
    },
  })
  try {
    writeFileSync(join(gateway.live.config.dataDir, 'keys', 'vapid.json'), JSON.stringify(vapidPair))
    await gateway.checkpoints.make()
    const day = new Day(gateway, await operationsOf(gateway))
    await day.furnish()
    await day.moveGoods()
    await day.printLabels()
    await day.receiveTruck()
    await day.count()
    await day.watch()
    await day.govern()
    await day.notify()
    await day.signIn()
    await day.loseCamera()
    await day.replayMotion()
    await day.tryList()
    await day.changeSlots()
    await day.askAgain()
    return day.exchanges
  } finally {
    gateway.end()
    rmSync(folder, { recursive: true })
  }
}

async function operationsOf(gateway: TestGateway): Promise<Described[]> {
  const { body } = await gateway.ask('GET', '/api/openapi', { by: ada })
  return Object.entries(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => ({
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      operationId,
    })),
  )
}

class Day {
  readonly exchanges: Exchange[] = []
  readonly #gateway: TestGateway
  readonly #operations: readonly Described[]

  constructor(gateway: TestGateway, operations: readonly Described[]) {
    this.#gateway = gateway
    this.#operations = operations
  }

  /** Sends a request, notes its answer, and throws when it was refused. */
  async #ask(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    this.#gateway.clock.advance(60_000)
    const answer = await this.#gateway.ask(method, path, { ...(!ask.headers && { by: ada }), ...ask })
    const said = `${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 500)}`
    if (answer.status >= 300) throw new Error(said)
    const asked = path.split('?')[0] ?? path
    const fitting = this.#operations.filter((one) => one.method === method && one.pattern.test(asked))
    const operation = fitting.find(({ pattern }) => !pattern.source.includes('[^/]+')) ?? fitting[0]
    if (!operation) throw new Error(`nothing describes ${method} ${path}`)
    this.exchanges.push({ operationId: operation.operationId, request: ask.body, answer })
    return answer
  }

  #get = (path: string, ask: Ask = {}) => this.#ask('GET', path, ask)
  #post = (path: string, body?: Json, ask: Ask = {}) => this.#ask('POST', path, { ...ask, body })
  #put = (path: string, body: Json) => this.#ask('PUT', path, { body })

  async furnish(): Promise<void> {
    await this.#get('/api/ping')
    await this.#get('/api/health')
    await this.#get('/api/openapi')
    await this.#get('/api/stream?follow=false')
    await this.#post('/api/whms/warehouses', {
      name: 'North hall',
      timezone: 'Europe/Berlin',
      location: { lat: 53.55, lng: 9.99 },
    })
    await this.#put('/api/whms/warehouses/1', { name: 'North hall 1' })
    await this.#post('/api/whms/zones', { name: 'A', zone_type: 'storage', color: '#2b6cb0', warehouseId: 1 })
    const outline = [
      { x: -1, y: -1 },
      { x: 5, y: -1 },
      { x: 5, y: 4 },
      { x: -1, y: 4 },
    ]
    await this.#put('/api/whms/zones/1', { color: '#2c7a7b', floor_plan_polygon: outline })
    for (const slot_id of ['A-01-01', 'A-01-02', 'A-01-03'])
      await this.#post('/api/whms/slots', {
        slot_id,
        zone: 'A',
        floor_plan_polygon: polygon,
        constraints: { max_weight: 1200, allowed_types: ['pallet'] },
      })
    const image = '/api/whms/warehouses/1/floor-plan-image'
    const { body: hall } = await this.#ask('PUT', image, { bytes: tinyPng })
    await this.#put('/api/whms/warehouses/1', { floorPlanImage: { place: { rotation: 90 } } })
    await this.#get(`${image}/${hall.floorPlanImage.sha256}`)
    await this.#ask('DELETE', image)
    await this.#put('/api/whms/slots/A-01-03', { constraints: { max_weight: 1500 } })
    await this.#post('/api/whms/assets', {
      asset_id: 'P-4711',
      type: 'pallet',
      weight_kg: 480,
      dimensions: { length: 120, width: 80, height: 145 },
      lot: 'L7',
    })
    await this.#put('/api/whms/assets/P-4711', { bestBefore: '2026-12-31' })
  }

  /** At the end, so that no number of the day changes. */
  async tryList(): Promise<void> {
    const bytes = Buffer.from('slot_id,zone,x,y,width,height\r\nA-02-01,A,2,0,1.2,0.8\r\nA-02-02,B,3.4,0,1.2,0.8\r\n')
    await this.#ask('POST', '/api/whms/slots/import?dryRun=true', {
      by: ada,
      bytes,
      headers: { 'Content-Type': 'text/csv' },
    })
  }

  /** At the end too. */
  async changeSlots(): Promise<void> {
    const moved = polygon.map(({ x, y }) => ({ x: x + 2, y }))
    await this.#post('/api/whms/slots/batch', {
      mode: 'proceed',
      changes: [
        { id: 1, version: 1, floor_plan_polygon: moved },
        { id: 3, version: 1, retired: true },
      ],
    })
  }

  /** Also at the end: the answers to a repeat, to a batch of all or none, and to a range. */
  async askAgain(): Promise<void> {
    const twice = async (path: string, body: Json) => {
      for (let n = 0; n < 2; n += 1) await this.#post(path, body, { by: olga })
    }
    const placed = { event_type: 'PLACED', slot_code: 'A-01-02', asset_barcode: 'P-4720', photo_url }
    const moved = { asset_barcode: 'P-4720', to_slot_code: 'A-01-01', photo_url, operator: 'olga' }
    await twice('/api/whms/events', { ...placed, client_event_id: 'scanner-3/1201' })
    await twice('/api/whms/moves', { ...moved, client_event_id: 'scanner-3/1202' })
    await this.#post('/api/whms/events/batch', { events: [{ ...placed, asset_barcode: 'P-4721' }] }, { by: olga })
    const { body: wrong } = await this.#gateway.ask('GET', '/api/whms/events?limit=1', { by: olga })
    const correction = { slot_code: 'A-01-01', reason: 'The wrong slot was scanned.' }
    const path = `/api/whms/events/${wrong.data[0].id}/correct`
    await twice(path, { ...correction, client_event_id: 'scanner-3/1203' })
    const unit = { reference: 'TRUCK-89', direction: 'outbound' }
    await twice('/api/whms/transport-units', { ...unit, client_event_id: 'scanner-3/1204' })
    const counts = '/api/whms/counts'
    const { body: count } = await this.#post(counts, { slot_codes: ['A-01-02'] }, { by: sven })
    await twice(`${counts}/${count.id}/scans`, { slot_code: 'A-01-02', empty: true, client_scan_id: 'scanner-3/1205' })
    const range = { by: ada, headers: { Range: 'bytes=0-' } }
    await this.#get('/api/governance/reports/1/file', range)
  }

  async moveGoods(): Promise<void> {
    const image = { 'Content-Type': 'image/png' }
    const { body: photo } = await this.#ask('POST', '/api/whms/evidence/photos', {
      by: olga,
      bytes: tinyPng,
      headers: image,
    })
    await this.#get(`/api/whms/evidence/photos/${photo.sha256}`)
    await this.#post(
      '/api/whms/events',
      {
        event_type: 'PLACED',
        slot_code: 'A-01-01',
        asset_barcode: 'P-4711',
        operator: 'olga',
        photo_url: photo.url,
        scale_weight_kg: 481.5,
        work_order_ref: 'WO-2026-0815',
        scan: { slot: 'A-01-01', asset: 'P-4711' },
      },
      { by: olga },
    )
    await this.#post(
      '/api/whms/events',
      { event_type: 'VERIFIED', slot_code: 'A-01-01', asset_barcode: 'P-4711' },
      { by: sven },
    )
    await this.#post(
      '/api/whms/moves',
      { asset_barcode: 'P-4711', to_slot_code: 'A-01-02', photo_url, operator: 'olga' },
      { by: olga },
    )
    await this.#post(
      '/api/whms/events/batch',
      {
        mode: 'proceed',
        events: [
          { event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: 'P-4712', photo_url },
          { event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: 'P-4713' },
        ],
      },
      { by: olga },
    )
    await this.#post(
      '/api/whms/events/5/correct',
      { slot_code: 'A-01-03', reason: 'The wrong slot was scanned.' },
      { by: olga },
    )
    for (const path of [
      'events?limit=2',
      'events/1',
      'events/1/footage',
      'events/export?format=csv',
      'events/export?format=ndjson',
      'epcis',
      'warehouses',
      'warehouses/1',
      'zones',
      'zones/1',
      'zones/1/slots',
      'slots',
      'slots/A-01-01',
      'slots/A-01-01/history',
      'assets',
      'assets/P-4711',
      'assets/P-4711/location',
      'assets/P-4711/history',
      'assets/P-4711/story',
      'scan/A-01-01',
      'dashboard/utilization',
    ])
      await this.#get(`/api/whms/${path}`)
    await this.#dispute()
  }

  /** A supervisor disputes a placement, and resolves it with a note. */
  async #dispute(): Promise<void> {
    const disputed = { event_type: 'DISPUTED', slot_code: 'A-01-03', asset_barcode: 'P-4712' }
    await this.#post('/api/whms/events', disputed)
    const { body } = await this.#get('/api/whms/discrepancies')
    const open = body.data.find(({ kind }: { kind: string }) => kind === 'disputed')
    await this.#post(`/api/whms/discrepancies/${open.id}/resolve`, { note: 'Counted by hand, all there.' })
  }

  async printLabels(): Promise<void> {
    await this.#post('/api/whms/sscc', { count: 1, type: 'pallet', lot: 'L8' })
    await this.#get('/api/whms/labels/printers')
    const { body: job } = await this.#post('/api/whms/labels/print', { printer: 'dock', slot_code: 'A-01-01' })
    await this.#get('/api/whms/labels/jobs')
    await this.#get(`/api/whms/labels/jobs/${job.id}`)
    await this.#post(`/api/whms/labels/jobs/${job.id}/cancel`)
    await this.#post(`/api/whms/labels/jobs/${job.id}/reprint`)
    for (const format of ['svg', 'zpl']) {
      await this.#get(`/api/whms/slots/A-01-01/label?format=${format}`)
      await this.#get(`/api/whms/assets/P-4711/label?format=${format}`)
    }
  }

  async receiveTruck(): Promise<void> {
    const units = '/api/whms/transport-units'
    await this.#get(`${units}/workflow`)
    const { body: unit } = await this.#post(units, {
      reference: 'TRUCK-88',
      direction: 'inbound',
      carrier: 'Nordfracht',
      vehicle: 'HH-NF 204',
    })
    const one = `${units}/${unit.id}`
    await this.#post(`${one}/advance`, {
      operator: 'olga',
      evidence: { photo_urls: [photo_url], scale_weight_kg: 18240 },
    })
    await this.#post(`${one}/hold`, { reason: 'The seal is broken.' })
    await this.#post(`${one}/resume`, { reason: 'The seal was replaced.' })
    await this.#post(`${one}/evidence`, { photo_urls: ['https://photos.example/dock-3/seal.jpg'] })
    await this.#post('/api/iot/scale-readings', {
      scaleId: 'dock-3',
      weightKg: 18240,
      stable: true,
      transportUnitId: unit.id,
    })
    await this.#get('/api/iot/scale-readings')
    await this.#get('/api/iot/scale-readings/1')
    await this.#post(`${one}/cancel`, { reason: 'It was the wrong delivery.' })
    await this.#get(units)
    await this.#get(one)
  }

  async count(): Promise<void> {
    const counts = '/api/whms/counts'
    await this.#post(counts, { slot_codes: ['A-01-01', 'A-01-02'], reference: 'March count' }, { by: sven })
    await this.#post(`${counts}/1/scans`, { slot_code: 'A-01-01', empty: true }, { by: olga })
    await this.#post(`${counts}/1/scans`, { slot_code: 'A-01-02', barcodes: ['P-4711'] }, { by: olga })
    await this.#get(counts)
    await this.#get(`${counts}/1`)
    await this.#get(`${counts}/1/slots`)
    await this.#post(`${counts}/1/submit`, undefined, { by: olga })
    await this.#get(`${counts}/1/review`)
    await this.#post(`${counts}/1/recount`, { slot_codes: ['A-01-01'], reason: 'Counted too fast.' }, { by: sven })
    await this.#post(`${counts}/1/scans`, { slot_code: 'A-01-01', empty: true }, { by: olga })
    await this.#post(`${counts}/1/submit`, undefined, { by: olga })
    await this.#post(`${counts}/1/approve`, undefined, { by: sven })
    await this.#post(counts, { zoneId: 1 }, { by: sven })
    await this.#post(`${counts}/2/cancel`, { reason: 'Opened by mistake.' }, { by: sven })
  }

  async watch(): Promise<void> {
    for (const message of motion) this.#gateway.cameras.heard(message)
    await this.#gateway.audit('test.settled', {})
    await this.#get('/api/iot/cctv')
    await this.#get('/api/iot/cctv/7/notice?format=json')
    await this.#post('/api/iot/detection/motion-stream', { cctvId: 7, action: 'start', sensitivity: 0.25 })
    await this.#get('/api/iot/detection/motion-stream?cctvId=7')
    await this.#get('/api/iot/detection-events')
    await this.#get('/api/iot/detection-events/1')
    await this.#handOut()
  }

  async #handOut(): Promise<void> {
    const clip = '/api/iot/detection-events/1'
    const polygon = [
      { x: 0.1, y: 0.1 },
      { x: 0.4, y: 0.1 },
      { x: 0.4, y: 0.9 },
    ]
    await this.#post(`${clip}/redact`, { regions: [{ polygon, from: 1, to: 4.5 }] })
    await this.#get(`${clip}/redactions`)
    await this.#get('/api/iot/redactions/1')
    const request = { reason: 'Police report 4711/26', recipient: 'Police station 12', cameraClockOffsetMs: -90_000 }
    await this.#post(`${clip}/export`, request)
    await this.#post('/api/iot/exports/1/approve', { note: 'The report is in the file.' }, { by: sven })
    await this.#post(`${clip}/export`, request)
    await this.#post('/api/iot/exports/2/refuse', { note: 'It was handed out already.' }, { by: sven })
    await this.#get('/api/iot/exports')
    await this.#get('/api/iot/exports/1')
  }

  async govern(): Promise<void> {
    const governance = '/api/governance'
    await this.#post(`${governance}/incidents`, {
      severity: 'high',
      category: 'damaged goods',
      title: 'Pallet P-4711 is wet',
      evidenceReferences: [{ type: 'event', id: '1' }],
    })
    await this.#get(`${governance}/incidents`)
    await this.#get(`${governance}/incidents/1`)
    await this.#post(`${governance}/incidents/1/investigate`)
    await this.#post(`${governance}/incidents/1/resolve`, { resolution: 'Repacked. The roof above A-01 was mended.' })
    await this.#post(`${governance}/reports`, { from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z' })
    await this.#get(`${governance}/reports`)
    await this.#get(`${governance}/reports/1`)
    await this.#get(`${governance}/reports/1/file`)
    await this.#get(`${governance}/audit?limit=2`)
    await this.#get(`${governance}/audit/export?entity=incident`)
    await this.#get('/api/whms/evidence/opening-lists')
    await this.#readLog()
    await this.#get('/api/metrics')
    const { body: detection } = await this.#get('/api/console/object-detection')
    await this.#get(`/api/console/object-detection/models/${detection.model.sha256}`)
    for (let minute = 0; minute < 2; minute += 1) await this.#gateway.lastDay.take()
    await this.#get('/api/metrics/day')
    this.#queueUpload()
    await this.#get('/api/uploads')
    await this.#post('/api/uploads/1/retry')
  }

  async notify(): Promise<void> {
    const hooks = '/api/webhooks'
    await this.#get(`${hooks}/event-types`)
    const { body: hook } = await this.#post(hooks, {
      url: 'https://erp.invalid/gatehouse',
      events: ['whms.placement'],
      secret: 'a secret of both sides',
    })
    const one = `${hooks}/${hook.id}`
    await this.#post(
      '/api/whms/events',
      { event_type: 'PLACED', slot_code: 'A-01-03', asset_barcode: 'P-4714', photo_url },
      { by: olga },
    )
    await this.#get(hooks)
    await this.#get(one)
    await this.#ask('PATCH', one, { body: { active: false, hold: true } })
    await this.#post(`${one}/enable`)
    await this.#post(`${one}/rotate-secret`, { secret: 'another secret of both' })
    await this.#post(`${one}/test`)
    const worker = this.#gateway.webhooks.worker
    worker.start()
    const sent = async () =>
      (await this.#gateway.ask('GET', `${one}/deliveries`, { by: ada })).body.data.filter(
        (delivery: { test: boolean }) => !delivery.test,
      )
    while ((await sent()).length === 0) await new Promise((resolve) => setImmediate(resolve))
    await worker.stop()
    await this.#get(`${one}/deliveries`)
    await this.#post(`${one}/deliveries/${(await sent()).at(-1).id}/redeliver`)
    await this.#post(`${one}/recover`, { since: '2026-03-02T08:00:00Z' })
    this.#raiseAlert(hook.id)
    await this.#get('/api/alerts')
    await this.#post('/api/alerts/1/acknowledge')
    await this.#ask('DELETE', one)
    await this.#tellPeople()
  }

  async #tellPeople(): Promise<void> {
    await this.#get('/api/push-subscriptions')
    const { body: subscribed } = await this.#post('/api/push-subscriptions', subscription)
    await this.#ask('DELETE', `/api/push-subscriptions/${subscribed.subscriptions[0].id}`)
    await this.#post('/api/alert-channels/night/test')
    await this.#get('/api/alert-channels')
    await this.#get('/api/alert-messages')
    const { body: silence } = await this.#post('/api/alert-silences', {
      until: '2026-03-02T18:00:00Z',
      kinds: ['camera.*'],
      reason: 'a new switch in hall 2',
    })
    await this.#get('/api/alert-silences')
    await this.#post(`/api/alert-silences/${silence.id}/end`)
  }

  async #readLog(): Promise<void> {
    await this.#gateway.checkpoints.make()
    await this.#get('/api/log/checkpoint')
    await this.#get('/api/log/checkpoints')
    await this.#get('/api/log/consistency?from=1&to=3')
    await this.#get('/api/log/keys')
    await this.#get('/api/log/tile/0/000.p%2F1')
    await this.#get('/api/log/tile/entries/000.p%2F1')
    await this.#get('/api/whms/events/1/proof')
    await this.#get('/api/governance/incidents/1/package')
    await this.#get('/api/whms/slots/A-01-03/untouched?from=2026-03-02T08:00:00Z&to=2026-03-02T08:10:00Z')
    await this.#get('/api/iot/detection-events/1/proof')
    const { body: units } = await this.#gateway.ask('GET', '/api/whms/transport-units', { by: ada })
    await this.#get(`/api/whms/transport-units/${units.data[0].id}/receipt`)
    await this.#get(`/api/whms/transport-units/${units.data[0].id}/receipt-link`)
    await this.#get('/api/governance/clock')
  }

  #queueUpload(): void {
    const db = new BetterSqlite3(databaseFile(this.#gateway.live.config.dataDir))
    db.exec(`INSERT INTO upload (kind, ref, root, path, file, sha256, size_bytes, urgent, status, attempts, next_attempt_at_ms,
        last_error, parked_for, queued_at_ms)
      VALUES ('clip', '1', '/gatehouse', 'dc-7/clips/1/2026/03/02/2026-03-02T08-00-00.000Z_17s_1.mp4', 'clips/1.mp4',
        '${'4b'.repeat(32)}', 5242880, 0, 'parked', 1, 0, 'HTTP 507 to sending the file: the storage server has no room',
        'quota', ${this.#gateway.clock.now()})`)
    db.close()
  }

  #raiseAlert(webhookId: string): void {
    const db = new BetterSqlite3(databaseFile(this.#gateway.live.config.dataDir))
    db.prepare('INSERT INTO alert (kind, subject, message, created_at_ms) VALUES (?, ?, ?, ?)').run(
      'webhook.failing',
      webhookId,
      'The webhook to erp.invalid is failing: attempt 6 of one delivery failed. Last: HTTP 503',
      this.#gateway.clock.now(),
    )
    db.close()
  }

  async #accounts(nobody: Ask): Promise<void> {
    const { body: made } = await this.#post('/api/accounts', { username: 'nora', role: 'operator', groups: ['dock'] })
    await this.#get('/api/accounts')
    await this.#get('/api/accounts/nora')
    await this.#ask('PATCH', '/api/accounts/nora', { body: { role: 'supervisor' } })
    await this.#get('/api/sight?name=nora')
    await this.#post('/api/accounts/nora/disable')
    await this.#post('/api/accounts/nora/enable')
    await this.#post('/api/session', { username: 'nora', secret: made.secret }, nobody)
    const { body: sessions } = await this.#get('/api/sessions')
    await this.#ask('DELETE', `/api/sessions/${sessions.data[0].id}`)
    await this.#post('/api/sessions/end', { username: 'nora' })
    const { body: reset } = await this.#post('/api/accounts/nora/reset')
    const headers = headersOf({ ...reset, instance: siteUrl })
    await this.#ask('GET', '/api/own-account', { headers })
    await this.#factors(nobody, reset.secret)
    const body = { current: reset.secret, password: 'correct horse battery' }
    await this.#ask('PUT', '/api/own-account/password', { headers, body })
  }

  async #confirmApp(bySession: Ask): Promise<void> {
    const { body: app } = await this.#ask('POST', '/api/own-account/totp', bySession)
    // Each request is a minute after the one before.
    const code = totpOf(fromBase32(app.secret), stepAt(this.#gateway.clock.now() + 60_000))
    await this.#ask('POST', '/api/own-account/totp/confirm', { ...bySession, body: { name: 'phone', code } })
  }

  /** Sets up and uses second factors. */
  async #factors(nobody: Ask, secret: string): Promise<void> {
    const { body: signed, headers } = await this.#post('/api/session', { username: 'nora', secret }, nobody)
    const bySession = {
      headers: { Cookie: headers.get('set-cookie')?.split(';')[0] ?? '', 'X-CSRF-Token': signed.csrfToken },
    }
    await this.#confirmApp(bySession)
    const { body: codes } = await this.#ask('POST', '/api/own-account/recovery-codes', bySession)
    const [recovery] = codes.recoveryCodes
    await this.#ask('POST', '/api/session/step-up', { ...bySession, body: { code: recovery } })
    const phone = new Authenticator(siteUrl)
    const { body: creation } = await this.#ask('POST', '/api/own-account/passkeys/begin', bySession)
    const passkey = { name: 'phone', passkey: phone.create(creation.options) }
    await this.#ask('POST', '/api/own-account/passkeys', { ...bySession, body: passkey })
    await this.#ask('PATCH', '/api/accounts/nora', { body: { passkeyAlone: true } })
    const { body: request } = await this.#post('/api/session/challenge', undefined, nobody)
    await this.#post('/api/session/passkey', { passkey: phone.get(request.options) }, nobody)
    await this.#ask('DELETE', '/api/own-account/factors/1', bySession)
    await this.#confirmApp(bySession)
    await this.#post('/api/accounts/nora/remove-factors')
  }

  /** A person of an OpenID provider signs in, steps up and signs out. */
  async #provider(nobody: Ask): Promise<void> {
    const ends: (() => unknown)[] = []
    const people = [{ sub: 'u-1', preferred_username: 'nora', groups: ['wh-operators'] }]
    const provider = await startProvider({ teardown: (end) => ends.push(end) }, { people, siteUrl })
    const { config } = this.#gateway.live
    const oidc = [{ ...provider.entry, groupsClaim: 'groups', groupRoles: {} }] as never
    this.#gateway.live.config = { ...config, auth: { ...config.auth, oidc } }
    await this.#post('/api/session/provider', { issuer: provider.issuer, returnTo: '/cameras' }, nobody)
    const headers = await headersOfPerson({ provider, gateway: this.#gateway }, 'u-1')
    await this.#post('/api/session/provider/step-up', { returnTo: '/people' }, { headers })
    await this.#post('/api/session/provider/sign-out', {}, { headers })
    this.#gateway.live.config = config
    for (const end of ends) await end()
  }

  async signIn(): Promise<void> {
    const nobody: Ask = { headers: {} }
    const { body: made } = await this.#post('/api/devices', { name: 'handheld-7', warehouseIds: [1] })
    const { body: device } = await this.#post('/api/devices/enrol', { code: made.enrolment.code }, nobody)
    await this.#get('/api/devices')
    await this.#get('/api/devices/1')
    const { body: screen } = await this.#post('/api/device-pairings', undefined, nobody)
    await this.#get(`/api/device-pairings/${screen.code}`)
    await this.#post(`/api/device-pairings/${screen.code}/confirm`, { name: 'wall-1', warehouseIds: [1] })
    await this.#post('/api/device-pairings/collect', { token: screen.token }, nobody)
    const { body: operator } = await this.#post('/api/operators', { username: 'otto', badge: 'B-0042', pin: '4826' })
    await this.#get('/api/operators')
    await this.#put(`/api/operators/${operator.id}/pin`, { pin: '7193' })
    const byDevice = headersOf(device)
    const { body: shift } = await this.#ask('POST', '/api/devices/sign-in', {
      headers: byDevice,
      body: { badge: 'B-0042', pin: '7193' },
    })
    await this.#ask('POST', '/api/devices/sign-out', { headers: headersOf(shift) })
    await this.#post(`/api/operators/${operator.id}/revoke`)
    await this.#accounts(nobody)
    await this.#provider(nobody)
    await this.#post('/api/devices/1/enrolment')
    await this.#post('/api/devices/1/revoke')
    await this.#post('/api/signed-urls', { path: '/api/iot/detection-events/1/snapshot', seconds: 300 })
    const signed = await this.#post('/api/session', { username: 'ada', secret: 'ada-secret' }, nobody)
    const cookie = signed.headers.get('set-cookie')?.split(';')[0] ?? ''
    const bySession = { Cookie: cookie, 'X-CSRF-Token': signed.body.csrfToken }
    await this.#get('/api/session', { headers: { Cookie: cookie } })
    await this.#ask('DELETE', '/api/session', { headers: bySession })
  }

  /** A camera loses its power for four minutes. */
  async loseCamera(): Promise<void> {
    const span = `from=${isoTime(this.#gateway.clock.now())}`
    await this.#hear({ state: 'live', problem: null, words: null, pictureAgoMs: 0 })
    this.#gateway.clock.advance(60_000)
    await this.#hear({
      state: 'backing-off',
      problem: 'unreachable',
      words: plainWords('unreachable'),
      pictureAgoMs: 0,
    })
    this.#gateway.clock.advance(240_000)
    await this.#hear({ state: 'live', problem: null, words: null, pictureAgoMs: 0 })
    await this.#get('/api/iot/cctv/7/gaps?limit=1')
    await this.#get(`/api/iot/cctv/7/watched?${span}&to=${isoTime(this.#gateway.clock.now())}`)
  }

  /** A person walked past a camera; its owner replays the motion with a mask. */
  async replayMotion(): Promise<void> {
    const fromMs = this.#gateway.clock.now() - 5000
    const walk = Array.from({ length: 25 }, (_, i) => (i < 10 || i >= 20 ? quietCells : busyCells(i - 8)))
    await storeCells(join(this.#gateway.folder, 'state', 'scores'), 7, fromMs, walk)
    const span = { from: isoTime(fromMs), to: isoTime(fromMs + 5000) }
    await this.#get(`/api/iot/cctv/7/scores?from=${isoTime(fromMs + 3000)}&to=${span.to}`)
    await this.#post('/api/iot/cctv/7/what-if', { ...span, sensitivity: 0.4 })
  }

  async #hear(state: Omit<CameraState, 'type' | 'cameraId' | 'at'>): Promise<void> {
    this.#gateway.cameras.heard({ ...state, type: 'state', cameraId: 7, at: this.#gateway.clock.now() })
    for (const _ of [1, 2, 3]) await this.#gateway.audit('test.settled', {})
  }
}

/** Reads base32 (RFC 4648) of 20 bytes. */
function fromBase32(text: string): Buffer {
  let bits = 0n
  for (const one of text) bits = bits * 32n + BigInt('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one))
  return Buffer.from(bits.toString(16).padStart(40, '0'), 'hex')
}

function headersOf(credential: Json): Record<string, string> {
  return {
    Authorization: `Bearer ${credential.secret}`,
    'X-Storage-Instance': credential.instance,
    'X-Storage-Username': credential.username,
  }
}

const facts = { cameraId: 7, motionAt: morning, score: 0.42, sceneChange: false }
const motion: FromCameras[] = [
  { ...facts, type: 'motionFired', detectionId: 1, clip: true },
  {
    ...facts,
    type: 'clipClosed',
    detectionId: 1,
    file: '1.mp4',
    sha256: createHash('sha256').update('clip').digest('hex'),
    sizeBytes: 1_482_110,
    startedAt: morning - 5000,
    endedAt: morning + 12_000,
    preRollSeconds: 5,
    askedPreRollSeconds: 5,
    pictures: 425,
    longestGapSeconds: 0.04,
    original: true,
    durationSeconds: 17,
    width: 1280,
    height: 720,
    peakScore: 0.71,
    snapshot: { file: '1.png', sha256: createHash('sha256').update('snapshot').digest('hex'), sizeBytes: 48_211 },
    closedBy: 'post-roll',
  },
]

/** Returns the first request and answer of each operation, short enough to read. */
export function examplesOf(exchanges: readonly Exchange[]): Record<string, Example> {
  const examples: Record<string, { request?: Json; answers: Json[] }> = {}
  for (const { operationId, request, answer } of exchanges) {
    const mediaType = answer.headers.get('content-type')?.split(';')[0]
    const example = examples[operationId] ?? { answers: [] }
    examples[operationId] = example
    if (request !== undefined) example.request ??= request
    const body = answer.body === undefined ? textOf(mediaType, answer.text) : short(answer.body)
    if (mediaType === undefined || body === undefined) continue
    if (example.answers.some((one) => one.status === answer.status && one.mediaType === mediaType)) continue
    example.answers.push({ status: answer.status, mediaType, body })
  }
  return examples
}

function textOf(mediaType: string | undefined, text: string): Json {
  if (mediaType?.endsWith('+json')) return short(JSON.parse(text))
  if (mediaType === 'application/zip') return undefined
  if (!mediaType?.startsWith('text/') && !mediaType?.startsWith('application/')) return undefined
  // The description has a schema of one message.
  if (mediaType === 'text/event-stream') return undefined
  if (mediaType === 'application/octet-stream') return undefined
  return text.replace(longSignature, '$1…').split('\n').slice(0, 6).join('\n').slice(0, 600)
}

/** A signature for the age of quantum computers fills a page. */
const longSignature = /([A-Za-z0-9+/]{40})[A-Za-z0-9+/=]{200,}/g

/** Shortens lists to the first two entries. Empties the description itself, and JSON Schemas. */
function short(value: Json): Json {
  if (Array.isArray(value)) return value.slice(0, 2).map(short)
  if (typeof value === 'string') return value.replace(longSignature, '$1…')
  if (typeof value !== 'object' || value === null) return value
  if ('openapi' in value)
    return { openapi: value.openapi, info: { title: value.info.title, version: value.info.version }, paths: {} }
  if ('$schema' in value) return { type: 'object' }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, short(inner)]))
}
