import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { byCloud, cloudUsers } from '../support/cloud.ts'
import { startDaemon } from '../support/process.ts'
import { StorageServer } from '../support/storage-server.ts'

t.test('a daemon asks the company’s server over its own TLS, and lives through both going down', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-cloud-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const server = await StorageServer.start({ users: cloudUsers(), tls: true })
  writeFileSync(join(folder, 'ca.pem'), server.caPem)
  const config = join(folder, 'gatehouse.yaml')
  writeFileSync(
    config,
    stringify({
      site: { id: 'dc-7' },
      listen: [{ host: '127.0.0.1', port: 0 }],
      dataDir: 'state',
      runtimeDir: 'run',
      storage: { instances: [{ url: server.url, caFile: 'ca.pem' }] },
      auth: { groupRoles: { 'wh-operators': 'operator' } },
    }),
  )
  const statusOf = async (url: string, authorization?: string) =>
    (await fetch(`${url}/api/whms/zones`, byCloud(server, 'otto', authorization))).status
  const first = await startDaemon(['--config', config], { cwd: folder })
  t.equal(await statusOf(first.url), 200)
  t.equal(await statusOf(first.url, 'Bearer guess'), 401)
  t.notMatch(first.log(), 'otto-app-password')
  t.equal(await first.end('SIGTERM'), 0)
  await server.stop()
  const second = await startDaemon(['--config', config], { cwd: folder })
  t.equal(await statusOf(second.url), 200, 'known from before')
  for (let n = 0; n < 40; n += 1) t.equal(await statusOf(second.url, `Bearer guess-${n}`), 503)
  await second.logged('the storage server does not answer')
  t.notMatch(second.log(), 'otto-app-password')
  const lines = second
    .log()
    .split('\n')
    .filter((line) => line.includes('AUTH_BACKEND_UNREACHABLE'))
  t.equal(lines.length, 1, 'forty strangers are one line')
  t.match(lines[0], /"level":"?(warn|40)/, 'and no error')
  t.equal(await second.end('SIGTERM'), 0)
})
