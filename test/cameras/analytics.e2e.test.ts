import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { footage } from '../support/footage.ts'
import { cheapHash } from '../support/gateway.ts'
import { EventCamera } from '../support/onvif/event-camera.ts'
import { makers } from '../support/onvif/makers.ts'
import { gatehouse, runToEnd, startDaemon } from '../support/process.ts'
import { type Received, startReceiver } from '../support/receiver.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { eventually, waitUntil } from '../support/waiting.ts'

t.setTimeout(180_000)

const site = 'http://127.0.0.1:8480'
const headers = {
  Authorization: 'Bearer ada-secret',
  'X-Storage-Instance': site,
  'X-Storage-Username': 'ada',
  'Content-Type': 'application/json',
}
const secret = 'a secret of the receiver'
const [person, animal] = makers.find(({ name }) => name === 'Reolink')?.rules ?? []
if (!person || !animal) throw new Error('Reolink has rules for persons and animals')

/** A box with one camera, which shows the empty hall and has analytics, and a receiver of its webhooks. */
async function yard(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-analytics-'))
  const rtsp = await startRtspServer({ streams: { hall: await footage('empty') } })
  const analytics = await new EventCamera({ habits: { naming: 'query' } }).start()
  const receiver = await startReceiver({ secret })
  writeFileSync(join(folder, 'ca.pem'), receiver.caPem)
  const file = join(folder, 'gatehouse.yaml')
  const motion = '{ source: camera, preRecordSeconds: 2, postRecordSeconds: 1, cooldownSeconds: 1 }'
  writeFileSync(
    file,
    `site: { id: analytics-test, url: ${site} }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [{ username: ada, role: admin, secretHash: "${cheapHash('ada-secret')}" }] }
rateLimit: { requestsPerMinute: 100000 }
webhooks: { allowNetworks: [127.0.0.0/8], caFile: ca.pem }
retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }
cameras:
  - { id: 1, url: "${rtsp.url('hall')}", motion: ${motion}, analytics: { url: "${analytics.url}" } }
`,
  )
  const daemon = await startDaemon(['--config', file], { cwd: folder })
  t.teardown(async () => {
    if (daemon.child.exitCode === null) await daemon.end('SIGKILL')
    await Promise.all([rtsp.stop(), analytics.stop(), receiver.stop()])
    rmSync(folder, { recursive: true, force: true })
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
  const ask = async (method: string, path: string, body?: object): Promise<any> =>
    (await fetch(`${daemon.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json()
  await ask('POST', '/api/webhooks', { url: receiver.url, events: ['motion.detected', 'event.created'], secret })
  const camera = async () => (await ask('GET', '/api/iot/cctv')).data[0]
  await eventually(camera, (one) => one.online && one.analytics?.listening && one.impairment === null)
  const detections = async (query = '') => (await ask('GET', `/api/iot/detection-events?${query}`)).data
  const verified = async () =>
    JSON.parse((await runToEnd(gatehouse, ['ledger', 'verify', '--config', file, '--json'], { cwd: folder })).stdout)
  return { analytics, daemon, receiver, ask, camera, detections, verified }
}

t.test('a person rule of a camera fires: detection, clip and webhook say so', async (t) => {
  const { analytics, daemon, receiver, ask, camera, detections, verified } = await yard(t)
  t.match((await camera()).analytics, { source: 'camera', problem: null, problemCode: null, rules: { length: 0 } })
  analytics.begin(animal)
  analytics.end(animal)
  const [first] = await eventually(detections, (found) => found.length === 1)
  // Time is the subject: the next clip begins after the cooldown, and has its whole pre-roll then.
  await waitUntil('the cooldown is over', () => Date.now() > Date.parse(first.clipEnd) + 3000)
  analytics.begin(person)
  analytics.end(person)
  await eventually(detections, (found) => found.length === 2)

  const [detection] = await detections('kind=person')
  t.match(detection, {
    ...{ trigger: 'camera', kind: 'person', kinds: ['person'], score: 0, sceneChange: false },
    ...{ clipStatus: 'recorded', original: true },
  })
  t.ok(detection.preRollSeconds > 1.5 && detection.duration > 2, `${detection.preRollSeconds}, ${detection.duration}`)
  for (const [query, kinds] of [
    ['trigger=camera', ['person', 'animal']],
    ['trigger=pictures', []],
    ['trigger=motion&kind=animal', ['animal']],
    ['trigger=all&kind=vehicle', []],
    ['kind=animal&after_seq=0', ['animal']],
  ] as const) {
    const found = (await detections(query)).map(({ kind }: { kind: string }) => kind)
    t.strictSame(found, kinds, query)
  }
  t.match(await ask('GET', '/api/iot/detection-events?kind=ghost'), { error: { code: 'VALIDATION_ERROR' } })
  const clip = await fetch(detection.clipUrls.playback.replace(site, daemon.url), { headers })
  t.equal(clip.headers.get('content-type'), 'video/mp4')

  const notified = await receiver.waitFor(
    ({ event: { type, data } }) => type === 'motion.detected' && data['id'] === detection.id,
  )
  t.match(notified.event.data, { trigger: 'camera', kind: 'person', score: 0 })
  const isCreated = ({ event: { type, data } }: Received) => type === 'event.created' && isOf(data, detection.id)
  const created = await receiver.waitFor(isCreated)
  t.match(created.event.data, { event: { trigger: 'camera', kind: 'person', kinds: ['person'] } })
  t.match((await camera()).analytics.rules, [
    { rule: 'MyRuleDetector/DogCatDetect', kind: 'animal', isMapped: false },
    { rule: 'MyRuleDetector/PeopleDetect', kind: 'person', isMapped: false },
  ])
  t.match(await ask('GET', '/api/iot/detection/motion-stream?cctvId=1'), { frameCount: 0, decoder: null })
  t.match(await verified(), { ok: true, detections: 2, mismatches: { length: 0 } })
})

const isOf = (data: Received['event']['data'], id: number) =>
  data['kind'] === 'motion.detected' && JSON.stringify(data['event']).startsWith(`{"id":${id},`)

t.test('without its subscription the camera does not watch, and a gateway that stops ends it', async (t) => {
  const { analytics, daemon, ask, camera, verified } = await yard(t)
  analytics.fault = 'full'
  analytics.restart()
  t.match(await eventually(camera, (one) => one.impairment?.why === 'no_events'), {
    ...{ online: true, analytics: { listening: false } },
  })
  const gaps = async () => (await ask('GET', '/api/iot/cctv/1/gaps')).data
  const [lasting] = await eventually(gaps, ([gap]) => gap?.cause === 'no_events')
  t.match(lasting, { to: null, detail: /had no subscription/ })
  t.match(await eventually(camera, (one) => one.analytics.problemCode === 'no-place'), {
    analytics: { problem: /no subscription left/ },
  })
  analytics.fault = undefined
  await ask('POST', '/api/iot/detection/motion-stream', { cctvId: 1, action: 'start' })
  await eventually(gaps, ([gap]) => gap?.cause === 'no_events' && gap.to !== null)
  t.match(await verified(), { ok: true, mismatches: { length: 0 } })
  await daemon.end('SIGTERM')
  t.equal(analytics.subscriptions, 0)
})
