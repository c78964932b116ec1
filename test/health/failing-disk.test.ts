import t, { type Test } from 'tap'
import { ada, withConfig } from '../app/daemon-folder.ts'
import { diskShim, withShim } from '../support/disk/shim.ts'
import { startDaemon } from '../support/process.ts'
import { eventually } from '../support/waiting.ts'

const room = 'retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Json = any

/** A daemon above a disk whose faults the test makes. */
async function onFailingDisk(t: Test) {
  const { cwd, file } = withConfig(t, room)
  const disk = diskShim(t, cwd)
  const daemon = await startDaemon(['--config', file], { cwd, env: disk.env })
  t.teardown(() => void daemon.child.kill('SIGKILL'))
  const ask = async (method: string, path: string, body?: object): Promise<Json> => {
    const answer = await fetch(`${daemon.url}${path}`, {
      ...{ method, headers: ada },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { code: answer.status, retryAfter: answer.headers.get('retry-after'), ...JSON.parse(text || '{}') }
  }
  const health = () => ask('GET', '/api/health')
  const warehouse = (name: string) => ask('POST', '/api/whms/warehouses', { name, timezone: 'UTC' })
  return { disk, daemon, health, warehouse }
}

t.test('health is answered from memory while the database cannot be read', withShim, async (t) => {
  const { disk, daemon, health, warehouse } = await onFailingDisk(t)
  t.equal((await health()).status, 'healthy')
  disk.fault({ on: ['read'], part: 'gatehouse.db', errno: 'EIO' })
  // Another program's commit would do the same: pages in memory are out of date.
  await warehouse('Hall')
  const failing = { code: 503, retryAfter: '5', status: 'unhealthy', checks: { database: { status: 'unhealthy' } } }
  const answer = await eventually(health, ({ code }) => code !== 200)
  t.match(answer, failing)
  t.match(answer.checks, { clock: { steps: 0 }, webhooks: { reason: /cannot be checked/ }, box: {} }, 'all parts')
  const unknown = await fetch(`${daemon.url}/api/health`)
  t.match({ code: unknown.status, ...((await unknown.json()) as object) }, { code: 503, status: 'unhealthy' })
  disk.fault()
  t.match(await eventually(health, ({ code }) => code === 200), { status: 'healthy' })
})
