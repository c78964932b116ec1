/** Clips whose video is on the disk and that could not be made yet. */
import t, { type Test } from 'tap'
import type { FromCameras, ToCameras } from '../../src/video/index.ts'
import { people, type TestGateway, testGateway } from '../support/gateway.ts'
import { withRetention } from '../support/retention.ts'

const cameras = [{ id: 7, url: 'rtsp://192.0.2.7/main', owner: 'vera', retentionDays: 3, motion: {} }]
const dayMs = 86_400_000
type GiveUp = Extract<ToCameras, { type: 'giveUpClip' }>

/** A gateway with a clip of now that waits, and what it lets go. */
async function hall(t: Test, config: Record<string, unknown> = { cameras }) {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  const letGo: GiveUp[] = []
  gateway.camerasThread.send = (message: ToCameras) => {
    if (message.type === 'giveUpClip') letGo.push(message)
  }
  gateway.cameras.threadStarted()
  const live = {
    type: 'state',
    cameraId: 7,
    state: 'live',
    problem: null,
    words: null,
    at: 0,
    pictureAgoMs: 0,
  } as const
  await hear(gateway, live)
  const facts = { detectionId: 1, cameraId: 7, motionAt: gateway.clock.now(), score: 0.5, sceneChange: false }
  await hear(gateway, { ...facts, type: 'motionFired', clip: true })
  const words = 'ffmpeg could not be run to its end.'
  await hear(gateway, { type: 'clipWaits', detectionId: 1, words, sizeBytes: 5_000_000, facts: null })
  return { gateway, facts, letGo }
}

async function hear(gateway: TestGateway, ...messages: FromCameras[]): Promise<void> {
  for (const message of messages) gateway.cameras.heard(message)
  for (let i = 0; i < 3; i += 1) await gateway.audit('test.settled', {})
}

const ask = async (gateway: TestGateway, path: string) => (await gateway.ask('GET', path, { by: people.ada })).body

t.test('a clip that could not be made is let go when it is too old, and its loss is a gap', async (t) => {
  const { gateway, facts, letGo } = await hall(t)
  gateway.clock.advance(3 * dayMs - 1000)
  await gateway.retention.look()
  t.same(letGo, [])
  gateway.clock.advance(1000)
  await gateway.retention.look()
  t.match(letGo, [{ facts, words: /before it was too old to be kept \(cameras\[7\]\.retentionDays: 3\)\.$/ }])
  const words = letGo[0]?.words ?? ''
  await hear(gateway, { ...facts, type: 'clipLost', reason: 'given-up', words, endedAt: facts.motionAt + 9000 })
  t.match((await ask(gateway, '/api/iot/detection-events')).data, [{ id: 1, clipStatus: 'lost', reason: words }])
  const at = (ms: number) => new Date(facts.motionAt + ms).toISOString()
  const { data } = await ask(gateway, `/api/iot/cctv/7/gaps?from=${at(-1000)}&to=${at(20_000)}`)
  t.match(
    data.filter(({ detail }: { detail: string }) => detail === words),
    [{ from: at(0), to: at(9000), cause: 'restarted' }],
  )
  await gateway.retention.look()
  t.equal(letGo.length, 1)
})

t.test(
  'a clip that could not be made is let go also when the gateway was killed before it knew the motion',
  async (t) => {
    const { gateway, letGo } = await hall(t)
    const facts = { detectionId: 40, cameraId: 7, motionAt: gateway.clock.now() + 1, score: 0.4, sceneChange: false }
    const waits = { type: 'clipWaits', detectionId: 40, words: 'The disk has no room.', sizeBytes: 1, facts } as const
    await hear(gateway, waits, waits)
    const pending = await gateway.ask('GET', '/api/iot/detection-events/40/clip', { by: people.ada })
    t.match(pending, { status: 503, body: { error: { code: 'CLIP_PENDING' } } })
    gateway.clock.advance(3 * dayMs + 1)
    await gateway.retention.look()
    t.match(letGo[1], { facts, words: /before it was too old to be kept/ })
  },
)

t.test(
  'a clip of which nothing is known but its video goes by the age of its file, unless one of its cameras is held',
  async (t) => {
    const two = [...cameras, { ...cameras[0], id: 8, url: 'rtsp://192.0.2.8/main', retentionDays: 40 }]
    const { gateway } = await hall(t, { cameras: two })
    const removed: ToCameras[] = []
    gateway.camerasThread.send = (message: ToCameras) => {
      if (message.type === 'removeClip' || message.type === 'recorded') removed.push(message)
    }
    const writtenAt = gateway.clock.now() - dayMs
    const waits = { type: 'clipWaits', words: 'ID.json is damaged.', sizeBytes: 5, facts: null, writtenAt } as const
    await hear(gateway, { ...waits, detectionId: 40 })
    gateway.clock.advance(39 * dayMs - 1000)
    await gateway.retention.look()
    t.same(removed, [], 'it may be of the camera that keeps for longest')
    const body = { severity: 'high', category: 'damage', evidenceReferences: [{ type: 'camera', id: 8 }] }
    const incident = await gateway.ask('POST', '/api/governance/incidents', { by: people.ada, body })
    gateway.clock.advance(1000)
    await gateway.retention.look()
    t.same(removed, [], 'held')
    const { config } = gateway.live
    gateway.live.config = { ...config, cameras: [] }
    gateway.cameras.onReload()
    await gateway.retention.look()
    t.same(removed, [], 'still held, also when the camera is gone')
    gateway.live.config = config
    gateway.cameras.onReload()
    await gateway.ask('POST', `/api/governance/incidents/${incident.body.id}/resolve`, {
      by: people.ada,
      body: { resolution: 'x' },
    })
    await gateway.retention.look()
    const words = 'It could not be made into a clip before it was too old to be kept (cameras[8].retentionDays: 40).'
    t.same(removed.splice(0), [{ type: 'removeClip', detectionId: 40, words }])
    await hear(gateway, { type: 'clipRemoved', detectionId: 40, words })
    await gateway.retention.look()
    t.same(removed, [])
    const { data } = await ask(gateway, '/api/governance/audit?action=media.removed')
    t.match(data, [{ entity: 'detection_event', entityId: '40', changes: { reason: words } }])
  },
)

t.test('what is damaged beside a clip that the database has is not said to wait', async (t) => {
  const { gateway, facts } = await hall(t)
  await hear(gateway, { ...facts, type: 'clipLost', reason: 'unreadable', words: 'It shows nothing.' })
  const sent: ToCameras[] = []
  gateway.camerasThread.send = (message: ToCameras) => void sent.push(message)
  await hear(gateway, { type: 'clipWaits', detectionId: 1, words: 'Damaged.', sizeBytes: 5, facts: null, writtenAt: 1 })
  t.match(sent, [{ type: 'recorded', detectionId: 1 }])
  t.equal(gateway.cameras.clipsWaiting(), 'unknown')
})

t.test('a clip that could not be made and is held stays', async (t) => {
  const { gateway, letGo } = await hall(t)
  const body = { severity: 'high', category: 'damage', evidenceReferences: [{ type: 'detection_event', id: 1 }] }
  t.match(await gateway.ask('POST', '/api/governance/incidents', { by: people.ada, body }), { status: 201 })
  gateway.clock.advance(4 * dayMs)
  await gateway.retention.look()
  t.same(letGo, [])
})

t.test('clips that wait are an alert after five minutes, until they are made', async (t) => {
  const { gateway, facts } = await hall(t)
  await gateway.health.look()
  t.notMatch((await ask(gateway, '/api/alerts')).data, [{ kind: 'clips.waiting' }])
  gateway.clock.advance(6 * 60_000)
  await gateway.health.look()
  const message = /^1 clip could not be made yet, the first one for 6 minutes\. ffmpeg could not be run/
  const alerts = (await ask(gateway, '/api/alerts')).data
  t.match(
    alerts.find(({ kind }: { kind: string }) => kind === 'clips.waiting'),
    { message },
  )
  gateway.cameras.threadEnded()
  gateway.cameras.threadStarted()
  await gateway.health.look()
  await hear(gateway, { type: 'leftoversDone', count: 0, kept: [1] })
  await gateway.health.look()
  t.notMatch((await ask(gateway, '/api/alerts')).data[0], { kind: 'clips.recovered' }, 'another thread has it too')
  await hear(gateway, { ...facts, type: 'clipLost', reason: 'unreadable', words: 'It shows nothing.' })
  await gateway.health.look()
  t.match((await ask(gateway, '/api/alerts')).data[0], { kind: 'clips.recovered' })
})

const newestAlert = async (gateway: TestGateway) => (await ask(gateway, '/api/alerts')).data[0]

t.test('clips that wait are said also when no camera is configured any more', async (t) => {
  const { gateway } = await hall(t, {})
  gateway.clock.advance(6 * 60_000)
  await gateway.health.look()
  t.match(await newestAlert(gateway), { kind: 'clips.waiting', message: /^1 clip could not be made yet/ })
  t.match(await ask(gateway, '/api/health'), {
    status: 'degraded',
    checks: { cameras: { status: 'degraded', reason: 'Clips could not be made yet. Their video is kept.' } },
  })
  t.match(await gateway.metricsText(), 'gatehouse_health_troubles{kind="clips.waiting"} 1')
})

t.test('a restart does not end the alert of clips that wait, until it is known what became of them', async (t) => {
  const first = await hall(t)
  first.gateway.clock.advance(6 * 60_000)
  await first.gateway.health.look()
  t.match(await newestAlert(first.gateway), { kind: 'clips.waiting' })
  const gateway = await first.gateway.restart()
  t.teardown(() => gateway.close())
  const isSaid = async (when: string) => {
    await gateway.health.look()
    t.match(await newestAlert(gateway), { kind: 'clips.waiting' }, when)
    t.match((await ask(gateway, '/api/health')).checks.cameras, { status: 'degraded' }, when)
  }
  await isSaid('before the thread runs')
  gateway.cameras.threadStarted()
  await isSaid('before it has looked')
  await hear(gateway, {
    type: 'clipWaits',
    detectionId: 1,
    words: 'The disk has no room.',
    sizeBytes: 5_000_000,
    facts: null,
  })
  await hear(gateway, { type: 'leftoversDone', count: 0, kept: [1] })
  await isSaid('when it has looked')
  await hear(gateway, { ...first.facts, type: 'clipLost', reason: 'unreadable', words: 'It shows nothing.' })
  await gateway.health.look()
  t.match(await newestAlert(gateway), { kind: 'clips.recovered' })
})

t.test('clips of an earlier run that nothing can make, for want of ffmpeg, are said after five minutes', async (t) => {
  const first = await hall(t, {})
  const gateway = await first.gateway.restart()
  t.teardown(() => gateway.close())
  gateway.clock.advance(6 * 60_000)
  await gateway.health.look()
  t.match(await newestAlert(gateway), {
    kind: 'clips.waiting',
    message: /^1 clip .* is not running\. The log of gatehouse/,
  })
})

/** A disk that has 10 bytes less than it should, and clips that could not be made yet. */
async function shortDisk() {
  const gateway = await testGateway({ config: { cameras } })
  const letGo: number[] = []
  const clip = { id: 1, cctvId: 7, firedAtMs: gateway.clock.now(), sizeBytes: 100, isHeld: false, isRefused: false }
  const parts = {
    freeBytes: () => 90,
    settings: () => ({ clipDays: () => ({ days: 1, key: 'none' }), minFreeBytes: 100, keepLocalDays: 90 }),
    waiting: { list: () => [clip], giveUp: (id: number) => letGo.push(id) },
  }
  return { gateway, parts, letGo }
}

t.test('a clip that could not be made makes retention look at once while the disk is short, and once', async (t) => {
  const { gateway, parts, letGo } = await shortDisk()
  let freeBytes = 100
  let looks = 0
  const list = () => {
    looks += 1
    return parts.waiting.list()
  }
  const waiting = { ...parts.waiting, list }
  await withRetention(gateway, { ...parts, waiting, freeBytes: () => freeBytes }, async (retention) => {
    const { clock } = gateway
    /** Says how many clips were let go by now. */
    const after = async (ms: number) => {
      clock.advance(ms)
      for (let i = 0; i < 5; i += 1) await new Promise(setImmediate)
      return letGo.length
    }
    retention.start()
    t.equal(await after(59_000), 0)
    const before = looks
    await retention.clipWaits()
    t.equal(await after(0), 0)
    t.equal(looks, before, 'the disk has room')
    freeBytes = 90
    await retention.clipWaits()
    t.equal(await after(0), 1)
    await retention.clipWaits()
    t.equal(await after(59_000), 1, 'its room comes a moment later')
    t.equal(await after(1000), 2, 'the next look is a minute after that one')
    await retention.stop()
  })
})

t.test('a look that the stop of the gateway ends lets no clip go that could not be made', async (t) => {
  const { gateway, parts, letGo } = await shortDisk()
  await withRetention(gateway, parts, async (retention) => {
    const looked = retention.look()
    await retention.stop()
    await looked
  })
  t.same(letGo, [])
})

t.test('a disk that stays short though clips were let go counts as short', async (t) => {
  const { gateway, parts, letGo } = await shortDisk()
  await withRetention(gateway, parts, async (retention) => {
    await retention.look()
    t.equal(retention.shortfall, undefined, 'their room comes a moment later')
    await retention.look()
    t.same(retention.shortfall, { heldClips: 0, heldBytes: 0 })
  })
  t.same(letGo, [1, 1])
})
