import t from 'tap'
import { furnish, people, siteUrl, type TestGateway, testGateway } from '../support/gateway.ts'

const photo_url = 'https://photos.example/1.jpg'
const sscc = '340123450000000017'
const by = people.olga

async function yard(t: { teardown(end: () => void): void }): Promise<TestGateway> {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01', 'B/2', '7', 'ümlaut 1'])
  return gateway
}

const scan = async (gateway: TestGateway, code: string) =>
  (await gateway.ask('GET', `/api/whms/scan/${encodeURIComponent(code)}`, { by: people.vera })).body

t.test('a slot label is the slot, with what stands in it now', async (t) => {
  const gateway = await yard(t)
  await gateway.ask('POST', '/api/whms/events', {
    by,
    body: { event_type: 'PLACED', slot_code: 'A-01', asset_barcode: 'P-1', photo_url },
  })
  const expected = {
    success: true,
    kind: 'slot',
    matches: [{ kind: 'slot', id: 1, path: '/api/whms/slots/1', slot: { slot_id: 'A-01', assetBarcode: 'P-1' } }],
  }
  for (const code of [
    'A-01',
    ']Q1A-01',
    ' A-01\r\n',
    `${siteUrl}/api/whms/slots/A-01`,
    'https://another.example/api/whms/slots/1',
  ])
    t.match(await scan(gateway, code), expected, code)
  t.match(await scan(gateway, 'B/2'), { code: 'B/2', kind: 'slot', matches: [{ id: 2 }] }, 'a slash')
  t.match(await scan(gateway, 'ümlaut 1'), { kind: 'slot', matches: [{ id: 4 }] })
  t.match(await scan(gateway, '7'), { kind: 'slot', matches: [{ id: 3 }] }, 'a number on a label is the label')
  t.match(await scan(gateway, `${siteUrl}/api/whms/slots/7?by=slot_id`), { kind: 'slot', matches: [{ id: 3 }] })
  t.match(await scan(gateway, '1'), { kind: 'unknown', matches: { length: 0 } }, 'and never the number of a row')
  const raw = await gateway.ask('GET', '/api/whms/scan/B/2', { by: people.vera })
  t.match(raw, { status: 200, body: { code: 'B/2', kind: 'slot' } }, 'also when nobody encoded it')
  t.equal((await gateway.ask('GET', '/api/whms/scan/B/2')).status, 401)
})

t.test('a pallet is known under every spelling of its barcode, with where it stands', async (t) => {
  const gateway = await yard(t)
  await gateway.ask('POST', '/api/whms/assets', {
    by: people.ada,
    body: { asset_id: `00${sscc}`, type: 'pallet', weight_kg: 400 },
  })
  const asset = { kind: 'asset', asset: { asset_id: `00${sscc}`, type: 'pallet', provisional: false } }
  t.match(await scan(gateway, `00${sscc}`), {
    kind: 'asset',
    matches: [{ ...asset, location: { slot: null, since: null } }],
  })
  await gateway.ask('POST', '/api/whms/events', {
    by,
    body: { event_type: 'PLACED', slot_code: 'B/2', asset_barcode: `]C100${sscc}`, photo_url },
  })
  for (const code of [
    `00${sscc}`,
    `]C100${sscc}`,
    `\u001d00${sscc}`,
    `(00)${sscc}`,
    `]C100${sscc}\u001d10LOT7`,
    `https://id.gs1.org/00/${sscc}`,
    `${siteUrl}/api/whms/assets/00${sscc}`,
  ]) {
    const answer = await scan(gateway, code)
    t.match(
      answer.matches,
      [{ ...asset, location: { slot: { slot_id: 'B/2' }, since: '2026-03-02T08:00:00.000Z' } }],
      code,
    )
    t.match(answer.barcode, { key: `00${sscc}`, sscc })
  }
  const label = await scan(gateway, `]C10104012345123456\u001d17270101`)
  t.match(label, {
    kind: 'unknown',
    matches: { length: 0 },
    barcode: { symbology: ']C1', gtin: '04012345123456', gs1: { '01': '04012345123456', 17: '270101' } },
  })
})

t.test('a code that is nothing here is answered at once, with what could be read of it', async (t) => {
  const gateway = await yard(t)
  t.match(await scan(gateway, '4012345123456'), {
    success: true,
    code: '4012345123456',
    kind: 'unknown',
    barcode: { key: '4012345123456', gs1: null, gtin: '04012345123456', sscc: null, warnings: { length: 0 } },
    matches: { length: 0 },
  })
  t.match(await scan(gateway, '4012345123457'), { barcode: { gtin: null } }, 'a wrong check digit is no trade item')
  t.match(await scan(gateway, '00340123450000000018'), { barcode: { warnings: [{ code: 'BARCODE_CHECK_DIGIT' }] } })
  t.match(await scan(gateway, "'; DROP TABLE slot; --"), { kind: 'unknown' })
  t.match(await scan(gateway, '100%'), { code: '100%', kind: 'unknown' })
  t.match(await scan(gateway, 'https://id.gs1.org/00/%ff'), { kind: 'unknown' })
  for (const code of ['a\u0000b', 'x'.repeat(257), ' ']) {
    const { status, body } = await gateway.ask('GET', `/api/whms/scan/${encodeURIComponent(code)}`, { by })
    t.match({ status, body }, { status: 400, body: { error: { fields: [{ path: 'code' }] } } }, JSON.stringify(code))
  }
})

t.test('one code can be a slot and a pallet; slots come first', async (t) => {
  const gateway = await yard(t)
  await gateway.ask('POST', '/api/whms/assets', { by: people.ada, body: { asset_id: 'A-01', type: 'box' } })
  const { kind, matches } = await scan(gateway, 'A-01')
  t.same([kind, ...matches.map((m: { kind: string }) => m.kind)], ['slot', 'slot', 'asset'])
})

t.test('what stands where the caller may not look is not shown', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 1, viewers: ['olga'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01'])
  const body = { event_type: 'PLACED', slot_code: 'A-01', asset_barcode: 'P-1', photo_url }
  t.equal((await gateway.ask('POST', '/api/whms/events', { by, body })).status, 201)
  t.match(await scan(gateway, 'A-01'), { kind: 'unknown' })
  t.match(await scan(gateway, 'P-1'), { kind: 'unknown', matches: { length: 0 } })
})
