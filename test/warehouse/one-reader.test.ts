import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { importer } from '../../src/app/control/import-command.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { type Answer, furnish, heldPhoto, people, siteUrl, type TestGateway, testGateway } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const GS = '\x1d'
const code = encodeURIComponent
const sscc = '340123451234567895'
/** One pallet, as a scanner with a prefix, one without, a person, a phone, another system and a plain list name it. */
const forms = [
  `]C100${sscc}`,
  `02095212345432133724${GS}00${sscc}`,
  `(00) 3 4012345 123456789 5`,
  `https://id.gs1.org/00/${sscc}?10=LOT7`,
  'urn:epc:id:sscc:4012345.3123456789',
  `00${sscc}`,
  ` 00${sscc}\u00a0`,
  `${siteUrl}/api/whms/assets/%5DC100${sscc}`,
] as const

async function yard(t: Test, labels: readonly string[] = ['A-01', 'A-02', 'A-03']): Promise<TestGateway> {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, labels)
  return gateway
}

const asks = (gateway: TestGateway) => ({
  get: async (path: string) => (await gateway.ask('GET', `/api/${path}`, { by: people.ada })).body,
  post: (path: string, body: unknown) => gateway.ask('POST', `/api/${path}`, { by: people.ada, body }),
})

/** Each form, and the next one of them. */
const pairs = forms.map((form, i) => [form, forms[(i + 1) % forms.length] ?? ''] as const)

/** The pallet, placed under one form of its number, moved under the other, and verified. */
async function onItsWay(t: Test, form: string, other: string) {
  const gateway = await yard(t)
  const { get, post } = asks(gateway)
  const photo_url = await heldPhoto(gateway)
  const placed = await post('whms/events', {
    event_type: 'PLACED',
    slot_code: 'A-01',
    asset_barcode: form,
    photo_url,
  })
  const moved = await post('whms/moves', { asset_barcode: other, to_slot_code: 'A-02', photo_url })
  const batch = { events: [{ event_type: 'VERIFIED', slot_code: 'A-02', asset_barcode: form }] }
  const verified = await post('whms/events/batch', batch)
  return { gateway, get, post, placed, moved, verified }
}

for (const [form, other] of pairs)
  t.test(`one pallet is one asset where it is placed, moved, verified and corrected: ${form}`, async (t) => {
    const { get, post, placed, moved, verified } = await onItsWay(t, form, other)
    t.match(placed, { status: 201, body: { asset_barcode: form, asset_key: `00${sscc}` } }, `event: ${form}`)
    t.match(moved, {
      status: 201,
      body: { removed: { slot_code: 'A-01', effect: 'applied' }, placed: { warnings: [{}] } },
    })
    t.match(verified, {
      status: 201,
      body: { results: [{ event: { effect: 'applied' } }] },
    })
    const same = await post(`whms/events/${moved.body.placed.id}/correct`, { asset_barcode: form, reason: 'x' })
    t.match(same, { status: 400, body: { error: { details: /is what was booked/ } } }, 'correction')
    t.equal((await get('whms/assets')).data.length, 1, 'and there is still one asset')
  })

for (const [form, other] of pairs)
  t.test(`one pallet is one asset where it is looked for: ${form}`, async (t) => {
    const { gateway, get } = await onItsWay(t, form, other)
    t.match(await get(`whms/assets/${code(form)}`), { asset_id: form, sscc, provisional: true }, 'asset')
    t.match(await get(`whms/assets/${code(other)}`), { asset_id: form }, `asset: ${other}`)
    t.match(await get(`whms/assets/${code(form)}/location`), { slot: { slot_id: 'A-02' } })
    t.equal((await get(`whms/assets/${code(form)}/history`)).data.length, 2)
    t.equal((await get(`whms/assets/${code(form)}/story`)).data.length, 3)
    t.equal((await get(`whms/events?asset_barcode=${code(form)}`)).pagination.total, 4, 'history')
    const lines = await gateway.ask('GET', `/api/whms/events/export?format=ndjson&asset_barcode=${code(form)}`, {
      by: people.ada,
    })
    t.equal(lines.text.trimEnd().split('\n').length, 4, 'export')
    t.match(await get(`whms/scan/${code(form)}`), {
      kind: 'asset',
      barcode: { key: `00${sscc}`, sscc },
      matches: [{ kind: 'asset', location: { slot: { slot_id: 'A-02' } } }],
    })
    t.equal((await get('whms/assets')).data.length, 1, 'and there is still one asset')
  })

for (const [form, other] of pairs)
  t.test(
    `one pallet is one asset where it is registered, weighed, labelled, counted and reported: ${form}`,
    async (t) => {
      const { gateway, get, post } = await onItsWay(t, form, other)
      const put = { by: people.ada, body: { type: 'pallet', asset_id: other } }
      t.match(await gateway.ask('PUT', `/api/whms/assets/${code(form)}`, put), {
        status: 200,
        body: { asset_id: form },
      })
      t.match(await post('whms/assets', { asset_id: other, type: 'pallet' }), {
        status: 400,
        body: { error: { code: 'ALREADY_EXISTS' } },
      })
      t.equal((await post('iot/scale-readings', { scaleId: 'S', weightKg: 400, asset_barcode: form })).status, 201)
      t.equal((await get(`iot/scale-readings?asset_barcode=${code(other)}`)).data.length, 1, 'scale')
      const label = await gateway.ask('GET', `/api/whms/assets/${code(other)}/label`, { by: people.ada })
      t.match(label, { status: 200, text: new RegExp(`\\(00\\)${sscc}`) }, 'label')
      const count = await post('whms/counts', { reference: 'Q', slot_codes: ['A-02'] })
      await post(`whms/counts/${count.body.id}/scans`, { slot_code: 'A-02', barcodes: [form, other] })
      t.match(
        (await get(`whms/counts/${count.body.id}/review`)).lines,
        [{ status: 'matched' }],
        'a count finds it, and finds it once',
      )
      const incident = { severity: 'low', category: 'damage', evidenceReferences: [{ type: 'asset', id: other }] }
      t.match(await post('governance/incidents', incident), {
        status: 201,
        body: { evidenceReferences: [{ type: 'asset', id: form }] },
      })
      t.equal((await get('whms/assets')).data.length, 1, 'and there is still one asset')
    },
  )

for (const [form, other] of pairs)
  t.test(`one pallet is one asset in the lists that are taken in: ${form}`, async (t) => {
    const { gateway, get } = await onItsWay(t, form, other)
    const put = { by: people.ada, body: { type: 'pallet' } }
    t.equal((await gateway.ask('PUT', `/api/whms/assets/${code(form)}`, put)).status, 200)
    const opening = `slot_id,asset_barcode\nA-02,"${other}"\n`
    const list = Buffer.from(opening)
    const taken = await importer(gateway)(list, { kind: 'opening-stock', dryRun: false, createZones: false }, 'root')
    t.match(taken, { ok: true, unchanged: 1, created: 0 }, 'a list of opening stock knows that it stands there')
    const assets = Buffer.from(`asset_id,type,weight_kg\n"${other}",pallet,412\n`)
    const known = await importer(gateway)(assets, { kind: 'assets', dryRun: false, createZones: false }, 'root')
    t.match(known, { ok: true, updated: 1, created: 0 }, 'a list of assets')
    t.equal((await get('whms/assets')).data.length, 1, 'and there is still one asset')
  })

t.test('a transport unit takes the number of its pallet in each of these forms', async (t) => {
  const gateway = await yard(t)
  for (const form of forms) {
    const unit = { reference: 'PO-1', direction: 'inbound', sscc: form }
    t.match(await asks(gateway).post('whms/transport-units', unit), { status: 201, body: { sscc } }, form)
  }
})

t.test('what the EPCIS export names is read back as the same asset', async (t) => {
  const gateway = await yard(t)
  const { post } = asks(gateway)
  const photo_url = await heldPhoto(gateway)
  const codes = [
    `]C100${sscc}`,
    `010950600013435210LOT7${GS}21SN/1`,
    `(8003)09506000134390S1(10)A`,
    '(8004)9506000-1',
    'urn:epc:id:grai:9506000.13439.S2',
    // Longer than GS1 lets a serial be, so no link can name it.
    `]d2010950600013435221${'S'.repeat(21)}`,
    '(8006)095060001343520102(21)S1',
    '(8010)9506000#A(8011)7',
    'P 1/ä',
    ']C1PALLET-7',
  ]
  for (const asset_barcode of codes)
    await post('whms/events', { event_type: 'PLACED', slot_code: 'A-01', asset_barcode, photo_url })
  const { text } = await gateway.ask('GET', '/api/whms/epcis', { by: people.ada })
  const named: string[] = JSON.parse(text).epcisBody.eventList.map((event: { epcList: string[] }) => event.epcList[0])
  t.equal(named.length, codes.length)
  for (const [i, uri] of named.entries()) {
    const { body } = await gateway.ask('GET', `/api/whms/scan/${code(uri)}`, { by: people.ada })
    t.match(body, { kind: 'asset', matches: [{ asset: { asset_id: codes[i] } }] }, uri)
  }
})

const unseen = {
  'blank barcodes': ['   ', '\u00a0', GS, '\u3000'],
  'dots, which no address can carry,': ['.', '..', ' .. '],
  'characters that nobody sees': ['P\u200b-1', '\ufeffP-1', 'P-1\u200e', 'P\u00ad1', 'P\u2060', 'P\u034f1', 'P\u2028'],
  'control characters but GS': ['P\n1', 'P\t', 'P\u001e', '\u0000', 'P\u0085'],
} as const

for (const [what, texts] of Object.entries(unseen)) {
  t.test(`${what} are refused at every door, with what is wrong`, async (t) => {
    const gateway = await yard(t)
    const { post } = asks(gateway)
    const photo_url = await heldPhoto(gateway)
    for (const text of texts) {
      const shown = code(text)
      const answers: Record<string, Answer> = {
        event: await post('whms/events', { event_type: 'PLACED', slot_code: 'A-01', asset_barcode: text, photo_url }),
        move: await post('whms/moves', { asset_barcode: text, to_slot_code: 'A-01', photo_url }),
        batch: await post('whms/events/batch', {
          events: [{ event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: text }],
        }),
        asset: await post('whms/assets', { asset_id: text, type: 'pallet' }),
        weighing: await post('iot/scale-readings', { scaleId: 'S', weightKg: 1, asset_barcode: text }),
        slot: await post('whms/slots', { slot_id: text, zone: 'S', floor_plan_polygon: corners }),
        zone: await post('whms/zones', { name: text, zone_type: 'storage', warehouseId: 1 }),
        'slot of an event': await post('whms/events', {
          event_type: 'REMOVED',
          slot_code: text,
          asset_barcode: 'P-1',
        }),
        filter: await gateway.ask('GET', `/api/whms/events?asset_barcode=${code(text)}`, { by: people.ada }),
        weighings: await gateway.ask('GET', `/api/iot/scale-readings?asset_barcode=${code(text)}`, { by: people.ada }),
      }
      for (const [door, { status, body }] of Object.entries(answers))
        t.match({ status, code: body.error?.code }, { status: 400, code: 'VALIDATION_ERROR' }, `${door}: ${shown}`)
      // A URL parser drops these path segments.
      if (text.trim() === '.' || text.trim() === '..') continue
      for (const view of ['', '/location', '/history', '/story', '/label']) {
        const path = `/api/whms/assets/${code(text)}${view}`
        t.match(await gateway.ask('GET', path, { by: people.ada }), { status: 400 }, `${path}`)
      }
    }
    t.equal((await asks(gateway).get('whms/assets')).data.length, 0)
  })
}

const corners = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: 1, y: 1 },
]

t.test('a refusal names the character that cannot be seen', async (t) => {
  const gateway = await yard(t)
  const answer = await asks(gateway).post('whms/assets', { asset_id: 'P\u200b-1', type: 'pallet' })
  t.match(answer.body.error.details, /asset_id: contains the invisible character U\+200B; send it without/)
})

t.test('text of any script and with blanks inside stays a barcode', async (t) => {
  const gateway = await yard(t)
  const { get, post } = asks(gateway)
  for (const asset_id of ['PAL 0815', 'Ä-1', '托盘-7', 'Паллета 1', '...', '.a', 'a.b', "'", '😀']) {
    t.equal((await post('whms/assets', { asset_id, type: 'pallet' })).status, 201, asset_id)
    t.match(await get(`whms/assets/${code(` ${asset_id} `)}`), { asset_id }, 'blanks at the ends are no part of it')
  }
  const decomposed = 'A\u0308-1'
  t.match(await get(`whms/assets/${code(decomposed)}`), { asset_id: 'Ä-1' }, 'in both forms of Unicode')
})

t.test('a slot is found by its label in any case, trimmed and in both forms of Unicode', async (t) => {
  const gateway = await yard(t, ['A-01', 'Kühl 1'])
  const { get, post } = asks(gateway)
  const photo_url = await heldPhoto(gateway)
  for (const [text, slot_code] of [
    ['a-01', 'A-01'],
    [' A-01 ', 'A-01'],
    ['KÜHL 1', 'Kühl 1'],
    ['ku\u0308hl 1', 'Kühl 1'],
  ] as const) {
    const event = { event_type: 'PLACED', slot_code: text, asset_barcode: 'P-1', photo_url }
    t.match(await post('whms/events', event), { status: 201, body: { slot_code } }, text)
    t.match(await get(`whms/slots/${code(text)}`), { slot_id: slot_code })
    t.match(await get(`whms/scan/${code(text)}`), { kind: 'slot', matches: [{ slot: { slot_id: slot_code } }] })
    t.ok((await get(`whms/events?slot_code=${code(text)}`)).pagination.total > 0)
    const twin = { slot_id: text, zone: 'S', floor_plan_polygon: corners }
    t.match(await post('whms/slots', twin), {
      status: 400,
      body: { error: { code: 'ALREADY_EXISTS', message: `There is a slot ${slot_code} already` } },
    })
  }
  t.match(await post('whms/zones', { name: ' s ', zone_type: 'storage', warehouseId: 1 }), {
    status: 400,
    body: { error: { code: 'ALREADY_EXISTS' } },
  })
})

/**
 * A ledger that a gateway of schema 15 has written, with its own reader. Its pallets have a Digital Link; an SSCC and
 * later an EPC URN; element strings without a prefix; or blanks around the code.
 */
async function oldLedger(t: Test): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('../fixtures/db/v15-barcodes/', import.meta.url), join(folder, 'state'), { recursive: true })
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 5, 1)),
    config: { site: { id: 'dc-7', url: siteUrl } },
  })
  t.teardown(() => gateway.end())
  return gateway
}

t.test(
  'a pallet that an older gateway knows by another key is found by every form, under the key it has',
  async (t) => {
    const gateway = await oldLedger(t)
    const { get, post } = asks(gateway)
    const link = `https://id.gs1.org/00/${sscc}?10=LOT7`
    for (const form of forms) {
      t.match(await get(`whms/assets/${code(form)}`), { asset_id: link, sscc, lot: 'LOT7' }, form)
      t.match(await get(`whms/assets/${code(form)}/location`), { slot: { slot_id: 'A-01' } }, form)
      t.equal((await get(`iot/scale-readings?asset_barcode=${code(form)}`)).data.length, 1)
    }
    const removed = await post('whms/events', {
      event_type: 'REMOVED',
      slot_code: 'a-01',
      asset_barcode: `]C100${sscc}`,
    })
    t.match(removed, {
      status: 201,
      body: { asset_key: link, effect: 'applied' },
    })
    t.strictSame(removed.body.warnings, [], 'no other pallet, as far as anybody can see')
    for (const text of ['P-9', ' P-9 ', ']C0P-9'])
      t.match(await get(`whms/assets/${code(text)}/location`), { slot: { slot_id: 'A-05' } }, text)
    for (const text of [
      `]d2010950600013435221SN-1`,
      '(01)09506000134352(21)SN-1',
      'https://a.example/01/9506000134352/21/SN-1',
    ])
      t.match(await get(`whms/assets/${code(text)}/location`), { slot: { slot_id: 'A-04' } }, text)
    t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, mismatches: { length: 0 } }, 'no row was changed')
    const { body } = await (await gateway.restart()).ask('GET', `/api/whms/assets/${code(`00${sscc}`)}/location`, {
      by: people.ada,
    })
    t.match(body, { slot: null }, 'and so after another start')
  },
)

t.test('of two pallets of an older gateway that are one, the one that was moved last goes on', async (t) => {
  const gateway = await oldLedger(t)
  const { get } = asks(gateway)
  const urn = 'urn:epc:id:sscc:4012345.3123456790'
  for (const form of ['00340123451234567901', urn, '(00)340123451234567901']) {
    t.match(await get(`whms/assets/${code(form)}`), { asset_id: urn, sameAs: null }, form)
    t.match(await get(`whms/assets/${code(form)}/location`), { slot: { slot_id: 'A-03' } }, form)
    t.match(
      (await get(`whms/events?asset_barcode=${code(form)}`)).data.map((e: { slot_code: string }) => e.slot_code),
      ['A-03', 'A-02'],
      'the events of both are told',
    )
    const { text } = await gateway.ask('GET', `/api/whms/events/export?format=ndjson&asset_barcode=${code(form)}`, {
      by: people.ada,
    })
    t.equal(text.trimEnd().split('\n').length, 2, 'and exported')
  }
  const { data } = await get('whms/assets')
  const [first, last] = ['340123451234567901', urn].map((name) =>
    data.find((asset: { asset_id: string }) => asset.asset_id.includes(name)),
  )
  t.equal(first.sameAs, last.id, 'the other one says which one it is')
  t.equal(last.sameAs, null)
})

t.test('slots and zones of an older gateway are found by the new rules, and twins among them stay apart', async (t) => {
  const gateway = await oldLedger(t)
  const { get, post } = asks(gateway)
  t.match(await get('whms/slots/a-03'), { slot_id: 'A-03' })
  t.match(await get('whms/slots/K-1'), { slot_id: 'K-1' })
  t.match(await get('whms/slots/k-1'), { slot_id: 'k-1' })
  t.match(await gateway.ask('GET', '/api/whms/slots/%20k-1', { by: people.ada }), { status: 404 }, 'which of the two?')
  const zone = { name: 'NORD', zone_type: 'storage', warehouseId: 1 }
  t.match(await post('whms/zones', zone), { status: 400, body: { error: { code: 'ALREADY_EXISTS' } } })
})
