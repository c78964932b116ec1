import { setImmediate } from 'node:timers/promises'
import { z } from '@hono/zod-openapi'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { messageShapes } from '../../src/stream/schema.ts'
import { place } from '../support/browser.ts'
import { furnish, type Person, people, signedIn, type TestGateway, testGateway } from '../support/gateway.ts'

type Message = { readonly event: string; readonly id: string; readonly data: Record<string, unknown> }

/** A client of the stream that reads message by message. */
class Client {
  readonly response: Response
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  #text = ''
  lastId = ''

  constructor(response: Response) {
    this.response = response
    this.#reader = (response.body as ReadableStream<Uint8Array>).getReader()
  }

  /** The next message; undefined when the stream has ended. */
  async next(): Promise<Message | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end < 0) {
        const { value, done } = await this.#reader.read()
        if (done) return undefined
        this.#text += Buffer.from(value).toString('utf8')
        continue
      }
      const lines = this.#text.slice(0, end).split('\n')
      this.#text = this.#text.slice(end + 2)
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      this.lastId = field('id') ?? this.lastId
      const event = field('event')
      if (event !== undefined) return { event, id: this.lastId, data: JSON.parse(field('data') ?? '') }
    }
  }

  async take(count: number): Promise<Message[]> {
    const taken: Message[] = []
    while (taken.length < count) {
      const message = await this.next()
      if (!message) throw new Error(`the stream ended after ${JSON.stringify(taken)}`)
      taken.push(message)
    }
    return taken
  }

  close = () => this.#reader.cancel()
}

async function follow(gateway: TestGateway, by: Person, headers: Record<string, string> = {}): Promise<Client> {
  const response = await gateway.api.request('/api/stream', { headers: signedIn(by, headers) })
  if (response.status !== 200) throw new Error(await response.text())
  return new Client(response)
}

let photos = 0
async function put(gateway: TestGateway, slot_code: string, asset_barcode: string, by: Person = people.olga) {
  photos += 1
  const photo_url = `https://photos.example/${photos}.jpg`
  const body = { event_type: 'PLACED', slot_code, asset_barcode, photo_url }
  const answer = await gateway.ask('POST', '/api/whms/events', { by, body })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}

const kinds = (messages: readonly Message[]) => messages.map(({ event }) => event)

t.test('slots that are changed together tell a screen once to read the plan anew', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-1', 'A-2'])
  const client = await follow(gateway, people.vera)
  t.match(await client.next(), { event: 'hello' })
  const changes = [1, 2].map((id) => ({ id, zone_type: 'cold' }))
  await gateway.ask('POST', '/api/whms/slots/batch', { by: people.ada, body: { changes } })
  await put(gateway, 'A-1', 'P-1')
  const [layout, placed] = await client.take(2)
  t.match(layout, { event: 'floor', data: { warehouseId: 1, layoutChanged: true, slots: { length: 0 } } })
  t.match(placed, { event: 'floor', data: { warehouseId: 1, layoutChanged: false, slots: [{ id: 1 }] } })
  await client.close()
})

t.test('a placement reaches a screen with the slot as it is now, in the documented shapes', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-1', 'A-2'])
  const client = await follow(gateway, people.vera)
  t.equal(client.response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  t.match(await client.next(), { event: 'hello', data: { resumed: false } }, 'who is new has to read everything')
  const { id } = await put(gateway, 'A-1', 'P-1')
  const [floor, event] = await client.take(2)
  t.strictSame(floor?.data, {
    warehouseId: 1,
    layoutChanged: false,
    slots: [{ id: 1, isOccupied: true, assetBarcode: 'P-1', isVerified: false, isDisputed: false }],
  })
  const stored = (await gateway.ask('GET', `/api/whms/events/${id}`, { by: people.vera })).body
  const { success: _, evidence: __, ...asRead } = stored
  t.strictSame(event?.data, asRead, 'the event is as its own address answers it')
  await gateway.ask('POST', '/api/whms/slots', {
    by: people.ada,
    body: {
      slot_id: 'A-3',
      zone: 'S',
      floor_plan_polygon: [
        { x: 0, y: 0 },
        { x: 1, y: 0 },
        { x: 1, y: 1 },
      ],
    },
  })
  const layout = await client.next()
  t.match(layout, { event: 'floor', data: { warehouseId: 1, layoutChanged: true, slots: { length: 0 } } })
  for (const { event: kind, data } of [floor, event, layout].flatMap((one) => one ?? []))
    t.ok(z.strictObject(messageShapes[kind as 'floor'].shape).safeParse(data).success, `${kind} is as described`)
  await client.close()
  t.equal(gateway.streamHub.size, 0, 'a client that has gone is forgotten')
})

t.test('nobody hears of a hall, a camera or an alert that is hidden from them', async (t) => {
  const camera = { id: 1, url: 'rtsp://127.0.0.1:9/main', viewers: ['sven'], enabled: true }
  const config = { warehouses: [{ id: 2, viewers: ['sven'] }], cameras: [camera] }
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-1', 'A-2'])
  const by = people.ada
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Secret', timezone: 'Europe/Berlin' } })
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  await gateway.ask('POST', '/api/whms/slots', {
    by,
    body: { slot_id: 'H-1', zone: 'H', warehouseId: 2, floor_plan_polygon },
  })
  const [vera, sven, ada] = [
    await follow(gateway, people.vera),
    await follow(gateway, people.sven),
    await follow(gateway, people.ada),
  ]
  for (const client of [vera, sven, ada]) await client.next()
  gateway.clock.advance(1000)
  gateway.cameras.threadStarted()
  gateway.cameras.heard({
    type: 'state',
    cameraId: 1,
    state: 'live',
    problem: null,
    words: null,
    pictureAgoMs: 0,
  } as never)
  gateway.clock.advance(1000)
  await put(gateway, 'H-1', 'P-hidden', people.sven)
  await put(gateway, 'A-1', 'P-seen')
  const heard = await vera.take(2)
  t.strictSame(kinds(heard), ['floor', 'event'], 'the viewer hears of neither the camera nor the other hall')
  t.notMatch(JSON.stringify(heard), /P-hidden|"warehouseId":2/)
  t.strictSame(kinds(await sven.take(5)), ['camera', 'floor', 'event', 'floor', 'event'])
  t.equal(new Set(heard.map(({ id }) => id.slice(0, 8))).size, 2, 'ids have no common beginning that counts')
  for (const client of [vera, sven, ada]) await client.close()
})

t.test(
  'a transport unit is told of when something is recorded of it, to those who may see its warehouse',
  async (t) => {
    const gateway = await testGateway({ config: { warehouses: [{ id: 2, viewers: ['sven'] }] } })
    t.teardown(() => gateway.end())
    await furnish(gateway, ['A-1'])
    const by = people.ada
    await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Secret', timezone: 'Europe/Berlin' } })
    const units = '/api/whms/transport-units'
    const record = async (path: string, body: object) => {
      const answer = await gateway.ask('POST', path, { by: people.sven, body })
      t.ok(answer.status <= 201, answer.text)
      return answer.body.id as string
    }
    const before = await record(units, { reference: 'DN-0', direction: 'inbound' })
    const [vera, sven] = [await follow(gateway, people.vera), await follow(gateway, people.sven)]
    for (const client of [vera, sven]) t.match(await client.next(), { event: 'hello' })
    const hidden = await record(units, { reference: 'DN-1', direction: 'inbound', warehouseId: 2 })
    await record(`${units}/${before}/advance`, {})
    const heard = { event: 'unit', data: { id: before, warehouseId: 1, stage: 'receiving', status: 'active' } }
    t.match(await sven.next(), { event: 'unit', data: { id: hidden, warehouseId: 2, stage: 'registered' } })
    const [own, seen] = [await sven.next(), await vera.next()]
    t.match(own, heard)
    t.strictSame(seen?.data, heard.data, 'the viewer hears of the unit here alone')
    t.doesNotThrow(() => messageShapes.unit.strict().parse(seen?.data))
    await record(`${units}/${before}/hold`, { reason: 'seal is broken' })
    t.match(await vera.next(), { event: 'unit', data: { id: before, status: 'on_hold' } })
    for (const client of [vera, sven]) await client.close()
  },
)

t.test('an incident is told of when it is opened or changed, to those who may read it', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 1, viewers: ['sven'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-1'])
  const [vera, olga, sven] = [
    await follow(gateway, people.vera),
    await follow(gateway, people.olga),
    await follow(gateway, people.sven),
  ]
  for (const client of [vera, olga, sven]) t.match(await client.next(), { event: 'hello' })
  const incidents = '/api/governance/incidents'
  const post = async (path: string, body: object, by: Person) => {
    const answer = await gateway.ask('POST', path, { by, body })
    t.ok(answer.status <= 201, answer.text)
  }
  await post(incidents, { severity: 'high', category: 'theft', title: 'Hidden' }, people.sven)
  const hidden = { id: 1, warehouseId: 1, status: 'open', severity: 'high' }
  t.strictSame(await sven.next().then((one) => [one?.event, one?.data]), ['incident', hidden])
  await post(incidents, { severity: 'low', category: 'damage' }, people.olga)
  const open = { id: 2, warehouseId: null, status: 'open', severity: 'low' }
  for (const client of [olga, sven])
    t.strictSame((await client.next())?.data, open, 'who does not see the site reports for no warehouse')
  await post(`${incidents}/2/investigate`, {}, people.sven)
  for (const client of [olga, sven]) {
    const heard = await client.next()
    t.strictSame(heard?.data, { ...open, status: 'investigating' })
    t.doesNotThrow(() => messageShapes.incident.strict().parse(heard?.data))
  }
  const by = people.ada
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Open', timezone: 'Europe/Berlin' } })
  t.match(await vera.next(), { event: 'floor', data: { warehouseId: 2 } }, 'a viewer hears of no incident')
  for (const client of [vera, olga, sven]) await client.close()
})

t.test('the end of a dispute is told to other screens that see its slot', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 2, viewers: ['sven'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-1'])
  const photo_url = 'https://photos.example/1.jpg'
  const book = (event_type: string, by: Person) =>
    gateway.ask('POST', '/api/whms/events', {
      by,
      body: { event_type, slot_code: 'A-1', asset_barcode: 'P-1', photo_url },
    })
  const { body: placed } = await book('PLACED', people.olga)
  const { body: dispute } = await book('DISPUTED', people.sven)
  const vera = await follow(gateway, people.vera)
  t.match(await vera.next(), { event: 'hello' })
  const id = `disputed-${placed.id}-${dispute.id}`
  const resolved = await gateway.ask('POST', `/api/whms/discrepancies/${id}/resolve`, {
    by: people.sven,
    body: { note: 'counted by hand' },
  })
  t.equal(resolved.status, 200, resolved.text)
  const slots = [{ id: placed.slot_id, isOccupied: true, assetBarcode: 'P-1', isDisputed: true }]
  t.match(await vera.next(), { event: 'floor', data: { warehouseId: 1, layoutChanged: false, slots } })
  await vera.close()
})

t.test('an alert is told when it is raised and when it is acknowledged, to whom alerts are for', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-1'])
  const [sven, ada] = [await follow(gateway, people.sven), await follow(gateway, people.ada)]
  for (const client of [sven, ada]) await client.next()
  gateway.clock.advance(1000)
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  t.teardown(() => db.close())
  db.exec(`INSERT INTO alert (kind, subject, message, created_at_ms) VALUES ('disk.low', 'x', 'The disk is full', 1)`)
  gateway.clock.advance(1000)
  const [raised] = await ada.take(1)
  t.match(raised, { event: 'alert', data: { message: 'The disk is full', acknowledgedAt: null } })
  await gateway.ask('POST', `/api/alerts/${raised?.data['id']}/acknowledge`, { by: people.ada })
  gateway.clock.advance(1000)
  t.match(await ada.next(), { event: 'alert', data: { acknowledgedAt: String } })
  await put(gateway, 'A-1', 'P-1')
  t.strictSame(kinds(await sven.take(2)), ['floor', 'event'], 'a supervisor hears of no alert')
  for (const client of [sven, ada]) await client.close()
})

t.test('who comes back gets what was missed, once and in order, or is told to read everything', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-1', 'A-2', 'A-3'])
  const first = await follow(gateway, people.vera)
  await first.next()
  await put(gateway, 'A-1', 'P-1')
  await first.take(2)
  await first.close()
  await put(gateway, 'A-2', 'P-2')
  await put(gateway, 'A-3', 'P-3')
  const back = await gateway.api.request('/api/stream?follow=false', {
    headers: signedIn(people.vera, { 'Last-Event-ID': first.lastId }),
  })
  const again = new Client(back)
  const missed: Message[] = []
  for (let one = await again.next(); one; one = await again.next()) missed.push(one)
  t.match(
    missed,
    [
      { event: 'hello', data: { resumed: true } },
      { event: 'floor', data: { slots: [{ assetBarcode: 'P-2' }, { assetBarcode: 'P-3' }] } },
      { event: 'event', data: { asset_barcode: 'P-2' } },
      { event: 'event', data: { asset_barcode: 'P-3' } },
    ],
    'what was missed, in order',
  )
  const ended = await gateway.ask('GET', `/api/stream?follow=false&after=${again.lastId}`, { by: people.vera })
  t.match(ended.text, /"resumed":true/, 'nothing is missing after the last one')
  t.notMatch(ended.text, /event: event/)
  for (const id of ['', 'x', 'AAAAAAAAAAAAAAAAAAAAAA'])
    t.match(
      (await gateway.ask('GET', `/api/stream?follow=false&after=${id}`, { by: people.vera })).text,
      /"resumed":false/,
    )
  const restarted = await gateway.restart()
  t.teardown(() => restarted.end())
  const { text } = await restarted.ask('GET', `/api/stream?follow=false&after=${again.lastId}`, { by: people.vera })
  t.match(text, /"resumed":false/, 'after a restart the id is unknown')
})

t.test('a client that reads nothing is dropped, and the others go on', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-1'])
  const slow = await gateway.api.request('/api/stream', { headers: signedIn(people.vera) })
  const quick = await follow(gateway, people.vera)
  await quick.next()
  const note = 'n'.repeat(3900)
  for (let batch = 0; batch < 3; batch += 1) {
    const events = Array.from({ length: 50 }, (_, n) => ({
      ...{ event_type: 'PLACED', slot_code: 'A-1', asset_barcode: `P-${batch}-${n}`, verification_notes: note },
      photo_url: `https://photos.example/${batch}-${n}.jpg`,
    }))
    const { status } = await gateway.ask('POST', '/api/whms/events/batch', { by: people.olga, body: { events } })
    t.equal(status, 201)
    await quick.take(51)
  }
  t.equal(gateway.streamHub.size, 1, 'only the one who reads is left')
  await t.rejects((slow.body as ReadableStream).getReader().read(), 'what was queued is gone')
  await quick.close()
})

t.test('streams are bounded, and end with the sign-in', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const clients: Client[] = []
  for (let n = 0; n < 40; n += 1) clients.push(await follow(gateway, people.vera))
  t.match(await gateway.ask('GET', '/api/stream', { by: people.vera }), {
    status: 429,
    body: { error: { code: 'RATE_LIMITED' } },
  })
  await Promise.all(clients.map((client) => client.close()))
  const { body, headers } = await gateway.ask('POST', '/api/session', {
    body: { username: 'vera', secret: 'vera-secret' },
  })
  const Cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  const client = new Client(await gateway.api.request('/api/stream', { headers: { Cookie } }))
  t.match(await client.next(), { event: 'hello' })
  gateway.clock.advance(5000)
  t.equal(gateway.streamHub.size, 1, 'it goes on while the session does')
  await gateway.ask('DELETE', '/api/session', { headers: { Cookie, 'X-CSRF-Token': body.csrfToken } })
  gateway.clock.advance(5000)
  await setImmediate()
  t.equal(gateway.streamHub.size, 0, 'and ends with it')
  await client.close()
})

t.test('a screen that goes while its sign-in is asked about takes nobody with it', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const { body, headers } = await gateway.ask('POST', '/api/session', {
    body: { username: 'vera', secret: 'vera-secret' },
  })
  const Cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  const client = new Client(await gateway.api.request('/api/stream', { headers: { Cookie } }))
  await client.next()
  await gateway.ask('DELETE', '/api/session', { headers: { Cookie, 'X-CSRF-Token': body.csrfToken } })
  const faults: unknown[] = []
  const note = (fault: unknown) => faults.push(fault)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  gateway.clock.advance(5000)
  await client.close()
  for (let turn = 0; turn < 20; turn += 1) await setImmediate()
  t.strictSame(faults, [])
  t.equal(gateway.streamHub.size, 0)
})

t.test('a gateway that stops does not wait for its screens', async (t) => {
  const { url, stop } = await (async () => {
    let stop = async () => {}
    const made = await place({ teardown: (work) => (stop = work as () => Promise<void>) })
    return { ...made, stop: () => stop() }
  })()
  const response = await fetch(`${url}api/stream`, { headers: { ...signedIn(people.vera), 'Accept-Encoding': 'gzip' } })
  t.equal(response.headers.get('content-encoding'), null, 'compression would hold messages back')
  const client = new Client(response)
  await client.next()
  const startedMs = performance.now()
  await stop()
  t.ok(performance.now() - startedMs < 5000, 'it would wait 10 s for an answer under way')
  await t.rejects(client.next())
})
