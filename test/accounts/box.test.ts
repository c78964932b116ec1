import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { headersFor } from '../support/console-browser.ts'
import { cheapHash } from '../support/gateway.ts'
import { gatehouse, runToEnd, startDaemon } from '../support/process.ts'

t.test('accounts are managed at the box, without the daemon and beside it', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-user-'))
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
  writeFileSync(
    join(cwd, 'g.yaml'),
    `site: { id: dc-7, url: "http://127.0.0.1:8480" }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }
auth: { users: [{ username: ada, role: viewer, secretHash: "${cheapHash('ada-secret')}" }] }
`,
  )
  const env = { ...process.env, SUDO_USER: 'dora', SUDO_UID: '1000' }
  const user = (...args: string[]) => runToEnd(gatehouse, ['user', ...args, '--config', 'g.yaml'], { cwd, env })

  const made = await user('add', 'nora', '--role', 'admin', '--group', 'leads', '--json')
  t.match(made, { code: 0, stderr: '' })
  const nora = JSON.parse(made.stdout)
  t.match(nora, {
    ...{ username: 'nora', role: 'admin', groups: ['leads'], source: 'database', status: 'active' },
    ...{ instance: 'http://127.0.0.1:8480', secret: /^[\w-]{32}$/ },
  })
  t.match(await user('add', 'x:y', '--role', 'admin'), { code: 2, stderr: /NAME: expected a user name/ })
  t.match(await user('reset', 'ada'), { code: 1, stdout: '', stderr: /config/ })
  t.match(await user('disable', 'nora'), { code: 1, stderr: /last admin/ })

  const daemon = await startDaemon(['--config', 'g.yaml'], { cwd })
  t.teardown(() => daemon.end('SIGTERM'))
  const statusOf = async (secret: string) =>
    (await fetch(`${daemon.url}/api/accounts`, { headers: headersFor('nora', secret) })).status
  t.equal(await statusOf(nora.secret), 200)
  const reset = await user('reset', 'nora')
  t.match(reset, { code: 0, stdout: /^secret \(shown once\): [\w-]{32}\nsign in at http:\/\/127/ })
  const secret = /: ([\w-]{32})\n/.exec(reset.stdout)?.[1] ?? ''
  t.equal(await statusOf(nora.secret), 401)
  t.equal(await statusOf(secret), 200)
  t.match(await user('list'), {
    code: 0,
    stdout: 'ada: viewer; active, in the config\nnora: admin, in leads; active, in the database\n',
  })
  t.notMatch(daemon.log(), secret)
  const audit = await fetch(`${daemon.url}/api/governance/audit?action=account.secret_reset`, {
    headers: headersFor('nora', secret),
  })
  t.match(await audit.json(), { data: [{ operator: 'nora', actor: 'dora', authMode: 'command' }] })
})
