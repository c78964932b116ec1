import fc from 'fast-check'
import t from 'tap'
import { stateAfter } from '../../src/counts/state.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'

const labels = ['A', 'B', 'C', 'D']
const pallets = ['P-1', 'P-2', 'P-3', 'P-4', 'P-5']
const { ada, olga, sven } = people

type Move = { type: 'PLACED' | 'REMOVED' | 'VERIFIED' | 'DISPUTED'; slot: string; pallet: string; pauseMs: number }

const move: fc.Arbitrary<Move> = fc.record({
  type: fc.constantFrom('PLACED', 'PLACED', 'REMOVED', 'VERIFIED', 'DISPUTED'),
  slot: fc.constantFrom(...labels),
  pallet: fc.constantFrom(...pallets),
  pauseMs: fc.constantFrom(0, 1, 1000),
})

/** A pallet that was placed twice and never taken out: its first slot only seems occupied. */
const seenTwice = ['A', 'B'].map((slot) => ({ type: 'PLACED' as const, slot, pallet: 'P-1', pauseMs: 1000 }))

/** The same pallet, and another one in front of it in its second slot: the ledger has it in no slot. */
const overwritten = [...seenTwice, { type: 'PLACED' as const, slot: 'B', pallet: 'P-2', pauseMs: 1000 }]

/** Where each pallet really is: a slot or nowhere. Several may stand in one. */
const floor = fc.tuple(...pallets.map(() => fc.constantFrom<string | null>(null, ...labels)))

t.test('after a count of every slot without any movement the ledger says what was found', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, [])
  const photo_url = await heldPhoto(gateway)
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 12 }), floor, async (history, standing) => {
      round += 1
      const named = (name: string) => `${name}-${round}`
      await slots(gateway, labels.map(named))
      for (const { type, slot, pallet, pauseMs } of history) {
        gateway.clock.advance(pauseMs)
        const body = {
          event_type: type,
          slot_code: named(slot),
          asset_barcode: named(pallet),
          ...(type === 'PLACED' && { photo_url }),
        }
        const { status } = await gateway.ask('POST', '/api/whms/events', { by: ada, body })
        if (status !== 201) throw new Error(`answered ${status}`)
      }
      const found = new Map(
        labels.map((slot) => [named(slot), pallets.filter((_, i) => standing[i] === slot).map(named)]),
      )
      await count(gateway, found)
      const shown = new Map<string, string | null>()
      for (const [slot, barcodes] of found) {
        const state = (await gateway.ask('GET', `/api/whms/slots/${slot}`, { by: ada })).body
        shown.set(slot, state.assetBarcode)
        if (barcodes.length === 0 ? state.isOccupied : !barcodes.includes(state.assetBarcode))
          throw new Error(`${slot} shows ${state.assetBarcode}, and held ${barcodes}`)
      }
      for (const [i, pallet] of pallets.entries()) {
        const { status, body } = await gateway.ask('GET', `/api/whms/assets/${named(pallet)}/location`, { by: ada })
        const where = standing[i] ?? null
        // When several are in one slot, only the shown one has a location.
        const expected = where !== null && shown.get(named(where)) === named(pallet) ? named(where) : null
        if ((status === 404 ? null : (body.slot?.slot_id ?? null)) !== expected)
          throw new Error(`${named(pallet)} is in ${body.slot?.slot_id}, and was found in ${expected}`)
      }
      // Counted again, there is nothing left to correct.
      const again = await count(gateway, found)
      if (again.outcomes.matched !== labels.length)
        throw new Error(`the second count: ${JSON.stringify(again.outcomes)}`)
    }),
    { numRuns: 120, examples: [[overwritten, ['B', null, null, null, 'B']]] },
  )
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true })
})

t.test('a count of some slots changes nothing of pallets that it has not to do with', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, [])
  const photo_url = await heldPhoto(gateway)
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 12 }), fc.subarray(pallets), async (history, found) => {
      round += 1
      const named = (name: string) => `x${name}-${round}`
      await slots(gateway, labels.map(named))
      for (const { type, slot, pallet, pauseMs } of history) {
        gateway.clock.advance(pauseMs + 1)
        const body = {
          event_type: type,
          slot_code: named(slot),
          asset_barcode: named(pallet),
          ...(type === 'PLACED' && { photo_url }),
        }
        await gateway.ask('POST', '/api/whms/events', { by: ada, body })
      }
      const whereAre = async () =>
        Promise.all(
          pallets.map(async (pallet) => {
            const { body } = await gateway.ask('GET', `/api/whms/assets/${named(pallet)}/location`, { by: ada })
            return body.slot?.slot_id ?? null
          }),
        )
      const before = await whereAre()
      await count(gateway, new Map([[named('A'), found.map(named)]]))
      const after = await whereAre()
      const { assetBarcode } = (await gateway.ask('GET', `/api/whms/slots/${named('A')}`, { by: ada })).body
      if (found.length === 0 ? assetBarcode !== null : !found.map(named).includes(assetBarcode))
        throw new Error(`A shows ${assetBarcode}, and held ${found}`)
      for (const [i, pallet] of pallets.entries()) {
        const isShown = assetBarcode === named(pallet)
        const isHere = found.includes(pallet) || before[i] === named('A')
        const expected = isShown ? named('A') : isHere ? null : before[i]
        if (after[i] !== expected)
          throw new Error(`${pallet} was in ${before[i]}, is in ${after[i]}, expected ${expected}`)
      }
    }),
    { numRuns: 120, examples: [[seenTwice, []]] },
  )
  t.pass('pallets of other slots stayed')
})

t.test('a count ends once, and only by way of a review', async (t) => {
  const step = fc.constantFrom('scan', 'submit', 'recount', 'approve', 'cancel')
  fc.assert(
    fc.property(fc.array(step as fc.Arbitrary<'scan' | 'submit' | 'recount' | 'approve' | 'cancel'>), (steps) => {
      let state: Parameters<typeof stateAfter>[0] = 'open'
      for (const taken of steps) {
        const next = stateAfter(state, taken)
        if (state === 'approved' || state === 'cancelled') t.equal(next, undefined)
        if (next === 'approved' && state !== 'review') return false
        state = next ?? state
      }
      return true
    }),
  )
  t.pass('in every order of steps')
})

async function slots(gateway: TestGateway, names: readonly string[]): Promise<void> {
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  for (const slot_id of names) {
    await gateway.ask('POST', '/api/whms/slots', { by: ada, body: { slot_id, zone: 'S', floor_plan_polygon } })
  }
}

async function count(gateway: TestGateway, found: ReadonlyMap<string, readonly string[]>) {
  gateway.clock.advance(1000)
  const path = '/api/whms/counts'
  const { body: opened } = await gateway.ask('POST', path, { by: sven, body: { slot_codes: [...found.keys()] } })
  for (const [slot_code, barcodes] of found) {
    const body = { slot_code, ...(barcodes.length > 0 ? { barcodes } : { empty: true }) }
    const { status } = await gateway.ask('POST', `${path}/${opened.id}/scans`, { by: olga, body })
    if (status !== 201) throw new Error(`the scan was answered ${status}`)
  }
  await gateway.ask('POST', `${path}/${opened.id}/submit`, { by: olga })
  const { status, body } = await gateway.ask('POST', `${path}/${opened.id}/approve`, { by: sven })
  if (status !== 200) throw new Error(`approve was answered ${status}`)
  return body
}
