import t, { type Test } from 'tap'
import { cloudFor } from '../support/cloud.ts'
import { furnish, people, siteUrl, testGateway } from '../support/gateway.ts'

async function hall(t: Test) {
  const dock = {
    id: 1,
    name: 'Dock',
    url: 'rtsp://127.0.0.1/1',
    owner: 'olga',
    viewers: [`group:leads@${siteUrl}`, 'vera'],
  }
  const gate = { id: 2, name: 'Gate', url: 'rtsp://127.0.0.1/2' }
  const config = {
    warehouses: [{ id: 2, viewers: [`group:leads@${siteUrl}`, 'device:handheld-7'] }],
    cameras: [dock, gate],
  }
  const gateway = await testGateway({
    config,
    people: [...Object.values(people), { username: 'rita', role: 'auditor' }],
  })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01'])
  const admin = (method: string, path: string, body?: unknown) => gateway.ask(method, path, { by: people.ada, body })
  await admin('POST', '/api/whms/warehouses', { name: 'Cold store', timezone: 'UTC' })
  await admin('POST', '/api/accounts', { username: 'nora', role: 'supervisor', groups: ['leads'] })
  await admin('POST', '/api/devices', { name: 'handheld-7', warehouseIds: [2] })
  await admin('POST', '/api/operators', { username: 'piet', badge: 'B-1', pin: '2580' })
  const sight = async (name: string) => (await admin('GET', `/api/sight?name=${encodeURIComponent(name)}`)).body
  return { gateway, admin, sight }
}

t.test('an admin sees what somebody may see, and why', async (t) => {
  const { admin, sight } = await hall(t)
  const nora = await sight('nora')
  t.match(nora, { username: 'nora', instance: siteUrl, isDevice: false, role: 'supervisor', groups: ['leads'] })
  t.same(nora.warehouses, [
    { id: 1, name: 'Hall', seen: true, why: 'everyone', by: [] },
    { id: 2, name: 'Cold store', seen: true, why: 'viewers', by: [`group:leads@${siteUrl}`] },
  ])
  t.match(nora.cameras, [
    { id: 1, seen: true, why: 'viewers', by: [`group:leads@${siteUrl}`], control: true, export: true },
    { id: 2, seen: false, why: 'not-in-viewers', by: { length: 0 }, control: false, export: false },
  ])
  t.match(
    nora.routes.find(({ permission }: { permission: string }) => permission === 'reports:create'),
    { granted: true, operations: ['POST /api/governance/reports'] },
  )
  t.match(
    nora.routes.find(({ permission }: { permission: string }) => permission === 'accounts:manage'),
    { granted: false },
  )

  t.match(await sight('olga'), {
    warehouses: [{ seen: true }, { seen: false, why: 'not-in-viewers' }],
    cameras: [{ why: 'owner', control: true }, { seen: false }],
  })
  t.match(await sight('ada'), { warehouses: [{}, { why: 'admin' }], cameras: [{ why: 'admin' }, { seen: true }] })
  t.match(await sight('rita'), {
    role: 'auditor',
    warehouses: [{ seen: true }, { seen: false }],
    cameras: [{ seen: false }, { seen: false }],
  })
  t.match(await sight('device:handheld-7'), {
    isDevice: true,
    warehouses: [
      { seen: false, why: 'other-warehouses' },
      { seen: true, why: 'viewers', by: ['device:handheld-7'] },
    ],
  })
  t.match(await sight('piet'), { role: 'operator', isDevice: false, warehouses: [{ seen: true }, { seen: false }] })
  t.match(await admin('GET', '/api/sight?name=nobody'), { status: 404 })
  t.match(await admin('GET', '/api/sight?name=handheld-7'), { status: 404 }, 'a device is named by device: alone')
  t.match(await admin('GET', '/api/sight?name=group:leads'), {
    status: 400,
    body: { error: { fields: [{ path: 'name' }] } },
  })
})

t.test('the sight that an admin reads is the sight that the person has', async (t) => {
  const { gateway, sight } = await hall(t)
  for (const by of [people.olga, people.ada, people.vera, { username: 'rita', role: 'auditor' } as const]) {
    const answered = await sight(by.username)
    const seen = async (path: string) =>
      (await gateway.ask('GET', path, { by })).body.data.map(({ id }: { id: number }) => id)
    const ids = (rows: { id: number; seen: boolean }[]) => rows.filter((one) => one.seen).map(({ id }) => id)
    t.same(await seen('/api/whms/warehouses'), ids(answered.warehouses), by.username)
    t.same(await seen('/api/iot/cctv'), ids(answered.cameras), by.username)
  }
})

t.test('a user of a storage server is known after the first sign-in', async (t) => {
  const cloud = await cloudFor(t)
  t.teardown(() => cloud.gateway.end())
  const { gateway, server } = cloud
  const name = `otto@${server.url}`
  await gateway.ask('POST', '/api/session', {
    body: { username: 'adele', secret: 'adele-app-password', instance: server.url },
  })
  const headers = {
    Authorization: 'Bearer adele-app-password',
    'X-Storage-Instance': server.url,
    'X-Storage-Username': 'adele',
  }
  const sight = () => gateway.ask('GET', `/api/sight?name=${encodeURIComponent(name)}`, { headers })
  t.equal((await sight()).status, 404)
  await gateway.ask('POST', '/api/session', {
    body: { username: 'otto', secret: 'otto-app-password', instance: server.url },
  })
  t.match(await sight(), {
    status: 200,
    body: { username: 'otto', role: 'operator', groups: ['staff', 'wh-operators'] },
  })
})
