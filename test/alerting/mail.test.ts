import { mkdtempSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createLogger } from '../../src/platform/index.ts'
import { alertHall, camera, hallOf } from '../support/alerting.ts'
import { testGateway } from '../support/gateway.ts'
import { startMailServer } from '../support/mail-server.ts'

const minute = 60_000
const to = 'dock@example.com'

async function site(t: Test, channel: object = {}, smtp: object = {}, config: object = {}) {
  const server = await startMailServer(t)
  const lines: string[] = []
  const hall = await alertHall(
    t,
    {
      alerts: {
        smtp: {
          ...{ host: '127.0.0.1', port: server.port, from: 'gatehouse@example.com', caFile: server.caFile },
          ...{ username: 'gatehouse', passwordFile: server.passwordFile },
          ...smtp,
        },
        channels: [{ name: 'dock', mail: { to: [to] }, warehouses: [1], ...channel }],
      },
      ...config,
    },
    { log: createLogger({ write: (line) => lines.push(line) }) },
  )
  await hall.pass(5000)
  return { ...hall, server, lines }
}

t.test('a lost camera is reported by e-mail over TLS, with sign-in, and so is its return', async (t) => {
  const { lose, restore, pass, server, admin, lines } = await site(t)
  lose(1)
  await pass(2 * minute)
  t.equal(server.mails.length, 1)
  const [mail] = server.mails
  t.match(mail, { to: [to], isSecure: true, user: 'gatehouse' })
  t.match(mail?.text, /^Subject: test-site: Camera 1 \(Gate 1\)/m)
  t.match(mail?.text, /^From: gatehouse@example\.com$/m)
  t.match(mail?.text, /^Auto-Submitted: auto-generated$/m)
  t.match(mail?.text, /warning · Camera 1 \(Gate 1\)/)
  t.match(mail?.text, /Acknowledge: http:\/\/127\.0\.0\.1:8480\/acknowledge\?signed=/)
  restore(1)
  await pass(2 * minute)
  t.equal(server.mails.length, 2)
  t.match(server.mails[1]?.text, /^Subject: test-site: over: Camera 1/m)
  t.notMatch(server.mails[1]?.text, /acknowledge\?/)
  const { body } = await admin('GET', '/api/alert-messages')
  t.match(body.data, [
    { channel: 'dock', recipient: to, about: 'resolved', status: 'sent', attempts: 1, kinds: ['camera.offline'] },
    { about: 'raised', status: 'sent', alertIds: [1] },
  ])
  const secrets = /signed=|a password of the mail server/
  t.notMatch(JSON.stringify(body), secrets)
  t.notMatch(lines.join('\n'), secrets)
})

t.test('a hundred cameras that are lost at once are one message', async (t) => {
  const ids = Array.from({ length: 100 }, (_, at) => at + 1)
  const { lose, pass, server } = await site(t, {}, {}, { cameras: ids.map((id) => camera(id)) })
  lose(...ids.slice(0, 50))
  await pass(5000)
  lose(...ids.slice(50))
  await pass(3 * minute)
  t.equal(server.mails.length, 1)
  t.match(server.mails[0]?.text, /^Subject: test-site: 100 alerts$/m)
  t.match(server.mails[0]?.text, /… and 80 more/)
})

t.test('a mail server without TLS gets no mail and no password', async (t) => {
  const plain = await startMailServer(t, { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] })
  const { lose, pass, admin } = await site(t, {}, { port: plain.port })
  lose(1)
  await pass(2 * minute)
  t.equal(plain.mails.length, 0)
  const { body } = await admin('GET', '/api/alert-messages')
  t.match(body.data, [{ status: 'pending', attempts: Number, lastError: /STARTTLS/ }])
})

t.test('a mail server that greets and hangs is given up after 30 s, and others get theirs', async (t) => {
  const hanging = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('220 wait a moment\r\n')
  })
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve))
  t.teardown(() => hanging.close())
  const { port } = hanging.address() as AddressInfo
  const { lose, begin, gateway, admin } = await site(
    t,
    {},
    { port, security: 'none', username: null, passwordFile: null },
  )
  lose(1)
  const connected = new Promise<void>((resolve) => hanging.once('connection', () => resolve()))
  await begin(80_000)
  await connected
  gateway.clock.advance(30_000)
  await gateway.alerting.worker.settled()
  const { body } = await admin('GET', '/api/alert-messages')
  t.match(body.data, [{ status: 'pending', attempts: 1, lastError: /did not finish within 30 s/ }])
})

t.test('a refused recipient is given up at once, a busy server is tried again, and health reports both', async (t) => {
  const { lose, pass, server, admin, gateway } = await site(t, { mail: { to: [to, 'gone@example.com'] } })
  let isBusy = true
  server.refuse((address) => {
    if (address.startsWith('gone')) return { code: 550, message: 'no such mailbox' }
    return isBusy ? { code: 451, message: 'later' } : undefined
  })
  lose(1)
  await pass(2 * minute)
  const messages = async () => (await admin('GET', '/api/alert-messages')).body.data
  const find = async (recipient: string) =>
    (await messages()).find((one: { recipient: string }) => one.recipient === recipient)
  t.match(await find('gone@example.com'), { status: 'failed', attempts: 1, lastError: /no such mailbox/ })
  t.match(await find(to), { status: 'pending' })
  const health = await gateway.ask('GET', '/api/health')
  t.match(health.body.status, 'degraded')
  const { body } = await admin('GET', '/api/alerts?acknowledged=false')
  t.match(body.data[0], { kind: 'alerts.unsent', message: /channel dock do not arrive.*no such mailbox/ })
  isBusy = false
  await pass(5 * minute)
  t.equal(server.mails.filter((mail) => mail.to.includes(to)).length, 1, 'the waiting message took the newer alert up')
  t.match(server.mails[0]?.text, /2 alerts/)
})

t.test('messages outlive a restart, and nothing is sent twice', async (t) => {
  const { lose, pass, server, gateway } = await site(t)
  server.refuse(() => ({ code: 451, message: 'later' }))
  lose(1)
  await pass(2 * minute)
  t.equal(server.mails.length, 0)
  server.refuse(() => undefined)
  const again = await gateway.restart()
  const hall = hallOf(again, [1])
  await hall.pass(20 * minute)
  t.equal(server.mails.length, 1)
  again.close()
})

t.test('a step of the clock repeats no message and holds none back', async (t) => {
  const { lose, pass, server, gateway } = await site(t)
  lose(1)
  await pass(2 * minute)
  t.equal(server.mails.length, 1)
  gateway.clock.setWall(gateway.clock.now() - 3_600_000)
  await pass(2 * minute)
  gateway.clock.setWall(gateway.clock.now() + 30 * 86_400_000)
  await pass(2 * minute)
  t.equal(server.mails.length, 1)
  gateway.clock.setWall(gateway.clock.now() - 60 * 86_400_000)
  lose(2)
  await pass(3 * minute)
  t.equal(server.mails.length, 2)
})

t.test('a channel that is new reports what comes from then on', async (t) => {
  const server = await startMailServer(t)
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-alerts-'))
  const before = await testGateway({ folder, config: { cameras: [camera(1), camera(2)] } })
  const hall = hallOf(before)
  hall.lose(1)
  await hall.pass(2 * minute)
  before.close()
  const alerts = {
    smtp: {
      ...{ host: '127.0.0.1', port: server.port, from: 'gatehouse@example.com', caFile: server.caFile },
      ...{ username: 'gatehouse', passwordFile: server.passwordFile },
    },
    channels: [{ name: 'dock', mail: { to: [to] }, warehouses: [1] }],
  }
  const cameras = [camera(1), camera(2)]
  const gateway = await testGateway({ folder, clock: before.clock, config: { cameras, alerts } })
  t.teardown(() => gateway.end())
  const again = hallOf(gateway, [1])
  await again.pass(2 * minute)
  again.lose(2)
  await again.pass(2 * minute)
  t.equal(server.mails.length, 1)
  t.match(server.mails[0]?.text, /Camera 2/)
  t.notMatch(server.mails[0]?.text, /Camera 1/)
})
