import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { verifyLedger } from '../../src/evidence/index.ts'
import { cheapHash, siteUrl } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { gatehouse, runToEnd, startDaemon } from '../support/process.ts'

t.setTimeout(240_000)

const root = resolve(import.meta.dirname, '../..')
const secret = 'secret-of-the-first-admin'

/** A folder as one finds it after the first start of `gatehouse serve` in it, but with a free port. */
function boxOf(t: Test): { cwd: string; config: string } {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-day-'))
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
  const config = {
    site: { id: 'dc-7', url: siteUrl },
    listen: [{ host: '127.0.0.1', port: 0 }],
    dataDir: 'var',
    runtimeDir: 'var',
    auth: { users: [{ username: 'admin', role: 'admin', secretHash: cheapHash(secret) }] },
    retention: { minFreeBytes: '1B', ledgerReserveBytes: '1B' },
  }
  writeFileSync(join(cwd, 'g.yaml'), JSON.stringify(config))
  mkdirSync(join(cwd, 'var'))
  writeFileSync(join(cwd, 'var/first-admin'), `${secret}\n`)
  return { cwd, config: join(cwd, 'g.yaml') }
}

async function serve(t: Test, cwd: string) {
  const daemon = await startDaemon(['--config', 'g.yaml'], { cwd })
  t.teardown(() => (daemon.child.exitCode === null ? daemon.end('SIGKILL') : undefined))
  const headers = { Authorization: `Bearer ${secret}`, 'X-Storage-Instance': siteUrl, 'X-Storage-Username': 'admin' }
  const get = async (path: string) => JSON.parse(await (await fetch(`${daemon.url}/api/${path}`, { headers })).text())
  return { daemon, get }
}

/** The blocks of shell of the README's section, one text each. */
function snippetsOf(section: string): string[] {
  const [, text = ''] = readFileSync(join(root, 'README.md'), 'utf8').split(`## ${section}\n`)
  const [own = ''] = text.split('\n## ')
  return [...own.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? '')
}

t.test('the commands of the README for the first pallet can be pasted as they are', needs('curl'), async (t) => {
  const { cwd } = boxOf(t)
  mkdirSync(join(cwd, 'scripts'))
  writeFileSync(join(cwd, 'scripts/gatehouse'), `#!/bin/sh\nexec '${gatehouse}' "$@"\n`, { mode: 0o755 })
  // The real first start: embedded defaults, but for the port, which others may use.
  const { daemon } = await serve(t, cwd)
  const day = snippetsOf('First pallet')
  t.equal(day.length, 3, 'warehouse and slots, an event, a question')
  const answers: string[] = []
  for (const snippet of day) {
    t.notMatch(snippet, /…/)
    const script = snippet.replaceAll(`curl ${siteUrl}`, `curl -s --fail-with-body ${daemon.url}`)
    const { code, stdout, stderr } = await runToEnd('sh', ['-e', '-c', script], { cwd })
    t.equal(code, 0, `${script}\n${stdout}${stderr}`)
    answers.push(stdout)
  }
  const [made = '', event = '{}', location = '{}'] = answers
  t.match(made, /^warehouse 1: Hall 1\n6 lines: 6 new, 0 changed, 0 as they were; zones made: A, B\n/)
  t.match(JSON.parse(event), { event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: '4711', effect: 'applied' })
  t.match(JSON.parse(location), { success: true, asset_barcode: '4711', slot: { slot_id: 'A-01-01' } })
})

t.test('a warehouse is made at the box, beside the daemon and without it, once, by who ran it', async (t) => {
  const { cwd } = boxOf(t)
  const env = { ...process.env, SUDO_USER: 'dora', SUDO_UID: '1000' }
  const add = (...args: string[]) =>
    runToEnd(gatehouse, ['warehouse', 'add', '--config', 'g.yaml', ...args], { cwd, env })
  const hall = ['--name', 'Nordhalle', '--timezone', 'Europe/Berlin']
  t.match(await add(...hall, '--json'), {
    code: 0,
    stdout: '{"id":1,"name":"Nordhalle","timezone":"Europe/Berlin","created":true}\n',
    stderr: '',
  })
  t.match(await add('--name', 'nordhalle', '--timezone', 'Europe/Berlin'), {
    code: 0,
    stdout: 'warehouse 1: Nordhalle, as it was: nothing changed\n',
  })
  const { daemon, get } = await serve(t, cwd)
  t.match(await add('--name', 'Südhalle', '--timezone', 'Europe/Vienna'), {
    code: 0,
    stdout: 'warehouse 2: Südhalle\n',
  })
  t.match(await add('--name', 'Nordhalle', '--timezone', 'UTC'), {
    code: 1,
    stdout: '',
    stderr:
      /warehouse 1 is called Nordhalle already, with the time zone Europe\/Berlin; PUT \/api\/whms\/warehouses\/1/,
  })
  t.match(await add('--name', 'X', '--timezone', 'Berlin'), {
    code: 1,
    stderr: /--timezone "Berlin": expected an IANA/,
  })
  t.match(await add('--name', 'X'), { code: 2, stderr: /--timezone/ })
  t.match((await get('whms/warehouses')).data, [{ name: 'Nordhalle' }, { name: 'Südhalle', timezone: 'Europe/Vienna' }])
  const { data } = await get('governance/audit?entity=warehouse')
  t.match(
    data.map((row: Record<string, unknown>) => [row['action'], row['entityId'], row['operator'], row['authMode']]),
    [
      ['warehouse.created', '2', 'dora', 'command'],
      ['warehouse.created', '1', 'dora', 'command'],
    ],
  )
  t.equal(await daemon.end('SIGTERM'), 0)
})

t.test('a list of labels alone becomes a plan, and the operator of opening stock is who imported it', async (t) => {
  const { cwd } = boxOf(t)
  const env = { ...process.env, SUDO_USER: 'dora', SUDO_UID: '1000' }
  const run = (...args: string[]) => runToEnd(gatehouse, [...args, '--config', 'g.yaml'], { cwd, env })
  const labels = ['A', 'B'].flatMap((aisle) =>
    [1, 2, 3].flatMap((bay) => [1, 2].map((level) => `${aisle}-0${bay}-0${level}`)),
  )
  writeFileSync(join(cwd, 'slots.csv'), `slot_id\n${labels.join('\n')}\n`)
  writeFileSync(join(cwd, 'stock.csv'), 'slot_id,asset_barcode\nA-01-01,P-1\n')

  t.match(await run('import', 'slots', 'slots.csv', '--grid', '--create-zones', '--dry-run'), {
    code: 1,
    stdout:
      '12 lines, 1 problem\nWRONG:\n  line 1, there is no warehouse yet; make one: gatehouse warehouse add --name NAME --timezone ZONE\n',
  })
  await run('warehouse', 'add', '--name', 'Hall 1', '--timezone', 'Europe/Berlin')
  t.match(await run('import', 'slots', 'slots.csv'), {
    code: 1,
    stdout: /WRONG:\n {2}12 lines \(2, 3, 4, …\), floor_plan_polygon: is needed: .*--grid/,
  })
  t.match(await run('import', 'slots', 'slots.csv', '--grid', '--warehouse', 'Hall 7'), {
    code: 1,
    stdout: /there is no warehouse Hall 7; give --warehouse one of 1 \(Hall 1\), or make it/,
  })
  const asked = ['import', 'slots', 'slots.csv', '--grid', '--create-zones', '--warehouse', 'hall 1']
  t.match(await run(...asked, '--dry-run'), { code: 0, stdout: /^12 lines, nothing wrong; it would be: 12 new,/ })
  t.match(await run(...asked), { code: 0, stdout: /^12 lines: 12 new, .*zones made: A, B\n/ })
  t.match(await run(...asked), { code: 0, stdout: /nothing changed/ })
  t.match(await run('import', 'assets', 'stock.csv', '--grid'), { code: 2, stderr: /--grid .* are for slots/ })
  t.match(await run('import', 'opening-stock', 'stock.csv'), { code: 0 })
  const { get } = await serve(t, cwd)
  t.match((await get('whms/events')).data, [{ slot_code: 'A-01-01', operator: 'dora' }])
  t.match(verifyLedger(join(cwd, 'var')), { ok: true })
})

t.test('a command that is not there is an error of usage, also with --help', async (t) => {
  const run = (...args: string[]) => runToEnd(gatehouse, args)
  for (const words of [['nonsense', '--help'], ['nonsense'], ['nonsense', '--json'], ['help', 'nonsense']]) {
    const { code, stdout, stderr } = await run(...words)
    t.equal(code, 2, words.join(' '))
    t.equal(stdout, '', 'and prints nothing that a program could take for an answer')
    t.match(stderr, /nonsense|Usage/)
  }
  t.match(await run('servee', '--help'), {
    code: 2,
    stderr: /there is no command "gatehouse servee"; did you mean "gatehouse serve"\?/,
  })
  t.match(await run('config', 'chekc', '--help'), { code: 2, stderr: /did you mean "gatehouse config check"\?/ })
  t.match(await run('ledger', 'verify', '--fast'), { code: 2, stderr: /--fast/ })
  t.match(await run(), { code: 2, stderr: /Usage/ })
  t.match(await run('--help'), { code: 0, stdout: /Usage/, stderr: '' })
  t.match(await run('config', 'check', '--help'), { code: 0, stdout: /exit 78/ })
})
