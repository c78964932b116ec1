import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import { cheapHash } from '../support/gateway.ts'
import { startDaemon } from '../support/process.ts'
import { eventually } from '../support/waiting.ts'

const url = 'http://127.0.0.1:8480'
const account = (username: string, role: string, secret = `${username}-secret`) => ({
  username,
  role,
  secretHash: cheapHash(secret),
})

const ada = account('ada', 'admin')

/** A folder with a config that can be written anew, and the trail of the daemon that runs on it. */
function folderWithConfig(t: Test) {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-accounts-'))
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
  const file = join(cwd, 'gatehouse.yaml')
  const configure = (users: unknown[], more: object = {}, defaultRole = 'viewer') =>
    writeFileSync(
      file,
      stringify({
        site: { id: 'test-site', url },
        listen: [{ host: '127.0.0.1', port: 0 }],
        dataDir: 'state',
        runtimeDir: 'run',
        auth: { users, defaultRole },
        ...more,
      }),
    )
  const start = async () => {
    const daemon = await startDaemon(['--config', file], { cwd })
    t.teardown(() => (daemon.child.exitCode === null ? daemon.end('SIGKILL') : undefined))
    return daemon
  }
  return { configure, start }
}

async function entries(daemon: { url: string }, after: number) {
  const answer = await fetch(`${daemon.url}/api/governance/audit?after_seq=${after}`, {
    headers: { Authorization: 'Bearer ada-secret', 'X-Storage-Instance': url, 'X-Storage-Username': 'ada' },
  })
  const { data } = (await answer.json()) as { data: Record<string, unknown>[] }
  return data.filter(({ action }) => action !== 'caller.verified')
}

t.test('who has an account when the gateway starts for the first time is told in the trail', async (t) => {
  const { configure, start } = folderWithConfig(t)
  configure([ada, account('olga', 'operator'), account('sven', 'supervisor')])
  t.match(await entries(await start(), 0), [
    { action: 'caller.account_added', operator: 'ada', actor: null, changes: { role: 'admin' }, authMode: 'start' },
    { action: 'caller.account_added', operator: 'olga', changes: { role: 'operator' } },
    { action: 'caller.account_added', operator: 'sven', changes: { role: 'supervisor' } },
  ])
})

t.test('who goes by a reload, or may do more than before, is told in the trail, with what else changed', async (t) => {
  const { configure, start } = folderWithConfig(t)
  configure([ada, account('olga', 'operator'), account('sven', 'supervisor')])
  const daemon = await start()
  t.equal((await entries(daemon, 0)).length, 3)
  configure(
    [ada, account('olga', 'admin')],
    { warehouses: [{ id: 1, viewers: ['olga'] }], rateLimit: { users: { olga: 9 } } },
    'operator',
  )
  daemon.child.kill('SIGHUP')
  await daemon.logged('config reloaded')
  // The trail is written behind the reload: a full disk must not keep it from happening.
  const noted = await eventually(
    () => entries(daemon, 3),
    (seen) => seen.length >= 4,
  )
  t.match(noted, [
    {
      action: 'config.reloaded',
      entity: 'config',
      actor: null,
      address: 'local',
      authMode: 'signal',
      requestId: String,
    },
    {
      action: 'permissions.changed',
      entity: 'config',
      authMode: 'signal',
      changes: { defaultRole: { from: 'viewer', to: 'operator' } },
    },
    {
      action: 'caller.role_changed',
      operator: 'olga',
      authMode: 'signal',
      changes: { role: { from: 'operator', to: 'admin' } },
    },
    { action: 'caller.account_removed', operator: 'sven', changes: { role: 'supervisor' } },
  ])
  const { changes } = noted[1] as { changes: { keys: string[] } }
  t.ok(changes.keys.includes('auth.defaultRole'))
  t.ok(
    changes.keys.some((key) => key.startsWith('warehouses')),
    changes.keys.join(),
  )
  for (const { changes: said } of noted)
    t.notMatch(JSON.stringify(said), /olga|sven/, 'names stand where they can be erased')
})

t.test('who has another secret after a restart is told in the trail', async (t) => {
  const { configure, start } = folderWithConfig(t)
  configure([ada, account('olga', 'admin')])
  const daemon = await start()
  t.equal((await entries(daemon, 0)).length, 2)
  t.equal(await daemon.end('SIGTERM'), 0)
  configure([ada, account('olga', 'admin', 'another-secret')])
  t.match(await entries(await start(), 2), [
    { action: 'caller.secret_changed', operator: 'olga', authMode: 'start', changes: { secret: 'changed' } },
  ])
})
