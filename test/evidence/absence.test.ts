import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { common } from '../../src/cameras/gaps/gaps.ts'
import { run } from '../../src/cli/run.ts'
import { plainWords } from '../../src/video/problems.ts'
import { canonical } from '../support/evidence/bundle.ts'
import { parseCheckpoint } from '../support/evidence/checkpoint.ts'
import { openNote, parseNote, parseVkey } from '../support/evidence/note.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'

const by = people.vera
const camera = { id: 7, name: 'Dock', url: 'rtsp://192.0.2.7/main', owner: 'vera', slots: ['A'] }

/** A hall with slots A and B and a camera on A that is live from the start on. */
async function hall(t: Test, config: Record<string, unknown> = {}) {
  const gateway = await testGateway({ config: { cameras: [camera], ...config } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  gateway.cameras.threadStarted()
  const startMs = gateway.clock.now()
  const at = (seconds: number) => new Date(startMs + seconds * 1000).toISOString()
  const photo_url = await heldPhoto(gateway)
  const place = (slot_code: string, more: Record<string, unknown> = {}) =>
    gateway.ask('POST', '/api/whms/events', {
      by: people.sven,
      body: { event_type: 'PLACED', slot_code, asset_barcode: `P-${slot_code}`, photo_url, ...more },
    })
  const untouched = (from: number, to: number, path = 'A', more = '') =>
    gateway.ask('GET', `/api/whms/slots/${path}/untouched?from=${at(from)}&to=${at(to)}${more}`, { by })
  const state = async (state: 'live' | 'backing-off') => {
    const problem = state === 'live' ? null : ('closed' as const)
    const words = problem && plainWords(problem)
    gateway.cameras.heard({
      type: 'state',
      cameraId: 7,
      at: gateway.clock.now(),
      state,
      problem,
      words,
      pictureAgoMs: 0,
    })
    for (const _ of [1, 2, 3]) await gateway.audit('test.settled', {})
  }
  return { gateway, at, place, untouched, state }
}

const logKey = async (gateway: TestGateway) => (await gateway.ask('GET', '/api/health', { by: people.ada })).body.logKey

t.test('a slot that nobody touched while a camera saw it all the time is stated as untouched', async (t) => {
  const { gateway, at, place, untouched, state } = await hall(t)
  await state('live')
  await place('A')
  await place('B')
  gateway.clock.advance(100_000)
  const { status, body } = await untouched(50, 100)
  t.equal(status, 200)
  t.match(body, {
    slot: { id: 1, slot_id: 'A', warehouseId: 1 },
    ...{
      from: at(50),
      to: at(100),
      untouched: true,
      events: { length: 0 },
      recordedAfter: { length: 0 },
      recordedWithin: { length: 0 },
    },
    ...{
      watchedShare: 1,
      gaps: { length: 0 },
      otherCameras: false,
      complete: true,
      madeAt: at(100),
      lateEventsUntil: null,
    },
    cameras: [{ cctvId: 7, watchedShare: 1, detections: { length: 0 } }],
    checkpoint: { logId: gateway.logIdentity.logId, size: 2 },
  })
  const touched = (await untouched(0, 100)).body
  t.match(touched, { untouched: false, events: [1] })
})

t.test('the statement is a signed note that a stranger checks, and never a checkpoint', async (t) => {
  const { gateway, place, untouched } = await hall(t)
  await place('B')
  gateway.clock.advance(100_000)
  const { body } = await untouched(0, 100)
  const alone = await untouched(0, 100, 'A', '&format=note')
  t.match(alone.headers.get('content-type'), /^text\/x\.signed-note/)
  const { note, success: _, ...statement } = body
  const key = parseVkey(await logKey(gateway))
  const { text } = parseNote(note)
  t.equal(text, `gatehouse untouched statement v1\n${canonical(statement)}\n`)
  t.equal(openNote(note, [key]).signed.length, 1)
  t.equal(openNote(alone.text, [key]).signed.length, 1)
  t.throws(() => parseCheckpoint(note), 'no checkpoint')
  const inside = parseCheckpoint(statement.checkpoint.note)
  t.match(inside, { size: 1, origin: key.name })
  t.equal(openNote(statement.checkpoint.note, [key]).signed.length, 1)
})

t.test('at the box or anywhere, the command checks a statement and refuses a changed one', async (t) => {
  const { gateway, untouched } = await hall(t)
  gateway.clock.advance(100_000)
  const { text } = await untouched(0, 100, 'A', '&format=note')
  const key = await logKey(gateway)
  const file = join(gateway.folder, 'slot.note')
  const verify = (bytes: string, ...more: string[]) => {
    writeFileSync(file, bytes)
    return run(['ledger', 'verify', file, ...more])
  }
  t.equal(await verify(text), 0)
  t.equal(await verify(text, '--key', key), 0)
  t.equal(await verify(text.replace('"watchedShare":0', '"watchedShare":1')), 1, 'another share')
  t.equal(await verify(text.replace('"untouched":true', '"untouched": true')), 1, 'another form')
  t.equal(await verify(text.replace(/\u2014 .*\n$/, '')), 1, 'without signature')
  const other = await testGateway()
  t.teardown(() => other.end())
  t.equal(await verify(text, '--key', await logKey(other)), 1, 'the key of another log')
})

t.test('a time that is not over, or empty, is not stated', async (t) => {
  const { gateway, untouched } = await hall(t)
  gateway.clock.advance(100_000)
  for (const [from, to] of [
    [0, 101],
    [200, 300],
    [50, 50],
    [60, 50],
  ] as const) {
    const answer = await untouched(from, to)
    t.match(answer, { status: 400, body: { error: { fields: [{ path: 'to' }] } } }, `${from} to ${to}`)
    t.notMatch(answer.text, /untouched"/)
  }
  t.equal((await untouched(0, 100)).status, 200, 'up to now')
})

t.test(
  'an event that was recorded later about the time is named, and one that was recorded in it about another',
  async (t) => {
    const { gateway, at, place, untouched } = await hall(t, { ledger: { maxAge: '1h' } })
    gateway.clock.advance(60_000)
    await place('A', { timestamp: at(10) })
    gateway.clock.advance(60_000)
    t.match((await untouched(50, 70)).body, { untouched: true, events: { length: 0 }, recordedWithin: [1] })
    t.match((await untouched(0, 30)).body, {
      untouched: false,
      events: [1],
      recordedAfter: [1],
      recordedWithin: { length: 0 },
    })
    t.match((await untouched(0, 100)).body, {
      events: [1],
      recordedAfter: { length: 0 },
      recordedWithin: { length: 0 },
    })
    t.equal(
      (await untouched(0, 30)).body.lateEventsUntil,
      at(30 + 3600),
      'later events about it are refused from then on',
    )
  },
)

t.test('gaps of the camera are named with their cause, and lower the share', async (t) => {
  const { gateway, untouched, state } = await hall(t)
  await state('live')
  gateway.clock.advance(40_000)
  await state('backing-off')
  gateway.clock.advance(20_000)
  await state('live')
  gateway.clock.advance(40_000)
  const { body } = await untouched(0, 100)
  t.match(body, { watchedShare: 0.8, gaps: [{ cctvId: 7, cause: 'offline' }], cameras: [{ watchedShare: 0.8 }] })
  t.match((await untouched(0, 100, 'B')).body, { watchedShare: 0, cameras: { length: 0 }, otherCameras: false })
  const stranger = await gateway.ask('GET', `/api/whms/slots/A/untouched?from=${body.from}&to=${body.to}`, {
    by: people.olga,
  })
  t.match(
    stranger.body,
    { watchedShare: 0, cameras: { length: 0 }, gaps: { length: 0 }, otherCameras: true },
    'a camera of others is not shown',
  )
})

t.test('a slot in a hidden warehouse is as one that is not there', async (t) => {
  const { gateway, untouched, at } = await hall(t, { warehouses: [{ id: 1, viewers: ['sven'] }] })
  gateway.clock.advance(100_000)
  const [hidden, absent] = [await untouched(0, 100, 'A'), await untouched(0, 100, 'Z')]
  const plain = ({ status, body }: typeof hidden) => ({ status, ...body, error: { ...body.error, requestId: '' } })
  t.equal(hidden.status, 404)
  t.strictSame(plain(hidden), plain(absent))
  const path = `/api/whms/slots/A/untouched?from=${at(0)}&to=${at(100)}`
  t.equal((await gateway.ask('GET', path, { by: people.sven })).status, 200)
})

t.test('what two cameras missed together is what none of them saw', (t) => {
  const span = (fromMs: number, toMs: number) => ({ fromMs, toMs })
  t.strictSame(common([span(0, 10)], [span(20, 30)]), [])
  t.strictSame(common([span(0, 10), span(20, 30)], [span(5, 25)]), [span(5, 10), span(20, 25)])
  t.strictSame(common([span(0, 100)], [span(0, 1), span(2, 3), span(99, 200)]), [span(0, 1), span(2, 3), span(99, 100)])
  t.strictSame(common([span(0, 10)], [span(0, 10)]), [span(0, 10)])
  t.end()
})
