import { join } from 'node:path'
import t, { type Test } from 'tap'
import { askCameraClock } from '../../src/app/threads/camera-clock.ts'
import { askDeviceClock, searchDevices } from '../../src/app/threads/onvif-thread.ts'
import { systemClock } from '../../src/platform/index.ts'
import { footage } from '../support/footage.ts'
import { people, type TestGateway } from '../support/gateway.ts'
import { startResponder } from '../support/onvif/responder.ts'
import { detection, gatewayWithClip } from '../support/recorded-clip.ts'
import { startRtspServer } from '../support/rtsp/server.ts'

const hour = 3_600_000
const signal = new AbortController().signal
const empty = await footage('empty')

async function cameraWith(t: Test, clockAheadMs?: number): Promise<string> {
  const server = await startRtspServer({
    streams: { dock: empty },
    ...(clockAheadMs !== undefined && { clockAheadMs }),
  })
  t.teardown(() => server.stop())
  return server.url('dock')
}

const sourceOf = (url: string) => ({ url, username: null, password: null })
const body = async (gateway: TestGateway, path: string) => (await gateway.ask('GET', path, { by: people.sven })).body

t.test('a camera is asked for its time by RTSP, and by ONVIF, and the answer says how exact it is', async (t) => {
  const needs = { clock: systemClock, signal }
  const { measured } = await askCameraClock(sourceOf(await cameraWith(t, -90_000)), needs)
  t.match(measured, { by: 'rtsp' })
  t.ok(Math.abs((measured?.offsetMs ?? 0) + 90_000) <= (measured?.uncertaintyMs ?? 0), JSON.stringify(measured))
  t.ok((measured?.uncertaintyMs ?? 0) >= 500, 'a second is told without its fraction')
  const device = await startResponder({ clockAheadMs: 3 * hour })
  t.teardown(() => device.stop())
  const place = { host: '127.0.0.1', port: device.port, path: '/onvif/device_service', secure: false }
  const answer = await askDeviceClock(needs, place)
  t.ok(
    Math.abs((answer?.aheadSeconds ?? 0) - 3 * 3600) <= 0.5 + (answer?.roundTripMs ?? 0) / 2000,
    JSON.stringify(answer),
  )
  t.equal(device.requests(), 1, 'nothing but its time is asked')
  const garbage = await startResponder({ fault: 'garbage' })
  t.teardown(() => garbage.stop())
  t.equal(await askDeviceClock(needs, { ...place, port: garbage.port }), null)
})

t.test('a thread that does not start is no device that tells nothing', async (t) => {
  const folder = t.testdir({ 'onvif-worker.cjs': "throw new Error('no such module')" })
  t.intercept(process, 'env', { value: { ...process.env, GATEHOUSE_PROGRAM: join(folder, 'program.cjs') } })
  const needs = { clock: systemClock, signal }
  await t.rejects(searchDevices(needs, ['lo'], 1), /does not start: no such module/)
  const place = { host: '127.0.0.1', port: 9, path: '/', secure: false }
  await t.rejects(askDeviceClock(needs, place), /does not start: no such module/)
})

/** A gateway with a recorded clip of a camera whose clock is an hour ahead of the gateway's. */
async function hall(t: Test, saysTime = true) {
  const { gateway } = await gatewayWithClip(t, {
    cameras: [
      { id: 7, url: 'rtsp://192.0.2.7/main', enabled: false, owner: 'vera', viewers: ['sven'] },
      { id: 8, url: await cameraWith(t), enabled: true, viewers: ['sven'] },
    ],
  })
  const url = await cameraWith(t, saysTime ? gateway.clock.now() + hour - Date.now() : undefined)
  const [camera, other] = gateway.live.config.cameras
  if (!camera || !other) throw new Error('two cameras')
  gateway.live.config = { ...gateway.live.config, cameras: [{ ...camera, url, enabled: true }, other] }
  await gateway.cameraClocks.look()
  return gateway
}

t.test("the offset of a camera's clock stands beside its clips, and is the default of an export", async (t) => {
  const gateway = await hall(t)
  const { data: cameras } = await body(gateway, '/api/iot/cctv')
  const clock = cameras[0].cameraClock
  t.match(clock, { by: 'rtsp', measuredAt: new Date(gateway.clock.now()).toISOString() })
  t.ok(Math.abs(clock.offsetMs - hour) < 60_000, `${clock.offsetMs}`)
  t.equal(cameras[1].cameraClock, null, 'the other tells no time, and none is made up')
  t.strictSame((await body(gateway, detection)).cameraClock, clock)
  const ask = (request: object) =>
    gateway.ask('POST', `${detection}/export`, { by: people.sven, body: { reason: 'Police', ...request } })
  t.match((await ask({})).body.clock, {
    ...{ cameraOffsetMs: clock.offsetMs, cameraOffsetBy: 'rtsp', cameraOffsetMeasuredAt: clock.measuredAt },
  })
  t.match((await ask({ cameraClockOffsetMs: -7 })).body.clock, {
    ...{ cameraOffsetMs: -7, cameraOffsetBy: 'stated', cameraOffsetMeasuredAt: null },
  })
})

t.test('a camera that tells no time has no offset anywhere', async (t) => {
  const gateway = await hall(t, false)
  t.equal((await body(gateway, '/api/iot/cctv')).data[0].cameraClock, null)
  t.equal((await body(gateway, detection)).cameraClock, null)
  const { body: made } = await gateway.ask('POST', `${detection}/export`, {
    by: people.sven,
    body: { reason: 'Police' },
  })
  t.match(made.clock, { cameraOffsetMs: null, cameraOffsetBy: null, cameraOffsetMeasuredAt: null })
})

t.test('a camera is measured once an hour, and every measurement stays', async (t) => {
  const gateway = await hall(t)
  const measuredAt = async () => (await body(gateway, '/api/iot/cctv')).data[0].cameraClock.measuredAt
  const first = await measuredAt()
  gateway.clock.advance(hour - 1)
  await gateway.cameraClocks.look()
  t.equal(await measuredAt(), first)
  gateway.clock.advance(1)
  await gateway.cameraClocks.look()
  t.equal(await measuredAt(), new Date(Date.parse(first) + hour).toISOString())
  t.equal((await body(gateway, detection)).cameraClock.measuredAt, first, 'the clip keeps the one of its time')
})

t.test("a measurement is not compared with a clip from before the gateway's own clock was set", async (t) => {
  const gateway = await hall(t)
  t.ok((await body(gateway, detection)).cameraClock)
  gateway.clock.setWall(gateway.clock.now() - 3000)
  await gateway.clockBook.look()
  t.equal((await body(gateway, detection)).cameraClock, null)
})
