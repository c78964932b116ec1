import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import t from 'tap'
import { HttpListener } from '../../src/http/index.ts'
import { type Described, descriptionOf, operationsOf } from '../support/description.ts'
import { furnish, people, signedIn, type TestGateway, testGateway } from '../support/gateway.ts'

t.setTimeout(180_000)

const carriesBody = ({ method }: Described) => method !== 'GET' && method !== 'DELETE'
const json = { 'Content-Type': 'application/json' }
const chunked = { 'Transfer-Encoding': 'chunked' }
const megabyte = Buffer.alloc(1 << 20, ' ')

/** Bodies that a client may send to an operation without a body, and the described refusal. */
const bodies: Record<string, { headers: Record<string, string>; body: string | Buffer; refused?: string }> = {
  'a JSON object': { headers: json, body: '{}' },
  'a JSON object in chunks': { headers: { ...json, ...chunked }, body: '{}' },
  'a JSON list': { headers: json, body: '[1, 2]' },
  'JSON null': { headers: json, body: 'null' },
  'an unknown field': { headers: json, body: '{"whatever": 1}' },
  'no byte in chunks': { headers: chunked, body: '' },
  garbage: { headers: json, body: '{"a', refused: 'MALFORMED_JSON' },
  'garbage in chunks': { headers: { ...json, ...chunked }, body: '\u0000', refused: 'MALFORMED_JSON' },
  'bytes that are no UTF-8': { headers: json, body: Buffer.of(0x22, 0xff, 0x22), refused: 'MALFORMED_JSON' },
  'a form': {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'a=1',
    refused: 'UNSUPPORTED_MEDIA_TYPE',
  },
  'a JSON object without a type': { headers: {}, body: '{}' },
  'garbage without a type': { headers: {}, body: 'a', refused: 'MALFORMED_JSON' },
  'a packed body': { headers: { ...json, 'Content-Encoding': 'gzip' }, body: 'x', refused: 'UNSUPPORTED_MEDIA_TYPE' },
  'a megabyte': { headers: json, body: megabyte, refused: 'BODY_TOO_LARGE' },
  'a megabyte in chunks': { headers: { ...json, ...chunked }, body: megabyte, refused: 'BODY_TOO_LARGE' },
}

/** Things that the operations can be carried out on, by the beginning of their path. */
async function thingsIn(gateway: TestGateway): Promise<Record<string, string>> {
  const made = async (path: string, body: object) => {
    const answer = await gateway.ask('POST', path, { by: people.ada, body })
    if (answer.status !== 201) throw new Error(answer.text)
    return String(answer.body.id)
  }
  return {
    '/api/devices': await made('/api/devices', { name: 'handheld-7', kind: 'handheld', role: 'operator' }),
    '/api/operators': await made('/api/operators', { username: 'otto', badge: 'B-0042', pin: '4826' }),
    '/api/webhooks': await made('/api/webhooks', { url: 'https://erp.invalid/x', events: ['whms.placement'] }),
    '/api/governance/incidents': await made('/api/governance/incidents', {
      category: 'damage',
      severity: 'low',
      title: 'Broken',
    }),
    '/api/whms/counts': await made('/api/whms/counts', { slot_codes: ['A-01'] }),
  }
}

function idFor(ids: Record<string, string>, { method, path }: Described, name: string): string {
  if (name === 'sha256') return '0'.repeat(64)
  const [, id = '17'] = Object.entries(ids).find(([start]) => path.startsWith(`${start}/{`)) ?? []
  return method === 'DELETE' || name !== 'id' ? '17' : id
}

t.test('an operation without a body takes none, refuses what cannot be read, and the connection goes on', async (t) => {
  const gateway = await testGateway()
  await furnish(gateway, ['A-01'])
  const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, gateway.api)
  const port = await listener.start()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(async () => {
    agent.destroy()
    await listener.stop()
    gateway.end()
  })
  const send = async (method: string, path: string, headers: Record<string, string> = {}, body?: string | Buffer) => {
    const length = body === undefined || 'Transfer-Encoding' in headers ? {} : { 'Content-Length': `${body.length}` }
    const sent = httpRequest({
      port,
      path,
      method,
      agent,
      headers: { ...signedIn(people.ada), ...length, ...headers },
    })
    // The refusal may come before the whole body has gone.
    sent.on('error', () => undefined)
    sent.end(body)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const parts: Buffer[] = []
    for await (const part of answer) parts.push(part as Buffer)
    const isJson = answer.headers['content-type']?.startsWith('application/json')
    const text = Buffer.concat(parts).toString()
    return { status: answer.statusCode ?? 0, body: isJson ? JSON.parse(text) : undefined }
  }
  const bodiless = operationsOf(await descriptionOf(gateway)).filter(({ operation }) => !operation.requestBody)
  t.ok(bodiless.filter(carriesBody).length > 10, `${bodiless.length} operations`)
  const ids = await thingsIn(gateway)
  for (const one of bodiless) {
    const place = one.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => idFor(ids, one, name))
    const path = one.path === '/api/stream' ? `${place}?follow=false` : place
    // An act that can be done once is refused from the second time on.
    await send(one.method, path)
    const bare = await send(one.method, path)
    for (const [what, { headers, body, refused }] of Object.entries(bodies)) {
      const name = `${one.method} ${one.path}, ${what}`
      const answer = await send(one.method, path, headers, body)
      const codes = one.operation['x-error-codes']
      const wanted = carriesBody(one) ? refused : undefined
      if (wanted) {
        t.ok(codes.includes(wanted), `${name}: ${wanted} is described`)
        t.equal(answer.body?.error?.code, wanted, name)
      } else {
        t.equal(answer.status, bare.status, `${name}: as without`)
      }
      t.ok(String(answer.status) in one.operation.responses, `${name}: ${answer.status} is described`)
      if (answer.status >= 400) t.ok(codes.includes(answer.body?.error?.code), `${name}: ${answer.body?.error?.code}`)
      t.equal((await send('GET', '/api/ping')).status, 200, `${name}: the next request`)
    }
  }
})
