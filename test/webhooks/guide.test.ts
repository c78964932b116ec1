import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { databaseFile, openReader } from '../../src/database/index.ts'
import { createdKinds, eventTypes } from '../../src/journal/index.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { runToEnd } from '../support/process.ts'
import { type Received, type ReceiverOptions, startReceiver } from '../support/receiver.ts'

const secret = 'a secret that both know'
const guide = readFileSync(resolve(import.meta.dirname, '../fixtures/receivers/README.md'), 'utf8')

/** The one piece of code in this language that the guide shows. */
function snippet(language: string): string {
  const found = [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, code]) => code)
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} pieces of ${language} in the guide`)
  return found[0]
}

function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-guide-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Lets time pass until so many requests have come in all. */
async function until(gateway: TestGateway, received: readonly Received[], count: number): Promise<void> {
  for (let turn = 0; received.length < count; turn += 1) {
    if (turn > 1_000_000) throw new Error(`${received.length} of ${count} came`)
    await new Promise((resolve) => setImmediate(resolve))
    if (turn % 100 === 0) gateway.clock.advance(1000)
  }
  await gateway.webhooks.worker.settled()
}

/** A gateway that sends to one receiver. */
async function yard(t: Test, options: Pick<ReceiverOptions, 'behave'> = {}) {
  const receiver = await startReceiver({ secret, ...options })
  t.teardown(() => receiver.stop())
  const caFile = join(newFolder(t), 'receiver.pem')
  writeFileSync(caFile, receiver.caPem)
  const cameras = [{ id: 7, url: 'rtsp://192.0.2.7/main', owner: 'ada' }]
  const gateway = await testGateway({ config: { cameras, webhooks: { allowNetworks: ['127.0.0.0/8'], caFile } } })
  t.teardown(async () => {
    await gateway.webhooks.worker.stop()
    gateway.end()
  })
  await furnish(gateway, ['A-01', 'B-01'])
  const register = async (events: readonly string[]): Promise<string> => {
    const hook = { url: receiver.url, events, secret }
    return (await gateway.ask('POST', '/api/webhooks', { by: people.ada, body: hook })).body.id
  }
  gateway.webhooks.worker.start()
  return { gateway, receiver, register }
}

/**
 * Returns a real receiver's requests on a bad day: events in order, one that failed and comes late, one twice, one forged.
 */
async function aBadDay(t: Test): Promise<Received[]> {
  const { gateway, receiver, register } = await yard(t, { behave: (_, nth) => ({ status: nth === 1 ? 500 : 204 }) })
  const by = people.ada
  const id = await register(['whms.removal'])
  for (const [n, slot_code] of ['A-01', 'B-01', 'A-01'].entries()) {
    const body = { event_type: 'REMOVED', slot_code, asset_barcode: `Grün-${n}` }
    await gateway.ask('POST', '/api/whms/events', { by, body })
    await until(gateway, receiver.received, n + 1)
  }
  await until(gateway, receiver.received, 4)
  const [, second] = receiver.received
  await gateway.ask('POST', `/api/webhooks/${id}/deliveries/${second?.deliveryId}/redeliver`, { by })
  await until(gateway, receiver.received, 5)
  const all = receiver.received.slice(1) // the first was answered with 500: that receiver has not taken it
  const forged = { ...(all[0] as Received), body: Buffer.from('{}') }
  return [...all, forged]
}

/** Offline scanners report late. The state of their events had ended, or continued below the known state. */
async function aLateScanner(t: Test): Promise<{ day: Received[]; floor: Floor }> {
  const { gateway, receiver, register } = await yard(t)
  await register(['whms.placement', 'whms.removal', 'whms.verification'])
  const startMs = gateway.clock.now()
  const photo_url = 'https://photos.example/1.jpg'
  const events = [
    { event_type: 'PLACED', slot_code: 'A-01', asset_barcode: 'P-1', minute: 30 },
    { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: 'P-0', minute: 10 },
    { event_type: 'PLACED', slot_code: 'B-01', asset_barcode: 'P-2', minute: 20 },
    { event_type: 'VERIFIED', slot_code: 'B-01', asset_barcode: 'P-2', minute: 40 },
    // Older than the verification, and yet it empties the slot.
    { event_type: 'REMOVED', slot_code: 'B-01', asset_barcode: 'P-2', minute: 35 },
    { event_type: 'PLACED', slot_code: 'A-01', asset_barcode: 'P-3', minute: 5 },
  ]
  gateway.clock.advance(3_600_000)
  for (const [n, { minute, ...event }] of events.entries()) {
    const timestamp = new Date(startMs + minute * 60_000).toISOString()
    const body = { ...event, timestamp, ...(event.event_type === 'PLACED' && { photo_url }) }
    const reply = await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
    if (reply.status !== 201) throw new Error(reply.text)
    await until(gateway, receiver.received, n + 1)
  }
  const { body } = await gateway.ask('GET', '/api/whms/slots', { by: people.ada })
  const floor = Object.fromEntries(body.data.map((slot: ShownSlot & { id: number }) => [slot.id, shown(slot)]))
  return { day: [...receiver.received], floor }
}

type ShownSlot = { isOccupied: boolean; assetBarcode: string | null; isVerified?: boolean; isDisputed?: boolean }
type Floor = Record<string, ShownSlot>
type KeptSlots = Record<string, { state: ShownSlot }>

const shown = ({ isOccupied, assetBarcode, isVerified, isDisputed }: ShownSlot): ShownSlot => ({
  ...{ isOccupied, assetBarcode },
  ...(isVerified !== undefined && { isVerified }),
  ...(isDisputed !== undefined && { isDisputed }),
})
const floorOf = (slots: KeptSlots): Floor =>
  Object.fromEntries(Object.entries(slots).map(([id, { state }]) => [id, shown(state)]))

/** A day on which everything happens that a receiver can hear of, each once; the test comes last. */
async function aFullDay(t: Test): Promise<Received[]> {
  const { gateway, receiver, register } = await yard(t)
  const id = await register(eventTypes.filter((type) => type !== 'webhook.test'))
  const post = async (path: string, body: object) => {
    const reply = await gateway.ask('POST', `/api/${path}`, { by: people.ada, body })
    if (reply.status >= 300) throw new Error(`${path}: ${reply.text}`)
    // Sends one after the other, because concurrent deliveries may overtake each other.
    await until(gateway, receiver.received, published(gateway))
    return reply.body
  }
  const pallet = { slot_code: 'A-01', asset_barcode: 'P-1' }
  const photo_url = 'https://photos.example/1.jpg'
  await post('whms/events', { ...pallet, event_type: 'PLACED', photo_url })
  for (const event_type of ['VERIFIED', 'DISPUTED']) await post('whms/events', { ...pallet, event_type })
  await post('whms/discrepancies/disputed-1-3/resolve', { note: 'counted by hand' })
  await post('whms/events', { ...pallet, event_type: 'REMOVED' })
  const unit = await post('whms/transport-units', { reference: 'PO-7', direction: 'inbound' })
  for (const step of ['hold', 'resume']) await post(`whms/transport-units/${unit.id}/${step}`, {})
  await post(`whms/transport-units/${unit.id}/evidence`, { photo_urls: [photo_url] })
  for (let stage = 1; stage < 7; stage += 1) await post(`whms/transport-units/${unit.id}/advance`, {})
  const other = await post('whms/transport-units', { reference: 'PO-8', direction: 'outbound' })
  await post(`whms/transport-units/${other.id}/cancel`, {})
  await post('iot/scale-readings', { scaleId: 'dock', weightKg: 412.5 })
  await post('governance/incidents', { severity: 'high', category: 'damage', title: 'Fallen', evidenceReferences: [] })
  await post('governance/incidents/1/resolve', { resolution: 'picked up' })
  await post('governance/reports', { from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z' })
  const motionAt = gateway.clock.now()
  gateway.cameras.heard({
    type: 'motionFired',
    ...{ cameraId: 7, detectionId: 1, motionAt, score: 0.4, sceneChange: false, clip: false },
  })
  await gateway.audit('test.settled', {})
  await until(gateway, receiver.received, published(gateway))
  await unplugAndPlug(gateway)
  await until(gateway, receiver.received, published(gateway))
  await post(`webhooks/${id}/test`, {})
  return [...receiver.received]
}

/** The camera gives no pictures for over a minute, and then again. */
async function unplugAndPlug(gateway: TestGateway): Promise<void> {
  const says = (state: 'live' | 'backing-off') => {
    const words = state === 'live' ? null : { what: 'Nothing answers.', hint: 'Check its cable.' }
    gateway.cameras.heard({
      ...{ type: 'state', cameraId: 7, state, words, problem: words && 'unreachable', at: gateway.clock.now() },
    })
  }
  gateway.cameras.threadStarted()
  says('live')
  await gateway.health.look()
  says('backing-off')
  gateway.clock.advance(61_000)
  await gateway.health.look()
  says('live')
  await gateway.health.look()
}

function published(gateway: TestGateway): number {
  const reader = openReader(databaseFile(gateway.live.config.dataDir))
  const row = reader.prepare<[], { n: number }>('SELECT count(*) AS n FROM outbox').get()
  reader.close()
  return row?.n ?? 0
}

/** The type, or the kind of an `event.created`. */
const kindOf = ({ type, body }: Received): string =>
  type === 'event.created' ? JSON.parse(body.toString()).data.kind : type

const python = needs('python3')
const shell = needs('openssl')

/** The results, and the receiver's state of each slot. */
type Played = { readonly results: string[]; readonly slots: KeptSlots }

async function inJavaScript(t: Test, day: readonly Received[]): Promise<Played> {
  const file = join(newFolder(t), 'receiver.mjs')
  writeFileSync(file, snippet('js'))
  const { receive, slots } = (await import(file)) as {
    receive: (headers: object, body: Buffer, secret: string) => string
    slots: Map<number, { state: ShownSlot }>
  }
  const results = day.map(({ headers, body }) => receive(headers, body, secret))
  return { results, slots: Object.fromEntries(slots) }
}

async function inPython(t: Test, day: readonly Received[]): Promise<Played> {
  const folder = newFolder(t)
  writeFileSync(join(folder, 'receiver.py'), snippet('python'))
  const play = `import base64, json, receiver, sys
results = [
    receiver.receive(one["headers"], base64.b64decode(one["body"]), ${JSON.stringify(secret)})
    for one in json.load(sys.stdin)
]
print(json.dumps({"results": results, "slots": receiver.slots}))`
  const input = JSON.stringify(day.map(({ headers, body }) => ({ headers, body: body.toString('base64') })))
  const { stdout, stderr } = await runToEnd('python3', ['-c', play], { cwd: folder, input })
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout)
}

async function inTheShell(t: Test, day: readonly Received[]): Promise<string[]> {
  const folder = newFolder(t)
  writeFileSync(join(folder, 'receive.sh'), snippet('sh'))
  const calls = day.map(({ headers, body, deliveryId }, n) => {
    writeFileSync(join(folder, `body-${n}`), body)
    return `receive body-${n} '${headers['x-service-signature']}' '${deliveryId}' '${secret}'`
  })
  const { stdout, stderr } = await runToEnd('sh', ['-c', ['. ./receive.sh', ...calls].join('\n')], { cwd: folder })
  if (stderr !== '') throw new Error(stderr)
  return stdout.trim().split('\n')
}

t.test('the guide’s code takes what the gateway sends', async (t) => {
  const day = await aBadDay(t)
  const expected = ['applied', 'applied', 'overtaken', 'repeated', 'forged']
  await t.test('in JavaScript', async (t) => t.strictSame((await inJavaScript(t, day)).results, expected))
  await t.test('in Python', python, async (t) => t.strictSame((await inPython(t, day)).results, expected))
  // The shell script has no order: a late event is applied like any other.
  const withoutOrder = ['applied', 'applied', 'applied', 'repeated', 'forged']
  await t.test('in the shell', shell, async (t) => t.strictSame(await inTheShell(t, day), withoutOrder))
})

t.test('the guide’s code has each slot as the gateway shows it, after late events and in any order', async (t) => {
  const { day, floor } = await aLateScanner(t)
  t.match(
    Object.values(floor),
    [
      { isOccupied: true, assetBarcode: 'P-1' },
      { isOccupied: false, assetBarcode: null },
    ],
    'as the documents say',
  )
  for (const [order, received] of [
    ['as they were sent', day],
    ['the last one first', day.toReversed()],
  ] as const) {
    await t.test(`in JavaScript, ${order}`, async (t) =>
      t.strictSame(floorOf((await inJavaScript(t, received)).slots), floor),
    )
    await t.test(`in Python, ${order}`, python, async (t) =>
      t.strictSame(floorOf((await inPython(t, received)).slots), floor),
    )
  }
})

t.test('the guide’s code takes every type of notification, and a test for a test', async (t) => {
  const day = await aFullDay(t)
  const types = new Set(day.map(({ type }) => type))
  t.strictSame(
    eventTypes.filter((type) => !types.has(type)),
    [],
    'every type was sent',
  )
  const kinds = new Set(day.filter(({ type }) => type === 'event.created').map(kindOf))
  const reported = [...eventTypes.filter((type) => !['event.created', 'webhook.test'].includes(type)), ...createdKinds]
  t.strictSame(
    reported.filter((kind) => !kinds.has(kind)),
    [],
    'event.created told of everything',
  )
  const expected = day.map((one) => `${kindOf(one)}: ${one.type === 'webhook.test' ? 'test' : 'applied'}`)
  const named = (results: readonly string[]) => results.map((result, n) => `${kindOf(day[n] as Received)}: ${result}`)
  await t.test('in JavaScript', async (t) => t.strictSame(named((await inJavaScript(t, day)).results), expected))
  await t.test('in Python', python, async (t) => t.strictSame(named((await inPython(t, day)).results), expected))
  await t.test('in the shell', shell, async (t) => t.strictSame(named(await inTheShell(t, day)), expected))
})
