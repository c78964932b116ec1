import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifyLedger } from '../../src/evidence/index.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway, tinyPng } from '../support/gateway.ts'
import { lookAtPhotos } from '../support/retention.ts'

const dayMs = 86_400_000
const by = people.ada
const sha256 = createHash('sha256').update(tinyPng).digest('hex')
const address = `/api/whms/evidence/photos/${sha256}`

const file = ({ live }: TestGateway) => join(live.config.dataDir, 'photos', sha256.slice(0, 2), `${sha256}.png`)

/** Lets retention look while the photo counts as uploaded since then, and starts the gateway again. */
async function look(t: Test, gateway: TestGateway, uploadedAtMs: number | undefined): Promise<TestGateway> {
  const again = await lookAtPhotos(gateway, uploadedAtMs)
  t.teardown(() => again.close())
  return again
}

t.test('a photo goes so many days after its upload, and its address says so', async (t) => {
  let gateway = await testGateway()
  await heldPhoto(gateway)
  const uploadedAt = gateway.clock.now() + dayMs
  gateway.clock.advance(91 * dayMs - 1)
  gateway = await look(t, gateway, uploadedAt)
  t.ok(existsSync(file(gateway)), 'counted from its upload')
  gateway.clock.advance(1)
  gateway = await look(t, gateway, uploadedAt)
  t.notOk(existsSync(file(gateway)))
  t.match(await gateway.ask('GET', address, { by }), {
    status: 404,
    body: {
      error: {
        code: 'NOT_FOUND',
        message: 'The photo was removed',
        details: /after it was uploaded \(retention\.photos/,
        removal: {
          ...{ removedAt: new Date(gateway.clock.now()).toISOString(), cause: 'age' },
          ...{ policy: 'retention.photos.keepLocalDays: 90', keptDays: 90 },
        },
      },
    },
  })
  t.match((await gateway.ask('GET', '/api/governance/audit?action=media.removed', { by })).body.data, [
    { entity: 'photo', entityId: sha256 },
  ])
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, removals: 1 })
})

t.test('a photo that is not uploaded stays for ever', async (t) => {
  let gateway = await testGateway()
  await heldPhoto(gateway)
  gateway.clock.advance(10_000 * dayMs)
  gateway = await look(t, gateway, undefined)
  await gateway.retention.look()
  t.ok(existsSync(file(gateway)))
})

t.test('the photo of a disputed placement stays, uploaded or not', async (t) => {
  let gateway = await testGateway()
  await furnish(gateway, ['A-01'])
  const body = { slot_code: 'A-01', asset_barcode: 'P-1' }
  const placed = { ...body, event_type: 'PLACED', photo_url: await heldPhoto(gateway) }
  await gateway.ask('POST', '/api/whms/events', { by, body: placed })
  await gateway.ask('POST', '/api/whms/events', { by, body: { ...body, event_type: 'DISPUTED' } })
  gateway.clock.advance(1000 * dayMs)
  gateway = await look(t, gateway, 0)
  t.ok(existsSync(file(gateway)))
})

t.test('a removed photo proves nothing, until the same bytes are sent again', async (t) => {
  let gateway = await testGateway()
  await furnish(gateway, ['A-01'])
  const photo_url = await heldPhoto(gateway)
  gateway.clock.advance(1000 * dayMs)
  gateway = await look(t, gateway, 0)
  const place = async (asset_barcode: string) =>
    (
      await gateway.ask('POST', '/api/whms/events', {
        by,
        body: { event_type: 'PLACED', slot_code: 'A-01', asset_barcode, photo_url },
      })
    ).body
  t.match(await place('P-1'), { photoEvidence: 'claimed' })
  t.equal(await heldPhoto(gateway), photo_url)
  t.match(await place('P-2'), { photoEvidence: 'held' })
  t.equal((await gateway.ask('GET', address, { by })).status, 200)
  await gateway.retention.look()
  t.ok(existsSync(file(gateway)), 'the old removal does not take it away')
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true })
  gateway = await look(t, gateway, 0)
  t.notOk(existsSync(file(gateway)), 'a new one does')
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, removals: 2 })
})
