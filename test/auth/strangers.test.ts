import t from 'tap'
import { hashSecret } from '../../src/auth/index.ts'
import { systemRandom } from '../../src/platform/index.ts'
import { auditOfCallers, lookFrom } from '../support/cloud.ts'
import { people, signedIn, testGateway } from '../support/gateway.ts'

const guessOf = (name: string, guess: string) => ({
  headers: signedIn({ username: name, role: 'viewer' }, { Authorization: `Bearer ${guess}` }),
})

t.test('a flood of sign-ins does not stop the floor, nor who signs in elsewhere', async (t) => {
  const secretHash = await hashSecret('olga-secret', systemRandom)
  const users = ['olga', 'sven'].map((username) => ({ username, role: 'operator', secretHash }))
  const gateway = await testGateway({ config: { auth: { users } } })
  t.teardown(() => gateway.end())
  const olga = { headers: signedIn(people.olga) }
  t.equal(await lookFrom(gateway, '10.0.0.2', olga), 200)
  const flood = new Set<Promise<number>>()
  const answers = Array.from({ length: 40 }, (_, n) => {
    const asked = lookFrom(gateway, '10.0.0.66', guessOf('sven', `guess-${n}`))
    flood.add(asked)
    return asked.finally(() => flood.delete(asked))
  })
  t.equal(await lookFrom(gateway, '10.0.0.2', olga), 200, 'a scanner that is known')
  const known = flood.size
  const sven = { headers: signedIn(people.sven, { Authorization: 'Bearer olga-secret' }) }
  t.equal(await lookFrom(gateway, '10.0.0.3', sven), 200, 'a colleague whose secret has to be hashed')
  t.ok(known > 0 && flood.size > 0, 'while the flood still waits')
  const statuses = await Promise.all(answers)
  t.equal(statuses.filter((status) => status === 401).length, 9, 'one at a time, and eight wait')
  t.equal(statuses.filter((status) => status === 503).length, 31, 'the rest is told to come back')
})

t.test('a flooded queue says when to come back', async (t) => {
  const secretHash = await hashSecret('x', systemRandom)
  const gateway = await testGateway({ config: { auth: { users: [{ username: 'olga', role: 'viewer', secretHash }] } } })
  t.teardown(() => gateway.end())
  const ask = (n: number) => gateway.ask('GET', '/api/whms/zones', guessOf('olga', `guess-${n}`))
  const refused = (await Promise.all(Array.from({ length: 12 }, (_, n) => ask(n)))).filter((a) => a.status === 503)
  t.equal(refused.length, 3)
  for (const { headers, body } of refused) {
    t.match(headers.get('retry-after'), /^[1-9]\d*$/)
    t.equal(body.error.code, 'NOT_READY')
  }
})

t.test('refusals of strangers are one row for each place and code in ten minutes, with their count', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  for (let n = 0; n < 20; n += 1) {
    const place = `2001:db8:1:2::${n.toString(16)}`
    t.equal(await lookFrom(gateway, place, guessOf(`name-${n}`, `guess-${n}`)), 401)
    t.equal(await lookFrom(gateway, place, { headers: {} }), 401)
  }
  await lookFrom(gateway, '2001:db8:9:9::1', { headers: {} })
  const at = new Date(gateway.clock.now()).toISOString()
  t.same(await auditOfCallers(gateway), [], 'no row can be changed, so it is written when it is complete')
  const refused = (code: string, count: number, address: string) => ({
    action: 'caller.refused',
    actor: null,
    operator: null,
    address,
    changes: { code, count, first: at, last: at },
  })
  gateway.clock.advance(10 * 60_000)
  t.match(await auditOfCallers(gateway), [
    refused('INVALID_CREDENTIALS', 20, '2001:db8:1:2::13'),
    refused('AUTH_REQUIRED', 20, '2001:db8:1:2::13'),
    refused('AUTH_REQUIRED', 1, '2001:db8:9:9::1'),
  ])
})

t.test('who takes many addresses of one network is one stranger', async (t) => {
  const gateway = await testGateway({ config: { rateLimit: { requestsPerMinute: 3 } } })
  t.teardown(() => gateway.end())
  const statuses: number[] = []
  for (let n = 1; n <= 5; n += 1)
    statuses.push(await lookFrom(gateway, `2001:db8:1:2:${n}::${n}`, guessOf('ada', `guess-${n}`)))
  t.same(statuses, [401, 401, 401, 429, 429])
  t.equal(
    await lookFrom(gateway, '2001:db8:1:2:1::1', { headers: signedIn(people.ada) }),
    200,
    'the right secret passes',
  )
})
