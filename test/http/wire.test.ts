import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { HttpListener, type WireLimits, wireLimits } from '../../src/http/index.ts'
import { furnish, people, signedIn, testGateway } from '../support/gateway.ts'
import { waitUntil } from '../support/waiting.ts'

/** A real listener in front of a gateway, with limits that a test can wait for. */
async function listening(t: Test, limits: Partial<WireLimits> = {}) {
  const gateway = await testGateway()
  await furnish(gateway, ['A-01'])
  let begun = 0
  const fetchAndCount: typeof gateway.api.fetch = (...request) => {
    begun += 1
    return gateway.api.fetch(...request)
  }
  const listener = new HttpListener(
    { host: '127.0.0.1', port: 0 },
    { fetch: fetchAndCount },
    { ...wireLimits, ...limits },
  )
  const port = await listener.start()
  t.teardown(async () => {
    await listener.stop()
    gateway.end()
  })
  const floor = () => fetch(`http://127.0.0.1:${port}/api/whms/slots`, { headers: signedIn(people.olga) })
  return { port, listener, floor, requestsBegun: () => begun }
}

async function open(t: Test, port: number, text = '', localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).setNoDelay()
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  if (text) socket.write(text)
  return socket
}

/** All that comes until the other side closes. */
async function restOf(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}

const head = (extra: string) => `POST /api/whms/events HTTP/1.1\r\nHost: 127.0.0.1\r\n${extra}`
const who = Object.entries(signedIn(people.olga))
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

t.test('headers that come a byte at a time are cut off, and the floor is served meanwhile', async (t) => {
  const { port, floor } = await listening(t, { headersMs: 300 })
  const slow = await Promise.all(Array.from({ length: 50 }, () => open(t, port, 'GET / HTTP/1.1\r\nX-A: ')))
  const drip = setInterval(() => {
    for (const socket of slow) if (socket.writable) socket.write('a')
  }, 20)
  t.teardown(() => clearInterval(drip))
  const ended = Promise.all(slow.map(restOf))
  t.equal((await floor()).status, 200)
  for (const text of await ended) t.match(text, /^(HTTP\/1\.1 408 Request Timeout\r\n|$)/)
})

t.test('a body that stops coming is cut off', async (t) => {
  const { port, floor } = await listening(t, { requestMs: 400, headersMs: 300, stalledMs: 5000 })
  const socket = await open(t, port, head(`${who}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"event`))
  const rest = restOf(socket)
  t.equal((await floor()).status, 200)
  t.match(await rest, /^HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*"success":false/)
})

t.test('a client that takes no byte of its answer is cut off', async (t) => {
  const { port, listener, floor } = await listening(t, { stalledMs: 300 })
  const socket = await open(t, port)
  socket.pause()
  const closed = once(socket, 'close')
  const request = `GET /api/openapi HTTP/1.1\r\nHost: 127.0.0.1\r\n${who}\r\n`
  for (let i = 0; i < 400; i++) socket.write(request)
  await waitUntil('the client is cut off', () => listener.connections === 0)
  t.equal((await floor()).status, 200)
  socket.resume()
  await closed
})

t.test('a flood of headers, or of their size, is refused', async (t) => {
  const { port, floor } = await listening(t)
  const large = await open(t, port, `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Large: ${'a'.repeat(20_000)}\r\n\r\n`)
  t.match(await restOf(large), /^HTTP\/1\.1 400 [\s\S]*The headers are too large/)
  const many = Array.from({ length: 500 }, (_, i) => `X-${i}: a\r\n`).join('')
  const flood = await open(t, port, head(`${many}${who}Connection: close\r\nContent-Length: 0\r\n\r\n`))
  t.match(await restOf(flood), /^HTTP\/1\.1 400 [\s\S]*The headers are too large/, 'more than a hundred')
  t.equal((await floor()).status, 200)
})

t.test('what is no HTTP gets the envelope and is closed', async (t) => {
  const { port } = await listening(t)
  const garbage = await open(t, port, '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n')
  t.match(await restOf(garbage), /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*"code":"VALIDATION_ERROR"/)
  const two = await open(t, port, head(`${who}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`))
  t.match(await restOf(two), /^HTTP\/1\.1 400 /, 'two lengths would let one request hide behind another')
})

t.test('a body without end is refused as soon as it is too large, a compressed one unread', async (t) => {
  const { port, floor } = await listening(t)
  const socket = await open(t, port, head(`${who}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`))
  const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`
  const feed = setInterval(() => socket.writable && socket.write(chunk), 5)
  t.teardown(() => clearInterval(feed))
  const [first] = (await once(socket.setEncoding('utf8'), 'data')) as [string]
  t.match(first, /^HTTP\/1\.1 413 /)
  clearInterval(feed)
  const bomb = await fetch(`http://127.0.0.1:${port}/api/whms/events`, {
    method: 'POST',
    headers: { ...signedIn(people.olga), 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    body: gzipSync(Buffer.alloc(10_000_000)),
  })
  t.match([bomb.status, await bomb.json()], [415, { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } }])
  t.equal((await floor()).status, 200)
})

t.test('a thousand connections that say nothing cost nobody a request; the oldest make room', async (t) => {
  const { port, listener, floor } = await listening(t, { most: 600, mostTogether: 600 })
  const all: Socket[] = []
  // In groups, because the system keeps only some hundred waiting that no one has accepted yet.
  for (let i = 0; i < 10; i++) all.push(...(await Promise.all(Array.from({ length: 100 }, () => open(t, port)))))
  for (let i = 0; i < 20; i++) t.equal((await floor()).status, 200)
  t.ok(listener.connections <= 601, `${listener.connections} are left`)
  const closed = () => all.filter((socket) => socket.closed || socket.readableEnded || socket.destroyed).length
  await waitUntil('the oldest 390 made room', () => closed() >= 390)
})

t.test('a request under way is not cut off for newcomers', async (t) => {
  const { port } = await listening(t, { most: 5, mostTogether: 5 })
  const body = '{"event_type":"REMOVED","slot_code":"A-01","asset_barcode":"P-1"}'
  const busy = await open(
    t,
    port,
    head(
      `${who}Content-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
    ),
  )
  for (let i = 0; i < 30; i++) await open(t, port)
  const answer = restOf(busy)
  busy.write(body.slice(9))
  t.match(await answer, /^HTTP\/1\.1 201 Created\r\n/)
})

const signIn =
  'POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'

t.test('bodies that trickle in from nobody known make room, and end within seconds', async (t) => {
  const { port, floor, requestsBegun } = await listening(t, { most: 20, mostTogether: 20 })
  const body = '{"event_type":"REMOVED","slot_code":"A-01","asset_barcode":"P-1"}'
  const start = `${who}Content-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`
  const known = await open(t, port, head(`${start}${body.slice(0, 9)}`))
  const slow = await Promise.all(Array.from({ length: 19 }, () => open(t, port, signIn)))
  const drip = setInterval(() => {
    for (const socket of slow) if (socket.writable) socket.write(' ')
  }, 100)
  t.teardown(() => clearInterval(drip))
  const ended = slow.map(restOf)
  // Until their heads are read they are connections that say nothing.
  await waitUntil('all heads are read', () => requestsBegun() === 20)
  const served = async () => (await floor().catch(() => undefined))?.status === 200
  await waitUntil('the floor is served', served, { everyMs: 50 })
  t.notOk(
    slow.some((socket) => socket.bytesRead > 0),
    'some made room, before their time was over',
  )
  const answer = restOf(known)
  known.write(body.slice(9))
  t.match(await answer, /^HTTP\/1\.1 201 Created\r\n/, 'who is known keeps the place')
  const texts = await Promise.all(ended)
  const late = texts.filter((text) => text !== '')
  for (const text of late) t.match(text, /^HTTP\/1\.1 400 [\s\S]*took too long to arrive/)
})

const look = `GET /api/whms/zones HTTP/1.1\r\nHost: 127.0.0.1\r\n${who}\r\n`

/** Asks on this connection, or ends the request that is under way on it, and keeps it open. Returns the first line of the answer, '' when it was closed. */
async function asked(socket: Socket, request = look): Promise<string> {
  const answer = new Promise<string>((resolve) => {
    socket.once('data', (part: Buffer) => resolve(`${part}`.split('\r\n')[0] ?? ''))
    if (socket.closed) resolve('')
    socket.once('close', () => resolve(''))
  })
  socket.resume().write(request)
  return answer
}

const served = 'HTTP/1.1 200 OK'

t.test('a network full of strangers keeps out neither its own people nor other networks', async (t) => {
  const { port, listener } = await listening(t)
  const known = await open(t, port, '', '127.0.1.200')
  t.equal(await asked(known), served)
  const elsewhere = await Promise.all(Array.from({ length: 30 }, () => open(t, port, '', '127.0.2.1')))
  for (let n = 1; n <= 40; n += 1)
    await Promise.all(Array.from({ length: 10 }, () => open(t, port, '', `127.0.1.${n}`)))
  t.equal(await asked(await open(t, port, '', '127.0.1.201')), served, 'a colleague of that network who comes later')
  t.equal(await asked(known), served, 'a colleague who was there before, and waited')
  t.ok(listener.connections <= 232, `strangers of one network share 200 places: ${listener.connections} are open`)
  t.strictSame(
    await Promise.all(elsewhere.map((socket) => asked(socket))),
    Array(30).fill(served),
    'who is in another network',
  )
})

t.test('whoever is known keeps the connection while strangers fill every place', async (t) => {
  const { port, listener } = await listening(t, { most: 20 })
  const known = await open(t, port, '', '127.0.1.1')
  t.equal(await asked(known), served)
  for (let n = 0; n < 60; n += 1) await open(t, port, '', `127.0.${n % 3}.1`)
  t.equal(await asked(known), served)
  t.ok(listener.connections <= 20)
})

t.test('one known address cannot take every place', async (t) => {
  const { port, listener } = await listening(t, { mostTogether: 5 })
  const body = '{"event_type":"REMOVED","slot_code":"A-01","asset_barcode":"P-1"}'
  const start = `${who}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`
  const busy = await open(t, port, '', '127.0.1.1')
  t.equal(await asked(busy), served)
  busy.write(head(start))
  for (let n = 0; n < 12; n += 1) t.equal(await asked(await open(t, port, '', '127.0.1.1')), served)
  t.equal(listener.connections, 5)
  t.equal(await asked(busy, body.slice(9)), 'HTTP/1.1 201 Created', 'a request under way is not cut off for it')
})

t.test('a client that vanishes in the middle of a request leaves nothing behind', async (t) => {
  const { port, listener, floor } = await listening(t)
  for (let i = 0; i < 20; i++) {
    const socket = await open(t, port, head(`${who}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`))
    socket.resetAndDestroy()
  }
  t.equal((await floor()).status, 200)
  await waitUntil('one connection is left at most', () => listener.connections <= 1)
})

t.test('every answer says that no page may frame, sniff or keep it', async (t) => {
  const { port } = await listening(t)
  for (const path of ['/api/health', '/api/whms/slots', '/nowhere']) {
    const { headers } = await fetch(`http://127.0.0.1:${port}${path}`)
    t.equal(headers.get('x-content-type-options'), 'nosniff', path)
    t.match(headers.get('content-security-policy'), /default-src 'none'; frame-ancestors 'none'/, path)
    t.equal(headers.get('cache-control'), 'no-store', path)
    t.equal(headers.get('x-frame-options'), 'DENY', path)
    t.notOk(headers.get('server') ?? headers.get('x-powered-by'), path)
  }
})

t.test('pages of other origins are kept out unless the config names them', async (t) => {
  const origin = 'https://wms.example.com'
  const preflight = { Origin: origin, 'Access-Control-Request-Method': 'POST' }
  const closed = await testGateway()
  t.teardown(() => closed.end())
  const refused = await closed.ask('OPTIONS', '/api/whms/events', { headers: preflight })
  t.equal(refused.headers.get('access-control-allow-origin'), null)
  const opened = await testGateway({ config: { http: { corsOrigins: [origin] } } })
  t.teardown(() => opened.end())
  const allowed = await opened.ask('OPTIONS', '/api/whms/events', { headers: preflight })
  t.equal(allowed.status, 204)
  t.equal(allowed.headers.get('access-control-allow-origin'), origin)
  t.equal(allowed.headers.get('access-control-allow-credentials'), null, 'never with a session')
  const answer = await opened.ask('GET', '/api/whms/slots', { by: people.vera, headers: { Origin: origin } })
  t.equal(answer.headers.get('access-control-allow-origin'), origin)
  const other = await opened.ask('GET', '/api/whms/slots', { by: people.vera, headers: { Origin: `${origin}.evil` } })
  t.equal(other.headers.get('access-control-allow-origin'), null)
})
