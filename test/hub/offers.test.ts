import t from 'tap'
import { offerNow } from '../../src/app/control/status.ts'
import { isNewerRelease } from '../../src/feed/index.ts'
import { OfferService } from '../../src/hub/offers/service.ts'
import { connectionOf, HubDatabase } from '../../src/hub/store/database.ts'
import { silentLogger } from '../../src/platform/index.ts'
import { type TestLog, testLog } from '../support/evidence/forge.ts'
import { floorLeaves } from '../support/floor-leaves.ts'
import { feedOf, feedPathOf, type TestHub, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)

type Box = { readonly siteId: string; readonly log: TestLog; readonly token: string }

/** A head office with so many gateways, and the offers as its command makes them. */
async function fleetOf(t: { teardown(work: () => unknown): void }, count: number) {
  const hub = await testHub(t, postgres)
  const boxes: Box[] = []
  for (let i = 0; i < count; i += 1) {
    const siteId = `dc-${i}`
    const logId = `0190a5c4-3c00-7000-8000-${String(i).padStart(12, '0')}`
    const log = testLog({ siteId, logId, leaves: floorLeaves({ siteId, logId, count: 1 }) })
    boxes.push({ siteId, log, token: await hub.enrol(log) })
  }
  const db = new HubDatabase({ connection: connectionOf(hub.config.hub.database, 'app'), log: silentLogger() })
  t.teardown(() => db.close())
  return { hub, boxes, offers: new OfferService({ db, clock: hub.clock }) }
}

/** Each box says how it is, and is answered. Returns who is offered what. */
async function round(hub: TestHub, boxes: readonly Box[], version: (siteId: string) => string, health = 'healthy') {
  hub.clock.advance(11_000)
  const offered: Record<string, string> = {}
  for (const { siteId, log, token } of boxes) {
    const status = { version: version(siteId), health, troubles: [], fleet: null }
    const { body } = await hub.ask('POST', feedPathOf(log), { token, body: { ...feedOf(log, 0, 1), status } })
    if (body.offer) offered[siteId] = body.offer.version
  }
  return offered
}

t.test(
  'a version is offered to one gateway, then to five more, then to the rest, each time when it runs well',
  async (t) => {
    const { hub, boxes, offers } = await fleetOf(t, 9)
    t.same(await round(hub, boxes, () => '1.0.0'), {}, 'nothing is offered')
    await offers.begin('1.1.0', 'ada', 'dc-4')
    t.same(await round(hub, boxes, () => '1.0.0'), { 'dc-4': '1.1.0' })
    await t.rejects(offers.next('ada', false), { code: 'INVALID_TRANSITION', message: /dc-4 runs 1\.0\.0/ })
    await round(hub, boxes, (siteId) => (siteId === 'dc-4' ? '1.1.0' : '1.0.0'), 'degraded')
    await t.rejects(offers.next('ada', false), { message: /dc-4 is degraded/ })
    await round(hub, boxes, (siteId) => (siteId === 'dc-4' ? '1.1.0' : '1.0.0'))
    hub.clock.advance(16 * 60_000)
    await t.rejects(offers.next('ada', false), { message: /dc-4 is out of contact/ })
    await round(hub, boxes, (siteId) => (siteId === 'dc-4' ? '1.1.0' : '1.0.0'))
    await offers.next('ada', false)
    const second = await round(hub, boxes, () => '1.1.0')
    t.equal(Object.keys(second).length, 6, 'five more')
    t.ok('dc-4' in second)
    t.match(await offers.open(), { version: '1.1.0', stage: 2, by: 'ada', waitsFor: { length: 0 } })
    await offers.next('ada', false)
    t.equal(Object.keys(await round(hub, boxes, () => '1.1.0')).length, 9, 'the rest')
    await t.rejects(offers.next('ada', true), { code: 'INVALID_TRANSITION', message: /Every site has the offer/ })
  },
)

t.test('an offer is taken back, and another version ends it', async (t) => {
  const { hub, boxes, offers } = await fleetOf(t, 2)
  await t.rejects(offers.next('ada', false), { message: /There is no offer/ })
  await t.rejects(offers.begin('1.1.0', 'ada', 'dc-77'), { code: 'VALIDATION_ERROR' })
  await offers.begin('1.1.0', 'ada')
  const [first = ''] = Object.keys(await round(hub, boxes, () => '1.0.0'))
  t.match(first, /^dc-[01]$/, 'by chance')
  await offers.next('ada', true)
  await offers.begin('1.2.0', 'ada', 'dc-1')
  t.same(await round(hub, boxes, () => '1.0.0'), { 'dc-1': '1.2.0' })
  await offers.end()
  t.same(await round(hub, boxes, () => '1.0.0'), {})
  t.equal(await offers.open(), undefined)
  await offers.begin('1.2.0', 'ada', 'dc-0')
  t.same(await round(hub, boxes, () => '1.0.0'), { 'dc-0': '1.2.0' }, 'and may begin again')
})

t.test('the config of a box alone decides what becomes of an offer', async (t) => {
  const nightly = { window: ['Mo-Su 02:00-05:00'] }
  const at = (time: string, running = '1.0.9') => ({ running, timezone: 'Europe/Berlin', atMs: Date.parse(time) })
  const [day, night] = [at('2026-03-02T12:00:00Z'), at('2026-03-02T02:30:00Z')]
  const offer = (offers: 'ignore' | 'show' | 'take', now = night, version: string | null = '1.0.10') =>
    offerNow(version, { floorLayout: 'automatic', offers, ...nightly }, now)
  t.equal(offer('ignore'), null)
  t.match(offer('show'), { version: '1.0.10', isTakenNow: false, why: /show/ })
  t.match(offer('take'), { isTakenNow: true, why: /within .*02:00-05:00/ })
  t.match(offer('take', day), { isTakenNow: false, why: /outside/ })
  t.equal(offer('take', at('2026-03-02T02:30:00Z', '1.0.10')), null, 'it runs')
  t.equal(offer('take', at('2026-03-02T02:30:00Z', '1.1.0')), null, 'never an older one')
  t.equal(offer('take', night, null), null)
})

t.test('versions are in the order of Debian packages: Debian Policy, 5.6.12', async (t) => {
  const before = ['1.0.9', '1.0.10~~', '1.0.10~~a', '1.0.10~', '1.0.10~beta1~svn1245', '1.0.10~beta1']
  const hyphens = ['1.0.10', '1.0.10-1', '1.0.10-1+b1', '1.0.10a', '1.0.10a-1', '1.0.10+b1-1']
  const days = ['1.0.10+git20260101120000123', '1.0.10+git20260101120000124']
  const inOrder = [...before, ...hyphens, '1.0.10+b2', '1.0.10+b10', ...days, '1.2.0', '1.10.0', '10.0.0']
  for (const [i, version] of inOrder.entries())
    for (const [j, other] of inOrder.entries())
      t.equal(isNewerRelease(version, other), i > j, `${version} beside ${other}`)
  t.equal(
    offerNow(
      '1.4.2',
      { floorLayout: 'automatic', offers: 'show', window: [] },
      { running: '1.4.2~rc1', timezone: 'UTC', atMs: 0 },
    )?.version,
    '1.4.2',
  )
})
