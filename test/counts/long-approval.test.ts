import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifyLedger } from '../../src/evidence/index.ts'
import { furnish, heldPhoto, type Person, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { noteWrites } from '../support/statements.ts'

const { olga, sven, ada, vera } = people
const slots = 399
const events = 479
/** Statements of one turn: those of some twenty events. A batch of 100 events has four times as many. */
const mostStatements = 1000

/** A count of 399 slots in review. Every fifth slot has another pallet than the ledger: 80 REMOVED, 80 PLACED, 319 VERIFIED. */
async function reviewed(gateway: TestGateway): Promise<number> {
  const post = (path: string, by: Person, body?: object) =>
    gateway.ask('POST', `/api/whms/${path}`, { by, ...(body && { body }) })
  const labels = Array.from({ length: slots }, (_, n) => `S-${n}`)
  await furnish(gateway, labels)
  const photo_url = await heldPhoto(gateway)
  gateway.clock.advance(1000)
  for (let from = 0; from < slots; from += 100) {
    const events = labels.slice(from, from + 100).map((slot_code, n) => {
      return { event_type: 'PLACED', slot_code, asset_barcode: `P-${from + n}`, photo_url }
    })
    await post('events/batch', ada, { events })
  }
  gateway.clock.advance(1000)
  const { body } = await post('counts', sven, { slot_codes: labels })
  for (const [n, slot_code] of labels.entries()) {
    gateway.clock.advance(1000)
    await post(`counts/${body.id}/scans`, olga, { slot_code, barcodes: [n % 5 === 0 ? `Q-${n}` : `P-${n}`] })
  }
  await post(`counts/${body.id}/submit`, olga)
  gateway.clock.advance(1000)
  return body.id
}

/** The notes begin behind the review. */
async function hall(t: Test) {
  const notes = noteWrites()
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-approval-'))
  const gateway = await testGateway({ folder })
  t.teardown(() => {
    gateway.close()
    notes.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const id = await reviewed(gateway)
  notes.taken()
  return { notes, gateway, id, approve: () => approved(gateway, id) }
}

const approved = (gateway: TestGateway, id: number) =>
  gateway.ask('POST', `/api/whms/counts/${id}/approve`, { by: sven, headers: { 'Idempotency-Key': 'approval-of-399' } })

/** Waits until the open transaction has an event of the approval. */
async function someAreWritten(notes: ReturnType<typeof noteWrites>): Promise<void> {
  const isEvent = (sql: string) => sql.includes('insert into "placement_event"')
  for (let turn = 0; turn < 10_000; turn += 1) {
    if (notes.taken().some(({ statements }) => statements.some(isEvent))) return
    await new Promise(setImmediate)
  }
  throw new Error('no event was written')
}

const verified = (gateway: TestGateway) => verifyLedger(gateway.live.config.dataDir)
const stateOf = async (gateway: TestGateway, id: number) =>
  (await gateway.ask('GET', `/api/whms/counts/${id}`, { by: sven })).body.state
const shownIn = async (gateway: TestGateway, slot: string) =>
  (await gateway.ask('GET', `/api/whms/slots/${slot}`, { by: vera })).body.assetBarcode

t.test('an approval of 399 slots gives the event loop a turn after some twenty events', async (t) => {
  const { notes, approve } = await hall(t)
  const { status, body } = await approve()
  t.match({ status, events: body.eventIds.length }, { status: 200, events })
  const counts = notes.taken().map(({ statements }) => statements.length)
  t.ok(
    Math.max(...counts) <= mostStatements,
    `${Math.max(...counts)} statements in the longest of ${counts.length} turns`,
  )
})

t.test('until its commit readers see nothing of it, a booking waits, and its key is answered once', async (t) => {
  const { notes, gateway, id, approve } = await hall(t)
  const approval = approve()
  await someAreWritten(notes)
  t.equal(await stateOf(gateway, id), 'review')
  t.equal(await shownIn(gateway, 'S-0'), 'P-0')
  t.match(verified(gateway), { ok: true })
  const booking = gateway.ask('POST', '/api/whms/events', {
    by: olga,
    body: { event_type: 'REMOVED', slot_code: 'S-1', asset_barcode: 'P-1' },
  })
  const again = approve()
  const [first, booked, second] = await Promise.all([approval, booking, again])
  t.equal(booked.status, 201)
  const ids = new Set<number>(first.body.eventIds)
  t.equal(ids.size, events)
  t.equal(booked.body.id, Math.max(...ids) + 1)
  t.strictSame(second.body, first.body)
  t.equal(await shownIn(gateway, 'S-0'), 'Q-0')
  t.match(verified(gateway), { ok: true })
})

t.test('a kill in the middle loses and doubles nothing', async (t) => {
  const { notes, gateway, id, approve } = await hall(t)
  const copy = mkdtempSync(join(tmpdir(), 'gatehouse-approval-'))
  t.teardown(() => rmSync(copy, { recursive: true, force: true }))
  const approval = approve()
  await someAreWritten(notes)
  // Another process copies: this one would drop its locks with the descriptors.
  execFileSync('cp', ['-a', `${gateway.folder}/.`, copy])
  await approval
  const after = await testGateway({ folder: copy, clock: gateway.clock })
  t.teardown(() => after.close())
  t.equal(await stateOf(after, id), 'review')
  const { status, body } = await approved(after, id)
  t.match({ status, events: body.eventIds.length }, { status: 200, events })
  const { body: outcomes } = await after.ask('GET', `/api/whms/counts/${id}`, { by: sven })
  t.match(outcomes.outcomes, { matched: 319, corrected: 80 })
  t.match(verified(after), { ok: true })
})

t.test('a stop in the middle ends it whole', async (t) => {
  const { notes, gateway, id, approve } = await hall(t)
  const approval = approve()
  await someAreWritten(notes)
  const after = await gateway.restart()
  t.teardown(() => after.close())
  t.equal((await approval).status, 200)
  t.equal(await stateOf(after, id), 'approved')
  t.match(verified(after), { ok: true })
})
