import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { cheapHash } from '../support/gateway.ts'
import { startDaemon } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { eventually } from '../support/waiting.ts'

t.setTimeout(240_000)

const headers = {
  Authorization: 'Bearer ada-secret',
  'X-Storage-Instance': 'http://127.0.0.1:8480',
  'X-Storage-Username': 'ada',
}

t.test('kill -9 in the middle of an attempt: the message is sent again, under the same id', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-alerts-kill-'))
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
  const receiver = await startReceiver({ secret: '', behave: () => 'hang' })
  t.teardown(() => receiver.stop())
  writeFileSync(join(cwd, 'ca.pem'), receiver.caPem)
  const file = join(cwd, 'gatehouse.yaml')
  const config = `site: { id: kill-test, url: "http://127.0.0.1:8480" }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [{ username: ada, role: admin, secretHash: "${cheapHash('ada-secret')}" }] }
alerts:
  channels: [{ name: ops, kinds: [config.refused], http: { url: "${receiver.url}", caFile: ca.pem, body: "{{id}} {{text}}" } }]
`
  writeFileSync(file, config)
  const start = async () => {
    const daemon = await startDaemon(['--config', file], { cwd })
    t.teardown(() =>
      daemon.child.exitCode === null && daemon.child.signalCode === null ? daemon.end('SIGKILL') : undefined,
    )
    const get = async (path: string) => {
      // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
      const answer: any = await (await fetch(`${daemon.url}${path}`, { headers })).json()
      return answer.data
    }
    return { daemon, get }
  }
  const first = await start()
  // The channel begins with its first look.
  await eventually(
    () => first.get('/api/alert-channels'),
    (all) => all[0]?.name === 'ops',
  )
  await eventually(
    async () => {
      writeFileSync(file, `${config}nonsense: 1\n`)
      first.daemon.child.kill('SIGHUP')
      return first.get('/api/alerts')
    },
    (all) => all[0]?.kind === 'config.refused',
  )
  await receiver.waitFor(() => true, 60_000)
  await first.daemon.end('SIGKILL')
  writeFileSync(file, config)
  receiver.behave(() => ({ status: 200 }))
  const second = await start()
  const sent = await eventually(
    () => second.get('/api/alert-messages'),
    (all) => all.at(-1)?.status === 'sent',
  )
  t.match(sent.at(-1), { about: 'raised', attempts: 1 })
  const [before, after] = receiver.received.map(({ body }) => body.toString('utf8'))
  t.match(before, /config/)
  t.equal(after?.split(' ')[0], before?.split(' ')[0])
  t.equal(await second.daemon.end('SIGTERM'), 0)
})
