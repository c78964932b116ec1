import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { DoctorReport } from '../../src/doctor/index.ts'
import { initTls } from '../../src/http/index.ts'
import { footage } from '../support/footage.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { newBox, runningBox } from '../support/running.ts'
import { StorageServer } from '../support/storage-server.ts'

t.setTimeout(180_000)

async function doctor(cwd: string, ...args: string[]) {
  const { code, stdout, stderr } = await runToEnd(gatehouse, ['doctor', '--config', 'gatehouse.yaml', ...args], { cwd })
  const report = (args.includes('--json') ? JSON.parse(stdout) : undefined) as DoctorReport
  return { code, stdout, stderr, report }
}

/** The findings of a topic, without what depends on the machine of the test. */
const on = ({ findings }: DoctorReport, topic: string) => findings.filter((one) => one.topic === topic)

async function cameras(t: Test) {
  const auth = { username: 'viewer', password: 'right-Secret' }
  const camera = await startRtspServer({ streams: { hall: await footage('crossing') }, auth })
  t.teardown(() => camera.stop())
  return { auth, url: camera.url('hall') }
}

t.test('the doctor names what is wrong with each part of a running box, and the next step', async (t) => {
  const { auth, url } = await cameras(t)
  const storage = await StorageServer.start({ users: [{ id: 'gw', groups: [], appPasswords: ['right-pass'] }] })
  t.teardown(() => storage.stop())
  const box = await runningBox(t, {
    cameras: [
      { id: 1, name: 'Good', url, username: auth.username, passwordFile: 'cam1' },
      { id: 2, name: 'Wrong', url, username: auth.username, passwordFile: 'cam2' },
    ],
    storage: {
      instances: [{ url: storage.url }],
      upload: { instance: storage.url, username: 'gw', passwordFile: 'cloud', root: '/gatehouse' },
    },
  })
  for (const [name, text] of [
    ['cam1', auth.password],
    ['cam2', 'wrong'],
    ['cloud', 'wrong'],
  ] as const) {
    writeFileSync(join(box.cwd, name), `${text}\n`, { mode: 0o600 })
  }
  chmodSync(join(box.cwd, 'cam2'), 0o644)
  const { code, report, stderr } = await doctor(box.cwd, '--json')
  t.equal(code, 1, stderr)
  t.match(report, { ok: false, running: true })
  t.match(on(report, 'gateway'), [{ verdict: 'good' }])
  const streams = on(report, 'camera').filter(({ what }) => !what.includes('running gateway'))
  t.match(streams.find(({ subject }) => subject === '1 (Good)')?.what, /Codec: H\.264|Key frame|Clock|B-frames/)
  t.match(
    streams.find(({ subject }) => subject === '2 (Wrong)'),
    { verdict: 'bad', what: /refuses the user name or the password/ },
  )
  t.match(on(report, 'storage server'), [{ verdict: 'good', subject: storage.url }])
  t.match(on(report, 'upload account'), [
    { verdict: 'bad', what: /Signing in is refused/, next: /new application password/ },
  ])
  t.match(on(report, 'files'), [{ verdict: 'change', what: /cam2 holds a secret/ }])
  t.match(on(report, 'backup'), [{ verdict: 'note' }])
  t.notMatch(JSON.stringify(report), /right-Secret|right-pass/)
  writeFileSync(join(box.cwd, 'cloud'), 'right-pass\n')
  const healed = (await doctor(box.cwd, '--json', '--no-cameras')).report
  t.match(on(healed, 'upload account'), [{ verdict: 'good', what: /Signing in works/ }])
})

t.test(
  'the doctor names slots of a camera that do not exist, so that a mistyped label is not a slot without film',
  async (t) => {
    const looksAt = (slots: readonly string[]) => ({
      cameras: [{ id: 4, name: 'Aisle', url: 'rtsp://127.0.0.1:9/a', enabled: false, slots }],
    })
    const box = await runningBox(t, looksAt(['a-01-01', 'A-1-01']))
    const onSlots = async () => on((await doctor(box.cwd, '--json', '--no-cameras')).report, 'camera')
    t.match(await onSlots(), [{ verdict: 'change', subject: '4 (Aisle)', what: /names "a-01-01", "A-1-01",/ }])
    writeFileSync(join(box.cwd, 'slots.csv'), 'slot_id\nA-01-01\n')
    const made = ['warehouse', 'add', '--name', 'Hall 1', '--timezone', 'UTC', '--config', 'gatehouse.yaml']
    t.equal((await runToEnd(gatehouse, made, { cwd: box.cwd })).code, 0)
    const imported = ['import', 'slots', 'slots.csv', '--warehouse', 'Hall 1', '--grid', '--create-zones']
    t.equal((await runToEnd(gatehouse, [...imported, '--config', 'gatehouse.yaml'], { cwd: box.cwd })).code, 0)
    t.match(await onSlots(), [{ what: /names "A-1-01", but there is no such slot/, next: /its events get no film/ }])
    box.write(looksAt(['a-01-01']))
    await box.running.reload()
    t.strictSame(await onSlots(), [])
  },
)

t.test('without a daemon the doctor looks by itself, and changes nothing', async (t) => {
  const box = newBox(t)
  const first = await doctor(box.cwd, '--json')
  t.equal(first.code, 1)
  const toStart = { verdict: 'bad', what: /does not run/, next: /systemctl start/ }
  t.match(on(first.report, 'gateway'), [toStart], 'before the first start, starting is what is missing')
  t.equal(on(first.report, 'ledger check').length, 0, 'there is no ledger yet, and none was made')
  const made = ['warehouse', 'add', '--name', 'Hall 1', '--timezone', 'UTC', '--config', 'gatehouse.yaml']
  t.equal((await runToEnd(gatehouse, made, { cwd: box.cwd })).code, 0)
  const second = await doctor(box.cwd, '--all')
  t.match(second.stdout, /good {5}ledger check: The ledger has no leaves yet\./)
  t.match(second.stdout, /BAD {6}gateway: The gateway does not run\.\n {9}→ Start it/)
  t.match(second.stdout, /of \d+ checks need you/)
})

t.test('a config with problems is told with their places, and a certificate by its names and its end', async (t) => {
  const box = newBox(t)
  mkdirSync(join(box.cwd, 'tls'))
  const nowMs = Date.now()
  const { certFile, keyFile } = await initTls({
    ...{ dir: join(box.cwd, 'tls'), nowMs, days: 20 },
    names: ['other.example'],
    force: false,
  })
  box.write({
    site: { id: 'dc-7', url: 'https://gate.example' },
    listen: [{ host: '127.0.0.1', port: 0, tls: { certFile, keyFile } }],
  })
  const { report } = await doctor(box.cwd, '--json')
  t.match(on(report, 'certificate'), [
    { verdict: 'change', what: /does not name gate\.example/, next: /gatehouse tls init/ },
  ])
  writeFileSync(box.file, 'site: { id: dc-7 }\nlisten: nonsense\n')
  const bad = await doctor(box.cwd, '--json')
  t.equal(bad.code, 1)
  t.match(on(bad.report, 'config'), [{ verdict: 'bad', what: /gatehouse\.yaml:2:\d+/ }])
})
