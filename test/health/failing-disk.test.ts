import t, { type Test } from 'tap'
import { ada, withConfig } from '../app/daemon-folder.ts'
import { diskShim, withShim } from '../support/disk/shim.ts'
import { tinyPng } from '../support/gateway.ts'
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
  return { disk, daemon, ask, health, warehouse }
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

const alerts = async (ask: Awaited<ReturnType<typeof onFailingDisk>>['ask'], kind: string) =>
  eventually(
    async () => (await ask('GET', '/api/alerts')).data,
    (all: Json[]) => all.some((alert) => alert.kind === kind),
  )

t.test('slow commits are a trouble until a fast one', withShim, async (t) => {
  const { disk, ask, health, warehouse } = await onFailingDisk(t)
  t.equal((await warehouse('A')).code, 201)
  disk.fault({ on: ['sync'], part: 'gatehouse.db', delayMs: 1100 })
  for (const name of ['B', 'C', 'D', 'E']) t.equal((await warehouse(name)).code, 201)
  t.match(await health(), { code: 200, status: 'degraded', checks: { disk: { status: 'degraded', reason: /slow/ } } })
  await alerts(ask, 'disk.slow')
  disk.fault()
  t.equal((await warehouse('F')).code, 201)
  t.match(await health(), { code: 200, status: 'healthy' })
})

t.test('photos that cannot be stored are a trouble, which ends without another photo', withShim, async (t) => {
  const { disk, ask, health, daemon } = await onFailingDisk(t)
  const photos = `${daemon.url}/api/whms/evidence/photos`
  const photo = () => fetch(photos, { method: 'POST', headers: { ...ada, 'Content-Type': 'image/png' }, body: tinyPng })
  disk.fault({ on: ['create'], part: 'state/photos', errno: 'EACCES' })
  t.equal((await photo()).status, 503)
  const degraded = { code: 200, status: 'degraded', checks: { disk: { status: 'degraded', reason: /Photos/ } } }
  t.match(await health(), degraded)
  t.match(await alerts(ask, 'photos.failing'), [{ message: /EACCES/ }])
  disk.fault()
  t.match(await eventually(health, ({ status }) => status === 'healthy'), { code: 200 })
  await alerts(ask, 'photos.recovered')
})

t.test('a log that cannot be signed because of keys/ is a trouble after the second failure', withShim, async (t) => {
  const { disk, ask, health, warehouse } = await onFailingDisk(t)
  const post = (path: string, body: object) => ask('POST', `/api/whms/${path}`, body)
  await warehouse('Hall')
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  await post('slots', { slot_id: 'A', zone: 'S', floor_plan_polygon })
  disk.fault({ on: ['create'], part: 'state/keys', errno: 'EACCES' })
  const event = await post('events', { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' })
  const proof = () => ask('GET', `/api/whms/events/${event.id}/proof`)
  // For a second after a checkpoint the answer is NOT_READY.
  await eventually(proof, ({ error }) => error?.code === 'STORAGE_FULL')
  t.match(await proof(), { code: 503, error: { code: 'STORAGE_FULL' } })
  const degraded = { status: 'degraded', checks: { database: { status: 'degraded', reason: /cannot be signed/ } } }
  t.match(await eventually(health, ({ status }) => status !== 'healthy'), degraded)
  t.match(await alerts(ask, 'log.unsigned'), [{ message: /folder keys\// }])
  disk.fault()
  t.equal((await proof()).code, 200)
  t.match(await health(), { status: 'healthy' })
})
