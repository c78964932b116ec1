import t from 'tap'
import type { CameraStatus } from '../../src/video/index.ts'
import { people, testGateway } from '../support/gateway.ts'

const cameras = [{ id: 7, name: 'Dock', url: 'rtsp://192.0.2.7/main', motion: { preRecordSeconds: 5 } }]
const by = people.ada

const well: CameraStatus = {
  ...{ type: 'status', cameraId: 7, frameCount: 0, lastFrameAt: null, fps: 5, streamFps: 25, restarts: 0 },
  ...{ motionFrames: { count: 0, percentage: 0, lastScore: 0, maxScore: 0 }, droppedFrames: 0 },
  ...{ suppressedSceneChanges: 0, stillSeconds: 0, ringBytes: 1, keyFrameSeconds: 2 },
  ...{ heldSeconds: 9, preRollProblem: null, scene: { state: 'normal', forSeconds: 0 } },
}

t.test('clips that begin too late for long are an alert that says what to do, until they are well again', async (t) => {
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  gateway.cameras.threadStarted()
  gateway.cameras.heard({ type: 'state', cameraId: 7, state: 'live', problem: null, words: null, at: 0 })
  const alerts = async () => (await gateway.ask('GET', '/api/alerts', { by })).body.data
  const say = async (status: Partial<CameraStatus>, minutes: number) => {
    gateway.cameras.heard({ ...well, ...status })
    gateway.clock.advance(minutes * 60_000)
    gateway.cameras.heard({ ...well, ...status })
    await gateway.health.look()
  }
  const short = { heldSeconds: 1.8, preRollProblem: 'memory' } as const
  await say(short, 4)
  t.strictSame(await alerts(), [], 'a young ring is short too')
  await say(short, 2)
  t.match(await alerts(), [
    {
      kind: 'camera.pre-roll',
      message: /^Camera 7 \(Dock\) keeps only 1\.8 s of video in memory.*5 s before.*raise video\.memoryBytes\.$/,
    },
  ])
  t.match((await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.cameras, { reason: /begin later/ })
  await say({}, 1)
  t.match((await alerts())[0], { kind: 'camera.pre-roll.recovered', message: /is well again/ })
  await say({ keyFrameSeconds: 10, preRollProblem: 'key-frames' }, 6)
  t.match((await alerts())[0], { message: /a key frame only every 10 s.*Set its key frame interval to 5 s or less/ })
  gateway.cameras.heard({ type: 'state', cameraId: 7, state: 'stalled', problem: null, words: null, at: 0 })
  await gateway.health.look()
  t.match((await alerts())[0], { kind: 'camera.pre-roll.recovered' }, 'without pictures it has another trouble')
})
