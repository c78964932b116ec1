import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { footage } from '../support/footage.ts'
import { cheapHash } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { type Daemon, gatehouse, runToEnd, startDaemon } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { onSmallDisk, smallDisk } from '../support/small-disk.ts'
import { eventually } from '../support/waiting.ts'

t.setTimeout(240_000)
// Most of the time of these tests is waiting for cameras.
t.jobs = 6

const site = 'http://127.0.0.1:8480'
const headers = {
  Authorization: 'Bearer ada-secret',
  'X-Storage-Instance': site,
  'X-Storage-Username': 'ada',
  'Content-Type': 'application/json',
}
const cameraPassword = 'p@ss word'
const empty = await footage('empty')

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Json = any

function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-health-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const configText = (more: string) => `site: { id: health-test, url: ${site} }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [{ username: ada, role: admin, secretHash: "${cheapHash('ada-secret')}" }] }
rateLimit: { requestsPerMinute: 100000 }
${more}
`

async function start(
  t: Test,
  cwd: string,
  more: string,
  args: string[] = [],
  env?: NodeJS.ProcessEnv,
): Promise<Daemon> {
  const file = join(cwd, 'gatehouse.yaml')
  writeFileSync(file, configText(more))
  const daemon = await startDaemon(['--config', file, ...args], { cwd, ...(env && { env }) })
  t.teardown(() =>
    daemon.child.exitCode === null && daemon.child.signalCode === null ? daemon.end('SIGKILL') : undefined,
  )
  return daemon
}

async function ask(daemon: Daemon, method: string, path: string, body?: unknown): Promise<Json> {
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const answer = await fetch(`${daemon.url}${path}`, init)
  return { status: answer.status, ...((await answer.json()) as object) }
}

const cameras = (daemon: Daemon) => ask(daemon, 'GET', '/api/iot/cctv')
const isLive = (answer: Json) => answer.data[0].state === 'live'

// The bundled ffmpeg is another finding.
t.test(
  'a camera that is unplugged reaches health, alerts and receivers, and so does its return',
  needs('ffmpeg'),
  async (t) => {
    const cwd = newFolder(t)
    const first = await startRtspServer({ streams: { dock: empty } })
    const receiver = await startReceiver({ secret: 'a secret that both know' })
    t.teardown(() => receiver.stop())
    writeFileSync(join(cwd, 'ca.pem'), receiver.caPem)
    const daemon = await start(
      t,
      cwd,
      `retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }
webhooks: { allowNetworks: [127.0.0.0/8], caFile: ca.pem }
cameras: [{ id: 1, name: Dock door, url: "${first.url('dock')}" }]`,
    )
    await eventually(() => cameras(daemon), isLive)
    t.equal((await ask(daemon, 'GET', '/api/health')).status, 'healthy')
    const hook = { url: receiver.url, events: ['event.created'], secret: 'a secret that both know' }
    t.equal((await ask(daemon, 'POST', '/api/webhooks', hook)).success, true)
    const unpluggedMs = Date.now()
    await first.stop()
    const offline = await receiver.waitFor((r) => r.event.data['kind'] === 'camera.offline', 120_000)
    t.match(offline.event.data['event'], { cctvId: 1, name: 'Dock door', problem: /Nothing answers at the address/ })
    const { offlineSince } = offline.event.data['event'] as { offlineSince: string }
    t.ok(Math.abs(Date.parse(offlineSince) - unpluggedMs) < 30_000, 'since it was unplugged, not since the last try')
    t.match(await ask(daemon, 'GET', '/api/health'), {
      status: 'degraded',
      checks: { cameras: { status: 'degraded' } },
    })
    t.match((await ask(daemon, 'GET', '/api/alerts')).data, [{ kind: 'camera.offline', subject: '1' }])
    t.match(daemon.log(), /"kind":"camera\.offline".*Check its power/)
    const again = await startRtspServer({ streams: { dock: empty }, port: first.port })
    t.teardown(() => again.stop())
    await receiver.waitFor((r) => r.event.data['kind'] === 'camera.online', 120_000)
    t.equal((await ask(daemon, 'GET', '/api/health')).status, 'healthy')
  },
)

t.test('a corrected camera password takes effect with SIGHUP, although the config is the same', async (t) => {
  const cwd = newFolder(t)
  const rtsp = await startRtspServer({
    streams: { dock: empty },
    auth: { username: 'viewer', password: cameraPassword },
  })
  t.teardown(() => rtsp.stop())
  const secretFile = join(cwd, 'camera-password')
  writeFileSync(secretFile, 'a typo\n')
  const daemon = await start(
    t,
    cwd,
    `cameras: [{ id: 1, url: "${rtsp.url('dock')}", username: viewer, passwordFile: camera-password }]`,
  )
  const waits = ({ data: [camera] }: Json) => camera.state === 'backing-off' && /refuses/.test(camera.problem)
  await eventually(() => cameras(daemon), waits)
  writeFileSync(secretFile, `${cameraPassword}\n`)
  daemon.child.kill('SIGHUP')
  await daemon.logged('config reloaded')
  t.match(daemon.log(), /"live":\[\],"restart":\[\],"files":\["cameras\[id=1\]\.passwordFile"\]/)
  await eventually(() => cameras(daemon), isLive)
  const { data } = await ask(daemon, 'GET', '/api/governance/audit?action=config.reloaded')
  t.match(data, [{ changes: { files: ['cameras[id=1].passwordFile'] } }])
  daemon.child.kill('SIGHUP')
  await daemon.logged('the config has not changed')
  t.notMatch(daemon.log(), /p@ss word|a typo/)
})

t.test('a corrected token of the collector takes effect with SIGHUP', async (t) => {
  const cwd = newFolder(t)
  const tokenFile = join(cwd, 'token')
  writeFileSync(tokenFile, 'the first token of all\n')
  const daemon = await start(t, cwd, 'metrics: { listen: { host: 127.0.0.1, port: 0, tokenFile: token } }')
  const port = /"port":(\d+),"msg":"metrics for a collector"/.exec(daemon.log())?.[1]
  const collect = async (token: string) =>
    (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { Authorization: `Bearer ${token}` } })).status
  t.equal(await collect('the first token of all'), 200)
  writeFileSync(tokenFile, 'the second token of all\n')
  daemon.child.kill('SIGHUP')
  await daemon.logged('config reloaded')
  t.equal(await collect('the second token of all'), 200)
  t.equal(await collect('the first token of all'), 401)
})

t.test('a text log is for people: sentences about cameras, no JSON, no secret', async (t) => {
  const cwd = newFolder(t)
  const rtsp = await startRtspServer({
    streams: { dock: empty },
    auth: { username: 'viewer', password: cameraPassword },
  })
  t.teardown(() => rtsp.stop())
  writeFileSync(join(cwd, 'camera-password'), 'a typo\n')
  const daemon = await start(
    t,
    cwd,
    `cameras: [{ id: 1, name: Dock door, url: "${rtsp.url('dock')}", username: viewer, passwordFile: camera-password }]`,
    ['--log-format', 'text'],
  )
  await daemon.logged('Dock door gives no pictures. The camera refuses the user name or the password. Check username')
  await fetch(`${daemon.url}/api/whms/zones`, { headers: { ...headers, Authorization: 'Bearer ada-secre' } })
  t.match(daemon.log(), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z INFO {2}gatehouse is up .*site=health-test/m)
  t.notMatch(daemon.log(), /^\{/m)
  t.notMatch(daemon.log(), /a typo|a%20typo|ada-secre|\\n/)
  t.equal(await daemon.end('SIGTERM'), 0)
})

t.test('the log format is chosen, documented, and json where nobody reads along', async (t) => {
  const help = await runToEnd(gatehouse, ['serve', '--help'])
  t.match(help, { code: 0, stdout: /--log-format <format>.*text.*json/s })
  const wrong = await runToEnd(gatehouse, ['serve', '--log-format', 'xml'])
  t.match(wrong, { code: 2, stderr: /Allowed choices are text, json/ })
  const daemon = await start(t, newFolder(t), '')
  t.match(daemon.log(), /^\{"level":"info".*"msg":"gatehouse is up"/m)
})

t.test('an event says that its time is not sure while chrony says so', async (t) => {
  const cwd = newFolder(t)
  const bin = join(cwd, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'chronyc'), '#!/bin/sh\necho ",,0.1,0.2,64,Not synchronised"\n')
  chmodSync(join(bin, 'chronyc'), 0o755)
  const daemon = await start(t, cwd, 'retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }', [], {
    ...process.env,
    PATH: `${bin}:${process.env['PATH']}`,
  })
  t.match(await ask(daemon, 'GET', '/api/health'), { status: 'degraded', checks: { clock: { status: 'degraded' } } })
  await ask(daemon, 'POST', '/api/whms/warehouses', { name: 'Hall', timezone: 'UTC' })
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  await ask(daemon, 'POST', '/api/whms/slots', { slot_id: 'A', zone: 'S', floor_plan_polygon })
  const event = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
  t.match(await ask(daemon, 'POST', '/api/whms/events', event), { time_quality: 'unsynced' })
})

t.test('a gateway starts on a full disk, to be looked at', onSmallDisk, async (t) => {
  const disk = smallDisk(16)
  t.teardown(() => disk.end())
  const retention = 'retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }'
  const first = await start(t, disk.folder, retention)
  t.equal(await first.end('SIGTERM'), 0)
  disk.fill()
  const daemon = await start(t, disk.folder, retention)
  disk.fill()
  t.match(await ask(daemon, 'GET', '/api/health'), { status: 'unhealthy', checks: { disk: { reason: /full/ } } })
  t.equal((await ask(daemon, 'GET', '/api/whms/slots')).success, true)
  const alerts = () => ask(daemon, 'GET', '/api/alerts')
  const isRaised = (kind: string) => (answer: Json) => answer.data.some((alert: Json) => alert.kind === kind)
  await eventually(alerts, isRaised('disk.full'))
  disk.empty()
  await eventually(alerts, isRaised('disk.recovered'))
  t.equal((await ask(daemon, 'GET', '/api/health')).status, 'healthy')
})

t.test(
  'cameras that are read by the bundled ffmpeg are said in health, alerts and log, until the system has one',
  async (t) => {
    const cwd = newFolder(t)
    const command = join(cwd, 'gatehouse-here')
    writeFileSync(
      command,
      `#!/bin/sh\nexec "${process.execPath}" "${join(import.meta.dirname, '../../src/main.ts')}" "$@"\n`,
    )
    chmodSync(command, 0o755)
    const programs = join(cwd, 'programs')
    mkdirSync(programs)
    const file = join(cwd, 'gatehouse.yaml')
    writeFileSync(
      file,
      configText(`retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }
cameras: [{ id: 1, name: Dock door, url: "rtsp://127.0.0.1:9/dock" }]`),
    )
    const run = () => startDaemon(['--config', file], { cwd, command, env: { ...process.env, PATH: programs } })
    const alerts = async (daemon: Daemon) =>
      (await ask(daemon, 'GET', '/api/alerts')).data.filter(({ kind }: Json) => kind.startsWith('ffmpeg.'))
    const first = await run()
    t.teardown(() => first.end('SIGKILL'))
    await first.logged('the cameras are read by the ffmpeg of 2018 that came with gatehouse')
    const isDegraded = t.match(await ask(first, 'GET', '/api/health'), {
      status: 'degraded',
      checks: { cameras: { status: 'degraded', reason: /ffmpeg that came with gatehouse/ } },
    })
    // Without a finding in health there is no alert.
    if (!isDegraded) return
    await eventually(
      async () => ({ data: await alerts(first) }),
      ({ data }) => data.length === 1,
    )
    t.match(await alerts(first), [
      { kind: 'ffmpeg.bundled', message: /Install ffmpeg from the packages of the system/ },
    ])
    await first.end('SIGTERM')
    const { path } = locateFfmpeg()
    writeFileSync(join(programs, 'ffmpeg'), `#!/bin/sh\nexec "${path}" "$@"\n`)
    chmodSync(join(programs, 'ffmpeg'), 0o755)
    const second = await run()
    t.teardown(() => second.end('SIGKILL'))
    await eventually(
      async () => ({ data: await alerts(second) }),
      ({ data }) => data.length === 2,
    )
    t.match(await alerts(second), [{ kind: 'ffmpeg.replaced' }, { kind: 'ffmpeg.bundled' }])
    t.notMatch((await ask(second, 'GET', '/api/health')).checks.cameras.reason ?? '', /ffmpeg/)
    t.notMatch(second.log(), /of 2018/)
  },
)
