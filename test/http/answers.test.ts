import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { HttpListener, type WireLimits, wireLimits } from '../../src/http/index.ts'
import { furnish, people, signedIn, type TestGatewayOptions, testGateway, tinyPng } from '../support/gateway.ts'

/** A gateway behind a real listener. */
async function listening(t: Test, options: TestGatewayOptions = {}, limits: Partial<WireLimits> = {}) {
  const gateway = await testGateway(options)
  await furnish(
    gateway,
    Array.from({ length: 40 }, (_, i) => `A-${10 + i}`),
  )
  const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, gateway.api, { ...wireLimits, ...limits })
  const port = await listener.start()
  t.teardown(async () => {
    await listener.stop()
    gateway.end()
  })
  return { gateway, port }
}

type Raw = { status: number; headers: IncomingMessage['headers']; bytes: Buffer }

/** A request as it goes over the wire: nothing is unpacked, nothing added. */
async function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  options: { method?: string; body?: string | Buffer; agent?: Agent; by?: (typeof people)[keyof typeof people] } = {},
): Promise<Raw> {
  const { method = 'GET', body, agent, by = people.ada } = options
  const sent = httpRequest({ port, path, method, headers: { ...signedIn(by), ...headers }, ...(agent && { agent }) })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const parts: Buffer[] = []
  for await (const part of answer) parts.push(part as Buffer)
  return { status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(parts) }
}

const gzip = { 'Accept-Encoding': 'gzip, deflate, br' }

t.test('a long list is sent compressed to a client that takes gzip, and as it is to others', async (t) => {
  const { port } = await listening(t)
  const plain = await ask(port, '/api/whms/slots')
  t.equal(plain.headers['content-encoding'], undefined)
  t.equal(Number(plain.headers['content-length']), plain.bytes.length)
  const packed = await ask(port, '/api/whms/slots', gzip)
  t.equal(packed.headers['content-encoding'], 'gzip')
  t.match(packed.headers.vary, /accept-encoding/i)
  t.match(plain.headers.vary, /accept-encoding/i, 'a cache must know, whichever it keeps')
  t.same(gunzipSync(packed.bytes), plain.bytes)
  t.ok(packed.bytes.length * 4 < plain.bytes.length, `${plain.bytes.length} bytes became ${packed.bytes.length}`)
  for (const [accept, isPacked] of [
    ['gzip;q=0', false],
    ['GZIP', true],
    ['x-gzip', true],
    ['*', true],
    ['*;q=0', false],
    ['gzip;q=0, *', false],
    ['br;q=1.0, gzip;q=0.5, identity;q=0.1', true],
    ['identity, gzip;q=0.5', false],
    ['identity;q=0.1, gzip;q=0.2', true],
    ['br', false],
    ['deflate', false],
    ['', false],
  ] as const) {
    const { headers } = await ask(port, '/api/whms/slots', { 'Accept-Encoding': accept })
    t.equal(headers['content-encoding'] === 'gzip', isPacked, `Accept-Encoding: ${accept}`)
  }
})

t.test('what is short, has no body or is a picture is never compressed', async (t) => {
  const { port } = await listening(t)
  const photo = await ask(
    port,
    '/api/whms/evidence/photos',
    { 'Content-Type': 'image/png' },
    { method: 'POST', body: tinyPng },
  )
  t.equal(photo.status, 201)
  const { sha256 } = JSON.parse(photo.bytes.toString()) as { sha256: string }
  for (const path of ['/api/ping', '/api/whms/slots/A-10', `/api/whms/evidence/photos/${sha256}`]) {
    const { headers, bytes } = await ask(port, path, gzip)
    t.equal(headers['content-encoding'], undefined, path)
    t.equal(Number(headers['content-length']), bytes.length, path)
  }
  const head = await ask(port, '/api/whms/slots', gzip, { method: 'HEAD' })
  t.match([head.status, head.bytes.length], [200, 0])
  t.equal(head.headers['content-encoding'], undefined)
})

t.test('a report is sent as the bytes that were hashed, whole or in ranges', async (t) => {
  const { gateway, port } = await listening(t)
  for (let i = 0; i < 10; i++) {
    const body = {
      event_type: 'PLACED',
      slot_code: 'A-10',
      asset_barcode: `P-${i}`,
      photo_url: 'https://photos.example/1',
    }
    await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
  }
  const body = JSON.stringify({ from: '2026-01-01T00:00:00Z', to: '2026-03-03T00:00:00Z' })
  const made = await ask(
    port,
    '/api/governance/reports',
    { 'Content-Type': 'application/json' },
    { method: 'POST', body },
  )
  t.equal(made.status, 201, made.bytes.toString())
  const path = `${made.headers.location}/file`
  const whole = await ask(port, path, gzip)
  t.match([whole.status, whole.headers['content-encoding'], whole.headers['accept-ranges']], [200, undefined, 'bytes'])
  t.ok(whole.bytes.length > 1500, `${whole.bytes.length} bytes would be worth packing`)
  const part = await ask(port, path, { ...gzip, Range: 'bytes=0-1100' })
  t.match([part.status, part.headers['content-encoding']], [206, undefined])
})

t.test('the file of the history is compressed while it is made', async (t) => {
  const { gateway, port } = await listening(t)
  for (let i = 0; i < 30; i++)
    await gateway.ask('POST', '/api/whms/events', {
      by: people.ada,
      body: { event_type: 'REMOVED', slot_code: `A-${10 + i}`, asset_barcode: `P-${i}` },
    })
  for (const path of [
    '/api/whms/events/export?format=csv',
    '/api/whms/events/export?format=ndjson',
    '/api/whms/epcis',
  ]) {
    const plain = await ask(port, path)
    const packed = await ask(port, path, gzip)
    t.equal(packed.headers['content-encoding'], 'gzip', path)
    t.equal(packed.headers['content-length'], undefined, path)
    t.equal(gunzipSync(packed.bytes).length, plain.bytes.length, path)
  }
})

async function open(t: Test, port: number, text = ''): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setNoDelay()
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  if (text) socket.write(text)
  return socket
}

/** All that comes until the other side ends. */
async function restOf(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await Promise.race([once(socket, 'end'), once(socket, 'close')])
  return text
}

const who = Object.entries(signedIn(people.olga))
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')
const post = `POST /api/whms/events HTTP/1.1\r\nHost: 127.0.0.1\r\n${who}Content-Type: application/json\r\n`

t.test('a body over the limit is refused, and the refusal can be read to its end', async (t) => {
  const { port } = await listening(t)
  const megabyte = Buffer.alloc(1 << 20, 'a')
  for (const [what, headers, chunk] of [
    [
      'chunked',
      'Transfer-Encoding: chunked\r\n\r\n',
      Buffer.concat([Buffer.from('100000\r\n'), megabyte, Buffer.from('\r\n')]),
    ],
    ['declared', `Content-Length: ${64 << 20}\r\n\r\n`, megabyte],
  ] as const) {
    const socket = await open(t, port, `${post}${headers}`)
    // As a client does that reads only after it has sent.
    for (let i = 0; i < 8; i++)
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
    const text = await restOf(socket)
    t.match(text, /^HTTP\/1\.1 413 /, what)
    t.match(text, /^connection: close\r$/im, what)
    t.match(text, /"code":"BODY_TOO_LARGE"[\s\S]*\}$/, what)
  }
})

t.test('a client that keeps its connection is not hurt by a body that was too large', async (t) => {
  const { port } = await listening(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  for (let i = 0; i < 5; i++) {
    const large = await ask(
      port,
      '/api/whms/events',
      { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
      { method: 'POST', body: Buffer.alloc(400_000, 'a'), agent },
    )
    t.equal(large.status, 413)
    const next = await ask(port, '/api/ping', {}, { agent })
    t.equal(next.status, 200, 'the next request')
  }
})

t.test('a stranger whose body is still coming is told so, and the connection ends after it', async (t) => {
  const { port } = await listening(t)
  const socket = await open(t, port, post.replaceAll('olga-secret', 'wrong').concat('Content-Length: 100000\r\n\r\n{'))
  const text = await restOf(socket)
  t.match(text, /^HTTP\/1\.1 401 /)
  t.match(text, /^connection: close\r$/im)
})

t.test('whatever is wrong with a request, its refusal has the documented body', async (t) => {
  const { port } = await listening(t)
  const get = (target: string, headers = 'Host: 127.0.0.1\r\n') =>
    `GET ${target} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`
  for (const [what, text] of Object.entries({
    'no Host': get('/api/whms/slots', ''),
    'two Hosts': get('/api/ping', 'Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n'),
    'an empty Host': get('/api/whms/slots', 'Host: \r\n'),
    'a Host that is none': get('/api/whms/slots', 'Host: a b\r\n'),
    'a Host with a path': get('/api/whms/slots', 'Host: 127.0.0.1/x\r\n'),
    'no target': 'GET  HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    'a target without slash': get('ping'),
    'a backslash in the path': get('/api\\ping'),
    'another protocol': 'GET /api/ping HTCPCP/1.0\r\nHost: 127.0.0.1\r\n\r\n',
    'a header without colon': get('/api/ping', 'Host: 127.0.0.1\r\nnonsense\r\n'),
    'a wrong length': `${post}Content-Length: -1\r\n\r\n`,
    'a wrong chunk': `${post}Transfer-Encoding: chunked\r\n\r\nZ\r\n`,
    'large headers': get('/api/ping', `Host: 127.0.0.1\r\nX: ${'a'.repeat(20_000)}\r\n`),
    'a large target': get(`/${'a'.repeat(20_000)}`),
  })) {
    const answer = await restOf(await open(t, port, text))
    t.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/, what)
    const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
    t.match(
      JSON.parse(body || '{}'),
      { success: false, error: { code: 'VALIDATION_ERROR', message: /./, requestId: /./ } },
      what,
    )
  }
})

t.test('health and ping answer any Host, none, and HTTP/1.0', async (t) => {
  const { port } = await listening(t)
  for (const path of ['/api/health', '/api/ping', '/api/ping?x=1', 'http://lb.example/api/health']) {
    for (const start of [
      `GET ${path} HTTP/1.0\r\n`,
      `GET ${path} HTTP/1.0\r\nHost: evil.example\r\n`,
      `GET ${path} HTTP/1.1\r\nHost: lb.example:8080\r\n`,
      `GET ${path} HTTP/1.1\r\nHost: \r\n`,
      `GET ${path} HTTP/1.1\r\nHost: a b\r\n`,
    ]) {
      const answer = await restOf(await open(t, port, `${start}Connection: close\r\n\r\n`))
      t.match(answer, /^HTTP\/1\.1 200 OK\r\n/, start)
      t.match(answer, /"status":"(ok|healthy)"/, start)
    }
  }
  const other = await restOf(await open(t, port, 'GET /api/health/x HTTP/1.0\r\nHost: evil.example\r\n\r\n'))
  t.match(other, /^HTTP\/1\.1 400 /, 'nothing else does')
})

t.test('a client that names an expectation which nobody meets is refused in the documented form', async (t) => {
  const { port } = await listening(t)
  const answer = await restOf(
    await open(t, port, `${post}Expect: a-miracle\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`),
  )
  t.match(answer, /^HTTP\/1\.1 400 [\s\S]*"code":"VALIDATION_ERROR"/)
})

t.test('each caller is told how much of its rate is left', async (t) => {
  const { gateway, port } = await listening(t, {
    config: { rateLimit: { requestsPerMinute: 500, users: { olga: 3 } } },
  })
  const first = await ask(port, '/api/whms/zones', {}, { by: people.olga })
  t.equal(first.headers['ratelimit-policy'], '"user";q=3;w=60')
  t.equal(first.headers['ratelimit'], '"user";r=2;t=60')
  gateway.clock.advance(10_000)
  t.equal(
    (await ask(port, '/api/nowhere', {}, { by: people.olga })).headers['ratelimit'],
    '"user";r=1;t=50',
    'a 404 counts too',
  )
  await ask(port, '/api/whms/zones', {}, { by: people.olga })
  const refused = await ask(port, '/api/whms/zones', {}, { by: people.olga })
  t.equal(refused.status, 429)
  t.equal(refused.headers['ratelimit'], '"user";r=0;t=50')
  t.equal(refused.headers['retry-after'], '50', 'one says what the other says')
  const ping = await ask(port, '/api/ping')
  t.match(ping.headers['ratelimit-policy'], /^"public";q=6000;w=60$/)
})

t.test(
  'a name that is not the gateway’s own is refused, so that no page elsewhere can point its name here',
  async (t) => {
    const config = {
      site: { id: 'dc-7', url: 'https://gatehouse.dc7.example' },
      http: { hostNames: ['*.proxy.example'] },
    }
    const { port } = await listening(t, { config })
    const zones = async (host: string) => (await ask(port, '/api/whms/zones', { Host: host })).status
    for (const host of [
      'gatehouse.dc7.example',
      'GATEHOUSE.dc7.example.:8443',
      `127.0.0.1:${port}`,
      '192.0.2.7',
      '[::1]:8480',
      'localhost',
      'a.proxy.example',
    ])
      t.equal(await zones(host), 401, `${host} is taken, and a caller is asked for`)
    for (const host of [
      'evil.example',
      'gatehouse.dc7.example.evil.example',
      'proxy.example',
      'a.b.proxy.example',
      '127.0.0.1.evil.example',
    ])
      t.equal(await zones(host), 400, host)
    const refused = await ask(port, '/api/whms/slots', { Host: 'evil.example' })
    t.match(JSON.parse(refused.bytes.toString()), {
      error: {
        code: 'VALIDATION_ERROR',
        message: '"evil.example" is not a name of this gateway',
        details: /http\.hostNames/,
      },
    })
    t.equal(refused.headers['x-frame-options'], 'DENY')
  },
)

t.test('over TLS a browser is told to use nothing else, unless the box serves plain HTTP too', async (t) => {
  const secure = { 'X-Forwarded-Proto': 'https' }
  for (const [allowPlainHttp, header] of [
    [false, 'max-age=31536000'],
    [true, undefined],
  ] as const) {
    const { port } = await listening(t, {
      config: { http: { trustedProxies: ['127.0.0.1/32'] }, listen: [{ host: '127.0.0.1', port: 0, allowPlainHttp }] },
    })
    t.equal((await ask(port, '/api/ping', secure)).headers['strict-transport-security'], header)
    t.equal((await ask(port, '/api/ping')).headers['strict-transport-security'], undefined, 'never over plain HTTP')
  }
})
