import t, { type Test } from 'tap'
import { alertHall } from '../support/alerting.ts'
import { people } from '../support/gateway.ts'
import { startMailServer } from '../support/mail-server.ts'

const minute = 60_000

async function site(t: Test) {
  const server = await startMailServer(t, { authOptional: true })
  const smtp = { host: '127.0.0.1', port: server.port, from: 'gatehouse@example.com', caFile: server.caFile }
  const hall = await alertHall(t, {
    alerts: { smtp, channels: [{ name: 'dock', mail: { to: ['dock@example.com'] } }] },
  })
  await hall.pass(5000)
  const links = () =>
    [...(server.mails.at(-1)?.text ?? '').matchAll(/Acknowledge: http:\/\/127\.0\.0\.1:8480(\S+)/g)].map(
      ([, path = '']) => path,
    )
  const open = async () =>
    (await hall.admin('GET', '/api/alerts?acknowledged=false')).body.data.map(({ id }: { id: number }) => id)
  return { ...hall, links, open }
}

t.test('a link asks first, acknowledges its alert alone, and works once', async (t) => {
  const { lose, pass, links, open, gateway } = await site(t)
  lose(1, 2)
  await pass(2 * minute)
  t.equal(links().length, 2)
  const [first = ''] = links()
  for (const method of ['GET', 'HEAD', 'GET']) {
    const page = await gateway.ask(method, first)
    t.match(page, { status: 200 }, 'a scanner of mail opens it')
    t.equal(page.headers.get('cache-control'), 'no-store')
  }
  const page = await gateway.ask('GET', first, { headers: { 'Accept-Language': 'de' } })
  t.match(page.text, /<form method="post" action="\/acknowledge\?signed=/)
  t.match(page.text, /Quittieren/)
  t.notMatch(page.text, /Gate 1|Camera 1/, 'it names no camera')
  t.match(page.headers.get('content-security-policy'), /default-src 'none'.*form-action 'self'/)
  t.strictSame(await open(), [2, 1])
  const form = { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }
  t.match(await gateway.ask('POST', first, form), { status: 200, text: /Acknowledged/ })
  t.strictSame(await open(), [2])
  for (const method of ['GET', 'POST']) t.match(await gateway.ask(method, first), { status: 410, text: /was used/ })
  const { body } = await gateway.ask('GET', '/api/governance/audit?action=alert.acknowledged', { by: people.ada })
  t.match(body.data, [{ entity: 'alert', entityId: '1', authMode: 'link', actor: null, changes: { channel: 'dock' } }])
})

t.test('a link ends after four hours, and a forged one opens nothing', async (t) => {
  const { lose, pass, links, open, gateway } = await site(t)
  lose(1)
  await pass(2 * minute)
  const [first = ''] = links()
  const forged = `${first.slice(0, -2)}${first.endsWith('AA') ? 'BB' : 'AA'}`
  for (const path of [forged, '/acknowledge?signed=x', '/acknowledge', '/acknowledge?signed='])
    for (const method of ['GET', 'POST']) t.equal((await gateway.ask(method, path)).status, 410, `${method} ${path}`)
  gateway.clock.advance(4 * 60 * minute)
  t.equal((await gateway.ask('POST', first)).status, 410)
  gateway.clock.setWall(gateway.clock.now() - 2 * 60 * minute)
  t.equal((await gateway.ask('POST', first)).status, 410, 'a clock that was set back brings it not back')
  t.strictSame(await open(), [1])
})

t.test('a link is no key to anything else', async (t) => {
  const { lose, pass, links, gateway } = await site(t)
  lose(1)
  await pass(2 * minute)
  const signed = links()[0]?.split('?')[1]
  for (const path of ['/api/alerts', '/api/whms/slots', '/api/alert-messages'])
    t.equal((await gateway.ask('GET', `${path}?${signed}`)).status, 401, path)
})
