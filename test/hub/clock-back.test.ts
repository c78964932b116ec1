import t from 'tap'
import { composeHub } from '../../src/hub/compose.ts'
import { silentLogger, systemRandom } from '../../src/platform/index.ts'
import { headOffice } from '../support/head-office.ts'
import type { TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)

/** Returns the cookie. */
async function signInAs({ api }: Pick<TestHub, 'api'>, username: string): Promise<string> {
  const body = JSON.stringify({ username, secret: `${username}-secret` })
  const headers = { 'Content-Type': 'application/json' }
  const answer = await api.request('/api/session', { method: 'POST', headers, body })
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

const hour = 3_600_000

t.test('a session that has ended stays ended when the clock goes back, through a restart too', async (t) => {
  const hub = await headOffice(t, postgres)
  const restarted = async () => {
    const again = await composeHub(hub.config, { clock: hub.clock, random: systemRandom, log: silentLogger() })
    t.teardown(() => again.close())
    return again
  }
  const status = async ({ api }: Pick<TestHub, 'api'>, cookie: string) =>
    (await api.request('/api/hub/sites', { headers: { cookie } })).status
  const beganMs = hub.clock.now()
  const first = await signInAs(hub, 'dora')
  t.equal(await status(hub, first), 200)
  hub.clock.advance(12 * hour)
  hub.clock.setWall(beganMs + hour)
  t.equal(await status(hub, first), 401)
  t.equal(await status(await restarted(), first), 401, 'it was presented after its end')
  const second = await signInAs(hub, 'lars')
  const again = await restarted()
  t.equal(await status(again, second), 200)
  hub.clock.advance(12 * hour)
  t.equal(await status(again, second), 401, 'the clock of the restart goes on from the newest use')
})
