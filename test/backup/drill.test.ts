import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ada, configText, start, withConfig } from '../app/daemon-folder.ts'
import { newFolder } from '../support/backups.ts'
import { type Daemon, gatehouse, runToEnd } from '../support/process.ts'
import { segmentsIn } from '../support/segments.ts'
import { waitUntil } from '../support/waiting.ts'

type Answered = {
  readonly id: number
  readonly evidence_hash: string
  readonly asset_barcode: string
  readonly atMs: number
}

async function post(daemon: Daemon, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${daemon.url}/api/whms/${path}`, {
    method: 'POST',
    headers: ada,
    body: JSON.stringify(body),
  })
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}

const floor_plan_polygon = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: 1, y: 1 },
]
const photo_url = (n: number) => `https://photos.example/${n}.jpg`

/** Places and removes pallets until the daemon dies. */
async function load(daemon: Daemon, answered: Answered[]): Promise<void> {
  for (let n = 1; ; n++) {
    const asset = { slot_code: `S-${n % 4}`, asset_barcode: `P-${n}` }
    const { id, evidence_hash } = (await post(daemon, 'events', {
      event_type: 'PLACED',
      ...asset,
      photo_url: photo_url(n),
    })) as Answered
    answered.push({
      id,
      evidence_hash,
      asset_barcode: asset.asset_barcode,
      atMs: performance.timeOrigin + performance.now(),
    })
  }
}

t.test('the box burns under load, and a new one has everything that is older than the window', async (t) => {
  const nas = newFolder(t)
  const segments = `backup: { segments: { to: { folder: ${nas} }, every: 500ms } }\nrateLimit: { requestsPerMinute: 1000000 }\n`
  const { cwd, file } = withConfig(t, segments)
  const daemon = await start(t, cwd, file)
  await post(daemon, 'warehouses', { name: 'Hall', timezone: 'UTC' })
  for (const n of [0, 1, 2, 3]) await post(daemon, 'slots', { slot_id: `S-${n}`, zone: 'S', floor_plan_polygon })
  const answered: Answered[] = []
  const loading = load(daemon, answered).catch(() => undefined)
  const key = await runToEnd(gatehouse, ['backup', 'key', '--config', file], { cwd })
  await waitUntil('three segments after the load began', () => segmentsIn(nas).length >= 4, { withinMs: 60_000 })
  await daemon.end('SIGKILL')
  await loading
  rmSync(cwd, { recursive: true })

  const box = newFolder(t)
  const config = join(box, 'gatehouse.yaml')
  writeFileSync(config, `${configText()}rateLimit: { requestsPerMinute: 1000000 }\n`)
  writeFileSync(join(box, 'recovery'), key.stdout)
  const args = ['restore', '--from-segments', nas, '--recovery-key', join(box, 'recovery'), '--config', config]
  const restored = await runToEnd(gatehouse, [...args, '--json'], { cwd: box })
  t.equal(restored.code, 0, restored.stderr)
  const { madeAt, events, lost } = JSON.parse(restored.stdout)
  const older = answered.filter(({ atMs }) => atMs < Date.parse(madeAt))
  t.ok(older.length > 0 && events >= older.length, `${older.length} of ${answered.length} are older than ${madeAt}`)
  t.type(lost.from, 'string')

  const again = await start(t, box, config)
  const ask = async (path: string) =>
    (await (await fetch(`${again.url}${path}`, { headers: ada })).json()) as { data?: unknown }
  for (const { id, evidence_hash, asset_barcode } of older.filter((_, i) => i % 9 === 0 || i > older.length - 5)) {
    t.match(await ask(`/api/whms/events/${id}`), { id, evidence_hash, asset_barcode })
  }
  const slots = (await ask('/api/whms/slots')).data as { slot_id: string; assetBarcode: string }[]
  for (const { slot_id, assetBarcode } of slots) {
    const there = answered
      .slice(0, events)
      .filter(({ asset_barcode }) => `S-${Number(asset_barcode.slice(2)) % 4}` === slot_id)
    t.equal(assetBarcode, there.at(-1)?.asset_barcode, slot_id)
  }
  await again.end('SIGTERM')
  t.match(await runToEnd(gatehouse, ['ledger', 'verify', '--config', config], { cwd: box }), { code: 0 })
})
