import t from 'tap'
import type { OutSocket } from '../../src/http/index.ts'
import type { FromCameras } from '../../src/video/index.ts'
import { people, type TestGateway, testGateway } from '../support/gateway.ts'

const cameras = [{ id: 7, name: 'Dock', url: 'rtsp://192.0.2.7/main', motion: { enabled: false } }]

class Socket implements OutSocket {
  bufferedBytes = 0
  readonly sent: Uint8Array[] = []
  ended: { code: number; reason: string } | undefined
  #closed = () => {}
  send(bytes: Uint8Array): void {
    this.sent.push(bytes)
  }
  close(code: number, reason: string): void {
    this.ended = { code, reason }
    this.#closed()
  }
  onClose(listener: () => void): void {
    this.#closed = listener
  }
}

async function hall(t: { teardown(end: () => unknown): void }): Promise<TestGateway> {
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  gateway.cameras.threadStarted()
  return gateway
}

const caller = { ...people.ada, instance: 'http://127.0.0.1:8480', groups: [], authMode: 'session' } as const
const ada = { ...caller, permissions: new Set(['cameras:read'] as const) }

function watch({ liveViews }: TestGateway): Socket {
  const socket = new Socket()
  const by = { caller: ada, requestId: 'r', address: '127.0.0.1' }
  const view = { cctvId: 7, format: 'mpegts', codecs: ['h264'], by, callerNow: async () => ada } as const
  liveViews.open(socket, view)
  return socket
}

const picture = (feed: number, key: boolean, n: number): FromCameras => ({
  ...{ type: 'livePicture', feed, cameraId: 7, codec: 'h264', key, bytes: new Uint8Array([n]) },
})

t.test('who joins later begins with what there is since the newest key frame', async (t) => {
  const gateway = await hall(t)
  const first = watch(gateway)
  for (const [i, key] of [true, false, true, false].entries()) gateway.liveViews.heard(picture(1, key, i))
  const second = watch(gateway)
  t.same(
    first.sent.map(([n]) => n),
    [0, 1, 2, 3],
  )
  t.same(
    second.sent.map((bytes) => [...bytes]),
    [[2, 3]],
  )
})

t.test('late pictures of an earlier feed are shown to nobody', async (t) => {
  const gateway = await hall(t)
  watch(gateway).close(1000, '')
  const socket = watch(gateway)
  gateway.liveViews.heard(picture(1, true, 0))
  gateway.liveViews.heard(picture(2, true, 1))
  t.same(
    socket.sent.map(([n]) => n),
    [1],
  )
})

t.test('a viewer who takes nothing is ended with 4408', async (t) => {
  const gateway = await hall(t)
  const socket = watch(gateway)
  gateway.liveViews.heard(picture(1, true, 0))
  socket.bufferedBytes = 5_000_000
  gateway.liveViews.heard(picture(1, false, 1))
  gateway.clock.advance(10_001)
  gateway.liveViews.heard(picture(1, true, 2))
  t.equal(socket.sent.length, 1)
  t.match(socket.ended, { code: 4408, reason: /too slow/ })
})

t.test('one caller has sixteen views at most', async (t) => {
  const gateway = await hall(t)
  const sockets = Array.from({ length: 17 }, () => watch(gateway))
  t.ok(sockets.slice(0, 16).every(({ ended }) => ended === undefined))
  t.match(sockets[16]?.ended, { code: 4429, reason: /16 live views of one caller/ })
})

t.test('the audit trail has one row for a view that was interrupted, with its span', async (t) => {
  const gateway = await hall(t)
  const first = watch(gateway)
  gateway.clock.advance(2000)
  first.close(1000, '')
  gateway.clock.advance(1000)
  const second = watch(gateway)
  gateway.clock.advance(2000)
  second.close(1000, '')
  await gateway.viewBook.flush()
  const { body } = await gateway.ask('GET', '/api/governance/audit?action=camera.viewed', { by: people.ada })
  t.equal(body.data.length, 1)
  t.match(body.data[0], { entity: 'camera', entityId: '7', changes: { format: 'mpegts', seconds: 5 } })
})

const audited = async (gateway: TestGateway, action: string) => {
  // Earlier writes are committed with the next one.
  await gateway.audit('test.settled', {})
  const { body } = await gateway.ask('GET', `/api/governance/audit?action=${action}`, { by: people.ada })
  return body.data.map(({ changes }: { changes: object }) => changes)
}

t.test('who watches is in the audit trail at once: pulling the plug hides nothing', async (t) => {
  const gateway = await hall(t)
  const first = watch(gateway)
  t.strictSame(await audited(gateway, 'camera.view_began'), [{ format: 'mpegts' }])
  first.close(1000, '')
  gateway.clock.advance(29_000)
  watch(gateway)
  t.equal((await audited(gateway, 'camera.view_began')).length, 1, 'a view that goes on is no other one')
})

t.test('the first snapshot of a caller is in the audit trail at once, and the others are counted', async (t) => {
  const gateway = await hall(t)
  gateway.camerasThread.send = (message) => {
    if (message.type !== 'snapshot') return
    const [{ ask }, takenAt] = [message, gateway.clock.now()]
    queueMicrotask(() => gateway.snapshots.heard({ type: 'snapshotTaken', ask, takenAt, png: new Uint8Array([1]) }))
  }
  const take = () => gateway.ask('GET', '/api/iot/cctv/7/snapshot', { by: people.ada })
  t.equal((await take()).status, 200)
  t.match(await audited(gateway, 'camera.snapshot_taken'), { length: 1, 0: { count: 1 } })
  for (const _ of [2, 3]) await take()
  t.match(await audited(gateway, 'camera.snapshot_taken'), { length: 1 })
  gateway.clock.advance(10 * 60_000)
  t.match(await audited(gateway, 'camera.snapshot_taken'), { length: 2, 0: { count: 2 }, 1: { count: 1 } })
  gateway.clock.advance(10 * 60_000)
  t.match(await audited(gateway, 'camera.snapshot_taken'), { length: 2 }, 'nothing is written of nothing')
})

t.test('a picture that is too old is no snapshot', async (t) => {
  const gateway = await hall(t)
  const takenAt = gateway.clock.now() - 2001
  gateway.camerasThread.send = (message) => {
    if (message.type !== 'snapshot') return
    const { ask } = message
    queueMicrotask(() => gateway.snapshots.heard({ type: 'snapshotTaken', ask, takenAt, png: new Uint8Array([1]) }))
  }
  const answer = await gateway.ask('GET', '/api/iot/cctv/7/snapshot', { by: people.ada })
  t.equal(answer.status, 503)
  t.match(answer.body.error, { code: 'NO_PICTURE', details: /older than 2 s/ })
})

t.test('while the cameras thread does not run, a viewer is told so', async (t) => {
  const gateway = await hall(t)
  gateway.cameras.threadEnded()
  t.match(watch(gateway).ended, { code: 4503, reason: /reads the cameras is not running/ })
})
