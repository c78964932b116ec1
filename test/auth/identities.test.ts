import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { byCloud, type Cloud, cloudFor, cloudUsers } from '../support/cloud.ts'
import { cheapHash, type Person, people, siteUrl, testGateway, tinyPng } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { StorageServer, type StorageUser } from '../support/storage-server.ts'

type Ask = { by?: Person } | { headers: Record<string, string> }

const account = ({ username, role }: Person) => ({ username, role, secretHash: cheapHash(`${username}-secret`) })
const localUsers = { users: Object.values(people).map(account) }
const groupRoles = { 'wh-operators': 'operator', 'wh-supervisors': 'supervisor', 'wh-admins': 'admin' }
const hall = { name: 'Hall', timezone: 'UTC' }
const camera = (id: number, more: object) => ({ id, url: `rtsp://127.0.0.1:1/${id}`, enabled: false, ...more })

/** Somebody of the storage server who is called like a person or a group of this site. */
const namesake = (id: string, groups: string[] = ['wh-operators']): StorageUser => ({
  id,
  groups,
  appPasswords: [`${id}-app-password`],
})

/** A site with local accounts beside the users of a storage server. */
async function site(t: Parameters<typeof cloudFor>[0], config: object, users: StorageUser[]): Promise<Cloud> {
  const cloud = await cloudFor(t, {
    server: { users: [...cloudUsers(), ...users] },
    auth: { ...localUsers, groupRoles },
    gateway: { config: { ...config } },
  })
  t.teardown(() => cloud.gateway.end())
  await cloud.gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: hall })
  return cloud
}

async function camerasOf({ gateway }: Cloud, ask: Ask): Promise<number[]> {
  const { body } = await gateway.ask('GET', '/api/iot/cctv', ask)
  return body.data.map(({ id }: { id: number }) => id)
}
const hallsOf = async ({ gateway }: Cloud, ask: Ask): Promise<number> =>
  (await gateway.ask('GET', '/api/whms/warehouses', ask)).body.data.length

t.test('a storage user who is called like a local owner or viewer gets none of the local one’s cameras', async (t) => {
  const cameras = [camera(1, { owner: 'vera' }), camera(2, { viewers: ['olga'] })]
  const cloud = await site(t, { cameras }, [namesake('vera', []), namesake('olga')])
  const { gateway, server } = cloud
  t.same(await camerasOf(cloud, { by: people.vera }), [1])
  t.same(await camerasOf(cloud, { by: people.olga }), [2])
  t.same(await camerasOf(cloud, byCloud(server, 'vera')), [])
  t.same(await camerasOf(cloud, byCloud(server, 'olga')), [])
  const stop = { cctvId: 1, action: 'stop' }
  const control = (ask: Ask) => gateway.ask('POST', '/api/iot/detection/motion-stream', { body: stop, ...ask })
  t.equal((await control(byCloud(server, 'vera'))).status, 404, 'nor does she control it')
  t.equal((await control({ by: people.vera })).status, 200)
  for (const path of ['/api/iot/detection/motion-stream?cctvId=1', '/api/iot/detection-events?cctvId=1']) {
    t.equal((await gateway.ask('GET', path, byCloud(server, 'vera'))).status, 404, path)
    t.equal((await gateway.ask('GET', path, { by: people.vera })).status, 200, path)
  }
})

t.test('a storage user who is called like a local viewer does not see the warehouse', async (t) => {
  const cloud = await site(t, { warehouses: [{ id: 1, viewers: ['vera'] }] }, [namesake('vera')])
  t.equal(await hallsOf(cloud, { by: people.vera }), 1)
  t.equal(await hallsOf(cloud, byCloud(cloud.server, 'vera')), 0)
  t.equal((await cloud.gateway.ask('GET', '/api/whms/warehouses/1', byCloud(cloud.server, 'vera'))).status, 404)
})

t.test('a storage user who is called like a group is in no group, and a group is no local account', async (t) => {
  const config = {
    cameras: [camera(1, { viewers: ['wh-supervisors'] }), camera(2, { viewers: ['sven'] })],
    warehouses: [{ id: 1, viewers: ['wh-supervisors'] }],
  }
  const cloud = await site(t, config, [namesake('wh-supervisors'), namesake('mallory', ['sven', 'wh-operators'])])
  const { server } = cloud
  t.same(await camerasOf(cloud, byCloud(server, 'selma')), [1], 'a member')
  t.equal(await hallsOf(cloud, byCloud(server, 'selma')), 1)
  t.same(await camerasOf(cloud, byCloud(server, 'wh-supervisors')), [])
  t.equal(await hallsOf(cloud, byCloud(server, 'wh-supervisors')), 0)
  t.same(await camerasOf(cloud, byCloud(server, 'mallory')), [], 'in a group that is called like a local account')
  t.same(await camerasOf(cloud, { by: people.sven }), [2])
})

t.test('a name that is no local account goes on meaning the user or the group of the only server', async (t) => {
  const config = {
    cameras: [camera(1, { viewers: ['staff'] }), camera(2, { viewers: ['gast'] }), camera(3, { owner: 'gast' })],
  }
  const cloud = await site(t, config, [])
  t.same(await camerasOf(cloud, byCloud(cloud.server, 'otto')), [1])
  t.same(await camerasOf(cloud, byCloud(cloud.server, 'gast')), [2, 3])
})

t.test('with two servers a name says whose it is, and nobody of the other one is meant', async (t) => {
  const other = await StorageServer.start({ users: [...cloudUsers(), namesake('vera', ['wh-admins'])] })
  t.teardown(() => other.stop())
  const server = await StorageServer.start({ users: cloudUsers() })
  t.teardown(() => server.stop())
  const gateway = await testGateway({
    config: {
      storage: { instances: [{ url: server.url }, { url: other.url }] },
      auth: {
        ...localUsers,
        groupRoles: { [`wh-operators@${server.url}`]: 'operator', [`group:wh-admins@${server.url}/`]: 'admin' },
      },
      cameras: [
        camera(1, { owner: `otto@${server.url}` }),
        camera(2, { viewers: [`group:wh-operators@${other.url}`] }),
        camera(3, { viewers: [`vera@${siteUrl}`] }),
      ],
    },
  })
  t.teardown(() => gateway.end())
  const cloud = { gateway, server }
  t.same(await camerasOf(cloud, byCloud(server, 'otto')), [1])
  t.same(await camerasOf(cloud, byCloud(other, 'otto')), [2])
  t.same(await camerasOf(cloud, byCloud(other, 'vera')), [], 'wh-admins of the other server is no admin here')
  t.same(await camerasOf(cloud, { by: people.vera }), [3])
  t.same(await camerasOf(cloud, byCloud(server, 'adele')), [1, 2, 3])
  const photo = (ask: Ask) => gateway.ask('POST', '/api/whms/evidence/photos', { bytes: tinyPng, ...ask })
  t.equal((await photo(byCloud(server, 'otto'))).status, 201)
  t.equal((await photo(byCloud(other, 'otto'))).status, 403, 'the group of that name elsewhere has no role')
})

t.test('an account of the database takes no name that the config gives to the storage server', async (t) => {
  const cameras = [camera(1, { viewers: ['gast'] }), camera(2, { viewers: ['wh-operators'] })]
  const cloud = await site(t, { cameras, warehouses: [{ id: 1, viewers: ['staff'] }] }, [])
  const { gateway, server } = cloud
  const make = (username: string) =>
    gateway.ask('POST', '/api/accounts', { by: people.ada, body: { username, role: 'operator' } })
  const places = { gast: /cameras\[0\]\.viewers\[0\]/, 'wh-operators': /cameras\[1\]/, staff: /warehouses\[0\]/ }
  for (const [name, place] of Object.entries(places)) {
    const refused = { status: 400, body: { error: { code: 'ALREADY_EXISTS', message: place } } }
    t.match(await make(name), refused, name)
  }
  t.same(await camerasOf(cloud, byCloud(server, 'gast')), [1])
  t.same(await camerasOf(cloud, byCloud(server, 'otto')), [2], 'a member of the group')
  gateway.live.config = {
    ...gateway.live.config,
    cameras: gateway.live.config.cameras.map((one) => ({ ...one, viewers: [`gast@${server.url}`] })),
  }
  t.match(await make('gast'), { status: 201 }, 'the full form leaves the short one free')
  t.same(await camerasOf(cloud, byCloud(server, 'gast')), [1, 2])
})

t.test('the name of an account that the config names is not erased into the hands of a storage user', async (t) => {
  const cloud = await site(t, {}, [namesake('nora')])
  const { gateway, server } = cloud
  const body = { username: 'nora', role: 'operator' }
  t.equal((await gateway.ask('POST', '/api/accounts', { by: people.ada, body })).status, 201)
  const { config } = gateway.live
  gateway.live.config = { ...config, warehouses: [{ id: 1, viewers: ['nora'] }] }
  const erase = () => gateway.erasePerson({ name: 'nora', texts: false }, 'root')
  await t.rejects(erase(), { code: 'INVALID_TRANSITION', message: /warehouses\[0\]\.viewers\[0\]/ })
  t.equal(await hallsOf(cloud, byCloud(server, 'nora')), 0)
  gateway.live.config = { ...config, warehouses: [{ id: 1, viewers: ['vera'] }] }
  t.match(await erase(), { outcome: 'erased' })
})

t.test('a badge keeps its name against a storage user, also once it is revoked', async (t) => {
  const cloud = await site(t, { cameras: [camera(1, { viewers: ['otto'] })] }, [])
  const { gateway, server } = cloud
  t.same(await camerasOf(cloud, byCloud(server, 'otto')), [1])
  const badge = { username: 'otto', badge: 'B-1', pin: '4711' }
  const registered = await gateway.ask('POST', '/api/operators', { by: people.ada, body: badge })
  t.equal(registered.status, 201)
  t.same(await camerasOf(cloud, byCloud(server, 'otto')), [])
  await gateway.ask('POST', `/api/operators/${registered.body.id}/revoke`, { by: people.ada })
  t.same(await camerasOf(cloud, byCloud(server, 'otto')), [])
  const again = await gateway.restart()
  t.teardown(() => again.end())
  t.same(await camerasOf({ gateway: again, server }, byCloud(server, 'otto')), [])
})

t.test(
  'a wall screen that is called like a user or a group of the config is neither, and takes nothing from them',
  async (t) => {
    const config = {
      cameras: [
        camera(1, { owner: 'gast' }),
        camera(2, { viewers: ['wh-operators'] }),
        camera(3, { viewers: ['gast'] }),
      ],
      warehouses: [{ id: 1, viewers: ['gast', 'wh-operators'] }],
    }
    const cloud = await site(t, config, [])
    const { gateway, server } = cloud
    for (const name of ['gast', 'wh-operators']) {
      const screen = await screenCalled(gateway, name)
      t.same(await camerasOf(cloud, screen), [], name)
      t.equal(await hallsOf(cloud, screen), 0, name)
    }
    t.same(await camerasOf(cloud, byCloud(server, 'gast')), [1, 3])
    t.same(await camerasOf(cloud, byCloud(server, 'otto')), [2], 'a member of the group')
    t.equal(await hallsOf(cloud, byCloud(server, 'otto')), 1)
  },
)

t.test('the config names a device with its kind, and only who sees as much makes one of that name', async (t) => {
  const config = {
    cameras: [camera(1, { viewers: ['device:wall-1', 'sven'] }), camera(2, { viewers: ['device:wall-2'] })],
    warehouses: [
      { id: 1, viewers: ['device:wall-1', 'device:wall-3', 'sven'] },
      { id: 2, viewers: ['device:wall-3'] },
    ],
  }
  const cloud = await site(t, config, [namesake('wall-1')])
  const { gateway, server } = cloud
  await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: { ...hall, name: 'Cold store' } })
  const screen = await screenCalled(gateway, 'wall-1')
  t.same(await camerasOf(cloud, screen), [1])
  t.equal(await hallsOf(cloud, screen), 1)
  t.same(await camerasOf(cloud, byCloud(server, 'wall-1')), [])
  for (const name of ['wall-2', 'wall-3']) {
    const { code } = (await gateway.ask('POST', '/api/device-pairings')).body
    const confirm = (by: Person) => gateway.ask('POST', `/api/device-pairings/${code}/confirm`, { by, body: { name } })
    t.match(await confirm(people.sven), { status: 403, body: { error: { code: 'PERMISSION_DENIED' } } }, name)
    t.match(await confirm(people.ada), { status: 201 }, `${name} by an admin`)
  }
})

/** Headers of a wall screen that the supervisor confirmed under this name. */
async function screenCalled({ ask }: Cloud['gateway'], name: string): Promise<{ headers: Record<string, string> }> {
  const { code, token } = (await ask('POST', '/api/device-pairings')).body
  await ask('POST', `/api/device-pairings/${code}/confirm`, { by: people.sven, body: { name } })
  const { enrolmentCode } = (await ask('POST', '/api/device-pairings/collect', { body: { token } })).body
  const { secret, instance } = (await ask('POST', '/api/devices/enrol', { body: { code: enrolmentCode } })).body
  return {
    headers: { Authorization: `Bearer ${secret}`, 'X-Storage-Instance': instance, 'X-Storage-Username': name },
  }
}

t.test('a photo is its bringer’s, and no namesake’s', async (t) => {
  const cloud = await site(t, {}, [namesake('olga')])
  const { gateway, server } = cloud
  const { body } = await gateway.ask('POST', '/api/whms/evidence/photos', { by: people.olga, bytes: tinyPng })
  const sees = async (ask: Ask) => (await gateway.ask('GET', `/api/whms/evidence/photos/${body.sha256}`, ask)).status
  t.equal(await sees({ by: people.olga }), 200)
  t.equal(await sees(byCloud(server, 'olga')), 404)
  t.equal(await sees(byCloud(server, 'otto')), 404)
  await gateway.ask('POST', '/api/whms/evidence/photos', { bytes: tinyPng, ...byCloud(server, 'otto') })
  t.equal(await sees(byCloud(server, 'otto')), 200, 'who brings the same one has it too')
})

t.test('a rate of the config is the local user’s alone', async (t) => {
  const config = { rateLimit: { requestsPerMinute: 1, users: { vera: 3, gast: 2 } } }
  const { gateway, server } = await cloudFor(t, {
    server: { users: [...cloudUsers(), namesake('vera')] },
    auth: { ...localUsers, groupRoles },
    gateway: { config },
  })
  t.teardown(() => gateway.end())
  const passed = async (ask: Ask) => {
    const statuses: number[] = []
    for (let n = 0; n < 4; n += 1) statuses.push((await gateway.ask('GET', '/api/whms/zones', ask)).status)
    return statuses.filter((status) => status === 200).length
  }
  t.equal(await passed({ by: people.vera }), 3)
  t.equal(await passed(byCloud(server, 'vera')), 1)
  t.equal(await passed(byCloud(server, 'gast')), 2)
})

t.test('what a local user has sent or signed is no namesake’s', async (t) => {
  const cloud = await site(t, { cameras: [camera(1, { owner: 'olga' })] }, [namesake('olga')])
  const { gateway, server } = cloud
  const body = { name: 'S', zone_type: 'storage', warehouseId: 1 }
  const key = { 'Idempotency-Key': 'k-1' }
  t.equal(
    (await gateway.ask('POST', '/api/whms/evidence/photos', { by: people.olga, bytes: tinyPng, headers: key })).status,
    201,
  )
  const again = byCloud(server, 'olga')
  const repeat = await gateway.ask('POST', '/api/whms/evidence/photos', {
    bytes: tinyPng,
    headers: { ...again.headers, ...key },
  })
  t.equal(repeat.headers.get('idempotency-replayed'), null, 'her key is her own')
  t.equal((await gateway.ask('POST', '/api/whms/zones', { by: people.ada, body })).status, 201)
  const path = { path: '/api/iot/cctv/1/snapshot' }
  const signed = async (ask: Ask) => {
    const { body } = await gateway.ask('POST', '/api/signed-urls', { body: path, ...ask })
    return (await gateway.ask('GET', body.url)).body?.error?.code
  }
  t.equal(await signed(byCloud(server, 'olga')), 'NOT_FOUND')
})

t.test('ids of scanners from before names had an instance stay the local user’s', async (t) => {
  const server = await StorageServer.start({ users: [namesake('olga')] })
  t.teardown(() => server.stop())
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('../fixtures/db/v1/', import.meta.url), join(folder, 'state'), { recursive: true })
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 5, 1)),
    config: {
      site: { id: 'dc-7', url: siteUrl },
      storage: { instances: [{ url: server.url }] },
      auth: { ...localUsers, groupRoles },
    },
  })
  t.teardown(() => gateway.end())
  const body = { event_type: 'REMOVED', slot_code: 'A-02', asset_barcode: 'P-1', client_event_id: 'c-1' }
  const known = { status: 400, body: { error: { fields: [{ path: 'client_event_id', message: /event 3/ }] } } }
  t.match(await gateway.ask('POST', '/api/whms/events', { by: people.olga, body }), known, 'her scanner used it then')
  t.match(await gateway.ask('POST', '/api/whms/events', { body, ...byCloud(server, 'olga') }), { status: 201 })
  t.match(await gateway.ask('POST', '/api/whms/events', { body, ...byCloud(server, 'olga') }), { status: 200 })
})
