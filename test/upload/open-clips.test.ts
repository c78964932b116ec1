/** Clips that an incident needs go to the storage server while they are being recorded. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Dav, DavRequest } from '../../src/upload/dav/dav.ts'
import { type Connection, Transfer } from '../../src/upload/transfer.ts'
import { people, type TestGateway } from '../support/gateway.ts'
import type { StorageServer } from '../support/storage-server.ts'
import { allAre, begin, bytesOf, clipOf, motionAt, record, settled, uploading } from '../support/uploads.ts'
import { eventually, waitUntil } from '../support/waiting.ts'

const by = people.ada
const packet = 188
const video = bytesOf(30_000 * packet)
const folder = 'gatehouse-dc7/gatehouse/test-site/clips/7/2026/03/02/2026-03-02T08-01-00.000Z_1_parts'

/** Sends the message of the cameras thread about the begin of motion. */
async function fire(gateway: TestGateway, id: number): Promise<void> {
  const atMs = motionAt + id * 60_000
  const facts = { detectionId: id, cameraId: 7, motionAt: atMs, score: 0.42, sceneChange: false }
  gateway.cameras.heard({ type: 'motionFired', ...facts, clip: true })
  await gateway.audit('test.settled', {})
}

/** Writes the first bytes of a clip that the cameras thread is recording. */
function spool(gateway: TestGateway, id: number, bytes: number): void {
  const clips = join(gateway.live.config.dataDir, 'clips')
  mkdirSync(clips, { recursive: true })
  writeFileSync(join(clips, `${id}.ts.part`), video.subarray(0, bytes))
}

/** The cameras thread has made the clip. */
async function close(gateway: TestGateway, id: number): Promise<void> {
  rmSync(join(gateway.live.config.dataDir, 'clips', `${id}.ts.part`), { force: true })
  await record(gateway, id, bytesOf(9000, id))
}

const incident = (gateway: TestGateway, type: string, id: number) =>
  gateway.ask('POST', '/api/governance/incidents', {
    by,
    body: { severity: 'high', category: 'theft', evidenceReferences: [{ type, id }] },
  })

const isPart = (path: string) => /_parts\/\d{5}\.ts$/.test(path)
const partsOn = (server: StorageServer) => [...server.dav.files.keys()].filter(isPart).sort()
const joined = (server: StorageServer) =>
  Buffer.concat(partsOn(server).map((path) => server.dav.files.get(path) as Buffer))

/** Lets the worker look until so much is on the server. */
async function onServer(gateway: TestGateway, server: StorageServer, bytes: number): Promise<void> {
  await eventually(
    async () => {
      gateway.clock.advance(1000)
      return joined(server).length
    },
    (length) => length === bytes,
    { withinMs: 20_000, everyMs: 10 },
  )
}

t.test(
  'an incident in the middle of a recording brings what there is to the server, and then what follows',
  async (t) => {
    const { server, gateway } = await uploading(t)
    await fire(gateway, 1)
    spool(gateway, 1, 2000 * packet + 100)
    gateway.clock.advance(5000)
    await gateway.audit('test.settled', {})
    t.strictSame(partsOn(server), [], 'without an incident a clip waits until it is finished')

    t.equal((await incident(gateway, 'detection_event', 1)).status, 201)
    await onServer(gateway, server, 2000 * packet)
    t.match(await gateway.ask('GET', '/api/iot/detection-events/1/clip', { by: people.vera }), { status: 503 })
    spool(gateway, 1, 9000 * packet)
    await onServer(gateway, server, 9000 * packet)
    t.ok(joined(server).equals(video.subarray(0, 9000 * packet)))
    for (const path of partsOn(server)) t.equal((server.dav.files.get(path) as Buffer).length % packet, 0, path)
    const about = JSON.parse(String(server.dav.files.get(`${folder}/00001.json`)))
    t.match(about, { detectionId: 1, cameraId: 7, timestamp: '2026-03-02T08:01:00.000Z', unfinished: /Joined/ })
    // The last part is on the server before its answer is written down here.
    const { body } = await eventually(
      () => gateway.ask('GET', '/api/uploads', { by }),
      ({ body: { openClips } }) => openClips[0]?.sentBytes === 9000 * packet,
      { withinMs: 20_000, everyMs: 10 },
    )
    t.match(body, {
      data: { length: 0 },
      openClips: [{ detectionId: 1, cctvId: 7, status: 'recording', sentBytes: 9000 * packet }],
    })

    await close(gateway, 1)
    t.match(await settled(gateway, allAre('uploaded')), [{ ref: '1', urgent: true, verified: 'hash' }])
    const areGone = () => {
      gateway.clock.advance(1000)
      return ![...server.dav.files.keys()].some((path) => path.includes('_parts'))
    }
    await waitUntil('its parts are gone', areGone, { withinMs: 20_000 })
    t.match((await gateway.ask('GET', '/api/uploads', { by })).body, { openClips: { length: 0 } })
  },
)

t.test('while an incident names a camera, each of its clips goes from its first second on, and is held', async (t) => {
  const { server, gateway } = await uploading(t)
  const opened = await incident(gateway, 'camera', 7)
  await fire(gateway, 1)
  spool(gateway, 1, 1000 * packet)
  await onServer(gateway, server, 1000 * packet)
  await close(gateway, 1)
  t.match(await settled(gateway, allAre('uploaded')), [{ ref: '1', urgent: true }])
  await gateway.ask('POST', `/api/governance/incidents/${opened.body.id}/resolve`, {
    by,
    body: { resolution: 'found' },
  })
  await fire(gateway, 2)
  spool(gateway, 2, 1000 * packet)
  gateway.clock.advance(5000)
  await close(gateway, 2)
  t.match((await settled(gateway, (rows) => rows.length === 2 && allAre('uploaded')(rows)))[1], { urgent: false })
  t.notOk(
    server.requests.some(({ path }) => path.includes('_2_parts')),
    'after it is resolved they wait again',
  )
})

t.test('a kill in the middle of a part sends the same part again, and nothing is overwritten', async (t) => {
  const { server, gateway } = await uploading(t)
  await fire(gateway, 1)
  spool(gateway, 1, 1000 * packet)
  server.fate = (method, path) => (method === 'PUT' && isPart(path) ? 'lost answer' : undefined)
  await incident(gateway, 'detection_event', 1)
  await waitUntil('the part is there', () => partsOn(server).length === 1)
  await gateway.uploadWorker.stop()
  server.fate = undefined
  spool(gateway, 1, 1500 * packet)

  const again = await gateway.restart()
  t.teardown(() => again.end())
  await begin(t, again)
  await onServer(again, server, 1500 * packet)
  t.ok(joined(server).equals(video.subarray(0, 1500 * packet)))
  const first = server.requests.filter(({ method, path }) => method === 'PUT' && path.endsWith('/00001.ts'))
  t.strictSame(
    first.map(({ headers }) => [headers['content-length'], headers['if-none-match']]),
    [
      [String(1000 * packet), '*'],
      [String(1000 * packet), '*'],
    ],
  )
})

t.test('a failing server gets the parts later, and other files go on beside them', async (t) => {
  const { server, gateway } = await uploading(t)
  await fire(gateway, 2)
  spool(gateway, 2, 1000 * packet)
  server.fate = (method, path) => (method === 'PUT' && isPart(path) ? { status: 500 } : undefined)
  await incident(gateway, 'detection_event', 2)
  await record(gateway, 1, bytesOf(9000))
  await waitUntil('a part was refused', () =>
    server.requests.some(({ method, path }) => method === 'PUT' && isPart(path)),
  )
  t.match(await settled(gateway, allAre('uploaded')), [{ ref: '1' }])
  server.fate = undefined
  await onServer(gateway, server, 1000 * packet)
})

t.test('a clip whose parts are refused keeps no other clip waiting', async (t) => {
  const { server, gateway } = await uploading(t)
  for (const status of [403, 500]) {
    const first = status === 403 ? 1 : 3
    const before = joined(server).length
    server.fate = (method, path) =>
      method === 'PUT' && isPart(path) && path.includes(`_${first}_parts`) ? { status } : undefined
    for (const id of [first, first + 1]) {
      await fire(gateway, id)
      spool(gateway, id, 1000 * packet)
      await incident(gateway, 'detection_event', id)
    }
    await onServer(gateway, server, before + 1000 * packet)
    t.ok(partsOn(server).some((path) => path.includes(`_${first + 1}_parts`)))
    server.fate = undefined
    await onServer(gateway, server, before + 2000 * packet)
  }
})

t.test('what a cut left of a part is removed with the parts, also after a list that cannot be read', async (t) => {
  const { server, gateway } = await uploading(t)
  await fire(gateway, 1)
  spool(gateway, 1, 1000 * packet)
  await incident(gateway, 'detection_event', 1)
  await onServer(gateway, server, 1000 * packet)
  const left = [`${folder}/.00002.ts.0123456789abcdef.part`, `${folder}/.00001.json.0123456789abcdef.part`]
  for (const path of left) server.dav.files.set(path, Buffer.from('cut'))
  let lists = 0
  server.fate = (method, path) => {
    if (method !== 'PROPFIND' || !path.includes('_parts')) return undefined
    lists += 1
    return lists === 1 ? { status: 207 } : undefined
  }
  await close(gateway, 1)
  await settled(gateway, allAre('uploaded'))
  await waitUntil('the parts and what was left are gone', () => {
    gateway.clock.advance(1000)
    return ![...server.dav.files.keys()].some((path) => path.includes('_parts'))
  })
  t.equal(lists, 2)
})

t.test('a list of a folder that cannot be read is tried again later', async (t) => {
  const url = 'https://cloud.example'
  const reply = (status: number) => ({
    kind: 'answer',
    status,
    hash: null,
    sizeBytes: null,
    retryAfterMs: null,
    body: '<',
  })
  const dav = {
    send: async (_to: unknown, _by: unknown, { method }: DavRequest) => reply(method === 'DELETE' ? 204 : 207),
  }
  const account = { instance: { url }, username: 'otto', password: 'secret' }
  const transfer = new Transfer(dav as unknown as Dav, { flavor: 'nextcloud', scheme: 'bearer', account } as Connection)
  t.match(await transfer.clear('/clips/1_parts', ['00001.ts']), { kind: 'wait', error: /cannot be read/ })
})

t.test('when no clip comes of a recording, its parts stay, and so does what is not ours', async (t) => {
  const { server, gateway } = await uploading(t)
  await fire(gateway, 1)
  await fire(gateway, 2)
  for (const id of [1, 2]) {
    spool(gateway, id, 100 * packet)
    await incident(gateway, 'detection_event', id)
  }
  await onServer(gateway, server, 200 * packet)
  const { detectionId, cameraId, score, sceneChange } = clipOf(gateway, 1, video.subarray(0, 10))
  const facts = { detectionId, cameraId, motionAt: motionAt + 60_000, score, sceneChange }
  gateway.cameras.heard({ type: 'clipLost', ...facts, reason: 'disk-failed', words: 'The disk refused.' })
  const other = `${folder.replace('01-00.000Z_1', '02-00.000Z_2')}/notes.txt`
  server.dav.files.set(other, Buffer.from('of somebody else'))
  await close(gateway, 2)
  await settled(gateway, allAre('uploaded'))
  const openClips = await eventually(
    async () => {
      gateway.clock.advance(1000)
      return (await gateway.ask('GET', '/api/uploads', { by })).body.openClips
    },
    (open) => open.length === 1,
    { withinMs: 20_000, everyMs: 10 },
  )
  t.match(openClips, [{ detectionId: 1, status: 'kept' }])
  t.strictSame(partsOn(server), [`${folder}/00001.ts`])
  t.equal(String(server.dav.files.get(other)), 'of somebody else')
})
