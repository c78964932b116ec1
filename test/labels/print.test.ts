import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as real } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { afterAttempt, isDue } from '../../src/labels/print-state.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'

const by = people.olga

/** A printer at a real socket: keeps what it was sent, and treats each connection as `manner` says. */
class Printer {
  readonly labels: string[] = []
  readonly #sockets = new Set<Socket>()
  #server: Server
  port = 0
  connections = 0

  constructor(manner: (socket: Socket, label: () => string) => void = takes) {
    // Its side stays open until the manner ends it, as a real one's does.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.connections += 1
      this.#sockets.add(socket)
      let text = ''
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
      socket.on('data', (part) => {
        text += part.toString('utf8')
      })
      socket.on('end', () => this.labels.push(text))
      manner(socket, () => text)
    })
  }

  async start(port = 0): Promise<this> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = (this.#server.address() as { port: number }).port
    return this
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, 'close')
  }
}

const takes = (socket: Socket) => socket.on('end', () => socket.end())

async function yard(t: Test, printers: { name: string; port: number; timeout?: string; giveUpAfter?: string }[]) {
  const config = {
    warehouses: [{ id: 1, viewers: ['olga', 'ada'] }],
    printers: printers.map((one) => ({ host: '127.0.0.1', timeout: '10m', ...one })),
  }
  const gateway = await testGateway({ config })
  await furnish(gateway, ['A', 'B', 'C'])
  gateway.printWorker.start()
  t.teardown(async () => {
    await gateway.printWorker.stop()
    gateway.end()
  })
  return gateway
}

const print = (gateway: TestGateway, body: object, headers = {}) =>
  gateway.ask('POST', '/api/whms/labels/print', { by, body, headers })

const jobOf = async (gateway: TestGateway, id: number) =>
  (await gateway.ask('GET', `/api/whms/labels/jobs/${id}`, { by })).body

/** Lets the yard's time pass in steps until the job is what is asked for. */
async function until(
  gateway: TestGateway,
  id: number,
  is: (job: { state: string; attempts: number }) => boolean,
  stepMs = 100,
) {
  for (let turn = 0; turn < 4000; turn += 1) {
    const job = await jobOf(gateway, id)
    if (is(job)) return job
    gateway.clock.advance(stepMs)
    await real(2)
  }
  throw new Error(`job ${id} is still ${JSON.stringify(await jobOf(gateway, id))}`)
}

const isOver = ({ state }: { state: string }) => state !== 'queued' && state !== 'printing'

t.test('a label goes to the printer as it is shown, and its job says so', async (t) => {
  const printer = await new Printer().start()
  t.teardown(() => printer.stop())
  const gateway = await yard(t, [{ name: 'dock-1', port: printer.port }])
  const key = { 'Idempotency-Key': 'p-1' }
  const asked = await print(gateway, { slot_code: 'A', copies: 2 }, key)
  t.match(asked, {
    status: 201,
    body: {
      success: true,
      id: 1,
      printer: 'dock-1',
      state: 'queued',
      entity: 'slot',
      label: 'A',
      copies: 2,
      attempts: 0,
      requestedBy: 'olga',
      reprintOf: null,
    },
  })
  t.equal(asked.headers.get('location'), '/api/whms/labels/jobs/1')
  t.match(await until(gateway, 1, isOver), { state: 'printed', attempts: 1, lastError: null, nextAttemptAt: null })
  const { text } = await gateway.ask('GET', '/api/whms/slots/A/label?format=zpl&copies=2', { by })
  t.strictSame(printer.labels, [text])
  const again = await print(gateway, { slot_code: 'A', copies: 2 }, key)
  t.match(again, { status: 201, text: asked.text }, 'the same request again is the same job')
  t.match(await print(gateway, { slot_code: 'B' }, key), { status: 422 })
  t.match(await gateway.ask('POST', '/api/whms/labels/jobs/1/reprint', { by }), {
    status: 201,
    body: { id: 2, reprintOf: 1, copies: 2 },
  })
  await until(gateway, 2, isOver)
  t.strictSame(printer.labels, [text, text])
  t.match(await gateway.ask('GET', '/api/whms/labels/jobs?state=printed', { by }), {
    body: { data: [{ id: 2 }, { id: 1 }], pagination: { total: 2, hasMore: false } },
  })
  t.match(await gateway.ask('GET', '/api/whms/labels/jobs?limit=1', { by }), {
    body: { data: [{ id: 2 }], pagination: { total: 2, hasMore: true } },
  })
})

t.test('what cannot be printed is refused before anything waits', async (t) => {
  const gateway = await yard(t, [{ name: 'dock-1', port: 9 }])
  for (const [body, code] of [
    [{}, 'VALIDATION_ERROR'],
    [{ slot_code: 'A', asset_barcode: 'P' }, 'VALIDATION_ERROR'],
    [{ slot_code: 'A', copies: 101 }, 'VALIDATION_ERROR'],
    [{ slot_code: 'A', copies: 0 }, 'VALIDATION_ERROR'],
    [{ slot_code: 'nope' }, 'REFERENCE_NOT_FOUND'],
    [{ slot_code: 'A', slot_id: 2 }, 'VALIDATION_ERROR'],
    [{ asset_barcode: 'nobody' }, 'REFERENCE_NOT_FOUND'],
    [{ slot_code: 'A', printer: 'dock-2' }, 'REFERENCE_NOT_FOUND'],
  ] as const) {
    t.match(await print(gateway, body), { status: 400, body: { error: { code } } }, JSON.stringify(body))
  }
  const body = { slot_code: 'A' }
  const asked = (person: (typeof people)['vera' | 'sven']) =>
    gateway.ask('POST', '/api/whms/labels/print', { by: person, body })
  t.equal((await asked(people.vera)).status, 403, 'who only looks prints nothing')
  t.match(await asked(people.sven), { status: 400 }, 'a slot of a hall that is not theirs')
  t.equal((await gateway.ask('GET', '/api/whms/labels/jobs', { by })).body.pagination.total, 0)
  const bare = await testGateway()
  t.teardown(() => bare.end())
  await furnish(bare, ['A'])
  t.match(await print(bare, body), { status: 400, body: { error: { code: 'NOT_CONFIGURED' } } })
})

t.test('a printer that is off for an hour prints everything in its order when it is back; others go on', async (t) => {
  const off = await new Printer().start()
  const { port } = off
  await off.stop()
  const other = await new Printer().start()
  t.teardown(() => other.stop())
  const gateway = await yard(t, [
    { name: 'dock-1', port },
    { name: 'dock-2', port: other.port },
  ])
  for (const slot_code of ['A', 'B', 'C']) await print(gateway, { slot_code })
  await print(gateway, { slot_code: 'B', printer: 'dock-2' })
  t.match(await until(gateway, 4, isOver), { state: 'printed' })
  const waiting = await until(gateway, 1, ({ attempts }) => attempts >= 66, 5000)
  t.match(waiting, { state: /queued|printing/, lastError: 'refuses the connection' })
  t.ok(Date.parse(waiting.createdAt) + 3_600_000 <= gateway.clock.now(), 'an hour has passed')
  t.match((await gateway.ask('GET', '/api/whms/labels/printers', { by })).body.data, [
    { name: 'dock-1', waiting: 3, lastError: 'refuses the connection' },
    { name: 'dock-2', waiting: 0, lastError: null },
  ])
  t.match(await gateway.ask('POST', '/api/whms/labels/jobs/2/cancel', { by }), {
    status: 200,
    body: { state: 'cancelled' },
  })
  const back = await new Printer().start(port)
  t.teardown(() => back.stop())
  await until(gateway, 3, isOver, 500)
  t.equal(back.labels.length, 2)
  t.match(back.labels[0], '^FDA^FS')
  t.match(back.labels[1], '^FDC^FS')
  t.match(await gateway.ask('POST', '/api/whms/labels/jobs/3/cancel', { by }), { body: { state: 'printed' } })
  t.match(await jobOf(gateway, 2), { state: 'cancelled', attempts: 0 })
})

t.test('a printer that breaks off gets the whole label again', async (t) => {
  let manners = 0
  const broken: ((socket: Socket) => void)[] = [
    (socket) => socket.destroy(),
    (socket) => socket.end(),
    (socket) => socket.once('data', () => socket.resetAndDestroy()),
  ]
  const printer = await new Printer((socket) => {
    const manner = broken[manners] ?? takes
    manners += 1
    manner(socket)
  }).start()
  t.teardown(() => printer.stop())
  const gateway = await yard(t, [{ name: 'dock-1', port: printer.port }])
  await print(gateway, { slot_code: 'A' })
  t.match(await until(gateway, 1, isOver), { state: 'printed', attempts: 4 })
  const whole = printer.labels.filter((label) => label.endsWith('^XZ\n'))
  t.match(whole.at(-1), /^\^XA\n.*\^FDA\^FS.*\^XZ\n$/s)
})

t.test('a printer that takes a label and says nothing may have printed it: it is not printed twice', async (t) => {
  const printer = await new Printer(() => {}).start()
  t.teardown(() => printer.stop())
  const gateway = await yard(t, [{ name: 'dock-1', port: printer.port, timeout: '20s' }])
  await print(gateway, { slot_code: 'A' })
  t.match(await until(gateway, 1, isOver), { state: 'unconfirmed', attempts: 1, lastError: /did not end/ })
  t.equal(printer.connections, 1)
})

t.test('nobody waits for a printer that does not read', async (t) => {
  const printer = await new Printer((socket) => socket.pause()).start()
  t.teardown(() => printer.stop())
  const gateway = await yard(t, [{ name: 'dock-1', port: printer.port, timeout: '20s' }])
  await print(gateway, { slot_code: 'A' })
  t.match(await until(gateway, 1, isOver), { state: 'unconfirmed' })
  await print(gateway, { slot_code: 'B' })
  t.match(await until(gateway, 2, ({ state }) => state === 'printing'), { attempts: 1 })
  await gateway.printWorker.stop()
  t.match(await jobOf(gateway, 2), { state: 'queued', lastError: 'the gateway is stopping' })
})

t.test('what was under way when the power failed is printed after the start', async (t) => {
  const printer = await new Printer(() => {}).start()
  const gateway = await yard(t, [{ name: 'dock-1', port: printer.port }])
  await print(gateway, { slot_code: 'A' })
  await until(gateway, 1, ({ state }) => state === 'printing', 0)
  const { port } = printer
  await printer.stop()
  const next = await new Printer().start(port)
  t.teardown(() => next.stop())
  await gateway.printWorker.stop()
  const restarted = await gateway.restart()
  t.teardown(async () => {
    await restarted.printWorker.stop()
    restarted.close()
  })
  restarted.printWorker.start()
  t.match(await until(restarted, 1, isOver), { state: 'printed' })
  t.equal(next.labels.length, 1)
})

t.test('a job that nobody could print in a day is given up, and so the next one has its turn', async (t) => {
  const off = await new Printer().start()
  await off.stop()
  const gateway = await yard(t, [{ name: 'dock-1', port: off.port, giveUpAfter: '10s' }])
  await print(gateway, { slot_code: 'A' })
  t.match(await until(gateway, 1, isOver, 500), { state: 'failed', lastError: 'refuses the connection' })
})

t.test('when to try again is a matter of attempts and age', async (t) => {
  const failed = { kind: 'failed', error: 'x' } as const
  const day = 86_400_000
  const delays = [1, 2, 3, 4, 5, 6, 7, 8, 1000].map((n) => afterAttempt(failed, n, 0, day).delayMs)
  t.strictSame(delays, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
  t.equal(afterAttempt(failed, 3, day - 1, day).state, 'queued')
  t.equal(afterAttempt(failed, 3, day, day).state, 'failed')
  t.equal(afterAttempt({ kind: 'unconfirmed', error: 'x' }, 1, 0, day).state, 'unconfirmed')
  t.ok(isDue(10, 10))
  t.notOk(isDue(11, 10))
  t.ok(isDue(10 + 60_001, 10), 'a clock that ran ahead holds nothing up')
})

t.test('pallets without a number get one that nobody had, and are there to be labelled', async (t) => {
  const sscc = { companyPrefix: '0614141', extensionDigit: 1 }
  const gateway = await testGateway({ config: { labels: { sscc } } })
  t.teardown(() => gateway.end())
  const ask = (body: object, headers = {}) => gateway.ask('POST', '/api/whms/sscc', { by, body, headers })
  // (00)1 0614141 000000000 C: check digits by the rule of the General Specifications, reckoned by hand.
  const first = await ask({ count: 2, lot: 'L7' }, { 'Idempotency-Key': 's-1' })
  t.match(first, {
    status: 201,
    body: {
      data: [
        { sscc: '106141410000000002', asset_id: '00106141410000000002' },
        { sscc: '106141410000000019', asset_id: '00106141410000000019' },
      ],
    },
  })
  t.match(await ask({ count: 2, lot: 'L7' }, { 'Idempotency-Key': 's-1' }), { text: first.text })
  await gateway.ask('POST', '/api/whms/assets', {
    by: people.ada,
    body: { asset_id: ']C100106141410000000026', type: 'box' },
  })
  t.match(await ask({}), { body: { data: [{ sscc: '106141410000000033' }] } }, 'one that is taken is left out')
  t.match(await gateway.ask('GET', first.headers.get('location') ?? '', { by }), {
    status: 200,
    body: { type: 'pallet', lot: 'L7', sscc: '106141410000000002', provisional: false },
  })
  t.match(await gateway.ask('GET', '/api/whms/assets/00106141410000000002/label', { by }), { status: 200 })
  t.match(await ask({ count: 101 }), { status: 400 })
  const bare = await testGateway()
  t.teardown(() => bare.end())
  t.match(await bare.ask('POST', '/api/whms/sscc', { by, body: {} }), {
    status: 400,
    body: { error: { code: 'NOT_CONFIGURED' } },
  })
})
