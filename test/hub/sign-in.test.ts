import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import { loadHubConfig } from '../../src/config/index.ts'
import { composeHub } from '../../src/hub/compose.ts'
import { silentLogger, systemRandom } from '../../src/platform/index.ts'
import { forkOf, headOffice } from '../support/head-office.ts'
import type { TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { StorageServer } from '../support/storage-server.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)

/** Olga looks after all sites, Nils is of the region north and supervises dc-7, Wim is in no group that counts. */
const groups = [
  { group: 'it', role: 'admin' },
  { group: 'north', role: 'viewer', regions: ['north'] },
  { group: 'hall-7', role: 'supervisor', sites: ['dc-7'] },
]

async function office(t: Test) {
  const server = await StorageServer.start({
    users: [
      { id: 'olga', groups: ['it', 'choir'], password: 'olga-login', appPasswords: ['olga-app'] },
      { id: 'nils', groups: ['north', 'hall-7'], tokens: ['nils-token'] },
      { id: 'wim', groups: ['choir'], appPasswords: ['wim-app'] },
    ],
  })
  t.teardown(() => server.stop())
  const hub = await headOffice(t, postgres, { groups, instances: [{ url: server.url }] })
  const headers = (username: string, authorization: string) => ({
    ...{ Authorization: authorization, 'X-Storage-Instance': server.url, 'X-Storage-Username': username },
  })
  const ask = (username: string, authorization: string, path = '/api/hub/sites', method = 'GET') =>
    hub.ask(method, path, { headers: headers(username, authorization) })
  return { server, hub, ask, headers }
}

const basic = (username: string, secret: string) => `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`

t.test('a user of the storage server sees at the head office what the groups of the server give', async (t) => {
  const { hub, ask, server } = await office(t)
  const sitesOf = async (username: string, authorization: string) =>
    (await ask(username, authorization)).body.data.map(({ siteId }: { siteId: string }) => siteId)
  t.same(await sitesOf('olga', 'Bearer olga-app'), ['dc-7', 'dc-8'])
  t.same(await sitesOf('olga', basic('olga', 'olga-login')), ['dc-7', 'dc-8'], 'the other scheme')
  t.same(await sitesOf('nils', 'Bearer nils-token'), ['dc-7', 'dc-8'], 'one by each group')
  const leafOf = async (siteId: string) => {
    const [row] = await hub.rows('SELECT log_id FROM log WHERE site_id = $1', [siteId])
    return (await ask('nils', 'Bearer nils-token', `/api/hub/logs/${row?.['log_id']}/entries/1`)).status
  }
  t.equal(await leafOf('dc-7'), 200, 'a supervisor there')
  t.equal(await leafOf('dc-8'), 404, 'a viewer there')
  t.equal((await ask('olga', 'Bearer olga-app', '/api/metrics')).status, 200)
  t.match(await ask('wim', 'Bearer wim-app'), { status: 403, body: { error: { code: 'PERMISSION_DENIED' } } })
  t.match(await ask('olga', 'Bearer no'), { status: 401, body: { error: { code: 'INVALID_CREDENTIALS' } } })
  t.match(await ask('olga', 'Bearer nils-token'), { status: 401, body: { error: { code: 'USER_MISMATCH' } } })
  const dora = { Authorization: 'Bearer dora-secret', 'X-Storage-Username': 'dora' }
  const local = (instance: string) =>
    hub.ask('GET', '/api/hub/sites', { headers: { ...dora, 'X-Storage-Instance': instance } })
  t.equal((await local('https://hub.example')).status, 200, 'accounts of the config go on')
  t.equal((await local(server.url)).status, 401, 'and are none of the storage server')
  t.match((await local('https://elsewhere.example')).body, { error: { code: 'STORAGE_INSTANCE_NOT_ALLOWED' } })
})

t.test('a group that a user leaves counts no more, and a revoked password ends the session of the page', async (t) => {
  const { server, hub } = await office(t)
  const signIn = async (body: object) => {
    const headers = { 'Content-Type': 'application/json' }
    return hub.api.request('/api/session', { method: 'POST', headers, body: JSON.stringify(body) })
  }
  t.match(await (await hub.api.request('/api/session')).json(), { storageInstances: [server.url] })
  t.equal((await signIn({ username: 'wim', secret: 'wim-app', instance: server.url })).status, 403)
  t.equal((await signIn({ username: 'olga', secret: 'olga-app' })).status, 401, 'no account of the config')
  const answer = await signIn({ username: 'olga', secret: 'olga-app', instance: server.url })
  t.equal(answer.status, 201)
  t.match(await answer.json(), { caller: { username: 'olga', instance: server.url, role: 'admin' } })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  const asked = (path: string) => hub.ask('GET', path, { headers: { cookie } })
  t.equal((await asked('/api/hub/sites')).body.data.length, 2)
  const stored = await hub.rows(
    'SELECT p::text AS p FROM page_session p UNION ALL SELECT c::text FROM storage_caller c',
  )
  t.equal(stored.length, 3, 'one session; wim is known too')
  t.notMatch(JSON.stringify(stored), new RegExp(`(olga|wim)-app|${Buffer.from('olga-app').toString('hex')}`))
  const again = await composeHub(hub.config, { clock: hub.clock, random: systemRandom, log: silentLogger() })
  t.equal((await again.api.request('/api/hub/sites', { headers: { cookie } })).status, 200, 'after a restart')
  await again.close()
  const [olga] = server.users
  if (olga) olga.groups = ['north']
  hub.clock.advance(6 * 60_000)
  t.match((await asked('/api/hub/sites')).body.data, [{ siteId: 'dc-8' }])
  if (olga) olga.groups = ['choir']
  hub.clock.advance(6 * 60_000)
  t.match((await asked('/api/session')).body, { caller: null })
  t.equal((await asked('/api/hub/sites')).status, 401)
  if (olga) Object.assign(olga, { groups: ['it'], appPasswords: [] })
  hub.clock.advance(6 * 60_000)
  t.equal((await asked('/api/hub/sites')).status, 401)
})

t.test(
  'while the storage server is away its users go on, an admin as a supervisor, through a restart too',
  async (t) => {
    const { server, hub, ask, headers } = await office(t)
    t.equal(await forkOf(hub), 422)
    t.equal((await ask('olga', 'Bearer olga-app')).status, 200)
    const [alert] = await hub.rows('SELECT log_id, alert_id FROM alert')
    const close = () =>
      ask('olga', 'Bearer olga-app', `/api/hub/alerts/${alert?.['log_id']}/${alert?.['alert_id']}/close`, 'POST')
    await server.stop()
    hub.clock.advance(6 * 60_000)
    t.equal((await ask('olga', 'Bearer olga-app')).body.data.length, 2)
    t.equal((await close()).status, 403, 'what only an admin may do waits')
    t.match(await ask('nils', 'Bearer nils-token'), {
      status: 503,
      body: { error: { code: 'AUTH_BACKEND_UNREACHABLE' } },
    })
    const again = await composeHub(hub.config, { clock: hub.clock, random: systemRandom, log: silentLogger() })
    const answer = await again.api.request('/api/hub/sites', { headers: headers('olga', 'Bearer olga-app') })
    t.equal(answer.status, 200, 'known to the next process')
    await again.close()
    hub.clock.advance(12 * 3_600_000)
    t.equal((await ask('olga', 'Bearer olga-app')).status, 503, 'no longer than auth.staleFor')
  },
)

t.test('passwords that a stranger tries count against the lock-out of the server after a restart too', async (t) => {
  const { server, hub } = await office(t)
  const tried = (app: Pick<TestHub, 'api'>, n: number) =>
    app.api.request('/api/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username: 'olga', secret: `guess-${n}`, instance: server.url }),
    })
  const guess = async (app: Pick<TestHub, 'api'>, from: number) => {
    const statuses: number[] = []
    for (let n = from; n < from + 12; n += 1) {
      hub.clock.advance(61_000)
      statuses.push((await tried(app, n)).status)
    }
    return statuses
  }
  t.ok((await guess(hub, 0)).includes(429), 'before the server locks everybody out')
  const asked = server.asked('basic')
  const again = await composeHub(hub.config, { clock: hub.clock, random: systemRandom, log: silentLogger() })
  t.equal((await tried(again, 99)).status, 429)
  t.equal(server.asked('basic'), asked, 'the next process asks no more either')
  t.equal(server.isLockedOut, false)
  await again.close()
})

t.test('a group that no storage server can name is refused with the place in the config', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-hub-config-'))
  const problemsOf = (more: object) => {
    const file = join(folder, 'hub.yaml')
    const base = { site: { id: 'office', url: 'https://hub.example' }, hub: { database: { url: 'postgres://a@h/b' } } }
    writeFileSync(file, stringify({ ...base, listen: [{ port: 0 }], dataDir: folder, ...more }))
    try {
      loadHubConfig(file)
      return ''
    } catch (error) {
      return String(error)
    }
  }
  const instances = [{ url: 'https://cloud.example' }]
  const auth = (group: object) => ({ auth: { groups: [group] } })
  t.equal(problemsOf({ ...auth({ group: 'it', role: 'admin' }), storage: { instances } }), '')
  t.match(problemsOf(auth({ group: 'it' })), /hub.yaml:\d+:\d+.*auth.groups\[0\].group.*storage.instances is empty/)
  t.match(
    problemsOf({ ...auth({ group: 'it@https://other.example' }), storage: { instances } }),
    /other.example is neither/,
  )
  t.match(
    problemsOf({ ...auth({ group: 'it', regions: ['south'] }), storage: { instances } }),
    /hub.regions has no south/,
  )
  t.match(problemsOf({ storage: { instances: [{ url: 'https://hub.example' }] } }), /is site.url/)
  t.match(problemsOf({ auth: { users: 5, groups: { a: [] } } }), /auth.users/)
})
