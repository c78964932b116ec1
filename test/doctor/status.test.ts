import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import {
  type ConfigNow,
  type GatewayStatus,
  importer,
  statusThroughDaemon,
  warehouseAdder,
} from '../../src/app/index.ts'
import { type DoctorReport, isWell, paintFor, reportWords, statusWords } from '../../src/doctor/index.ts'
import { people, testGateway } from '../support/gateway.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { newBox, type RunningBox, runningBox } from '../support/running.ts'

t.setTimeout(120_000)

const by = people.ada
const plain = paintFor({ isTTY: false })
const fromFile: ConfigNow = { file: '/etc/gatehouse/gatehouse.yaml', loadedMs: 0, refused: null, waiting: [] }

const status = (cwd: string, ...args: string[]) =>
  runToEnd(gatehouse, ['status', '--config', 'gatehouse.yaml', ...args], { cwd })

/** The status text, with the parts that the test changes. */
const words = (now: GatewayStatus, nowMs: number) => statusWords(now, nowMs, plain)

t.test('a running gateway is seen at a glance, and one that is stopped is said to be', async (t) => {
  const box = await runningBox(t)
  const { gateway } = box.running
  await warehouseAdder(gateway)({ name: 'Hall 1', timezone: 'UTC' }, 'ada')
  const list = { kind: 'slots', dryRun: false, createZones: true, grid: true, warehouse: 'Hall 1' } as const
  await importer(gateway)(Buffer.from('slot_id\nA-01-01\n'), list, 'ada')
  const event = {
    event_type: 'PLACED',
    slot_code: 'A-01-01',
    asset_barcode: '4711',
    photo_url: 'https://photos.example/1.jpg',
  }
  const placed = await fetch(`${box.url}/api/whms/events`, {
    method: 'POST',
    headers: box.headers,
    body: JSON.stringify(event),
  })
  t.equal(placed.status, 201, await placed.text())
  const { code, stdout, stderr } = await status(box.cwd, '--json')
  const seen = JSON.parse(stdout) as GatewayStatus
  t.match(seen, {
    ...{
      running: true,
      version: '1.2.3',
      site: { id: 'dc-7' },
      health: 'healthy',
      cameras: { length: 0 },
      witnesses: { length: 0 },
    },
    ledger: { events: 1, leaves: 1, lastCheck: null },
    config: { file: box.file, refused: null },
    webhooks: { total: 0 },
    backup: { everySeconds: null },
    uplink: { probes: 0, online: null },
    alerts: { open: 0, newest: { length: 0 } },
  })
  t.equal(code, 0, stderr)
  t.ok(Date.now() - Date.parse(seen.ledger.lastEventAt ?? '') < 60_000)
  const report = await status(box.cwd)
  t.match(report.stdout, /^gatehouse 1\.2\.3 at dc-7 \(http:\/\/127\.0\.0\.1:8480\): well, up for \d+ second/)
  t.match(report.stdout, /ledger {6}1 event, the last \d+ seconds? ago; 1 leaf, .*never verified as a whole/)
  t.notMatch(report.stdout, /\u001b/, 'no colors where no terminal reads')
})

t.test('without a daemon status says so and exits with 3', async (t) => {
  const box = newBox(t)
  t.match(await status(box.cwd), { code: 3, stdout: '', stderr: /no gatehouse runs on .*state; "gatehouse doctor"/ })
  t.match(await status(box.cwd, '--json'), { code: 3, stdout: '{"running":false}\n', stderr: '' })
})

t.test('a config that was refused at a reload is shown with its problem until a good one is read', async (t) => {
  const box = await runningBox(t)
  writeFileSync(box.file, 'site: { id: dc-7 }\nruntimeDir: run\nlisten: nonsense\n')
  await box.running.reload()
  const refused = await status(box.cwd)
  t.equal(refused.code, 1, 'the command finds the gateway, although it reads the same bad file')
  t.match(refused.stdout, /the earlier one is in use: .*listen/)
  const now = await nowOf(box.running)
  t.match(now.config.refused?.problems, /listen/)
  t.notOk(isWell(now))
  t.match(words(now, Date.now()), /config {6}the file on disk was refused \d+ seconds? ago, .*listen/)
  box.write({ ledger: { enforce: ['OVERWEIGHT'] }, runtimeDir: 'elsewhere' })
  await box.running.reload()
  const after = await nowOf(box.running)
  t.match(after.config, { refused: null, waiting: ['runtimeDir'] })
  t.ok(isWell(after))
  t.match(words(after, Date.now()), /for the next start: runtimeDir/)
})

/** As the control socket answers it. */
const nowOf = ({ gateway }: RunningBox['running']) => statusThroughDaemon(gateway.live.config.runtimeDir)

async function yard(t: Test) {
  const gateway = await testGateway({ config: { cameras: [{ id: 7, name: 'Dock door', url: 'rtsp://192.0.2.7/a' }] } })
  t.teardown(() => gateway.end())
  gateway.cameras.threadStarted()
  const now = () => gateway.status(fromFile, true)
  return { gateway, now }
}

t.test(
  'a camera that is away is named with the reason and what to do, and the exit code says that somebody is needed',
  async (t) => {
    const { gateway, now } = await yard(t)
    const say = { type: 'state', cameraId: 7, at: gateway.clock.now() } as const
    gateway.cameras.heard({ ...say, state: 'live', words: null, problem: null })
    t.match((await now()).cameras, [{ id: 7, name: 'Dock door', state: 'live', problem: null }])
    t.ok(isWell(await now()))
    const reason = { what: 'Nothing answers at the address of the camera.', hint: 'Check its power.' }
    gateway.cameras.heard({ ...say, state: 'backing-off', words: reason, problem: 'unreachable' })
    gateway.clock.advance(300_000)
    await gateway.health.look()
    const bad = await now()
    t.notOk(isWell(bad))
    t.match(bad, { health: 'degraded', cameras: [{ state: 'away' }], alerts: { open: 1 } })
    const text = words(bad, gateway.clock.now())
    t.match(
      text,
      /cameras {5}1 away\n {14}camera 7 \(Dock door\), last well 5 minutes ago\. Nothing answers .* Check its power/,
    )
    t.match(text, /alerts {6}1 not acknowledged/)
  },
)

t.test('a receiver that fails, and a copy that the server refuses, each need somebody', async (t) => {
  const { gateway, now } = await yard(t)
  gateway.cameras.heard({ type: 'state', cameraId: 7, at: 0, state: 'live', words: null, problem: null })
  const hook = { url: 'https://receiver.example/in', events: ['whms.placement'] }
  t.equal((await gateway.ask('POST', '/api/webhooks', { by, body: hook })).status, 201)
  const well = await now()
  t.match(words(well, gateway.clock.now()), /webhooks {4}1 endpoint: 0 deliveries waiting/)
  const failing = { ...well, webhooks: { ...well.webhooks, failing: 1, pending: 12 } }
  t.notOk(isWell(failing))
  const slowed = { ...well, webhooks: { ...well.webhooks, slowed: 1, pending: 12 } }
  t.notOk(isWell(slowed))
  t.match(words(slowed, 0), /1 endpoint: 1 slowed down, 12 deliveries waiting/)
  const disabled = { ...well, webhooks: { ...well.webhooks, disabled: 1, pending: 12 } }
  t.notOk(isWell(disabled))
  t.match(words(disabled, 0), /1 endpoint: 1 disabled after failures, 12 deliveries waiting/)
  const paused = { ...well, webhooks: { ...well.webhooks, paused: 1, pending: 12 } }
  t.ok(isWell(paused))
  t.match(words(paused, 0), /1 endpoint: 1 paused, 12 deliveries waiting/)
  t.match(words(failing, 0), /1 endpoint: 1 failing, 12 deliveries waiting/)
  t.notOk(isWell({ ...well, uploads: { ...well.uploads, configured: true, parked: 2, lastError: 'HTTP 507' } }))
  t.notOk(isWell({ ...well, uplink: { probes: 2, online: false } }))
  t.notOk(isWell({ ...well, ledger: { ...well.ledger, lastCheck: { at: '2026-01-01', ok: false, leaves: 1 } } }))
  t.ok(isWell({ ...well, alerts: { open: 3, newest: [] } }), 'an alert may be over')
})

t.test('a new box says that there is no backup yet, and not how long never is', async (t) => {
  const { now } = await yard(t)
  const { backup, ...rest } = await now()
  const segments = { ...backup.segments, everySeconds: 60, currentAt: null, rehearsedAt: null }
  const fresh = {
    ...rest,
    backup: { ...backup, everySeconds: 86_400, media: true, newestAt: null, rehearsedAt: null, segments },
  }
  const report = words(fresh, 0)
  t.match(report, /backup {6}no backup yet, not rehearsed yet, with photos and clips\n/)
  t.match(report, /segments {4}nothing in segments yet, not rehearsed yet\n/)
  const made = { ...fresh.backup, newestAt: '1970-01-01T00:00:00.000Z' }
  t.match(
    words({ ...fresh, backup: made }, 120_000),
    /backup {6}newest 2 minutes ago, not rehearsed yet, with photos and clips\n/,
  )
})

t.test('colors are for terminals that want them', async (t) => {
  const { now } = await yard(t)
  const seen = await now()
  const paints = [
    paintFor({ isTTY: true }, { TERM: 'xterm' }),
    paintFor({ isTTY: true }, { TERM: 'xterm', NO_COLOR: '1' }),
    paintFor({ isTTY: true }, { TERM: 'dumb' }),
    plain,
  ]
  const colored = paints.map((paint) => statusWords(seen, 0, paint).includes('\u001b['))
  t.strictSame(colored, [true, false, false, false])
})

t.test('the doctor says in one green line that all is well, and else what to do, with the next step', async (t) => {
  const paint = paintFor({ isTTY: true }, { TERM: 'xterm' })
  const good = { topic: 'disk', subject: null, verdict: 'good', what: 'There is room.', next: null } as const
  const note = {
    ...good,
    topic: 'image',
    verdict: 'note',
    what: 'No update server is set.',
    next: 'Set one.',
  } as const
  const bad = {
    ...good,
    topic: 'camera',
    subject: '3',
    verdict: 'bad',
    what: 'No pictures.',
    next: 'Look at it.',
  } as const
  const report = (...findings: DoctorReport['findings']) => ({
    ...{ ok: findings.every(({ verdict }) => verdict !== 'bad'), running: true, version: '1.2.3', findings },
  })
  // ECMA-48: 32 is green, 31 red.
  t.equal(
    reportWords(report(good, note), false, paint),
    '\u001b[32mAll is well: 2 checks (1 note; --all shows them).\u001b[0m\n',
  )
  const [first, next, last, more] = reportWords(report(good, bad), false, paint).trimEnd().split('\n')
  t.equal(more, 'More: gatehouse manual cameras#find-out-why-a-camera-gives-no-picture')
  t.match([first, next, last], [/BAD.*camera 3.*: No pictures\.$/, /^ +→ Look at it\.$/, /\[31m1 of 2 checks need you/])
})
