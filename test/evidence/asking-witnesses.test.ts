import t, { type Test } from 'tap'
import { verifyBundle } from '../support/evidence/bundle.ts'
import { openCheckpoint, parseAddCheckpoint } from '../support/evidence/checkpoint.ts'
import { newSigner, type Signer } from '../support/evidence/forge.ts'
import { parseVkey } from '../support/evidence/note.ts'
import { referenceWitness } from '../support/evidence/witness.ts'
import { type Answering, startWitnessServer, type WitnessServer } from '../support/evidence/witness-server.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'

const by = people.vera
const nowSeconds = () => 1_772_438_700n
const witnessedAt = '2026-03-02T08:05:00.000Z'
const hourMs = 3_600_000

/** Records removals, which need no photo. */
async function record(gateway: TestGateway, ...barcodes: string[]): Promise<void> {
  for (const asset_barcode of barcodes) {
    const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode }
    await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
  }
}

/** Signs the head and lets the witnesses be asked. */
async function sign(gateway: TestGateway): Promise<void> {
  await gateway.checkpoints.make()
  await gateway.witnesses.settled()
}

/** Lets time pass, and each question that becomes due end before time goes on. */
async function pass(gateway: TestGateway, ms: number): Promise<void> {
  const { clock } = gateway
  for (const endMs = clock.monotonic() + ms; clock.monotonic() < endMs; ) {
    clock.advance(Math.min(clock.nextInMs ?? ms, endMs - clock.monotonic()))
    await gateway.witnesses.settled()
  }
}

const down: Answering = () => 'drop'

/** A gateway with so many witnesses; they answer by the protocol alone, with what they have seen from the start. */
async function site(t: Test, { count = 1, quorum = 1 }: { count?: number; quorum?: number } = {}) {
  const signers = Array.from({ length: count }, (_, i) => newSigner(`witness.example/w${i + 1}`, 4))
  const servers = await Promise.all(signers.map(() => startWitnessServer(t, down)))
  const witnesses = signers.map(({ name, vkey }, i) => ({
    name,
    vkey,
    url: servers[i]?.url,
    caFile: servers[i]?.caFile,
  }))
  const gateway = await testGateway({ config: { evidence: { witnesses, quorum } } })
  t.teardown(async () => {
    await gateway.witnesses.stop()
    gateway.end()
  })
  await furnish(gateway, ['A'])
  const { logKey } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  const honest = signers.map((signer) => honestly(logKey, signer))
  for (const [i, server] of servers.entries()) server.answer(honest[i] as Answering)
  gateway.witnesses.start()
  return { gateway, signers, servers, honest, logKey, server: servers[0] as WitnessServer }
}

function honestly(logKey: string, signer: Signer): Answering {
  const witness = referenceWitness({ logs: [logKey], signers: [signer], nowSeconds })
  return (body) => witness.addCheckpoint(body)
}

const evidenceOf = async (gateway: TestGateway, id = 1) =>
  (await gateway.ask('GET', `/api/whms/events/${id}`, { by })).body.evidence

const asked = ({ asked }: WitnessServer) => asked.map((body) => parseAddCheckpoint(body))
const sizeOf = (note: string) => Number(note.split('\n')[1])

t.test('a witness cosigns each checkpoint, and the log is served with its signature', async (t) => {
  const { gateway, signers, server } = await site(t)
  await record(gateway, 'P-1')
  const recorded = { state: 'recorded', checkpointSize: null, signedAt: null, witnesses: [], timestampedAt: null }
  t.same(await evidenceOf(gateway), recorded)
  await sign(gateway)
  const { logKey, logKeyPostQuantum } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  const { text } = await gateway.ask('GET', '/api/log/checkpoint', { by })
  const keys = [logKey, logKeyPostQuantum, signers[0]?.vkey].map(parseVkey)
  const { size, signed } = openCheckpoint(text, keys)
  t.equal(size, 1)
  t.equal(signed.length, 3)
  t.match(signed.at(-1), { vkey: { name: 'witness.example/w1' }, atSeconds: nowSeconds() })
  t.same(await evidenceOf(gateway), {
    state: 'witnessed',
    checkpointSize: 1,
    signedAt: new Date(gateway.clock.now()).toISOString(),
    witnesses: [{ name: 'witness.example/w1', at: witnessedAt }],
    timestampedAt: null,
  })
  const { body: bundle } = await gateway.ask('GET', '/api/whms/events/1/proof', { by })
  t.same(bundle.keys, [logKey, logKeyPostQuantum, signers[0]?.vkey])
  const { ok, steps } = verifyBundle(bundle, { keys: [logKey, logKeyPostQuantum] })
  t.match(
    { ok, cosignatures: steps.find(({ step }) => step === 'cosignatures') },
    { ok, cosignatures: { state: 'holds' } },
  )
  t.ok(ok, 'the proof of the event carries the cosignature')
  await record(gateway, 'P-2', 'P-3')
  await sign(gateway)
  t.match(asked(server), [{ old: 0 }, { old: 1 }], 'the second question leads on from the first')
  await gateway.checkpoints.make()
  await gateway.witnesses.settled()
  t.equal(server.asked.length, 2, 'a log that did not grow asks nobody')
})

t.test('a witness cosigns the hand-over to new keys, and needs the new key for what follows', async (t) => {
  const { gateway, signers, server, logKey } = await site(t)
  await record(gateway, 'P-1')
  await sign(gateway)
  const { keys } = await gateway.rotateKeys('root')
  await gateway.witnesses.settled()
  t.match(await evidenceOf(gateway), { state: 'witnessed' })
  t.match(gateway.witnesses.seen(), [{ trouble: undefined }])
  t.same(
    asked(server).map(({ note }) => sizeOf(note)),
    [1, 2],
  )
  await record(gateway, 'P-2')
  await sign(gateway)
  t.match(gateway.witnesses.seen(), [
    { trouble: { finding: 'unknown-key', words: /send its admin the present log key/ } },
  ])
  const witness = referenceWitness({ logs: [logKey, keys[0]], signers, nowSeconds })
  server.answer((body) => witness.addCheckpoint(body))
  await pass(gateway, hourMs)
  t.match(gateway.witnesses.seen(), [{ trouble: undefined }])
  t.match(await evidenceOf(gateway, 2), { state: 'witnessed' })
})

t.test('a fact is witnessed when a quorum has cosigned, and not before', async (t) => {
  const { gateway, servers, honest } = await site(t, { count: 3, quorum: 2 })
  servers[1]?.answer(down)
  servers[2]?.answer(down)
  await record(gateway, 'P-1')
  await sign(gateway)
  const states = async () => {
    const { data } = (await gateway.ask('GET', '/api/whms/events', { by })).body
    return data.map(({ evidence }: { evidence: unknown }) => evidence)
  }
  t.match(await evidenceOf(gateway), { state: 'signed', witnesses: [{ name: 'witness.example/w1' }] })
  t.same(await states(), [{ state: 'signed' }], 'one of two is not enough')
  servers[2]?.answer(honest[2] as Answering)
  await record(gateway, 'P-2')
  await gateway.checkpoints.make()
  await pass(gateway, hourMs)
  t.match(await evidenceOf(gateway), {
    state: 'witnessed',
    witnesses: [{ name: 'witness.example/w1' }, { name: 'witness.example/w3' }],
  })
  await record(gateway, 'P-3')
  t.same(await states(), [{ state: 'recorded' }, { state: 'witnessed' }, { state: 'witnessed' }])
})

t.test('after days without a line a witness is asked once, for the newest checkpoint alone', async (t) => {
  const { gateway, server, honest } = await site(t)
  await record(gateway, 'P-1')
  await sign(gateway)
  server.answer(down)
  for (const n of [2, 3, 4, 5]) {
    await record(gateway, `P-${n}`)
    await sign(gateway)
    await pass(gateway, 24 * hourMs)
  }
  t.match(gateway.witnesses.seen(), [{ trouble: { finding: 'unreachable' } }])
  await gateway.health.look()
  const alerts = (await gateway.ask('GET', '/api/alerts', { by: people.ada })).body.data
  t.match(alerts, [{ kind: 'witness.unreachable', subject: 'witness.example/w1' }])
  t.equal(await evidenceOf(gateway, 2).then(({ state }) => state), 'signed')
  const before = server.asked.length
  server.answer(honest[0] as Answering)
  await pass(gateway, hourMs)
  const [question, ...more] = asked(server).slice(before)
  t.match(question, { old: 1 })
  t.equal(sizeOf(question?.note ?? ''), 5)
  t.equal(more.length, 0)
  t.match(gateway.witnesses.seen(), [{ trouble: undefined, forMs: 0 }])
  t.equal(await evidenceOf(gateway, 2).then(({ state }) => state), 'witnessed', 'a later checkpoint covers it')
})

t.test('after a restart only the witness that lacks the newest checkpoint is asked', async (t) => {
  const { gateway, servers, honest } = await site(t, { count: 2 })
  servers[1]?.answer(down)
  await record(gateway, 'P-1')
  await sign(gateway)
  await gateway.witnesses.stop()
  const before = servers.map(({ asked }) => asked.length)
  servers[1]?.answer(honest[1] as Answering)
  const again = await gateway.restart()
  t.teardown(() => again.witnesses.stop())
  again.witnesses.start()
  await again.witnesses.settled()
  t.same(
    servers.map(({ asked }, i) => asked.length - (before[i] ?? 0)),
    [0, 1],
  )
  t.equal((await evidenceOf(again)).witnesses.length, 2)
})

t.test('a witness that has an older size, or lost all it knew, gets the proof from there', async (t) => {
  const { gateway, server, signers, logKey, honest } = await site(t)
  await record(gateway, 'P-1', 'P-2')
  await sign(gateway)
  const reborn = honestly(logKey, signers[0] as Signer)
  server.answer(reborn)
  await record(gateway, 'P-3')
  await sign(gateway)
  t.match(asked(server), [{ old: 0 }, { old: 2 }, { old: 0, proof: { length: 0 } }], 'one that lost everything')
  server.answer(honest[0] as Answering)
  await record(gateway, 'P-4', 'P-5')
  await sign(gateway)
  t.match(asked(server).slice(3), [{ old: 3 }, { old: 2 }], 'one that was put back')
  t.match(await evidenceOf(gateway, 5), { state: 'witnessed' })
})

t.test('a witness that has seen more than this log has raises a loud alert, and nothing is claimed', async (t) => {
  const { gateway, server } = await site(t)
  server.answer(() => ({ status: 409, type: 'text/x.tlog.size', body: '99\n' }))
  await record(gateway, 'P-1')
  await sign(gateway)
  await gateway.health.look()
  const [alert] = (await gateway.ask('GET', '/api/alerts', { by: people.ada })).body.data
  t.match(alert, { kind: 'witness.ahead', message: /has seen 99 leaves of this log, which has only 1.*restored/ })
  t.match(await evidenceOf(gateway), { state: 'signed', witnesses: { length: 0 } })
  const { checks, status } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  t.match({ status, evidence: checks.evidence }, { status: 'degraded', evidence: { reason: /another history/ } })
})

t.test('a witness that has another log of the same size says so, and the alert does too', async (t) => {
  const { gateway, server } = await site(t)
  server.answer(() => ({ status: 409, type: 'text/x.tlog.size; charset=utf-8', body: '1\n' }))
  await record(gateway, 'P-1')
  await sign(gateway)
  t.match(asked(server), [{ old: 0 }, { old: 1, proof: { length: 0 } }])
  t.match(gateway.witnesses.seen(), [{ trouble: { finding: 'other-root' } }])
})

/** A cosignature that states a size which was not asked for. */
const overOther = (signer: Signer, body: string) => {
  const { note } = parseAddCheckpoint(body)
  const [origin, size, root] = note.split('\n')
  return signer.line(`${origin}\n${Number(size) + 1}\n${root}\n`)
}

t.test('a witness that lies, hangs or refuses ends in a finding, loses nothing and blocks nothing', async (t) => {
  const size = 'text/x.tlog.size'
  let own: Signer = newSigner('witness.example/w1', 4)
  const cases: [string, string, Answering][] = [
    ['a signature over another checkpoint', 'bad-signature', (body) => ({ status: 200, body: overOther(own, body) })],
    ['a signature by another key', 'bad-signature', (body) => ({ status: 200, body: strangers(body) })],
    ['no signature lines', 'bad-answer', () => ({ status: 200, body: '<html>' })],
    ['nothing', 'bad-answer', () => ({ status: 200 })],
    ['the same older size for ever', 'confused', () => ({ status: 409, type: size, body: '0\n' })],
    ['another size each time', 'confused', (_, nth) => ({ status: 409, type: size, body: `${nth % 2}\n` })],
    ['a conflict without a size', 'bad-answer', () => ({ status: 409, body: 'later' })],
    ['a size with a sign', 'bad-answer', () => ({ status: 409, type: size, body: '+1\n' })],
    ['unknown log', 'unknown-log', () => ({ status: 404 })],
    ['unknown key', 'unknown-key', () => ({ status: 403 })],
    ['proof refused', 'proof-refused', () => ({ status: 422 })],
    ['elsewhere', 'redirects', () => ({ status: 302, location: 'https://127.0.0.1:1/' })],
    ['broken', 'unavailable', () => ({ status: 500 })],
    ['endless', 'unreachable', () => ({ status: 200, body: Buffer.alloc(1_000_000, 'x') })],
    ['cut', 'unreachable', down],
  ]
  const { gateway, server, honest, signers } = await site(t)
  own = signers[0] as Signer
  await record(gateway, 'P-0', 'P-1')
  for (const [n, [what, finding, answer]] of cases.entries()) {
    server.answer(answer)
    await record(gateway, `Q-${n}`)
    await sign(gateway)
    await pass(gateway, hourMs)
    t.match(gateway.witnesses.seen(), [{ trouble: { finding } }], what)
    t.match(await evidenceOf(gateway), { state: 'signed', witnesses: { length: 0 } }, `${what}: nothing is claimed`)
  }
  const metrics = (await gateway.ask('GET', '/api/metrics', { by: people.ada })).text
  t.match(metrics, /gatehouse_witness_questions_total\{outcome="bad-signature"\} [1-9]/)
  t.match(metrics, /gatehouse_log_witnessed_leaves 0/)
  server.answer(honest[0] as Answering)
  await pass(gateway, hourMs)
  t.match(await evidenceOf(gateway), { state: 'witnessed' })
})

/** A line of the same name by another key. */
const strangers = (body: string) => {
  const { note } = parseAddCheckpoint(body)
  return newSigner('witness.example/w1', 4).line(note.slice(0, note.indexOf('\n\n') + 1))
}

t.test('a witness that never answers is given up after 20 seconds, and a stop does not wait for it', async (t) => {
  const { gateway, server } = await site(t)
  server.answer(() => 'hang')
  await record(gateway, 'P-1')
  await gateway.checkpoints.make()
  await server.got(1)
  gateway.clock.advance(20_000)
  await Promise.race([gateway.witnesses.settled(), record(gateway, 'P-2', 'P-3', 'P-4')])
  t.match(gateway.witnesses.seen(), [{ trouble: { finding: 'unreachable', words: /20 s/ } }])
  gateway.clock.advance(gateway.clock.nextInMs ?? 0)
  await server.got(2)
  await gateway.witnesses.stop()
  t.pass('the stop has ended the question')
})
