import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { furnish, heldPhoto, type Person, people, type TestGateway, testGateway } from '../support/gateway.ts'

/** Grades of the proof of an event: its scan, its photo, its slot. */

async function yard(t: Test, config: Record<string, unknown> = {}) {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01', 'A-02', 'A-03'])
  const post = (path: string, body: unknown, by: Person = people.sven) =>
    gateway.ask('POST', `/api/whms/${path}`, { by, body })
  let photos = 0
  const place = async (slot_code: string, asset_barcode: string, more: object = {}, by: Person = people.sven) => {
    photos += 1
    const photo_url = await heldPhoto(gateway, photos)
    return post('events', { event_type: 'PLACED', slot_code, asset_barcode, photo_url, ...more }, by)
  }
  const discrepancies = async (kind: string, by: Person = people.vera) =>
    (await gateway.ask('GET', `/api/whms/discrepancies?kind=${kind}`, { by })).body.data
  return { gateway, post, place, discrepancies }
}

const codes = ({ body }: { body: { warnings: { code: string }[] } }) => body.warnings.map(({ code }) => code)

/** The leaf of the newest event, as it is in the log. */
function newestLeaf(gateway: TestGateway): Record<string, unknown> {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const bytes = db.prepare('SELECT bytes FROM log_leaf ORDER BY rowid DESC LIMIT 1').pluck().get() as Buffer
  db.close()
  return JSON.parse(bytes.toString())
}

t.test('what a scan proves stands in the answer, in the history and in the log', async (t) => {
  const { gateway, place } = await yard(t)
  const proofOf = async (scan: object | undefined) => {
    const { body } = await place('A-01', 'P-1', { ...(scan && { scan }) })
    const kept = await gateway.ask('GET', `/api/whms/events/${body.id}`, { by: people.vera })
    t.equal(kept.body.scanEvidence, body.scanEvidence)
    return { scanEvidence: body.scanEvidence, leaf: newestLeaf(gateway)['scanEvidence'] }
  }
  const matched = { scanEvidence: 'matched', leaf: 'matched' }
  const mismatched = { scanEvidence: 'mismatched', leaf: 'mismatched' }
  const claimed = { scanEvidence: 'claimed', leaf: undefined }
  t.strictSame(await proofOf({ slot: 'A-01', asset: 'P-1', symbology: 'CODE_128' }), matched)
  t.strictSame(
    await proofOf({ slot: ' a-01 ', asset: ']C0P-1' }),
    matched,
    'a label in another case, a reader’s prefix',
  )
  t.strictSame(await proofOf({ slot: 'https://box.example/api/whms/slots/A-01', asset: 'P-1' }), matched, 'its address')
  t.strictSame(await proofOf({ slot: 'https://box.example/api/whms/slots/1', asset: 'P-1' }), matched, 'its id')
  t.strictSame(await proofOf({ slot: 'A-02', asset: 'P-1' }), mismatched)
  t.strictSame(await proofOf({ slot: 'A-01', asset: 'P-2' }), mismatched)
  t.strictSame(await proofOf({ slot: 'https://box.example/api/whms/slots/1?by=slot_id', asset: 'P-1' }), mismatched)
  t.strictSame(await proofOf({ slot: 'A-02' }), mismatched, 'half a scan is enough to be wrong')
  t.strictSame(await proofOf({ slot: 'A-01' }), claimed, 'and not enough to be right')
  t.strictSame(await proofOf({ symbology: 'QR' }), claimed)
  t.strictSame(await proofOf(undefined), claimed)
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, mismatches: { length: 0 } })
})

t.test('verification sees who makes a wrong scan a right one', async (t) => {
  const { gateway, place } = await yard(t)
  await place('A-01', 'P-1', { scan: { slot: 'A-02', asset: 'P-1' } })
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  db.exec('DROP TRIGGER placement_event_no_update')
  db.exec(`UPDATE placement_event SET scan_evidence = 'matched'`)
  db.close()
  const { ok, mismatches } = verifyLedger(gateway.live.config.dataDir)
  t.equal(ok, false)
  t.match(JSON.stringify(mismatches), /event 1/)
})

t.test('moves, batches and corrections say what their scans prove', async (t) => {
  const { gateway, place, post } = await yard(t)
  await place('A-01', 'P-1')
  const photo_url = await heldPhoto(gateway, 100)
  const moved = await post('moves', {
    asset_barcode: 'P-1',
    to_slot_code: 'A-02',
    photo_url,
    scan: { slot: 'A-02', asset: 'P-1' },
  })
  t.match(moved.body, { removed: { scanEvidence: 'claimed' }, placed: { scanEvidence: 'matched' } })
  const event = {
    event_type: 'VERIFIED',
    slot_code: 'A-02',
    asset_barcode: 'P-1',
    scan: { slot: 'A-03', asset: 'P-1' },
  }
  const batch = await post('events/batch', { mode: 'proceed', events: [event, { ...event, scan: { slto: 'A-02' } }] })
  t.match(batch.body.results, [
    { status: 201, event: { scanEvidence: 'mismatched' } },
    { status: 400, error: { details: /scan: .*"slto".*slot/ } },
  ])
  const corrected = await post(`events/${moved.body.placed.id}/correct`, {
    slot_code: 'A-03',
    reason: 'booked wrong',
    scan: { slot: 'A-03', asset: 'P-1' },
  })
  const right = corrected.body.events.find((one: { slot_code: string }) => one.slot_code === 'A-03')
  t.match(right, { scanEvidence: 'matched', event_type: 'PLACED' })
})

t.test('a site can refuse wrong scans, used photos and retired slots', async (t) => {
  const { gateway, place, post } = await yard(t, {
    ledger: { enforce: ['SCAN_MISMATCH', 'PHOTO_REUSED', 'SLOT_RETIRED'] },
  })
  await gateway.ask('PUT', '/api/whms/slots/A-03', { by: people.ada, body: { retired: true } })
  const photo_url = await heldPhoto(gateway, 100)
  const first = await place('A-01', 'P-1', { photo_url })
  t.equal(first.status, 201)
  for (const [code, answer] of [
    ['SCAN_MISMATCH', await place('A-02', 'P-2', { scan: { slot: 'A-01', asset: 'P-2' } })],
    ['PHOTO_REUSED', await place('A-02', 'P-2', { photo_url })],
    ['SLOT_RETIRED', await place('A-03', 'P-2')],
  ] as const) {
    t.match(answer, { status: 400, body: { error: { code: 'CONSTRAINT_VIOLATED', details: new RegExp(code) } } }, code)
  }
  const corrected = await post(`events/${first.body.id}/correct`, { slot_code: 'A-02', reason: 'booked wrong' })
  t.equal(corrected.status, 201, 'and a correction restates the photo all the same')
})

t.test(
  'a pallet that is put into a slot out of use is recorded with a warning; taking it out is as it should be',
  async (t) => {
    const { gateway, place, post, discrepancies } = await yard(t)
    await place('A-01', 'P-1')
    const beforehand = new Date(gateway.clock.now()).toISOString()
    gateway.clock.advance(60_000)
    await gateway.ask('PUT', '/api/whms/slots/A-01', { by: people.ada, body: { retired: true } })
    gateway.clock.advance(60_000)
    t.notOk(codes(await place('A-01', 'P-2', { timestamp: beforehand })).includes('SLOT_RETIRED'), 'it was in use then')
    t.ok(codes(await place('A-01', 'P-3')).includes('SLOT_RETIRED'))
    t.match(await discrepancies('retired_slot_occupied'), [{ assetBarcode: 'P-3' }])
    const out = await post('events', { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: 'P-3' })
    t.strictSame(codes(out), [])
    await gateway.ask('PUT', '/api/whms/slots/A-01', { by: people.ada, body: { retired: false } })
    t.notOk(codes(await place('A-01', 'P-4')).includes('SLOT_RETIRED'))
  },
)

t.test('doubtful proof is a discrepancy until a supervisor has looked, or it is booked anew', async (t) => {
  const { gateway, place, post, discrepancies } = await yard(t)
  const photo_url = await heldPhoto(gateway, 100)
  const first = await place('A-01', 'P-1', { photo_url })
  const second = await place('A-02', 'P-2', { photo_url, scan: { slot: 'A-01', asset: 'P-2' } })
  t.match(await discrepancies('photo_reused'), [
    {
      slot: { slot_id: 'A-02' },
      assetBarcode: 'P-2',
      otherSlot: { slot_id: 'A-01' },
      otherAssetBarcode: 'P-1',
      eventIds: [first.body.id, second.body.id],
    },
  ])
  t.match(await discrepancies('scan_mismatch'), [{ slot: { slot_id: 'A-02' }, eventIds: [second.body.id] }])
  await post('events', { event_type: 'DISPUTED', slot_code: 'A-02', asset_barcode: 'P-2' })
  t.equal((await discrepancies('scan_mismatch')).length, 1, 'a dispute settles nothing')
  await post('events', { event_type: 'VERIFIED', slot_code: 'A-02', asset_barcode: 'P-2' })
  t.strictSame([...(await discrepancies('photo_reused')), ...(await discrepancies('scan_mismatch'))], [])
  await place('A-03', 'P-3', { photo_url })
  t.equal((await discrepancies('photo_reused')).length, 1)
  for (const { id } of [second.body, first.body])
    await post(`events/${id}/correct`, { none: true, reason: 'never there' })
  t.strictSame(await discrepancies('photo_reused'), [], 'what did not happen is proved by no photo')
})

t.test(
  'of a photo in a warehouse that a caller may not see nothing is told, and whoever sees both is told',
  async (t) => {
    const viewers = ['ada', 'sven']
    const { gateway, place, discrepancies } = await yard(t, { warehouses: [{ id: 2, viewers }] })
    await gateway.ask('POST', '/api/whms/warehouses', {
      by: people.ada,
      body: { name: 'Cage', timezone: 'Europe/Berlin' },
    })
    const floor_plan_polygon = [
      { x: 0, y: 0 },
      { x: 1, y: 0 },
      { x: 1, y: 1 },
    ]
    const slot = { slot_id: 'C-01', zone: 'C', warehouseId: 2, floor_plan_polygon }
    await gateway.ask('POST', '/api/whms/slots', { by: people.ada, body: slot })
    const photo_url = 'https://photos.example/secret.jpg'
    t.equal((await place('C-01', 'P-1', { photo_url })).status, 201)
    t.notOk(codes(await place('A-01', 'P-2', { photo_url }, people.olga)).includes('PHOTO_REUSED'))
    t.strictSame(await discrepancies('photo_reused', people.olga), [])
    t.match(await discrepancies('photo_reused', people.sven), [
      { slot: { slot_id: 'A-01' }, otherSlot: { slot_id: 'C-01' } },
    ])
  },
)

t.test('a correction restates a photo, and with it what was said of it when it was sent', async (t) => {
  const { gateway, place, post } = await yard(t)
  const codesOf = (one: { warnings: { code: string }[] }) => one.warnings.map(({ code }) => code)
  await place('A-01', 'P-1')
  const wrong = await place('A-01', 'P-2')
  const correct = (id: number, body: object) => post(`events/${id}/correct`, { reason: 'booked wrong', ...body })
  const [, back] = (await correct(wrong.body.id, { slot_code: 'A-02' })).body.events
  t.match(back, { slot_code: 'A-01', asset_barcode: 'P-1' })
  const [moved] = (await correct(back.id, { slot_code: 'A-03' })).body.events.filter(
    ({ event_type }: { event_type: string }) => event_type === 'PLACED',
  )
  t.match(moved, { slot_code: 'A-03', asset_barcode: 'P-1' })
  t.notOk(codesOf(moved).includes('PHOTO_REUSED'), 'nobody has sent the photo a second time')
  const photo_url = await heldPhoto(gateway, 1)
  const reused = await place('A-01', 'P-4', { photo_url })
  t.ok(codes(reused).includes('PHOTO_REUSED'))
  const [again] = (await correct(reused.body.id, { asset_barcode: 'P-5' })).body.events.filter(
    ({ asset_barcode }: { asset_barcode: string }) => asset_barcode === 'P-5',
  )
  t.ok(codesOf(again).includes('PHOTO_REUSED'), 'it is still the photo of P-1')
})

t.test('two names for one slot must agree, and of slots that one may not see nothing is told', async (t) => {
  const { gateway, place, post } = await yard(t, { warehouses: [{ id: 2, viewers: ['ada'] }] })
  await gateway.ask('POST', '/api/whms/warehouses', {
    by: people.ada,
    body: { name: 'Cage', timezone: 'Europe/Berlin' },
  })
  const polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  const slot = { slot_id: 'C-01', zone: 'C', warehouseId: 2, floor_plan_polygon: polygon }
  await gateway.ask('POST', '/api/whms/slots', { by: people.ada, body: slot })
  const fields = async (more: object) => (await place('A-03', 'P-1', more)).body.error.fields
  t.match(await fields({ slot_id: 1 }), [
    { path: 'slot_id', message: 'slot_code "A-03" is slot 3, but slot_id says 1. Send one of them.' },
  ])
  t.equal((await place('A-03', 'P-1', { slot_id: 3 })).status, 201)
  const hidden = await fields({ slot_id: 4 })
  const absent = await fields({ slot_id: 5 })
  t.strictSame(JSON.parse(JSON.stringify(absent).replaceAll('5', '4')), hidden, 'a hidden slot looks like none')
  t.match(await fields({ slot_code: 'C-01', slot_id: 1 }), [{ path: 'slot_code', message: 'no slot C-01' }])
  t.match(await fields({ slot_code: 'Z-99', slot_id: 1 }), [{ path: 'slot_code', message: 'no slot Z-99' }])
  const photo_url = await heldPhoto(gateway, 100)
  const move = await post('moves', { asset_barcode: 'P-1', to_slot_id: 1, to_slot_code: 'A-02', photo_url })
  t.match(move.body.error.fields, [
    { path: 'to_slot_id', message: 'to_slot_code "A-02" is slot 2, but to_slot_id says 1. Send one of them.' },
  ])
})

t.test('notes and reasons may have several lines', async (t) => {
  const { place, post } = await yard(t)
  const placed = await place('A-01', 'P-1', { verification_notes: 'corner dented\r\nfoil torn\n' })
  t.match(placed, { status: 201, body: { verification_notes: 'corner dented\nfoil torn\n' } })
  const corrected = await post(`events/${placed.body.id}/correct`, { none: true, reason: 'not this one\nbut that' })
  t.match(corrected.body.events, [{ verification_notes: 'not this one\nbut that' }])
  for (const [field, value] of Object.entries({
    verification_notes: 'a\rb',
    work_order_ref: 'WO\n7',
    operator: 'ol\nga',
    asset_barcode: 'P\n1',
  })) {
    const refused = await place('A-01', 'P-1', { [field]: value })
    t.match(refused, { status: 400, body: { error: { fields: [{ path: field }] } } }, field)
  }
})
