import t, { type Test } from 'tap'
import { hasPhoto, sendItem, sendPhoto, sendRun } from '../../src/console/page/scan/gateway.ts'
import { MemoryStore, type NewItem, type Photo, type Settled } from '../../src/console/page/scan/items.ts'
import { type QueueState, ScanQueue } from '../../src/console/page/scan/queue.ts'
import { furnish, people, siteUrl, type TestGateway, testGateway, tinyPng } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { waitUntil } from '../support/waiting.ts'

t.setTimeout(300_000)

const batchPath = '/api/whms/events/batch'
const photo: Photo = { bytes: new Uint8Array(tinyPng).buffer, type: 'image/png' }
const inFiveMinutes = 5 * 60_000 + 1
type Doing = { readonly event_type?: string; readonly by?: 'olga' | 'sven' | 'vera'; readonly move?: true }

/** The line between the handheld and its gateway: its requests, and its faults. */
type Line = {
  readonly asked: { readonly path: string; readonly body: string; readonly headers: Headers }[]
  /** Replaces the gateway's answer; undefined keeps it. Throws for a broken line. */
  trouble: (path: string, body: string, answer: () => Promise<Response>) => Promise<Response | undefined>
}

const credentialOf = (username: string) => ({ username, instance: siteUrl, secret: `${username}-secret`, role: '' })
const fault = () =>
  Response.json({ success: false, error: { code: 'INTERNAL_ERROR', message: 'It failed' } }, { status: 500 })

/** A handheld at a gateway with the slots; its scans wait until `send`. */
async function handheld(t: Test, store = new MemoryStore()) {
  const gateway = await testGateway({ clock: new SimulatedClock(Date.now()) })
  await furnish(gateway, ['A-01', 'A-02'])
  const line: Line = { asked: [], trouble: async () => undefined }
  const browsers = globalThis.fetch
  globalThis.fetch = async (path, how) => {
    const body = typeof how?.body === 'string' ? how.body : ''
    line.asked.push({ path: String(path), body, headers: new Headers(how?.headers) })
    const answer = async () => gateway.api.request(String(path), how)
    return (await line.trouble(String(path), body, answer)) ?? (await answer())
  }
  t.teardown(() => {
    globalThis.fetch = browsers
    gateway.end()
  })
  const signedIn = new Set(['olga', 'sven', 'vera'])
  const by = (name: string) => (signedIn.has(name) ? credentialOf(name) : undefined)
  let state: QueueState | undefined
  let [nowMs, isHeld, sending, scans] = [0, true, 0, 0]
  const open = () =>
    new ScanQueue({
      store,
      send: (item) => sendItem(item, by(item.by)),
      sendRun: (run) => sendRun(run, by(run[0]?.by ?? '')),
      hasPhoto: (sent, name) => hasPhoto(sent, by(name)),
      sendPhoto: (bytes, name) => sendPhoto(bytes, by(name)),
      tell: (next) => {
        state = next
      },
      onRefused: () => {},
      alone: async (work) => {
        if (isHeld) return
        sending += 1
        await work().finally(() => {
          sending -= 1
        })
      },
      nowMs: () => nowMs,
    })
  let queue = open()
  const scan = async (pallet: string, slot: string, { event_type = 'REMOVED', by = 'olga', move }: Doing = {}) => {
    scans += 1
    const id = `scan-${scans}`
    const place = move ? { to_slot_code: slot } : { event_type, slot_code: slot }
    const item: NewItem = {
      ...{ id, by, title: `${pallet} · ${slot}`, path: move ? '/api/whms/moves' : '/api/whms/events' },
      body: { asset_barcode: pallet, client_event_id: id, ...place },
      at: new Date(gateway.clock.now() - 60_000 + scans).toISOString(),
    }
    await queue.take(item, move || event_type === 'PLACED' ? photo : undefined)
  }
  const send = async () => {
    isHeld = false
    queue.wake()
    await waitUntil('it has sent what it can', () => sending === 0)
  }
  return {
    ...{
      gateway,
      line,
      scan,
      send,
      signedIn,
      queue: () => queue,
      state: () => state,
      pass: (ms: number) => (nowMs += ms),
    },
    /** Sends until it is so: without waiting for the pauses of the queue. */
    sendUntil: async (isSo: (state: QueueState) => boolean) => {
      await waitUntil('the handheld is as expected', async () => {
        await send()
        return state !== undefined && isSo(state)
      })
    },
    /** As after a restart of the browser. */
    restart: async () => {
      queue = open()
      await queue.start()
    },
  }
}

const sentAll = ({ items }: QueueState) => items.length === 0

async function ledger(gateway: TestGateway): Promise<string[]> {
  const rows: { event_type: string; asset_barcode: string; slot_code: string; actor: string }[] = []
  for (let more = true, seq = 0; more; ) {
    const { body } = await gateway.ask('GET', `/api/whms/events?limit=500&after_seq=${seq}`, { by: people.sven })
    rows.push(...body.data)
    seq = body.data.at(-1)?.seq ?? seq
    more = body.data.length === 500
  }
  return rows.map((row) => `${row.event_type} ${row.asset_barcode} ${row.slot_code} ${row.actor}`)
}

const pathsIn = (line: Line) => line.asked.map(({ path }) => path)
const removals = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `REMOVED P-${from + i} A-01 olga`)

t.test('a thousand kept scans are sent in ten requests, each once and in their order', async (t) => {
  const { gateway, line, scan, send, state } = await handheld(t)
  for (let i = 0; i < 1000; i += 1) await scan(`P-${i}`, 'A-01')
  await send()
  t.equal(state()?.items.length, 0)
  t.equal(state()?.acknowledged, 1000)
  t.strictSame(pathsIn(line), Array(10).fill(batchPath))
  t.strictSame(await ledger(gateway), removals(0, 1000))
  t.ok(line.asked.every(({ headers }) => headers.has('x-device-time') && !headers.has('idempotency-key')))
})

t.test(
  'scans whose answer was lost behind the commit are recorded once, whatever they are sent with again',
  async (t) => {
    const { gateway, line, scan, send, sendUntil, state } = await handheld(t)
    for (let i = 0; i < 3; i += 1) await scan(`P-${i}`, 'A-01')
    line.trouble = async (_path, _body, answer) => {
      await answer()
      throw new TypeError('the line broke')
    }
    await send()
    t.equal(state()?.items.length, 3, 'they stay')
    line.trouble = async () => undefined
    for (let i = 3; i < 6; i += 1) await scan(`P-${i}`, 'A-01')
    await sendUntil(sentAll)
    t.equal(state()?.acknowledged, 6)
    t.strictSame(await ledger(gateway), removals(0, 6))
  },
)

t.test('a refused scan in the middle stays with its reason, and is taken once its slot is there', async (t) => {
  const { gateway, scan, send, sendUntil, queue, state } = await handheld(t)
  await scan('P-0', 'A-01')
  await scan('P-1', 'B-77')
  await scan('P-2', 'A-01', { event_type: 'PLACED' })
  await scan('P-3', 'A-01', { event_type: 'PLACED' })
  await send()
  const [refused, ...others] = state()?.items ?? []
  t.strictSame(others, [])
  t.match(refused, { title: 'P-1 · B-77', refusal: /Read the slot label again/ })
  t.equal(state()?.acknowledged, 3)
  t.match(state()?.remarks.join('\n'), /^P-3 · A-01: /m, 'what the gateway remarked names its scan')
  await gateway.ask('POST', '/api/whms/slots', {
    by: people.ada,
    body: { slot_id: 'B-77', zone: 'S', floor_plan_polygon: [0, 1, 2].map((x) => ({ x, y: x * x })) },
  })
  if (refused) await queue().sendAgain(refused)
  await sendUntil(sentAll)
  t.strictSame(await ledger(gateway), [
    'REMOVED P-0 A-01 olga',
    'PLACED P-2 A-01 olga',
    'PLACED P-3 A-01 olga',
    'REMOVED P-1 B-77 olga',
  ])
})

t.test('a move between placements of one pallet keeps its place', async (t) => {
  const { gateway, line, scan, sendUntil } = await handheld(t)
  await scan('P-1', 'A-01', { event_type: 'PLACED' })
  await scan('P-2', 'A-02', { event_type: 'PLACED' })
  await scan('P-1', 'A-02', { move: true })
  await scan('P-1', 'A-02')
  await scan('P-1', 'A-01', { event_type: 'PLACED' })
  await sendUntil(sentAll)
  t.strictSame(await ledger(gateway), [
    'PLACED P-1 A-01 olga',
    'PLACED P-2 A-02 olga',
    'REMOVED P-1 A-01 olga',
    'PLACED P-1 A-02 olga',
    'REMOVED P-1 A-02 olga',
    'PLACED P-1 A-01 olga',
  ])
  t.strictSame(
    pathsIn(line).filter((path) => !path.endsWith('/photos')),
    [batchPath, '/api/whms/moves', batchPath],
  )
})

t.test(
  'a scan that the gateway fails at is found by halves, and only what is about its pallet waits behind it',
  async (t) => {
    const { gateway, line, scan, sendUntil, pass } = await handheld(t)
    const isAbout = (i: number) => i === 40 || i === 41 || i === 90
    for (let i = 0; i < 100; i += 1) await scan(isAbout(i) ? 'P-odd' : `P-${i}`, isAbout(i) ? 'A-02' : 'A-01')
    line.trouble = async (_path, body) => (body.includes('scan-41"') ? fault() : undefined)
    await sendUntil(({ items, aside }) => items.length === 3 && aside.size === 1)
    const passed = Array.from({ length: 100 }, (_, i) => i).filter((i) => !isAbout(i))
    t.strictSame(
      await ledger(gateway),
      passed.map((i) => `REMOVED P-${i} A-01 olga`),
    )
    t.ok(line.asked.length < 25, `${line.asked.length} requests`)
    line.trouble = async () => undefined
    pass(inFiveMinutes)
    await sendUntil(sentAll)
    t.strictSame((await ledger(gateway)).slice(97), Array(3).fill('REMOVED P-odd A-02 olga'))
  },
)

t.test(
  'each person’s scans are sent by the sign-in of that person; who has to sign in again holds up nobody',
  async (t) => {
    const { gateway, line, scan, send, sendUntil, signedIn, state } = await handheld(t)
    for (let i = 0; i < 6; i += 1) await scan(`P-${i}`, 'A-01', { by: i % 3 === 2 ? 'sven' : 'olga' })
    signedIn.delete('olga')
    await send()
    t.strictSame(await ledger(gateway), ['REMOVED P-2 A-01 sven', 'REMOVED P-5 A-01 sven'])
    t.strictSame(state()?.signInNeeded, ['olga'])
    signedIn.add('olga')
    await sendUntil(sentAll)
    t.strictSame(
      (await ledger(gateway)).slice(2),
      [0, 1, 3, 4].map((i) => `REMOVED P-${i} A-01 olga`),
    )
    t.strictSame(
      line.asked.map(({ headers }) => headers.get('x-storage-username')),
      ['sven', 'olga'],
    )
  },
)

t.test('whoever may record nothing has each scan refused by one answer', async (t) => {
  const { gateway, line, scan, send, state } = await handheld(t)
  for (let i = 0; i < 3; i += 1) await scan(`P-${i}`, 'A-01', { by: 'vera' })
  await send()
  t.strictSame(
    state()?.items.map(({ refusal }) => /You may not do this/.test(refusal ?? '')),
    [true, true, true],
  )
  t.equal(line.asked.length, 1)
  t.strictSame(await ledger(gateway), [])
})

t.test('a restart between the answer and its storing sends all again, and records and counts each once', async (t) => {
  class Broken extends MemoryStore {
    isBroken = true
    override async settle(settled: readonly Settled[]): Promise<void> {
      if (this.isBroken) throw new Error('the battery fell out')
      await super.settle(settled)
    }
  }
  const store = new Broken()
  const { gateway, scan, send, sendUntil, restart, state } = await handheld(t, store)
  for (let i = 0; i < 4; i += 1) await scan(`P-${i}`, 'A-01')
  await send()
  t.equal((await ledger(gateway)).length, 4)
  store.isBroken = false
  await restart()
  await sendUntil(sentAll)
  t.equal(state()?.acknowledged, 4)
  t.strictSame(await ledger(gateway), removals(0, 4))
})

t.test('an answer that leaves out a scan, or says two things of one, counts for none of them', async (t) => {
  const { gateway, line, scan, sendUntil, state } = await handheld(t)
  for (let i = 0; i < 4; i += 1) await scan(`P-${i}`, 'A-01')
  const changes = [(all: unknown[]) => all.slice(1), (all: unknown[]) => [...all.slice(1), all[1]]]
  line.trouble = async (path, _body, answer) => {
    const change = path === batchPath ? changes.shift() : undefined
    if (!change) return undefined
    const { results } = (await (await answer()).json()) as { results: unknown[] }
    return Response.json({ success: true, results: change(results) })
  }
  await sendUntil(sentAll)
  t.equal(state()?.acknowledged, 4)
  t.strictSame(await ledger(gateway), removals(0, 4))
  t.strictSame(
    pathsIn(line),
    [batchPath, batchPath, ...Array(2).fill('/api/whms/events'), batchPath],
    'all, the first half, its two, and the other half',
  )
})

t.test('a photo that the gateway has is not sent again', async (t) => {
  const { gateway, line, scan, send, sendUntil, state } = await handheld(t)
  await scan('P-0', 'A-01', { event_type: 'PLACED' })
  line.trouble = async (path) => {
    if (path.endsWith('/photos')) return undefined
    throw new TypeError('the line broke')
  }
  await send()
  t.equal(state()?.items.length, 1)
  line.trouble = async () => undefined
  await sendUntil(sentAll)
  t.strictSame(await ledger(gateway), ['PLACED P-0 A-01 olga'])
  t.equal(pathsIn(line).filter((path) => path.endsWith('/photos')).length, 1)
})

t.test('a photo that a restored gateway does not have any more is sent again, with its event', async (t) => {
  const { gateway, line, scan, send, sendUntil } = await handheld(t)
  await scan('P-0', 'A-01', { event_type: 'PLACED' })
  line.trouble = async (path) => {
    if (path.endsWith('/photos')) return undefined
    throw new TypeError('the line broke')
  }
  await send()
  let isAsked = false
  line.trouble = async (path, _, answer) => {
    if (!/\/photos\/[0-9a-f]{64}$/.test(path)) return undefined
    isAsked = true
    t.equal((await answer()).status, 200)
    return Response.json({ success: false, error: { code: 'NOT_FOUND', message: 'No such photo' } }, { status: 404 })
  }
  await sendUntil(sentAll)
  t.ok(isAsked)
  t.strictSame(await ledger(gateway), ['PLACED P-0 A-01 olga'])
  t.equal(pathsIn(line).filter((path) => path.endsWith('/photos')).length, 2)
})

t.test(
  'a photo that the slow line never lets through is set aside, and the others pass; a dead line sets none aside',
  async (t) => {
    const { gateway, line, scan, send, sendUntil, state, pass } = await handheld(t)
    await scan('P-0', 'A-01', { event_type: 'PLACED' })
    await scan('P-1', 'A-02')
    let isDead = true
    line.trouble = async (path) => {
      if (isDead || path.endsWith('/photos')) throw new DOMException('it took too long', 'TimeoutError')
      return undefined
    }
    for (let i = 0; i < 4; i += 1) await send()
    t.equal(state()?.aside.size, 0)
    isDead = false
    await sendUntil(({ items, aside }) => items.length === 1 && aside.size === 1)
    t.strictSame([...(state()?.aside.values() ?? [])], ['The network is too slow here'])
    t.strictSame(await ledger(gateway), ['REMOVED P-1 A-02 olga'])
    line.trouble = async () => undefined
    pass(inFiveMinutes)
    await sendUntil(sentAll)
    t.strictSame((await ledger(gateway)).slice(1), ['PLACED P-0 A-01 olga'])
  },
)

t.test('a large photo has as much time as a slow line needs for it', async (t) => {
  const { timeout } = AbortSignal
  const limits: number[] = []
  AbortSignal.timeout = (ms) => {
    limits.push(ms)
    return timeout.call(AbortSignal, ms)
  }
  t.teardown(() => {
    AbortSignal.timeout = timeout
  })
  const { line } = await handheld(t)
  line.trouble = async () => fault()
  await sendPhoto({ bytes: new ArrayBuffer(1_000_000), type: 'image/jpeg' }, credentialOf('olga'))
  t.ok((limits[0] ?? 0) >= 120_000, `${limits[0]} ms for a megabyte`)
})
