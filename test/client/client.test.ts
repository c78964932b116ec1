import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { connect, GatehouseError, isSigned, ok, rows } from '../../scripts/client/package/gatehouse.ts'
import { packClient } from '../../scripts/client.ts'
import { HttpListener } from '../../src/http/index.ts'
import { furnish, heldPhoto, people, signedIn, type TestGateway, testGateway } from '../support/gateway.ts'

const exec = promisify(execFile)
const run = (program: string, args: string[], folder = '.') =>
  exec(program, args, { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' } })

type Event = { id: number; event_type: string; client_event_id: string | null }
type Page = { data: Event[]; pagination: { nextCursor: string | null } }
type Paths = {
  '/api/whms/events': {
    get: {
      parameters: { query?: { cursor?: string; limit?: number } }
      responses: { 200: { content: { 'application/json': Page } } }
    }
    post: {
      requestBody: { content: { 'application/json': object } }
      responses: { 201: { content: { 'application/json': Event } }; 400: { content: { 'application/json': unknown } } }
    }
  }
}

/** A gateway on a port, and a line to it that fails as `fail` says. */
async function site(t: Test, fail: (request: number) => 'before' | 'after' | number | null) {
  const gateway = await testGateway()
  const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, gateway.api)
  const port = await listener.start()
  let asked = 0
  const line: Server = createServer(async (request, response) => {
    asked += 1
    const fault = fail(asked)
    if (fault === 'before') return request.socket.destroy()
    if (typeof fault === 'number') {
      response.writeHead(fault, { 'Retry-After': '2' }).end('<html>a proxy</html>')
      return
    }
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(
        ([name]) => !['host', 'connection', 'content-length', 'transfer-encoding'].includes(name),
      ),
    ) as Record<string, string>
    const { method = 'GET' } = request
    const body = ['GET', 'HEAD'].includes(method) ? null : Buffer.concat(parts)
    const answer = await fetch(`http://127.0.0.1:${port}${request.url}`, { method, headers, body })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (fault === 'after') return request.socket.destroy()
    response.writeHead(answer.status, { 'Content-Type': answer.headers.get('Content-Type') ?? '' }).end(bytes)
  })
  await new Promise<void>((done) => line.listen(0, '127.0.0.1', done))
  t.teardown(async () => {
    line.closeAllConnections()
    line.close()
    await listener.stop()
    gateway.end()
  })
  const address = line.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { gateway, url: `http://127.0.0.1:${address.port}`, asked: () => asked }
}

/** How an account signs in, as options of the client. */
function options(url: string) {
  const headers = signedIn(people.ada) as Record<string, string>
  const secret = headers['Authorization']?.replace('Bearer ', '') ?? ''
  return { url, secret, username: headers['X-Storage-Username'] ?? '', instance: headers['X-Storage-Instance'] ?? '' }
}

async function placement(gateway: TestGateway) {
  return {
    event_type: 'PLACED',
    slot_code: 'A-01',
    asset_barcode: 'P-1',
    photo_url: await heldPhoto(gateway),
  }
}

t.test('a placement whose answer is lost is recorded once', async (t) => {
  const { gateway, url, asked } = await site(t, (request) => (request === 1 ? 'after' : null))
  await furnish(gateway, ['A-01'])
  const client = connect<Paths>({ ...options(url), sleep: async () => {} })
  const event = await ok(client.POST('/api/whms/events', { body: await placement(gateway) }))
  t.equal(event.id, 1)
  t.equal(asked(), 2)
  const { body } = await gateway.ask('GET', '/api/whms/events', { by: people.ada })
  t.equal(body.data.length, 1)
})

t.test('a client waits as long as it is asked to, and gives up in the end', async (t) => {
  const waits: number[] = []
  const { gateway, url, asked } = await site(t, () => 503)
  await furnish(gateway, ['A-01'])
  const client = connect<Paths>({ ...options(url), attempts: 3, sleep: async (ms) => void waits.push(ms) })
  await t.rejects(ok(client.GET('/api/whms/events')), { name: 'GatehouseError', status: 503, code: 'UNKNOWN' })
  t.strictSame(waits, [2000, 2000])
  t.equal(asked(), 3)
})

t.test('without an answer each wait is twice the one before', async (t) => {
  const waits: number[] = []
  const { url } = await site(t, () => 'before')
  const client = connect<Paths>({ ...options(url), attempts: 4, sleep: async (ms) => void waits.push(ms) })
  await t.rejects(ok(client.GET('/api/whms/events')))
  t.match(
    waits.map((ms) => Math.floor(Math.log2(ms / 1000))),
    [0, 1, 2],
  )
})

t.test('a refusal is thrown with its code and is not sent again', async (t) => {
  const { url, asked } = await site(t, () => null)
  const client = connect<Paths>({ ...options(url), sleep: async () => {} })
  const refused = await ok(client.POST('/api/whms/events', { body: { event_type: 'PLACED' } })).catch((error) => error)
  t.ok(refused instanceof GatehouseError)
  t.match(refused, { code: 'VALIDATION_ERROR', status: 400, requestId: String })
  t.equal(asked(), 1)
})

t.test('a list is read to its last row', async (t) => {
  const { gateway, url } = await site(t, () => null)
  await furnish(gateway, ['A-01'])
  const photo_url = await heldPhoto(gateway)
  for (const barcode of ['P-1', 'P-2', 'P-3', 'P-4', 'P-5'])
    await gateway.ask('POST', '/api/whms/events', {
      by: people.ada,
      body: { event_type: 'PLACED', slot_code: 'A-01', asset_barcode: barcode, photo_url },
    })
  const client = connect<Paths>(options(url))
  const ids: number[] = []
  const all = rows((cursor) =>
    client.GET('/api/whms/events', { params: { query: { limit: 2, ...(cursor === undefined ? {} : { cursor }) } } }),
  )
  for await (const row of all) ids.push(row.id)
  t.strictSame(
    ids.toSorted((a, b) => a - b),
    [1, 2, 3, 4, 5],
  )
})

t.test('a signature holds for its own bytes and secret alone', async (t) => {
  // HMAC-SHA256 of RFC 4231, test case 2.
  const body = new TextEncoder().encode('what do ya want for nothing?')
  const signature = 'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
  t.equal(await isSigned(body, signature, 'Jefe'), true)
  t.equal(await isSigned(body, signature, 'jefe'), false)
  t.equal(await isSigned(new TextEncoder().encode('what do ya want for nothing'), signature, 'Jefe'), false)
  for (const wrong of [null, undefined, '', 'sha256=', signature.slice(7), signature.toUpperCase(), `${signature}00`])
    t.equal(await isSigned(body, wrong, 'Jefe'), false)
})

t.test('the packed client compiles and works in a program of another folder', async (t) => {
  const { gateway, url } = await site(t, () => null)
  await furnish(gateway, ['A-01'])
  mkdirSync('.cache', { recursive: true })
  const folder = resolve(mkdtempSync(join('.cache', 'packed-client-')))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const archive = await packClient(folder)
  const home = join(folder, 'node_modules/@gatehouse/client')
  mkdirSync(home, { recursive: true })
  await run('tar', ['-xzf', archive, '--strip-components=1', '-C', home])
  const modules = resolve('node_modules')
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers'])
    symlinkSync(join(modules, name), join(folder, 'node_modules', name))
  writeFileSync(
    join(folder, 'use.ts'),
    `import { gatehouse, GatehouseError, ok, rows } from '@gatehouse/client'
const client = gatehouse(JSON.parse(process.argv[2] ?? '{}'))
const placed = await ok(client.POST('/api/whms/events', { body: JSON.parse(process.argv[3] ?? '{}') }))
const types: string[] = []
for await (const row of rows((cursor) => client.GET('/api/whms/events', { params: { query: { cursor } } }))) types.push(row.event_type)
// @ts-expect-error there is no such path
const missing = await client.GET('/api/nowhere').catch(() => null)
const code = await ok(client.GET('/api/whms/slots/{id}', { params: { path: { id: 'none' } } })).catch((error) =>
  error instanceof GatehouseError ? error.code : 'another')
console.log(JSON.stringify({ id: placed.id, types, missing: missing?.response.status, code }))
`,
  )
  const settings = {
    strict: true,
    noEmit: true,
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    typeRoots: [join(modules, '@types')],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: settings, files: ['use.ts'] }))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  await run(process.execPath, [resolve('node_modules/typescript-native/bin/tsc'), '-p', folder])
  const { stdout } = await run(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      'use.ts',
      JSON.stringify(options(url)),
      JSON.stringify(await placement(gateway)),
    ],
    folder,
  )
  t.strictSame(JSON.parse(stdout), { id: 1, types: ['PLACED'], missing: 404, code: 'NOT_FOUND' })
  t.match(JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')), {
    name: '@gatehouse/client',
    license: 'Apache-2.0',
  })
})
