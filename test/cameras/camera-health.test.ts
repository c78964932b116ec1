import t from 'tap'
import type { CameraState } from '../../src/video/index.ts'
import { people, testGateway } from '../support/gateway.ts'

const cameras = [
  { id: 7, name: 'Dock', url: 'rtsp://192.0.2.7/main', motion: {} },
  { id: 8, name: 'Gate', url: 'rtsp://192.0.2.8/main', motion: { enabled: false } },
]

const unreachable = {
  what: 'Nothing answers at the address of the camera.',
  hint: 'Check its power, its cable and the host and port of the url.',
}

async function hall() {
  const gateway = await testGateway({ config: { cameras } })
  const startedMs = gateway.clock.now()
  gateway.cameras.threadStarted()
  const say = (state: CameraState['state'], words: CameraState['words'] = null) =>
    gateway.cameras.heard({
      ...{ type: 'state', cameraId: 7, state, words, problem: words && 'unreachable', at: gateway.clock.now() },
    })
  return { gateway, startedMs, say, dock: () => gateway.cameras.cameraHealth()[0] }
}

t.test('a camera without pictures is bad since it was last well, however often it is tried', async (t) => {
  const { gateway, say, dock } = await hall()
  t.teardown(() => gateway.end())
  say('connecting')
  say('live')
  gateway.clock.advance(3_600_000)
  t.strictSame(dock(), { id: 7, name: 'Dock', badSinceMs: null, problem: null, scene: null, impairment: null })
  t.ok(gateway.cameras.areWell())
  const pulledMs = gateway.clock.now()
  for (let tries = 0; tries < 20; tries += 1) {
    say('stalled', unreachable)
    say('backing-off', unreachable)
    gateway.clock.advance(30_000)
    say('connecting', unreachable)
  }
  t.match(dock(), { badSinceMs: pulledMs, problem: `${unreachable.what} ${unreachable.hint}` })
  t.notOk(gateway.cameras.areWell())
  say('live')
  t.match(dock(), { badSinceMs: null, problem: null })
  t.ok(gateway.cameras.areWell())
})

t.test('a camera that never gave a picture is bad since it was first wanted', async (t) => {
  const { gateway, startedMs, say, dock } = await hall()
  t.teardown(() => gateway.end())
  t.match(dock(), { badSinceMs: startedMs, problem: /not running/ })
  gateway.clock.advance(10_000)
  say('connecting')
  t.match(dock(), { badSinceMs: startedMs, problem: /No picture has come yet/ })
  gateway.clock.advance(49_000)
  t.ok(gateway.cameras.areWell())
  gateway.clock.advance(2000)
  t.notOk(gateway.cameras.areWell())
})

t.test('a wall clock that is set makes no outage longer or shorter', async (t) => {
  const { gateway, say, dock } = await hall()
  t.teardown(() => gateway.end())
  say('live')
  say('stalled', unreachable)
  gateway.clock.advance(5000)
  gateway.clock.setWall(gateway.clock.now() + 3_600_000)
  t.equal(gateway.clock.now() - (dock()?.badSinceMs ?? 0), 5000)
})

t.test('a camera whose detection is off is not missed, and is bad from the start that follows', async (t) => {
  const { gateway, say, dock } = await hall()
  t.teardown(() => gateway.end())
  say('live')
  const control = (action: string) =>
    gateway.ask('POST', '/api/iot/detection/motion-stream', { by: people.ada, body: { cctvId: 7, action } })
  await control('stop')
  say('offline')
  t.strictSame(gateway.cameras.cameraHealth(), [])
  gateway.clock.advance(7_200_000)
  await control('start')
  t.equal(dock()?.badSinceMs, gateway.clock.now())
})

t.test('when the thread of the cameras ends, every camera is without pictures from then on', async (t) => {
  const { gateway, say, dock } = await hall()
  t.teardown(() => gateway.end())
  say('live')
  gateway.clock.advance(60_000)
  gateway.cameras.threadEnded()
  const endedMs = gateway.clock.now()
  gateway.clock.advance(5000)
  t.match(dock(), { badSinceMs: endedMs, problem: /not running/ })
  const shown = async () => (await gateway.ask('GET', '/api/iot/cctv', { by: people.ada })).body.data[0].problem
  t.match(await shown(), /not running/, 'it is shown with the camera, too')
  gateway.cameras.threadEnded('no-ffmpeg')
  t.match(dock(), { badSinceMs: endedMs, problem: /ffmpeg.* cannot be started\. Install it/ })
  t.match(await shown(), /cannot be started\. Install it/)
  t.notMatch(await gateway.ask('GET', '/api/iot/cctv', { by: people.ada }), { body: { data: [{ state: 'live' }] } })
})
