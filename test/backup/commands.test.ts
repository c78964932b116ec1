import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { identityToRecipient } from 'age-encryption'
import bwip from 'bwip-js/node'
import t, { type Test } from 'tap'
import { ada, configText, start, withConfig } from '../app/daemon-folder.ts'
import { newFolder } from '../support/backups.ts'
import type { Daemon } from '../support/process.ts'
import { gatehouse, runToEnd } from '../support/process.ts'

const post = async (daemon: Daemon, path: string, body: object) => {
  const answer = await fetch(`${daemon.url}/api/whms/${path}`, {
    method: 'POST',
    headers: ada,
    body: JSON.stringify(body),
  })
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
}
const floor_plan_polygon = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: 1, y: 1 },
]
async function furnish(daemon: Daemon): Promise<void> {
  await post(daemon, 'warehouses', { name: 'Hall', timezone: 'UTC' })
  await post(daemon, 'slots', { slot_id: 'A', zone: 'S', floor_plan_polygon })
}
const remove = (daemon: Daemon, n: number, more = {}) =>
  post(daemon, 'events', { event_type: 'REMOVED', slot_code: 'A', asset_barcode: `P-${n}`, ...more })

/** Another box of the same site. */
function newBox(t: Test): { cwd: string; file: string } {
  const cwd = newFolder(t)
  const file = join(cwd, 'gatehouse.yaml')
  writeFileSync(file, configText())
  return { cwd, file }
}

/** The first events of the log. */
async function events(daemon: Daemon): Promise<Record<string, unknown>[]> {
  const answer = await fetch(`${daemon.url}/api/whms/events?limit=500&after_seq=0`, { headers: ada })
  return ((await answer.json()) as { data: Record<string, unknown>[] }).data
}

t.test('the box dies under load after a backup, and a new box answers with all that is older', async (t) => {
  const { cwd, file } = withConfig(t, 'rateLimit: { requestsPerMinute: 100000 }\n')
  const daemon = await start(t, cwd, file)
  await furnish(daemon)
  const answered: number[] = []
  const load = (async () => {
    for (let n = 1; ; n++) {
      await remove(daemon, n)
      answered.push(n)
    }
  })().catch(() => undefined)
  const target = join(newFolder(t), 'box.tar')
  while (answered.length < 5) await new Promise((resolve) => setImmediate(resolve))
  const before = answered.length
  const made = await runToEnd(gatehouse, ['backup', target, '--config', file, '--json'], { cwd })
  t.equal(made.code, 0, made.stderr)
  t.match(JSON.parse(made.stdout), { path: target, siteId: 'daemon-test' })
  const running = await runToEnd(gatehouse, ['restore', target, '--config', file], { cwd })
  t.match(running, { code: 1, stderr: /daemon is running on this data folder; stop it first/ })
  await daemon.end('SIGKILL')
  await load
  rmSync(join(cwd, 'state'), { recursive: true })

  const box = newBox(t)
  const restored = await runToEnd(gatehouse, ['restore', target, '--config', box.file], { cwd: box.cwd })
  t.equal(restored.code, 0, restored.stderr)
  t.match(
    restored.stdout,
    /everything in it verifies\nthe newest event is of .*; lost is everything recorded after it.*its first leaf states the break/s,
  )
  const again = await start(t, box.cwd, box.file)
  const found = (await events(again)).map(({ asset_barcode }) => asset_barcode)
  t.ok(found.length >= before)
  for (const n of answered.slice(0, Math.min(before, 400))) t.ok(found.includes(`P-${n}`), `P-${n}`)
  await remove(again, 1_000_000)
  await again.end('SIGTERM')
  const verified = await runToEnd(gatehouse, ['ledger', 'verify', '--config', box.file], { cwd: box.cwd })
  t.match(verified, { code: 0, stdout: /everything matches/ })
})

t.test('a person who was erased after the backup does not come back with it', async (t) => {
  const { cwd, file } = withConfig(t)
  const daemon = await start(t, cwd, file)
  await furnish(daemon)
  await remove(daemon, 1, { operator: 'Dana Dock', notes: 'Dana Dock took it' })
  await remove(daemon, 2, { operator: 'Sam Shelf' })
  await daemon.end('SIGTERM')
  const target = join(newFolder(t), 'before.tar')
  const run = (...args: string[]) => runToEnd(gatehouse, [...args, '--config', file], { cwd })
  t.match(await run('backup', target), { code: 0, stdout: /holds the keys of this box.*keep it as safe as the box/s })
  t.match(await run('person', 'erase', 'Dana Dock'), { code: 0 })
  const restored = await run('restore', target)
  t.match(restored, { code: 0, stdout: /erased again: 1/ }, restored.stderr)
  const again = await start(t, cwd, file)
  const operators = (await events(again)).map(({ operator }) => operator)
  t.same(operators.toSorted(), ['Sam Shelf', 'erased'])
  await again.end('SIGTERM')
  const state = readFileSync(join(cwd, 'state', 'gatehouse.db'))
  t.notOk(state.includes('Dana Dock'), 'not a byte of it')
  t.match(await run('ledger', 'verify'), { code: 0 })
})

t.test('a second fork is refused while the log is whole, for it would mend nothing', async (t) => {
  const { cwd, file } = withConfig(t)
  const run = (...args: string[]) => runToEnd(gatehouse, [...args, '--config', file], { cwd })
  let daemon = await start(t, cwd, file)
  await furnish(daemon)
  await remove(daemon, 1)
  await daemon.end('SIGTERM')
  t.match(await run('restore', '--accept-fork'), { code: 0, stdout: /its first leaf states the break/ })
  daemon = await start(t, cwd, file)
  await remove(daemon, 2)
  await daemon.end('SIGTERM')
  const refused = await run('restore', '--accept-fork')
  t.match(refused, {
    code: 1,
    stderr: /goes on from log .* since 20.*all 2 leaves.*would repair nothing. Nothing was changed.*doctor.*--again/,
  })
  t.match(await run('ledger', 'verify'), { code: 0, stdout: /everything matches/ })
  t.match(await run('restore', '--accept-fork', '--again'), { code: 0, stdout: /ends at 2 leaves/ })
})

/** The dark cells that a terminal shows, without the quiet zone: two rows a line, black on white. */
function cellsOf(shown: string): boolean[][] {
  const lines = shown
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^\u001b\[30;47m(.*)\u001b\[0m$/u, '$1'))
  const rows = lines.flatMap((line) => ['█▀', '█▄'].map((dark) => [...line].map((sign) => dark.includes(sign))))
  const across = (rows[0]?.length ?? 0) - 8
  return rows.slice(4, 4 + across).map((row) => row.slice(4, 4 + across))
}

function qrCells(text: string): boolean[][] {
  const [{ pixs, pixx }] = bwip.raw({ bcid: 'qrcode', text, eclevel: 'M' } as never) as unknown as [
    { pixs: number[]; pixx: number },
  ]
  return Array.from({ length: pixx }, (_, y) => pixs.slice(y * pixx, (y + 1) * pixx).map((cell) => cell === 1))
}

t.test('the recovery key is one line, the same each time, and as a QR code it is the same text', async (t) => {
  const { cwd, file } = withConfig(t)
  const run = (...args: string[]) => runToEnd(gatehouse, [...args, '--config', file], { cwd })
  t.match(await run('backup', 'key'), { code: 1, stderr: /there is no database/ }, 'no key without a ledger')
  const daemon = await start(t, cwd, file)
  const first = await run('backup', 'key')
  await daemon.end('SIGTERM')
  t.match(first.stdout, /^AGE-SECRET-KEY-1[0-9A-Z]{58}\n$/)
  t.match(await identityToRecipient(first.stdout.trim()), /^age1[0-9a-z]{58}$/, 'age takes it as an identity')
  t.equal(statSync(join(cwd, 'state', 'keys', 'recovery.key')).mode & 0o777, 0o600)
  const withQr = await run('backup', 'key', '--qr')
  t.ok(withQr.stdout.startsWith(first.stdout))
  t.same(cellsOf(withQr.stdout.slice(first.stdout.length)), qrCells(first.stdout.trim()))
})

t.test('a command that cannot be done says so and changes nothing', async (t) => {
  const { cwd, file } = newBox(t)
  const run = (...args: string[]) => runToEnd(gatehouse, [...args, '--config', file], { cwd })
  t.match(await run('backup', join(cwd, 'x.tar')), { code: 1, stderr: /there is no database at .*gatehouse\.db/ })
  t.match(await run('restore'), { code: 2, stderr: /name the backup to restore/ })
  t.match(await run('restore', 'none.tar'), { code: 1, stderr: /there is no file .*none\.tar/ })
  t.match(await run('restore', 'http://127.0.0.1:9/dav'), { code: 2, stderr: /an address needs --recovery-key FILE/ })
  mkdirSync(join(cwd, 'folder'))
  t.match(await run('restore', 'folder'), { code: 1, stderr: /folder is not a file/ })
  t.notOk(existsSync(join(cwd, 'x.tar')))
  t.same(
    readdirSync(join(cwd, 'state')).filter((name) => name.startsWith('gatehouse.db')),
    [],
  )
})
