import t from 'tap'
import type { CameraStatus } from '../../src/video/index.ts'
import { people, testGateway } from '../support/gateway.ts'

const url = 'rtsp://192.0.2.7/main'
const cameras = [{ id: 7, name: 'Dock', url, motion: {} }]
const by = people.ada
const status: CameraStatus = {
  ...{ type: 'status', cameraId: 7, frameCount: 0, lastFrameAt: null, fps: 2, streamFps: 2, restarts: 0 },
  ...{ motionFrames: { count: 0, percentage: 0, lastScore: 0, maxScore: 0 }, droppedFrames: 0 },
  ...{ suppressedSceneChanges: 0, stillSeconds: 0, ringBytes: 1, keyFrameSeconds: 2 },
  ...{ heldSeconds: 9, preRollProblem: null, scene: { state: 'normal', forSeconds: 0 } },
}

t.test('a camera whose motion cannot be found says why, and is an alert after a minute', async (t) => {
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  gateway.cameras.threadStarted()
  const state = { type: 'state', cameraId: 7, state: 'live', problem: null, words: null, at: 0 } as const
  gateway.cameras.heard(state)
  const read = async (path: string) => (await gateway.ask('GET', path, { by })).body
  const say = async (impairment: CameraStatus['impairment']) => {
    gateway.cameras.heard({ ...status, impairment })
    await gateway.health.look()
  }
  for (const [why, kind] of [
    ['few_pictures', 'camera.few-pictures'],
    ['too_busy', 'camera.too-busy'],
  ] as const) {
    await say({ why, agoMs: 59_000 })
    t.match(await read('/api/iot/cctv'), { data: [{ online: true, impairment: { why, forSeconds: 59 } }] })
    t.match(await read('/api/iot/detection/motion-stream?cctvId=7'), { impairment: { why, forSeconds: 59 } })
    t.notMatch((await read('/api/alerts')).data[0], { kind }, 'not yet')
    await say({ why, agoMs: 61_000 })
    t.match((await read('/api/alerts')).data[0], { kind, message: /^Camera 7 \(Dock\) has sent / })
    t.match((await read('/api/health')).checks.cameras, { status: 'degraded', reason: /pictures/ })
    await say({ why: null, agoMs: 0 })
    t.match((await read('/api/alerts')).data[0], { kind: 'camera.seeing' })
    t.match(await read('/api/iot/cctv'), { data: [{ impairment: null }] })
  }
  await say({ why: 'too_busy', agoMs: 61_000 })
  gateway.cameras.heard({ ...state, state: 'stalled' })
  t.match(await read('/api/iot/cctv'), { data: [{ online: false, impairment: null }] }, 'it has another trouble')
})

t.test('a camera that only keeps history needs no pictures in which motion can be found', async (t) => {
  const history = { hours: 24 }
  const gateway = await testGateway({ config: { cameras: [{ id: 7, url, history, motion: { enabled: false } }] } })
  t.teardown(() => gateway.end())
  gateway.cameras.threadStarted()
  gateway.cameras.heard({ type: 'state', cameraId: 7, state: 'live', problem: null, words: null, at: 0 })
  gateway.cameras.heard({ ...status, impairment: { why: 'few_pictures', agoMs: 61_000 } })
  t.match(gateway.cameras.cameraHealth(), [{ id: 7, impairment: null }])
})
