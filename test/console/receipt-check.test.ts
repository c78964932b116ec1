import { webcrypto } from 'node:crypto'
import t from 'tap'
import type { Receipt } from '../../src/console/page/data/shapes.ts'
import type { KeptCheckpoint } from '../../src/console/page/proof/checkpoint-keeper.ts'
import { checkReceipt } from '../../src/console/page/proof/receipt-check.ts'
import { furnish, heldPhoto, people, testGateway } from '../support/gateway.ts'

const units = '/api/whms/transport-units'

/** Two receipts of a gateway, and how a phone checks one. */
async function twoReceipts(t: { teardown(end: () => void): void }) {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const by = people.olga
  const post = async (path: string, body: object) => {
    gateway.clock.advance(1100)
    return (await gateway.ask('POST', path, { by, body })).body
  }
  const made = async (reference: string): Promise<Receipt> => {
    const about = { direction: 'inbound', carrier: 'Hansa Freight', vehicle: 'HH-AB 123' }
    const { id } = await post(units, { reference, ...about, evidence: { scale_weight_kg: 1840 } })
    const place = { event_type: 'PLACED', slot_code: 'A', photo_url: await heldPhoto(gateway) }
    await post('/api/whms/events', { ...place, asset_barcode: `P-${id}`, work_order_ref: id, scale_weight_kg: 412 })
    gateway.clock.advance(1100)
    return (await gateway.ask('GET', `${units}/${id}/receipt`, { by })).body
  }
  const other = await made('CMR-1')
  const good = await made('CMR-2')
  const proof = async (from: number, to: number) =>
    (await gateway.ask('GET', `/api/log/consistency?from=${from}&to=${to}`, { by })).body.proof
  const photo = async (url: string) => {
    const { status, bytes } = await gateway.ask('GET', url, { by })
    return status === 200 ? new Uint8Array(bytes) : undefined
  }
  const check = (receipt: unknown, ask = photo) =>
    checkReceipt({ receipt: receipt as Receipt, kept: undefined, crypto: webcrypto.subtle as never, proof, photo: ask })
  return { other, good, check }
}

t.test('a phone compares a receipt with its proofs, and says what it could not compare', async (t) => {
  const { good, check } = await twoReceipts(t)
  t.match(await check(good), { keeper: { kind: 'kept', kept: { size: 4 } }, faults: { length: 0 } })
  t.strictSame((await check(good)).faults, [])
  const never = ['the name of the warehouse', 'what each entry says about how far it is signed']
  t.strictSame((await check(good)).uncompared, never, 'everything else was compared')
  t.same(good.placements[0]?.photos.length, 1)
  const other1 = new Uint8Array(Buffer.from('another picture'))
  t.match((await check(good, async () => other1)).faults.join(' '), /proof of entry 2 fails: .* has other bytes/)
  t.match(await check(good, async () => undefined), {
    faults: { length: 0 },
    uncompared: ['one photo that could not be fetched', ...never],
  })
})

t.test('a phone notices each way in which a receipt says something else than its proofs', async (t) => {
  const { other, good, check } = await twoReceipts(t)
  const [step, move] = [good.unit.steps[0], good.placements[0]]
  const lies: Record<string, [object, RegExp]> = {
    'a weight': [{ unit: { ...good.unit, steps: [{ ...step, weightKg: 1 }] } }, /says something else than its proof/],
    'a time': [
      { unit: { ...good.unit, steps: [{ ...step, timestamp: '2026-01-01T00:00:00.000Z' }] } },
      /something else/,
    ],
    'a pallet': [{ placements: [{ ...move, asset_barcode: 'P-9' }] }, /something else/],
    'a reference': [
      { unit: { ...good.unit, reference: 'CMR-9' } },
      /The reference that is shown is not the one of the proofs/,
    ],
    'a carrier': [{ unit: { ...good.unit, carrier: 'Nobody' } }, /The carrier that is shown/],
    'no carrier': [{ unit: { ...good.unit, carrier: null } }, /The carrier that is shown/],
    'a vehicle': [{ unit: { ...good.unit, vehicle: 'M-XY 9' } }, /The vehicle that is shown/],
    'a status': [{ unit: { ...good.unit, status: 'completed' } }, /The status that is shown/],
    'a weight of all': [{ unit: { ...good.unit, weightKg: 9 } }, /The weight that is shown/],
    'a photo of another entry': [
      { placements: [{ ...move, photos: [{ sha256: 'ab'.repeat(32), url: '/api/health' }] }] },
      /something else/,
    ],
    'another unit': [{ unit: { ...good.unit, id: other.unit.id } }, /something else/],
    'an entry without a proof': [
      { proofs: good.proofs.slice(0, 1) },
      /One entry that is shown here has no proof \(event 2\)/,
    ],
    'the proof of another entry': [{ proofs: [good.proofs[0], { ...other.proofs[1], id: '2' }] }, /something else/],
    'a forged leaf': [
      { proofs: good.proofs.map((one, i) => (i === 0 ? forged(one) : one)) },
      /The proof of entry .* fails/,
    ],
  }
  for (const [what, [change, words]] of Object.entries(lies)) {
    t.match((await check({ ...good, ...change })).faults.join(' '), words, what)
  }
})

t.test('a phone follows the keys of the log when they are rotated, and no key that nobody handed over', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const by = people.olga
  const made = async (reference: string): Promise<Receipt> => {
    gateway.clock.advance(1100)
    const { body } = await gateway.ask('POST', units, { by, body: { reference, direction: 'inbound' } })
    gateway.clock.advance(1100)
    return (await gateway.ask('GET', `${units}/${body.id}/receipt`, { by })).body
  }
  const proof = async (from: number, to: number) =>
    (await gateway.ask('GET', `/api/log/consistency?from=${from}&to=${to}`, { by })).body.proof
  const check = (receipt: Receipt, kept: KeptCheckpoint | undefined) =>
    checkReceipt({ receipt, kept, crypto: webcrypto.subtle as never, proof, photo: async () => undefined })
  const first = await check(await made('CMR-1'), undefined)
  const kept = first.keeper.kind === 'kept' ? first.keeper.kept : undefined
  for (const _ of [1, 2]) {
    gateway.clock.advance(1100)
    await gateway.rotateKeys('root')
  }
  const receipt = await made('CMR-2')
  t.not(receipt.checkpoint.key, kept?.vkey)
  t.match(await check(receipt, kept), {
    keeper: { kind: 'kept', kept: { vkey: receipt.checkpoint.key } },
    faults: { length: 0 },
  })
  const without = (n: number) => ({
    ...receipt,
    proofs: receipt.proofs.map((one) => ({
      ...one,
      bundle: { ...one.bundle, handOvers: one.bundle.handOvers?.filter((_, i) => i !== n) ?? [] },
    })),
  })
  for (const n of [0, 1]) {
    t.match(await check(without(n), kept), { keeper: { kind: 'alarm', words: /not signed by the key/ } })
  }
  const [one, two] = receipt.proofs[0]?.bundle.handOvers ?? []
  const keysOf = ({ leaf }: { leaf: string }) => JSON.parse(Buffer.from(leaf, 'base64').toString())
  const leaf = one && two ? { ...keysOf(one), keys: keysOf(two).keys } : {}
  const forgery = { ...one, leaf: Buffer.from(JSON.stringify(leaf)).toString('base64') }
  const forgedReceipt = {
    ...receipt,
    proofs: receipt.proofs.map((proven) => ({ ...proven, bundle: { ...proven.bundle, handOvers: [forgery] } })),
  }
  t.match(await check(forgedReceipt as Receipt, kept), { keeper: { kind: 'alarm' } }, 'a leaf that nobody signed')
})

function forged(one: Receipt['proofs'][number]): Receipt['proofs'][number] {
  const leaf = Buffer.from(one.bundle.leaf, 'base64').toString().replace('1840', '1940')
  return { ...one, bundle: { ...one.bundle, leaf: Buffer.from(leaf).toString('base64') } }
}
