import t, { type Test } from 'tap'
import { people, type TestGateway, testGateway } from '../support/gateway.ts'

type Door = { readonly method: string; readonly path: string }

t.test('no public door reads more than 8 KiB of a body from a stranger', async (t) => {
  const gateway = await open(t)
  for (const { method, path } of await publicDoors(t, gateway)) {
    if (method === 'GET') continue
    const answer = await gateway.ask(method, path, { body: { x: 'x'.repeat(8 * 1024) } })
    t.match([answer.status, answer.body.error?.code], [413, 'BODY_TOO_LARGE'], path)
  }
  const known = await gateway.ask('POST', '/api/whms/warehouses', {
    by: people.ada,
    body: { name: 'Hall', timezone: 'Europe/Berlin', note: 'x'.repeat(8 * 1024) },
  })
  t.equal(known.status, 201, 'a caller that is known sends more')
})

t.test('no public door lists more than 20 of the names that a stranger made up', async (t) => {
  const gateway = await open(t)
  const names = Array.from({ length: 600 }, (_, n) => `made-up-${n}`)
  const body = Object.fromEntries(names.map((name) => [name, 1]))
  for (const { method, path } of await publicDoors(t, gateway)) {
    const answer = await gateway.ask(method, `${path}?${names.join('&')}`, { ...(method !== 'GET' && { body }) })
    const listed = answer.text.match(/made-up-\d+/g) ?? []
    t.ok(listed.length <= 40, `${path}: at most 20 parameters and 20 fields, not ${listed.length}`)
  }
})

t.test('the work for strangers of one network is bounded, whichever public door takes their bodies', async (t) => {
  const gateway = await open(t)
  const name = 'x'.repeat(50)
  const body = Object.fromEntries(Array.from({ length: 130 }, (_, n) => [`${name}${n}`, 1]))
  const doors = (await publicDoors(t, gateway)).filter(({ method }) => method !== 'GET')
  for (const [n, { method, path }] of doors.entries()) {
    const ask = async (address: string) => {
      const init = { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
      return await gateway.api.request(path, init, { incoming: { socket: { remoteAddress: address } } })
    }
    let refused: Response | undefined
    // 5,999 requests a minute are within the rate, so it is the work that ends.
    for (let one = 0; one < 5999 && refused === undefined; one += 1) {
      const answer = await ask(`2001:db8:1:${n}::${one}`)
      if (answer.status === 429) refused = answer
    }
    t.match(await refused?.json(), { error: { code: 'RATE_LIMITED' } }, path)
    t.equal(refused?.headers.get('retry-after'), '1', 'for a second')
    t.not((await ask('2001:db8:2::1')).status, 429, 'another network is served')
    gateway.clock.advance(1000)
    t.not((await ask(`2001:db8:1:${n}::1`)).status, 429, 'and this one after a second')
  }
})

t.test('a network pays for the parsing of its bodies, whichever public door takes them', async (t) => {
  const gateway = await open(t)
  const doors = (await publicDoors(t, gateway)).filter(({ method }) => method !== 'GET')
  const { threadCpuUsage } = process
  const { parse } = JSON
  t.teardown(() => Object.assign(process, { threadCpuUsage }))
  t.teardown(() => Object.assign(JSON, { parse }))
  let cpuMs = 0
  process.threadCpuUsage = (before) => ({ user: cpuMs * 1000 - (before?.user ?? 0), system: 0 })
  JSON.parse = (text: string, ...more) => {
    if (text.includes('made-up')) cpuMs += 300
    return parse(text, ...more)
  }
  for (const [n, { method, path }] of doors.entries()) {
    const ask = async () => {
      const init = { method, body: '{"made-up":1}', headers: { 'Content-Type': 'application/json' } }
      const incoming = { socket: { remoteAddress: `2001:db8:3:${n}::1` } }
      return (await gateway.api.request(path, init, { incoming })).status
    }
    t.not(await ask(), 429, path)
    t.equal(await ask(), 429, `${path}, the next one`)
  }
})

async function open(t: Test): Promise<TestGateway> {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  return gateway
}

/** Every operation that needs no caller, as the gateway describes itself. */
async function publicDoors(t: Test, gateway: TestGateway): Promise<Door[]> {
  const { paths } = (await gateway.ask('GET', '/api/openapi', { by: people.ada })).body
  const doors = Object.entries<Record<string, { 'x-permission'?: string }>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) =>
      described['x-permission'] === 'public' ? [{ method: method.toUpperCase(), path }] : [],
    ),
  )
  t.ok(doors.length >= 7, `${doors.length} doors`)
  return doors
}
