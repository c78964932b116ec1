import t from 'tap'
import { headOffice } from '../support/head-office.ts'
import type { TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)

async function cookieOf(hub: TestHub): Promise<string> {
  const body = JSON.stringify({ username: 'dora', secret: 'dora-secret' })
  const headers = { 'Content-Type': 'application/json' }
  const answer = await hub.api.request('/api/session', { method: 'POST', headers, body })
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

t.test('wrong cookies from an address take the page from no colleague behind the same address', async (t) => {
  const hub = await headOffice(t, postgres)
  const cookie = await cookieOf(hub)
  const statusOf = async (path: string, cookie: string) => (await hub.ask('GET', path, { headers: { cookie } })).status
  const [name = ''] = cookie.split('=')
  const wrong = (n: number) => `${name}=${Buffer.alloc(32, n).toString('base64url')}`
  for (let n = 0; n < 130; n += 1)
    await Promise.all([statusOf('/api/hub/sites', wrong(n)), statusOf('/api/session', wrong(n))])
  t.equal(await statusOf('/api/hub/sites', wrong(200)), 429, 'a guess is not looked for any more')
  t.equal(await statusOf('/api/session', wrong(200)), 429)
  t.equal(await statusOf('/api/hub/sites', cookie), 200)
  t.equal(await statusOf('/api/session', cookie), 200)
})

t.test('the head office answers to its own names alone', async (t) => {
  const hub = await headOffice(t, postgres, { http: { hostNames: ['office.example'] } })
  const statusAt = async (host: string, path = '/api/session') =>
    (await hub.api.request(`https://${host}${path}`)).status
  for (const host of ['hub.example', 'HUB.example:8443', '10.0.0.5', '[fd00::5]', 'localhost', 'office.example'])
    t.equal(await statusAt(host), 200, host)
  for (const path of ['/api/session', '/', '/api/hub/sites'])
    t.equal(await statusAt('rebound.example', path), 400, path)
})
