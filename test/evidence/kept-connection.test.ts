import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { EvidenceClient } from '../../src/evidence/index.ts'
import { systemClock } from '../../src/platform/index.ts'

type Answering = (request: IncomingMessage, response: ServerResponse, nth: number) => void

const ok: Answering = (_request, response) => void response.end('taken')

/** A server that counts connections, and notes the bodies that came whole. */
async function startServer(t: Test, answer: Answering = ok) {
  const [sockets, bodies] = [new Set<Socket>(), [] as string[]]
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    bodies.push(Buffer.concat(parts).toString())
    answer(request, response, bodies.length)
  })
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, bodies }
}

function clientOf(t: Test, idleMs?: number) {
  const client = new EvidenceClient({ clock: systemClock, version: 'test', ...(idleMs !== undefined && { idleMs }) })
  t.teardown(() => client.stop())
  return client
}

const posting = (body: string) => ({ path: '/feed', contentType: 'text/plain', body })

t.test('with a time that it may be idle, one connection carries all that is posted', async (t) => {
  const server = await startServer(t)
  const client = clientOf(t, 30_000)
  for (const body of ['one', 'two', 'three']) {
    t.match(await client.postText({ url: server.url, caFile: null }, posting(body)), { status: 200, body: 'taken' })
  }
  t.same(server.bodies, ['one', 'two', 'three'])
  t.equal(server.sockets.size, 1)
})

t.test('without one each has a connection of its own', async (t) => {
  const server = await startServer(t)
  const client = clientOf(t)
  for (const body of ['one', 'two']) await client.post({ url: server.url, caFile: null }, posting(body))
  t.equal(server.sockets.size, 2)
})

t.test(
  'a kept connection that the other side has closed meanwhile costs one more attempt, and no answer',
  async (t) => {
    // As a proxy does that closes what was idle, just when the next request is on its way.
    const server = await startServer(t, (request, response, nth) => {
      if (nth === 2) request.socket.destroy()
      else response.end(`answer ${nth}`)
    })
    const client = clientOf(t, 30_000)
    await client.post({ url: server.url, caFile: null }, posting('one'))
    const reply = await client.postText({ url: server.url, caFile: null }, posting('two'))
    t.match(reply, { status: 200, body: 'answer 3' })
    t.same(server.bodies, ['one', 'two', 'two'])
  },
)

t.test('a new connection that is cut is not tried again here: the sender decides', async (t) => {
  const server = await startServer(t, (request) => void request.socket.destroy())
  t.match(await clientOf(t, 30_000).postText({ url: server.url, caFile: null }, posting('one')), { kind: 'none' })
  t.same(server.bodies, ['one'])
})

t.test('an answer that breaks off on a kept connection is not asked for again', async (t) => {
  const server = await startServer(t, (request, response, nth) => {
    if (nth === 1) return void response.end('taken')
    response.writeHead(200, { 'Content-Length': '100' })
    response.write('half of', () => request.socket.destroy())
  })
  const client = clientOf(t, 30_000)
  await client.post({ url: server.url, caFile: null }, posting('one'))
  t.match(await client.postText({ url: server.url, caFile: null }, posting('two')), { kind: 'none' })
  t.same(server.bodies, ['one', 'two'])
})

t.test('stopping ends the connection that nothing uses', async (t) => {
  const server = await startServer(t)
  const client = clientOf(t, 30_000)
  await client.post({ url: server.url, caFile: null }, posting('one'))
  const [socket] = server.sockets
  const ended = new Promise((resolve) => socket?.once('close', resolve))
  client.stop()
  await t.resolves(ended)
})
