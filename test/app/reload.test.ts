/** A reload changes settings while the floor works, and the status shows a refused reload. */
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { basename, join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { statusThroughDaemon } from '../../src/app/index.ts'
import { reloadFinding } from '../../src/doctor/findings/records.ts'
import { createLogger } from '../../src/platform/index.ts'
import { footage } from '../support/footage.ts'
import { cheapHash } from '../support/gateway.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { type RunningBox, runningBox } from '../support/running.ts'
import { eventually, waitUntil } from '../support/waiting.ts'

t.setTimeout(120_000)

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Seen = { status: number; body: any }

async function ask({ url, headers }: RunningBox, method: string, path: string, body?: unknown): Promise<Seen> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: await answer.json() }
}

const asBob = (box: RunningBox) => ({
  ...box,
  headers: { ...box.headers, Authorization: 'Bearer bob-secret', 'X-Storage-Username': 'bob' },
})

/** Writes a drop-in, or takes it away. */
function dropIn({ cwd }: RunningBox, name: string, config: unknown): void {
  const file = join(cwd, 'conf.d', name)
  mkdirSync(join(cwd, 'conf.d'), { recursive: true })
  if (config === undefined) rmSync(file)
  else writeFileSync(file, typeof config === 'string' ? config : stringify(config), { mode: 0o600 })
}

/** Sends half of a request; the returned function sends the rest and gives the status. */
async function halfSent({ url, headers }: RunningBox, path: string, body: string): Promise<() => Promise<number>> {
  const sent: ClientRequest = request(`${url}${path}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
  })
  const status = new Promise<number>((resolve, reject) => {
    sent.once('response', (answer) => resolve(answer.resume().statusCode ?? 0))
    sent.once('error', reject)
  })
  await new Promise((resolve) => sent.write(body.slice(0, 10), resolve))
  return () => {
    sent.end(body.slice(10))
    return status
  }
}

/** Asks without a pause until it is stopped; gives every status that came. */
function asker(box: RunningBox): () => Promise<number[]> {
  const seen: number[] = []
  let isOver = false
  const round = (async () => {
    while (!isOver) seen.push((await fetch(`${box.url}/api/whms/zones`, { headers: box.headers })).status)
  })()
  return async () => {
    isOver = true
    await round
    return seen
  }
}

/** The clip that is being recorded. */
const recording = ({ cwd }: RunningBox) => globSync('state/clips/**/*.ts.part', { cwd })[0]

t.test('drop-ins change cameras, users, limits and networks beside a clip and requests that go on', async (t) => {
  const door = await footage('passer')
  const rtsp = await startRtspServer({ streams: { door, gate: door } })
  t.teardown(() => rtsp.stop())
  const motion = { preRecordSeconds: 1, postRecordSeconds: 1, cooldownSeconds: 0 }
  const rateLimit = { requestsPerMinute: 1_000_000 }
  const box = await runningBox(t, { rateLimit, cameras: [{ id: 1, url: rtsp.url('door'), motion }] })
  const hook = { url: 'https://127.0.0.1:9/', events: ['webhook.test'] }
  t.match(await ask(box, 'POST', '/api/webhooks', hook), {
    status: 400,
    body: { error: { code: 'WEBHOOK_URL_FORBIDDEN' } },
  })
  t.equal((await ask(asBob(box), 'GET', '/api/whms/zones')).status, 401)
  await waitUntil('a clip is being recorded', () => recording(box) !== undefined)
  const clip = Number.parseInt(basename(recording(box) ?? ''), 10)
  const finish = await halfSent(
    box,
    '/api/whms/warehouses',
    '{"name":"Hall 1","timezone":"UTC","location":{"lat":0,"lng":0}}',
  )
  const endAsking = asker(box)
  dropIn(box, '10-cameras.yaml', {
    cameras: [
      { id: 1, name: 'Door', motion: { sensitivity: 0.4 } },
      { id: 2, url: rtsp.url('gate') },
    ],
  })
  const bob = { username: 'bob', role: 'viewer', secretHash: cheapHash('bob-secret') }
  dropIn(box, '20-users.yaml', { auth: { users: [bob] }, rateLimit: { users: { bob: 1 } } })
  dropIn(box, '30-networks.yaml', { webhooks: { allowNetworks: ['127.0.0.0/8'] } })
  await box.running.reload()
  t.equal(await finish(), 201, 'a request whose body was half sent is answered')
  t.same(
    [await ask(asBob(box), 'GET', '/api/whms/zones'), await ask(asBob(box), 'GET', '/api/whms/zones')].map(
      (one) => one.status,
    ),
    [200, 429],
  )
  t.equal((await ask(box, 'POST', '/api/webhooks', hook)).status, 201)
  const live = await eventually(
    () => ask(box, 'GET', '/api/iot/cctv'),
    ({ body }) => body.data[1]?.state === 'live',
  )
  t.match(live.body.data, [{ id: 1, name: 'Door' }, { id: 2 }])
  const made = await eventually(
    () => ask(box, 'GET', `/api/iot/detection-events/${clip}`),
    ({ status }) => status === 200,
  )
  t.match(made.body, { cctvId: 1, clipStatus: 'recorded' })
  t.ok(made.body.duration > 1, `the clip goes on after the reload: ${made.body.duration} s`)
  t.equal(rtsp.clients('door').total, 1, 'and its camera was never disconnected')
  dropIn(box, '20-users.yaml', undefined)
  await box.running.reload()
  t.equal((await ask(asBob(box), 'GET', '/api/whms/zones')).status, 401, 'a user whose drop-in is gone')
  const statuses = await endAsking()
  t.same([...new Set(statuses)], [200], `${statuses.length} requests`)
})

t.test(
  'a reload that was refused is seen in log, metric, alert, health, status and doctor, until a good one',
  async (t) => {
    const lines: string[] = []
    const box = await runningBox(t, {}, {}, createLogger({ write: (line) => lines.push(line) }))
    const { gateway } = box.running
    const seen = async () => {
      const now = await statusThroughDaemon(gateway.live.config.runtimeDir)
      const metrics = await gateway.metricsText()
      return {
        health: (await ask(box, 'GET', '/api/health')).body,
        alerts: (await ask(box, 'GET', '/api/alerts')).body.data.map(({ kind }: { kind: string }) => kind),
        status: now.config.refused,
        doctor: reloadFinding(now, Date.now()).verdict,
        successful: /^gatehouse_config_last_reload_successful (.*)$/m.exec(metrics)?.[1],
        readMs: Number(/^gatehouse_config_last_reload_success_timestamp_seconds (.*)$/m.exec(metrics)?.[1]) * 1000,
        waiting: /^gatehouse_config_waiting_keys (.*)$/m.exec(metrics)?.[1],
      }
    }
    const before = await seen()
    t.match(before, {
      health: { checks: { config: { status: 'healthy' } } },
      alerts: { length: 0 },
      status: null,
      successful: '1',
    })
    dropIn(box, '10-limits.yaml', 'rateLimit: { requestsPerMinuet: 5 }\nlisten: nonsense\n')
    await box.running.reload()
    const refused = await seen()
    t.match(refused, {
      health: { status: 'degraded', checks: { config: { status: 'degraded', reason: /was refused at a reload/ } } },
      ...{ alerts: ['config.refused'], status: { problems: /10-limits\.yaml:1:14/ }, doctor: 'bad', successful: '0' },
    })
    t.notMatch(JSON.stringify(refused.health), /10-limits/, 'strangers learn no path')
    t.equal(refused.readMs, before.readMs, 'the config in use is the one from before')
    const [alert] = (await ask(box, 'GET', '/api/alerts')).body.data
    t.match(
      alert.message,
      /10-limits\.yaml:1:14: rateLimit\.requestsPerMinuet.*and 1 more\. Run gatehouse config check/,
    )
    t.equal(lines.filter((line) => line.includes('the new config is bad; the old one stays')).length, 1)
    await box.running.reload()
    t.same((await seen()).alerts, ['config.refused'], 'the same refusal again is no second alert')
    dropIn(box, '10-limits.yaml', { rateLimit: { requestsPerMinute: 5000 }, runtimeDir: 'elsewhere' })
    await box.running.reload()
    const after = await seen()
    t.match(after, { health: { status: 'healthy' }, status: null, doctor: 'change', successful: '1', waiting: '1' })
    t.same(after.alerts, ['config.accepted', 'config.refused'], 'the alert has its end')
    t.ok(after.readMs > before.readMs)
  },
)
