import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { run } from '../../src/cli/run.ts'
import { databaseFile } from '../../src/database/index.ts'
import { parseVkey } from '../support/evidence/note.ts'
import { mirrorLog } from '../support/evidence/tiles.ts'
import { cheapHash, type Person, people, signedIn, type TestGateway } from '../support/gateway.ts'
import { gatehouse, runToEnd, startDaemon } from '../support/process.ts'
import { filesBelow } from '../support/segments.ts'
import { onSmallDisk, smallDisk } from '../support/small-disk.ts'
import { clipBytes, place, signedLedger } from '../support/tamper.ts'

t.setTimeout(300_000)

function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-everything-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
// biome-ignore lint/suspicious/noExplicitAny: rows of any table.
const linesOf = (file: string): any[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** A box with some of everything, closed. */
async function richBox(t: Test): Promise<TestGateway & { readonly dataDir: string }> {
  const gateway = await signedLedger(t)
  const by = people.ada
  const made = async (path: string, body: object, who: Person = by) => {
    const { status, text, body: answer } = await gateway.ask('POST', path, { by: who, body })
    if (status >= 300) throw new Error(`${path} was answered ${status}: ${text}`)
    return answer
  }
  const box = { floor_plan_polygon: [-1.5, 0, 2].map((x, y) => ({ x, y })) }
  await made('/api/whms/slots', {
    ...{ slot_id: 'C, "odd"', zone: 'S', zone_type: 'hazmat', ...box },
    constraints: { max_weight: 500, max_height: 210.5, allowed_types: ['pallet', 'box'] },
  })
  await made('/api/whms/assets', {
    ...{ asset_id: 'P-6', type: 'pallet', weight_kg: 412.5, dimensions: { length: 120, width: 80, height: 144 } },
    ...{ lot: '=1+1', bestBefore: '2027-01-31' },
  })
  await made('/api/webhooks', {
    url: 'https://erp.example/hook',
    events: ['whms.placement'],
    secret: 'a-secret-of-the-webhook-0123456789',
  })
  await made('/api/governance/incidents', {
    ...{ title: 'A torn wrap', description: 'seen at the dock', severity: 'low', category: 'damage', warehouseId: 1 },
    evidence: [],
  })
  const event = { event_type: 'REMOVED', slot_code: 'B', asset_barcode: 'P-6' }
  await made('/api/whms/events', event, people.olga)
  await place(gateway, 7, { slot_code: 'C, "odd"', asset_barcode: 'P-7', scale_weight_kg: 99.5, work_order_ref: '007' })
  gateway.close()
  return gateway
}

async function exported(t: Test, gateway: TestGateway) {
  const out = join(newFolder(t), 'all')
  const config = join(gateway.folder, 'gatehouse.yaml')
  t.equal(await run(['export', '--everything', out, '--config', config]), 0)
  return { out, manifest: JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) }
}

t.test('the manifest names each file with its rows, bytes and hash, and each table of the box', async (t) => {
  const gateway = await richBox(t)
  const { out, manifest } = await exported(t, gateway)
  t.match(manifest, {
    format: 'gatehouse-export/1',
    site: { id: 'test-site' },
    madeAt: /^20\d\d-.*Z$/,
    version: String,
  })
  t.same(
    manifest.files.map(({ name }: { name: string }) => name).toSorted(),
    filesBelow(out)
      .map((file) => file.slice(out.length + 1))
      .filter((name) => name !== 'manifest.json')
      .toSorted(),
  )
  for (const { name, bytes, sha256: hash, rows } of manifest.files) {
    const content = readFileSync(join(out, name))
    t.same([content.length, sha256(content)], [bytes, hash], name)
    if (name.endsWith('.jsonl')) t.equal(linesOf(join(out, name)).length, rows, name)
  }
  const db = new BetterSqlite3(databaseFile(gateway.dataDir), { readonly: true })
  t.teardown(() => db.close())
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all() as string[]
  const readme = readFileSync(join(out, 'README.txt'), 'utf8')
  const leftOut: Record<string, string> = manifest.leftOut
  for (const name of tables) {
    const file = join(out, 'tables', `${name}.jsonl`)
    t.not(existsSync(file), Object.hasOwn(leftOut, name), `${name} is exported, or has a reason`)
    if (!existsSync(file)) continue
    const count = db.prepare(`SELECT count(*) FROM "${name}"`).pluck().get()
    t.equal(linesOf(file).length, count, `all rows of ${name}`)
    t.match(readme, `tables/${name}.jsonl`)
  }
  t.match(readme, /\n {4}weight_kg\b/)
  t.match(readme, /\n {4}slot_id +the label on the rack\n/)
})

t.test('names, texts, photos and clips are in it, and no secret is', async (t) => {
  const gateway = await richBox(t)
  const { out, manifest } = await exported(t, gateway)
  const of = (table: string) => linesOf(join(out, 'tables', `${table}.jsonl`))
  t.match(of('incident_change'), [
    { title: 'A torn wrap', description: 'seen at the dock', actor: 'ada@http://127.0.0.1:8480' },
  ])
  t.match(of('placement_event')[0], { operator: 'olga@http://127.0.0.1:8480', notes: 'note 1' })
  t.match(
    of('audit_entry').find(({ action }) => action === 'incident.created'),
    { actor: 'ada@http://127.0.0.1:8480' },
  )
  t.match(of('audit_entry').at(-1), { action: 'data.exported', changes: JSON.stringify({ folder: out }) })
  t.match(of('webhook'), [{ url: 'https://erp.example/hook' }])
  t.notOk('secret' in of('webhook')[0])
  const events = linesOf(join(out, 'events', 'events.jsonl'))
  t.equal(events.length, 8)
  t.match(events[0], { event_type: 'PLACED', operator: 'olga', verification_notes: 'note 1', slot_code: 'A' })
  const named = (start: string) => manifest.files.filter(({ name }: { name: string }) => name.startsWith(start))
  t.equal(named('files/photos/').length, 1)
  t.match(named('files/clips/'), [{ sha256: sha256(clipBytes) }])
  const secrets = [
    'a-secret-of-the-webhook',
    'scrypt:',
    ...readdirSync(join(gateway.dataDir, 'keys')).flatMap((name) => {
      const bytes = readFileSync(join(gateway.dataDir, 'keys', name))
      return /head|count/.test(name) ? [] : [bytes.toString('base64'), bytes.toString('hex'), bytes.toString('latin1')]
    }),
  ]
  const all = filesBelow(out).map((file) => readFileSync(file, 'latin1'))
  for (const secret of secrets) t.notOk(all.some((text) => text.includes(secret)))
})

t.test('each event is the one that the exported log states, and a stranger can check that log', async (t) => {
  const gateway = await richBox(t)
  const { out, manifest } = await exported(t, gateway)
  const { logId, size } = manifest.logs.at(-1)
  const folder = join(out, 'log', 'logs', logId)
  const fetch = async (path: string) => (existsSync(join(folder, path)) ? readFileSync(join(folder, path)) : undefined)
  const vkeys = readFileSync(join(folder, 'keys'), 'utf8').trimEnd().split('\n')
  const mirror = await mirrorLog({ fetch, keys: vkeys.map(parseVkey) })
  t.equal(mirror.size, size)
  const events = linesOf(join(out, 'tables', 'placement_event.jsonl'))
  t.equal(events.length, 8)
  for (const row of events) {
    const leaf = mirror.leaves[row.leaf_seq - 1] ?? Buffer.alloc(0)
    t.equal(sha256(leaf), row.evidence_hash)
    t.match(JSON.parse(leaf.toString()), {
      ...{ kind: 'placement', assetBarcode: row.asset_barcode, eventType: row.event_type, slotCode: row.slot_code },
      ...{ timestamp: new Date(row.timestamp_ms).toISOString(), operator: row.operator_commitment },
      ...(row.scale_weight_kg !== null && { scaleWeightKg: row.scale_weight_kg }),
      ...(row.photo_sha256 !== null && { photoSha256: row.photo_sha256 }),
    })
  }
})

t.test('an empty box takes the lists of slots, assets and opening stock, and shows the same floor', async (t) => {
  const gateway = await richBox(t)
  const { out } = await exported(t, gateway)
  const cwd = newFolder(t)
  const users = [{ username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') }]
  writeFileSync(
    join(cwd, 'g.yaml'),
    JSON.stringify({
      site: { id: 'elsewhere', url: 'http://127.0.0.1:8480' },
      listen: [{ host: '127.0.0.1', port: 0 }],
      ...{ dataDir: 'state', runtimeDir: 'run', auth: { users } },
    }),
  )
  const readme = readFileSync(join(out, 'README.txt'), 'utf8')
  const commands = [...readme.matchAll(/^ +gatehouse ((?:warehouse|import) .*)$/gm)].map(([, line = '']) =>
    (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", '')),
  )
  t.equal(commands.length, 4, 'the warehouse, slots, assets and opening stock')
  for (const words of commands) {
    const args = words.map((word) => (word.startsWith('import/') ? join(out, word) : word))
    t.equal(await run([...args, '--config', join(cwd, 'g.yaml')]), 0, words.join(' '))
  }
  const daemon = await startDaemon(['--config', 'g.yaml'], { cwd })
  t.teardown(() => daemon.end('SIGKILL'))
  const headers = signedIn({ username: 'ada', role: 'admin' })
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
  const get = async (path: string): Promise<any> => (await fetch(`${daemon.url}/api/whms/${path}`, { headers })).json()
  t.match(await get('slots/A'), { assetBarcode: 'P-5' })
  t.match(await get('slots/B'), { isOccupied: false })
  t.match(await get(`slots/${encodeURIComponent('C, "odd"')}`), {
    ...{ assetBarcode: 'P-7', zone: 'S', zone_type: 'hazmat' },
    constraints: { max_weight: 500, max_height: 210.5, allowed_types: ['pallet', 'box'] },
    floor_plan_polygon: [-1.5, 0, 2].map((x, y) => ({ x, y })),
  })
  t.match(await get('assets/P-6'), {
    ...{ type: 'pallet', weight_kg: 412.5, dimensions: { length: 120, width: 80, height: 144 }, lot: '=1+1' },
    ...{ bestBefore: '2027-01-31', provisional: false },
  })
  const { data } = await get('events?asset_barcode=P-7')
  t.match(data, [{ event_type: 'PLACED', scale_weight_kg: 99.5, work_order_ref: '007' }])
  await daemon.end('SIGTERM')
})

t.test('beside a running gateway it is the state of one moment, and the audit trail says who took it', async (t) => {
  const cwd = newFolder(t)
  const users = [{ username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') }]
  writeFileSync(
    join(cwd, 'g.yaml'),
    JSON.stringify({
      site: { id: 'dc-7', url: 'http://127.0.0.1:8480' },
      listen: [{ host: '127.0.0.1', port: 0 }],
      ...{ dataDir: 'state', runtimeDir: 'run', auth: { users } },
    }),
  )
  const daemon = await startDaemon(['--config', 'g.yaml'], { cwd })
  t.teardown(() => daemon.end('SIGKILL'))
  const headers = { ...signedIn({ username: 'ada', role: 'admin' }), 'Content-Type': 'application/json' }
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
  const ask = async (method: string, path: string, body?: object): Promise<any> =>
    (await fetch(`${daemon.url}/api/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json()
  await ask('POST', 'whms/warehouses', { name: 'Hall', timezone: 'Europe/Berlin' })
  const exportTo = (out: string, ...more: string[]) =>
    runToEnd(gatehouse, ['export', '--everything', out, '--config', 'g.yaml', ...more], { cwd })
  const { code, stdout, stderr } = await exportTo('all', '--json')
  t.equal(code, 0, stderr)
  t.match(JSON.parse(stdout), { path: join(cwd, 'all'), files: Number, rows: Number, lacking: { length: 0 } })
  t.match(linesOf(join(cwd, 'all', 'tables', 'warehouse.jsonl')), [{ name: 'Hall' }])
  const { data } = await ask('GET', 'governance/audit?action=data.exported')
  t.match(data, [{ action: 'data.exported', changes: { folder: join(cwd, 'all') } }])

  t.match(await exportTo('all'), { code: 2, stderr: /all is not empty/ })
  mkdirSync(join(cwd, 'empty'))
  t.equal((await exportTo('empty')).code, 0, 'an empty folder is taken')
  t.match(await runToEnd(gatehouse, ['export', '--config', 'g.yaml'], { cwd }), { code: 2, stderr: /--everything/ })
  await daemon.end('SIGTERM')
  writeFileSync(join(cwd, 'new.yaml'), 'site: { id: new }\ndataDir: nothing\n')
  t.match(await runToEnd(gatehouse, ['export', '--everything', 'x', '--config', 'new.yaml'], { cwd }), {
    code: 1,
    stderr: /there is no database/,
  })
})

t.test('a missing and a changed file are named, and the rest is exported', async (t) => {
  const gateway = await richBox(t)
  rmSync(join(gateway.dataDir, 'clips', '1.mp4'))
  const [photo = ''] = filesBelow(join(gateway.dataDir, 'photos'))
  writeFileSync(photo, 'other bytes')
  const { out, manifest } = await exported(t, gateway)
  t.same(manifest.lacking, [
    {
      name: `files/photos/${photo.slice(join(gateway.dataDir, 'photos').length + 1)}`,
      why: 'it has other bytes than its row says',
    },
    { name: 'files/clips/1.mp4', why: 'it is not there' },
  ])
  t.equal(readFileSync(join(out, manifest.lacking[0].name), 'utf8'), 'other bytes')
})

t.test('a full disk is named, and nothing is left that looks like an export', onSmallDisk, async (t) => {
  const gateway = await richBox(t)
  writeFileSync(join(gateway.dataDir, 'clips', '1.mp4'), Buffer.alloc(4 << 20))
  const disk = smallDisk(2)
  t.teardown(() => disk.end())
  const out = join(disk.folder, 'all')
  const config = join(gateway.folder, 'gatehouse.yaml')
  const ended = await runToEnd(gatehouse, ['export', '--everything', out, '--config', config])
  t.match(ended, { code: 1, stderr: /all: the disk is full.*\n$/ })
  t.notOk(existsSync(out))
  t.ok(statSync(disk.folder).isDirectory())
})
