import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { tinyPng } from '../support/gateway.ts'
import type { Daemon } from '../support/process.ts'
import { onSmallDisk } from '../support/small-disk.ts'
import { eventually } from '../support/waiting.ts'
import { ada, start, withConfig } from './daemon-folder.ts'

const room = 'retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Json = any

async function ask(daemon: Daemon, method: string, path: string, body?: object): Promise<Json> {
  const answer = await fetch(`${daemon.url}${path}`, {
    ...{ method, headers: ada },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { code: answer.status, ...((await answer.json()) as object) }
}

/** A daemon with a slot. `scan` records an event; `photo` sends a photo that no other call has sent. */
async function yard(t: Test, cwd: string, file: string) {
  const daemon = await start(t, cwd, file)
  const post = (path: string, body: object) => ask(daemon, 'POST', `/api/whms/${path}`, body)
  await post('warehouses', { name: 'Hall', timezone: 'UTC' })
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  await post('slots', { slot_id: 'A', zone: 'S', floor_plan_polygon })
  const scan = (asset_barcode: string) => post('events', { event_type: 'REMOVED', slot_code: 'A', asset_barcode })
  const photo = async (): Promise<Json> => {
    const answer = await fetch(`${daemon.url}/api/whms/evidence/photos`, {
      ...{ method: 'POST', headers: { ...ada, 'Content-Type': 'image/png' } },
      body: tinyPng,
    })
    return { code: answer.status, ...((await answer.json()) as object) }
  }
  return { daemon, scan, photo }
}

const barcodes = async (daemon: Daemon): Promise<string[]> =>
  (await ask(daemon, 'GET', '/api/whms/events?limit=500')).data
    .map(({ asset_barcode }: { asset_barcode: string }) => asset_barcode)
    .toSorted()

const refused = { code: 503, error: { code: 'STORAGE_FULL' } }
const unhealthy = {
  code: 503,
  status: 'unhealthy',
  checks: { disk: { status: 'unhealthy', reason: /data folder.*not in its place/ } },
}

t.test('a data folder that is moved away takes no writes, and goes on when it is back', async (t) => {
  const { cwd, file } = withConfig(t, room)
  const { daemon, scan, photo } = await yard(t, cwd, file)
  const [state, away] = [join(cwd, 'state'), join(cwd, 'away')]
  t.equal((await scan('P-1')).code, 201)
  renameSync(state, away)
  t.match(await ask(daemon, 'GET', '/api/health'), unhealthy, 'before any write has failed')
  t.match(await scan('P-2'), refused)
  t.match(await photo(), refused)
  const alerts = await eventually(
    () => ask(daemon, 'GET', '/api/alerts'),
    ({ data }) => data.length > 0,
  )
  t.match(alerts.data, [{ kind: 'disk.gone', message: /state .*Put it back/ }])
  t.equal(existsSync(state), false, 'nothing has made the folder again')
  renameSync(away, state)
  t.equal((await scan('P-3')).code, 201)
  t.equal((await photo()).code, 201)
  t.equal((await ask(daemon, 'GET', '/api/health')).status, 'healthy')
  await daemon.end('SIGTERM')
  const again = await start(t, cwd, file)
  const found = await barcodes(again)
  for (const barcode of ['P-1', 'P-3']) t.ok(found.includes(barcode), barcode)
})

t.test('without its write-ahead log the database takes no writes, and a stop keeps what was said', async (t) => {
  const { cwd, file } = withConfig(t, room)
  const { daemon, scan } = await yard(t, cwd, file)
  t.equal((await scan('P-1')).code, 201)
  rmSync(join(cwd, 'state/gatehouse.db-wal'))
  t.match(await scan('P-2'), refused)
  t.match(await ask(daemon, 'GET', '/api/health'), unhealthy)
  t.equal(await daemon.end('SIGTERM'), 0)
  const again = await start(t, cwd, file)
  t.ok((await barcodes(again)).includes('P-1'))
})

t.test('a disk that is unmounted gets no photo below its mount point', onSmallDisk, async (t) => {
  const { cwd, file } = withConfig(t, room)
  const state = join(cwd, 'state')
  mkdirSync(state)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', state])
  let mounted = true
  t.teardown(() => mounted && execFileSync('umount', ['--lazy', state]))
  const { daemon, scan, photo } = await yard(t, cwd, file)
  t.equal((await scan('P-1')).code, 201)
  execFileSync('umount', ['--lazy', state])
  mounted = false
  t.match(await photo(), refused)
  t.match(await scan('P-2'), refused)
  t.match(await ask(daemon, 'GET', '/api/health'), unhealthy)
  await eventually(
    () => ask(daemon, 'GET', '/api/alerts'),
    ({ data }) => data.length > 0,
  )
  await daemon.end('SIGTERM')
  t.strictSame(readdirSync(state), [], 'the mount point is empty after the stop, too')
})
