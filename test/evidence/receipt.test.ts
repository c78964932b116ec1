import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { run } from '../../src/cli/run.ts'
import { verifyBundle } from '../support/evidence/bundle.ts'
import { runRecipe, withRecipe } from '../support/evidence/recipe.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway, tinyPng } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'

const units = '/api/whms/transport-units'
const day = 86_400_000

/** A lorry that brings pallet P-1, with a weight and a photo, and another one that brings P-2. */
async function dock(t: Test, reference = 'CMR 4711', other = 'CMR 4712') {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  const post = async (path: string, body: object) => {
    gateway.clock.advance(1000)
    const answer = await gateway.ask('POST', path, { by: people.olga, body })
    if (answer.status >= 300) throw new Error(answer.text)
    return answer.body
  }
  const lorry = { direction: 'inbound', carrier: 'Spedition <Nord>', vehicle: 'HH-AB 123', note: 'the driver was late' }
  const { id } = await post(units, { ...lorry, reference })
  await post(`${units}/${id}/evidence`, { photo_urls: [await heldPhoto(gateway)], scale_weight_kg: 1840.5 })
  const { id: stranger } = await post(units, { ...lorry, reference: other, vehicle: 'B-XY 999' })
  const photo_url = await heldPhoto(gateway, 2)
  const place = { event_type: 'PLACED', photo_url, scale_weight_kg: 412 }
  await post('/api/whms/events', { ...place, slot_code: 'A', asset_barcode: 'P-1', work_order_ref: reference })
  await post('/api/whms/events', { ...place, slot_code: 'B', asset_barcode: 'P-2', work_order_ref: stranger })
  return { gateway, id, stranger, path: `${units}/${id}/receipt` }
}

/** The signed address of the API that the page behind the QR code uses. */
async function handOut(gateway: TestGateway, id: string) {
  const { body } = await gateway.ask('GET', `${units}/${id}/receipt-link`, { by: people.olga })
  return { ...body, address: `${units}/${id}/receipt${new URL(body.url).search}` }
}

/** Returns an answer with the leaves of its proofs, which come as base64, in plain text. */
const readable = (text: string) =>
  text.replace(/[A-Za-z0-9+/]{40,}={0,2}/g, (base64) => Buffer.from(base64, 'base64').toString('latin1'))

t.test('a receipt has what was handed over with its proofs, and no name, no note and no other unit', async (t) => {
  const { gateway, id, path } = await dock(t)
  const { status, body, text } = await gateway.ask('GET', path, { by: people.olga })
  t.equal(status, 200)
  t.match(body, {
    unit: {
      ...{ id, reference: 'CMR 4711', direction: 'inbound', carrier: 'Spedition <Nord>', vehicle: 'HH-AB 123' },
      ...{ siteId: 'test-site', warehouse: 'Hall', timezone: 'Europe/Berlin', weightKg: 1840.5 },
      steps: [
        { action: 'created', stage: 'registered', photos: { length: 0 }, evidence: { state: 'signed' } },
        {
          action: 'evidence',
          weightKg: 1840.5,
          photos: [{ sha256: createHash('sha256').update(tinyPng).digest('hex') }],
        },
      ],
    },
    placements: [
      {
        id: 1,
        event_type: 'PLACED',
        asset_barcode: 'P-1',
        slot_code: 'A',
        weightKg: 412,
        evidence: { state: 'signed' },
      },
    ],
    complete: true,
    checkpoint: { logId: gateway.logIdentity.logId, size: 5 },
  })
  t.equal(body.placements.length, 1)
  t.match(readable(text), /P-1[\s\S]*CMR 4711/)
  t.notMatch(readable(text), /olga|the driver was late|P-2|CMR 4712|B-XY 999/)
  const { logKey } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  t.equal(body.checkpoint.key, logKey)
  t.strictSame(
    body.proofs.map(({ kind }: { kind: string }) => kind),
    ['unit-step', 'unit-step', 'event'],
  )
  for (const { bundle } of body.proofs) {
    const verdict = verifyBundle(JSON.stringify(bundle), { keys: [logKey] })
    t.ok(verdict.ok, JSON.stringify(verdict.steps))
  }
  const openings = body.proofs.flatMap(({ bundle }: { bundle: { openings: { field: string }[] } }) => bundle.openings)
  t.match(openings, [{ field: 'vehicle', text: 'HH-AB 123' }])
  t.equal(openings.length, 1)
})

t.test(
  'a reference that two units share is the work order of neither, so no receipt shows goods of the other',
  async (t) => {
    const { gateway, stranger, path } = await dock(t, 'CMR 4711', 'CMR 4711')
    t.strictSame((await gateway.ask('GET', path, { by: people.olga })).body.placements, [])
    const other = await gateway.ask('GET', `${units}/${stranger}/receipt`, { by: people.olga })
    t.match(other.body.placements, [{ asset_barcode: 'P-2' }], 'the id of a unit means that unit alone')
  },
)

t.test('the link of a receipt shows that unit alone, to whoever has it, for 90 days', async (t) => {
  const { gateway, id, stranger } = await dock(t)
  const { url, expiresAt, address } = await handOut(gateway, id)
  t.match(url, new RegExp(`^http://127\\.0\\.0\\.1:8480/receipt/${id}\\?signed=[\\w-]+$`))
  t.equal(Date.parse(expiresAt) - gateway.clock.now(), 90 * day)
  const { status, body, headers } = await gateway.ask('GET', address)
  t.match({ status, body }, { status: 200, body: { unit: { id } } })
  t.match(headers.get('cache-control'), /no-store/)
  const token = address.slice(address.indexOf('?'))
  for (const path of [
    `${units}/${stranger}/receipt`,
    `${units}/${id}`,
    `${units}/${id}/receipt-link`,
    units,
    '/api/whms/events/1',
    '/api/log/consistency',
  ]) {
    t.equal((await gateway.ask('GET', `${path}${token}`)).status, 401, path)
  }
  t.equal((await gateway.ask('POST', address, { body: {} })).status, 401)
  const photo = body.unit.steps[1].photos[0].url
  t.strictSame((await gateway.ask('GET', photo)).bytes, tinyPng)
  const parts = body.links.consistency.replace('?', '?from=2&to=5&')
  t.match(await gateway.ask('GET', parts), { status: 200, body: { from: 2, to: 5 } })
  gateway.clock.advance(2 * 3_600_000)
  t.match([(await gateway.ask('GET', photo)).status, (await gateway.ask('GET', parts)).status], [401, 401], 'an hour')
  t.equal((await gateway.ask('GET', address)).status, 200)
  gateway.clock.advance(90 * day)
  t.equal((await gateway.ask('GET', address)).status, 401)
})

t.test('a receipt outlives the account of whoever handed it over, and ends with the sight of the hall', async (t) => {
  const { gateway, id } = await dock(t)
  const { address } = await handOut(gateway, id)
  t.equal((await gateway.ask('GET', address)).status, 200)
  const users = gateway.live.config.auth.users.filter(({ username }) => username !== 'olga')
  const live = gateway.live as { config: unknown }
  live.config = { ...gateway.live.config, auth: { ...gateway.live.config.auth, users } }
  t.equal((await gateway.ask('GET', `${units}/${id}`, { by: people.olga })).status, 401, 'she has left')
  t.equal((await gateway.ask('GET', address)).status, 200)
  live.config = { ...gateway.live.config, warehouses: [{ id: 1, viewers: ['sven@http://127.0.0.1:8480'] }] }
  t.equal((await gateway.ask('GET', address)).status, 404)
})

t.test(
  'what the driver keeps is one file that anybody checks without the gateway',
  { ...withRecipe, ...needs('python3') },
  async (t) => {
    const { gateway, id } = await dock(t)
    const { address } = await handOut(gateway, id)
    const zip = (await gateway.ask('GET', (await gateway.ask('GET', address)).body.links.zip)).bytes
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-receipt-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'receipt.zip')
    writeFileSync(file, zip)
    mkdirSync(join(folder, 'out'))
    execFileSync('python3', ['-m', 'zipfile', '-e', file, join(folder, 'out')])
    const read = (name: string) => readFileSync(join(folder, 'out', name))
    const { logKey, logKeyPostQuantum } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
    const checked = await runRecipe({
      file: read('step-2/step-2.proof.json'),
      media: { 'photo-1.png': read('step-2/photo-1.png') },
      env: { KEY: logKey },
    })
    t.match(checked, { status: 0, output: /media/ }, checked.output)
    t.match(read('checkpoint.txt').toString(), `\n5\n`)
    t.match(JSON.parse(read('receipt.json').toString()), { unit: { id, weightKg: 1840.5 }, placements: [{ id: 1 }] })
    t.equal(await run(['ledger', 'verify', file, '--key', logKey, '--key', logKeyPostQuantum]), 0)
    const forged = read('step-1/step-1.proof.json').toString()
    const bundle = JSON.parse(forged)
    const leaf = Buffer.from(bundle.leaf, 'base64').toString().replace('created', 'erased!')
    const other = { ...bundle, leaf: Buffer.from(leaf).toString('base64') }
    t.equal((await runRecipe({ file: JSON.stringify(other), env: { KEY: logKey } })).status, 1)
  },
)

t.test(
  'the sheet for the dock shows the link as a QR code and says until when, and the trail says who made it',
  async (t) => {
    const { gateway, id } = await dock(t)
    const sheet = await gateway.ask('GET', `${units}/${id}/receipt-link?format=html`, { by: people.olga })
    t.match(sheet.headers.get('content-type'), /^text\/html/)
    t.match(sheet.headers.get('content-security-policy'), /^default-src 'none'; style-src 'sha256-/)
    t.match(sheet.text, 'CMR 4711 · Spedition &#60;Nord&#62; · test-site')
    t.match(sheet.text, 'until 31 May 2026')
    t.match(sheet.text, /<svg [^>]*viewBox="0 0 (\d+) \1"/)
    t.notMatch(sheet.text, /<script|<Nord|signed=/)
    const { data } = (
      await gateway.ask('GET', `/api/governance/audit?entity=transport_unit&entity_id=${id}`, { by: people.sven })
    ).body
    t.match(data[0], { action: 'transport_unit.receipt_handed_out', actor: 'olga' })
    t.equal((await gateway.ask('GET', `${units}/${id}/receipt-link`, { by: people.vera })).status, 403)
    t.equal((await gateway.ask('GET', `${units}/nothing/receipt-link`, { by: people.olga })).status, 404)
  },
)
