import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { verifyBundle } from '../support/evidence/bundle.ts'
import { type StampAuthority, stampAuthority } from '../support/evidence/stamps.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { fileNeeds } from '../support/needs.ts'

fileNeeds(t, 'openssl')

const hourMs = 3_600_000

type Answering = (query: Buffer, nth: number) => { status?: number; body: Uint8Array } | 'hang' | 'drop'

/** A time stamp authority behind HTTP: openssl's, unless another one is given. */
async function startAuthority(t: Test, authority: StampAuthority) {
  const queries: Buffer[] = []
  let answer: Answering = (query) => ({ body: authority.reply(query) })
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    queries.push(Buffer.concat(parts))
    const said = answer(Buffer.concat(parts), queries.length)
    if (said === 'hang') return
    if (said === 'drop') return void request.socket.destroy()
    response.writeHead(said.status ?? 200, { 'Content-Type': 'application/timestamp-reply' }).end(said.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tsa`,
    queries,
    answer: (next: Answering) => {
      answer = next
    },
  }
}

async function site(t: Test, authority = stampAuthority(t)) {
  const server = await startAuthority(t, authority)
  const timestamps = [{ url: server.url, caFile: authority.file }]
  const gateway = await testGateway({ config: { evidence: { timestamps } } })
  t.teardown(async () => {
    await gateway.timeStamps.stop()
    gateway.end()
  })
  await furnish(gateway, ['A'])
  gateway.timeStamps.start()
  return { gateway, authority, server }
}

async function record(gateway: TestGateway, asset_barcode: string): Promise<void> {
  const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode }
  await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
}

async function sign(gateway: TestGateway): Promise<void> {
  await gateway.checkpoints.make()
  await gateway.timeStamps.settled()
}

/** Lets time pass. Each request that becomes due ends before the clock moves again. */
async function pass(gateway: TestGateway, ms: number): Promise<void> {
  const { clock } = gateway
  for (const endMs = clock.monotonic() + ms; clock.monotonic() < endMs; ) {
    clock.advance(Math.min(clock.nextInMs ?? ms, endMs - clock.monotonic()))
    await gateway.timeStamps.settled()
  }
}

const evidenceOf = async (gateway: TestGateway, id = 1) =>
  (await gateway.ask('GET', `/api/whms/events/${id}`, { by: people.vera })).body.evidence

type Row = { size: number; token: Buffer; stamped_at_ms: number }
function tokens(gateway: TestGateway): Row[] {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const rows = db.prepare('SELECT size, token, stamped_at_ms FROM log_timestamp ORDER BY row').all() as Row[]
  db.close()
  return rows
}

t.test('a checkpoint is stamped, and openssl verifies the stored token over the text of the checkpoint', async (t) => {
  const { gateway, authority } = await site(t)
  await record(gateway, 'P-1')
  await sign(gateway)
  const [row] = tokens(gateway)
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-stamp-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const note = gateway.checkpoints.newest()?.note ?? ''
  writeFileSync(join(folder, 'text'), note.slice(0, note.indexOf('\n\n') + 1))
  writeFileSync(join(folder, 'token'), row?.token ?? '')
  const verify = ['ts', '-verify', '-data', 'text', '-in', 'token', '-token_in', '-CAfile', authority.file]
  t.match(execFileSync('openssl', verify, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }), /Verification: OK/)
  const timestampedAt = new Date(row?.stamped_at_ms ?? 0).toISOString()
  t.match(await evidenceOf(gateway), { state: 'timestamped', checkpointSize: 1, timestampedAt })
  const { data } = (await gateway.ask('GET', '/api/whms/events', { by: people.vera })).body
  t.same(data[0].evidence, { state: 'timestamped' })
  const { body: bundle } = await gateway.ask('GET', '/api/whms/events/1/proof', { by: people.vera })
  const verdict = verifyBundle(bundle, { stampAuthority: readFileSync(authority.file, 'utf8') })
  t.match(
    verdict.steps.find(({ step }) => step === 'anchors'),
    { state: 'holds' },
    'the proof of the event carries the token',
  )
})

t.test('a token by a certificate that an authority of caFile has issued is accepted too', async (t) => {
  const { gateway } = await site(t, stampAuthority(t, { chained: true }))
  await record(gateway, 'P-1')
  await sign(gateway)
  t.same(gateway.timeStamps.seen()[0]?.trouble, undefined)
  t.match(await evidenceOf(gateway), { state: 'timestamped' })
})

t.test('an authority is asked at most once an hour, also over a restart', async (t) => {
  const { gateway, server } = await site(t)
  for (const n of [1, 2, 3]) {
    await record(gateway, `P-${n}`)
    await sign(gateway)
    await pass(gateway, 600_000)
  }
  t.equal(server.queries.length, 1, 'three checkpoints in half an hour')
  await gateway.timeStamps.stop()
  const again = await gateway.restart()
  t.teardown(() => again.timeStamps.stop())
  again.timeStamps.start()
  await again.timeStamps.settled()
  t.equal(server.queries.length, 1)
  t.match(await evidenceOf(again, 3), { state: 'signed' })
  await pass(again, hourMs)
  t.equal(server.queries.length, 2)
  t.match(await evidenceOf(again, 3), { state: 'timestamped' })
  await pass(again, 2 * hourMs)
  t.equal(server.queries.length, 2, 'a log that did not grow is not stamped again')
})

/** Changes the bytes that follow a marker in a query or an answer. */
function altered(bytes: Buffer, marker: Buffer, by: number): Buffer {
  const copy = Buffer.from(bytes)
  const at = copy.indexOf(marker)
  if (at < 0) throw new Error('the marker is not there')
  copy[at + by] = (copy[at + by] ?? 0) ^ 1
  return copy
}

/** Bytes before the 32 bytes of SHA-256 in a query. */
const beforeHash = Buffer.from('0420', 'hex')
/** Bytes before the nonce, which is 01 and 8 bytes. */
const beforeNonce = Buffer.from('020901', 'hex')

t.test('what is no token of this request by this authority is not stored, and is made up for later', async (t) => {
  const { gateway, server, authority } = await site(t)
  const stranger = stampAuthority(t)
  const elsewhere = stampAuthority(t, { chained: true })
  const old: { reply: Uint8Array } = { reply: Buffer.alloc(0) }
  const cases: [string, RegExp, Answering][] = [
    ['another hash', /another hash/, (q) => ({ body: authority.reply(altered(q, beforeHash, 9)) })],
    ['another nonce', /another request/, (q) => ({ body: authority.reply(altered(q, beforeNonce, 5)) })],
    ['a key that nobody knows', /certificate/, (q) => ({ body: stranger.reply(q) })],
    ['another authority', /certificate/, (q) => ({ body: elsewhere.reply(q) })],
    ['garbage', /./, () => ({ body: Buffer.from('no stamp') })],
    ['nothing', /./, () => ({ body: Buffer.alloc(0) })],
    ['a refusal', /500/, () => ({ status: 500, body: Buffer.alloc(0) })],
    ['a replay', /another request/, () => ({ body: old.reply })],
    ['a cut connection', /no answer/, () => 'drop'],
    ['a changed signature', /./, (q) => ({ body: flippedEnd(authority.reply(q)) })],
  ]
  await record(gateway, 'P-1')
  server.answer((query) => {
    old.reply = authority.reply(query)
    return 'drop'
  })
  await sign(gateway)
  for (const [what, words, answer] of cases) {
    server.answer(answer)
    const before = server.queries.length
    for (let minutes = 0; server.queries.length === before && minutes < 120; minutes += 1) {
      await pass(gateway, 60_000)
    }
    t.match(gateway.timeStamps.seen(), [{ trouble: words }], what)
    t.same(tokens(gateway), [], `${what}: nothing is stored`)
    t.match(await evidenceOf(gateway), { state: 'signed', timestampedAt: null })
  }
  await gateway.health.look()
  await pass(gateway, 7 * hourMs)
  await gateway.health.look()
  const alerts = (await gateway.ask('GET', '/api/alerts', { by: people.ada })).body.data
  t.match(alerts, [{ kind: 'timestamps.failing', subject: server.url }])
  server.answer((query) => ({ body: authority.reply(query) }))
  await pass(gateway, hourMs)
  t.match(await evidenceOf(gateway), { state: 'timestamped' })
  t.match(readFileSync(authority.file, 'utf8'), /CERTIFICATE/)
})

/** The signature is the last thing in a token. */
function flippedEnd(reply: Buffer): Buffer {
  const copy = Buffer.from(reply)
  copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 1
  return copy
}
