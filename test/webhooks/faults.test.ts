import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { generate } from 'selfsigned'
import t, { type Test } from 'tap'
import { raiseAlert } from '../../src/webhooks/alerts.ts'
import { certificate } from '../support/receiver.ts'
import { WebhookYard, type YardOptions } from '../support/webhook-yard.ts'

const second = 1000
const hour = 3600 * second

function openYard(t: Test, options: YardOptions = {}): WebhookYard {
  const yard = new WebhookYard(options)
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  return yard
}

/** A server that says what the test makes it say, byte by byte. Returns its port. */
async function listen(t: Test, server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return (server.address() as AddressInfo).port
}

/** Speaks TLS under a certificate that the yard trusts, and answers a request as the test says. */
async function speaker(t: Test, yard: WebhookYard, answer: (socket: Socket) => void): Promise<number> {
  const { key, cert } = await certificate()
  yard.settings.caFile = join(yard.folder, 'speaker.pem')
  writeFileSync(yard.settings.caFile, cert)
  const server = createTlsServer({ key, cert }, (socket) => {
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  return listen(t, server)
}

/** One attempt at this port; simulated time passes only as long as it takes. */
async function attemptAt(yard: WebhookYard, port: number) {
  const url = `https://127.0.0.1:${port}/`
  const { id } = (await yard.call('POST', '/api/webhooks', { url, events: ['whms.placement'] })).body
  await yard.publish()
  await yard.passUntil(() => yard.attempts.length > 0)
  const [delivery] = await yard.deliveries(id)
  return { delivery, attempt: delivery.attempts[0], webhook: await yard.webhook(id) }
}

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n'

t.test('an endpoint that takes the connection and says nothing, not even in TLS, fails after 30 s', async (t) => {
  const yard = openYard(t)
  const port = await listen(
    t,
    createTcpServer(() => {}),
  )
  const { attempt } = await attemptAt(yard, port)
  t.match(attempt, { statusCode: null, error: 'no answer within 30 s', durationMs: 30_000 })
})

t.test('an endpoint that stops in the middle of its headers fails after 30 s', async (t) => {
  const yard = openYard(t)
  const port = await speaker(t, yard, (socket) => socket.write(`${head}X-Slow: `))
  const { attempt } = await attemptAt(yard, port)
  t.match(attempt, { statusCode: null, error: 'no answer within 30 s', durationMs: 30_000 })
})

t.test('one that sends its headers drop by drop has 30 s in all', async (t) => {
  const yard = openYard(t)
  const port = await speaker(t, yard, (socket) => {
    socket.write(head)
    const drip = () => {
      if (socket.destroyed) return
      socket.write('X-Drop: 1\r\n')
      setImmediate(drip)
    }
    drip()
  })
  const { delivery } = await attemptAt(yard, port)
  t.match(delivery, { state: 'pending', attempts: [{ statusCode: null }] })
})

t.test('an endpoint that closes before, in and after the headers', async (t) => {
  const cases: [string, (socket: Socket) => void, object][] = [
    ['before', (socket) => socket.destroy(), { state: 'pending', attempts: [{ statusCode: null }] }],
    ['in', (socket) => socket.end(head), { state: 'pending', attempts: [{ statusCode: null }] }],
    [
      'in the body, short of what it announced',
      (socket) => socket.end(`${head}Content-Length: 1000\r\n\r\nbut no more`),
      { state: 'delivered', attempts: [{ statusCode: 200, answer: 'but no more' }] },
    ],
    [
      'after what it has not announced',
      (socket) => socket.end(`${head}\r\nthat is all`),
      { state: 'delivered', attempts: [{ statusCode: 200, answer: 'that is all' }] },
    ],
  ]
  for (const [what, answer, expected] of cases) {
    const yard = openYard(t)
    const { delivery } = await attemptAt(yard, await speaker(t, yard, answer))
    t.match(delivery, expected, what)
  }
})

t.test('what is no HTTP, and headers without end, are failures', async (t) => {
  for (const answer of ['SSH-2.0-OpenSSH_9.9\r\n', `HTTP/1.1 200 OK\r\nX-Big: ${'x'.repeat(100_000)}\r\n\r\n`]) {
    const yard = openYard(t)
    const port = await speaker(t, yard, (socket) => socket.write(answer))
    t.match(await attemptAt(yard, port), {
      delivery: { state: 'pending' },
      attempt: { statusCode: null, error: /HPE_/ },
    })
  }
})

t.test('a provisional answer is not the answer', async (t) => {
  const yard = openYard(t)
  const port = await speaker(t, yard, (socket) =>
    socket.write('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n'),
  )
  t.match(await attemptAt(yard, port), { attempt: { statusCode: 503, error: 'HTTP 503' } })
})

t.test('of a gigabyte of answer no more than 64 KiB are taken, a KiB is kept, and the delivery counts', async (t) => {
  const yard = openYard(t)
  const piece = Buffer.alloc(64 * 1024, 'a')
  let written = 0
  const closed = Promise.withResolvers<void>()
  const port = await speaker(t, yard, (socket) => {
    socket.once('close', closed.resolve)
    socket.write(`${head}Content-Length: ${2 ** 30}\r\n\r\n`)
    const pour = () => {
      while (!socket.destroyed && written < 2 ** 30) {
        written += piece.length
        if (!socket.write(piece)) return socket.once('drain', pour)
      }
    }
    pour()
  })
  const { delivery } = await attemptAt(yard, port)
  await closed.promise
  t.match(delivery, { state: 'delivered', attempts: [{ statusCode: 200, answer: 'a'.repeat(1024) }] })
  t.ok(written < 16 * 1024 * 1024, `${written} bytes were written before the connection was cut`)
})

t.test('410, 429 and 500 are failures; Retry-After counts in both its forms, and only up to a day', async (t) => {
  const start = Date.UTC(2026, 2, 2, 8)
  const rows: [number, string | undefined, number][] = [
    [410, undefined, 60],
    [500, undefined, 60],
    [429, '600', 600],
    [429, new Date(start + 900 * second).toUTCString(), 900],
    [503, '7', 60],
    [429, String(10 * 24 * 3600), 24 * 3600],
    [429, 'Thu, 01 Jan 2099 00:00:00 GMT', 24 * 3600],
  ]
  for (const [status, retryAfter, seconds] of rows) {
    const yard = openYard(t, { startMs: start })
    const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter }
    const receiver = await yard.receiver({ behave: () => ({ status, headers, body: 'later' }) })
    const id = await yard.register(receiver)
    await yard.publish()
    await yard.attempted(1)
    await yard.webhooks.worker.settled()
    const [delivery] = await yard.deliveries(id)
    t.match(delivery.attempts, [{ statusCode: status, error: `HTTP ${status}`, answer: 'later' }])
    const waitMs = Date.parse(delivery.nextAttemptAt) - yard.clock.now()
    const what = `${status} with ${retryAfter}: ${waitMs / second} s`
    t.ok(waitMs >= seconds * second && waitMs <= Math.max(seconds * second, 63 * second) + 1, what)
    t.match(await yard.webhook(id), { active: true, status: 'active' }, 'not even 410 takes it off')
  }
})

/** A certificate for 127.0.0.1 as described, and who has signed it. */
async function issue(name: string, more: object = {}, extra: object[] = [], ca = false) {
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: ca, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: ca },
      ...extra,
    ] as never,
    ...more,
  })
  return { key: made.private, cert: made.cert }
}

const names = (...altNames: object[]) => [{ name: 'subjectAltName', altNames }]
const here = { type: 7, ip: '127.0.0.1' }

t.test('a chain with a gap, a wrong name, an old certificate: failures, and nothing is sent', async (t) => {
  const root = await issue('root', {}, [], true)
  const between = await issue('between', { ca: root }, [], true)
  const leaf = await issue('leaf', { ca: between }, names(here))
  const elsewhere = await issue('elsewhere', { ca: root }, names({ type: 2, value: 'erp.example' }))
  const old = await issue(
    'old',
    { ca: root, notBeforeDate: new Date(Date.now() - 48 * hour), notAfterDate: new Date(Date.now() - 24 * hour) },
    names(here),
  )
  const rows = [
    ['a chain with a gap', leaf, /unable to verify|UNABLE_TO_VERIFY|unable to get/i],
    ['another name', elsewhere, /ERR_TLS_CERT_ALTNAME_INVALID/],
    ['expired', old, /CERT_HAS_EXPIRED/],
    ['whole', { ...leaf, cert: `${leaf.cert}\n${between.cert}` }, undefined],
  ] as const
  for (const [what, { key, cert }, error] of rows) {
    const yard = openYard(t)
    yard.settings.caFile = join(yard.folder, 'root.pem')
    writeFileSync(yard.settings.caFile, root.cert)
    let asked = 0
    const server = createTlsServer({ key, cert }, (socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        asked += 1
        socket.end('HTTP/1.1 204 No Content\r\n\r\n')
      })
    })
    const { delivery, attempt } = await attemptAt(yard, await listen(t, server))
    if (error)
      t.match({ delivery, attempt }, { delivery: { state: 'pending' }, attempt: { statusCode: null, error } }, what)
    else t.match(delivery, { state: 'delivered' }, what)
    t.equal(asked, error ? 0 : 1, what)
  }
})

t.test(
  'a disk that is full while attempts are recorded delays the record; nothing is sent twice or lost',
  async (t) => {
    const yard = openYard(t)
    const answer = { status: 200, body: 'x'.repeat(2000) }
    const receiver = await yard.receiver({ behave: () => 'hang' })
    const id = await yard.register(receiver)
    await yard.publish(20)
    await receiver.waitFor((_, all) => all.length === 4)
    const pages = () => yard.db.pragma('page_count', { simple: true }) as number
    yard.db.pragma(`max_page_count = ${pages() + 2}`)
    const fill = () =>
      yard.work.write((tx) =>
        raiseAlert(tx, yard.outbox, { kind: 'test', subject: 'x', message: 'x'.repeat(900), nowMs: 0 }),
      )
    for (let full = false; !full; )
      await fill().catch((error: { code?: string }) => {
        full = error.code === 'STORAGE_FULL'
        if (!full) throw error
      })
    receiver.behave(() => answer)
    receiver.release(500, 'x'.repeat(2000))
    await yard.passUntil(() => yard.clock.monotonic() > 12 * second)
    t.ok(yard.attempts.length < 4, `${yard.attempts.length} of 4 could be recorded`)
    t.equal(receiver.received.length, 4, 'while nothing can be recorded, nothing new is sent')
    yard.db.pragma('max_page_count = 1000000')
    await yard.passUntil(() => yard.webhooks.status().pending === 0)
    const deliveries = await yard.deliveries(id)
    t.ok(deliveries.every((d) => d.state === 'delivered'))
    t.equal(receiver.received.length, 24, 'twenty, and four that had failed')
  },
)
