import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { HttpListener } from '../../src/http/index.ts'
import { formatAddCheckpoint, openCheckpoint } from '../support/evidence/checkpoint.ts'
import { checkpointText, newSigner, noteOf, type TestLog, testLog } from '../support/evidence/forge.ts'
import { parseVkey } from '../support/evidence/note.ts'
import { referenceWitness } from '../support/evidence/witness.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { certificate } from '../support/receiver.ts'

const name = 'dc-7.example/w1'
const post = (gateway: TestGateway, bytes: string | Uint8Array) =>
  gateway.ask('POST', '/witness/add-checkpoint', { bytes })

async function witness(t: Test, logs: readonly string[], more: Record<string, unknown> = {}): Promise<TestGateway> {
  const gateway = await testGateway({ config: { witness: { enabled: true, name, logs }, ...more } })
  t.teardown(() => gateway.end())
  return gateway
}

/** The body that asks for a checkpoint of a log. */
function asking(
  log: TestLog,
  old: number,
  size: number,
  { note = log.checkpoint(size), proof = log.tree.proof(old, size) } = {},
) {
  return formatAddCheckpoint({ old, proof, note })
}

/** Requests of every kind, one after the other; those with a status are taken. */
function requests(log: TestLog): [string, string][] {
  const fork = testLog({ size: 20, facts: { 3: { assetBarcode: 'P-forged' } } })
  const forked = (size: number) => noteOf(checkpointText(log.origin, size, fork.tree.root(size)), log.signers)
  const [first = ''] = log.tree.proof(7, 20).map((hash) => hash.toString('base64'))
  return [
    ['a first checkpoint from a size', asking(log, 3, 7)],
    ['a first checkpoint', asking(log, 0, 7)],
    ['the same again', asking(log, 7, 7)],
    ['a proof where none belongs', asking(log, 7, 7, { proof: log.tree.proof(3, 7) })],
    ['from an older size', asking(log, 0, 20)],
    ['from a newer size', asking(log, 9, 20)],
    ['a smaller checkpoint', asking(log, 7, 5, { proof: [] })],
    ['a smaller one that says so', asking(log, 3, 5)],
    ['no proof', asking(log, 7, 20, { proof: [] })],
    ['half a proof', asking(log, 7, 20, { proof: log.tree.proof(7, 20).slice(1) })],
    ['another tree', asking(log, 7, 20, { note: forked(20) })],
    ['another tree of the same size', asking(log, 7, 7, { note: forked(7) })],
    ['signed by another key', asking(log, 7, 20, { note: fork.checkpoint() })],
    ['another log', asking(testLog({ siteId: 'dc-8' }), 0, 20)],
    ['no checkpoint', 'old 7\n'],
    ['no old size', log.checkpoint(20)],
    ['an old size with a zero in front', `old 07\n\n${log.checkpoint(20)}`],
    ['a proof in other base64', asking(log, 7, 20).replace(first, first.replace(/=+$/, ''))],
    ['64 lines of proof', asking(log, 7, 20, { proof: Array.from({ length: 64 }, () => Buffer.alloc(32)) })],
    ['a note without a signature', `old 7\n\n${checkpointText(log.origin, 20, log.tree.root(20))}\n`],
    ['the next checkpoint', asking(log, 7, 20)],
  ]
}

t.test('each request is answered as the protocol says, with the state that it says', async (t) => {
  const log = testLog({ size: 20 })
  const gateway = await witness(t, [log.signers[0].vkey])
  const reference = referenceWitness({
    logs: [log.signers[0].vkey],
    signers: [newSigner(name, 4)],
    nowSeconds: () => 0n,
  })
  const statuses = new Set<number>()
  for (const [what, body] of requests(log)) {
    const expected = reference.addCheckpoint(body)
    const answer = await post(gateway, body)
    statuses.add(answer.status)
    t.equal(answer.status, expected.status, what)
    if (expected.status === 409) {
      t.equal(answer.headers.get('content-type'), expected.type, `${what}: the type`)
      t.equal(answer.text, expected.body, `${what}: the size`)
    }
    const [, ...lines] = (await gateway.ask('GET', '/witness/logs')).text.split('\n')
    const latest = reference.latest(log.origin)
    const known = latest ? [`${log.origin} ${latest.size} ${latest.root.toString('base64')}`, ''] : ['']
    t.same(lines, known, `${what}: what it has cosigned`)
  }
  t.same([...statuses].toSorted(), [200, 400, 403, 404, 409, 422])
})

t.test('the cosignature is by the key that is published, and states the time', async (t) => {
  const log = testLog({ size: 5 })
  const gateway = await witness(t, [log.signers[1].vkey])
  const { text } = await post(gateway, asking(log, 0, 5))
  const [vkey = ''] = (await gateway.ask('GET', '/witness/logs')).text.split('\n')
  const { signed } = openCheckpoint(log.checkpoint() + text, [parseVkey(vkey)])
  t.match(signed, [{ vkey: { name, type: 4 }, atSeconds: BigInt(Math.floor(gateway.clock.now() / 1000)) }])
})

t.test('what was cosigned is on disk before the answer, and is known after a restart', async (t) => {
  const log = testLog({ size: 20 })
  const gateway = await witness(t, [log.signers[0].vkey])
  t.equal((await post(gateway, asking(log, 0, 7))).status, 200)
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  t.same(db.prepare('SELECT origin, size FROM witness_log').all(), [{ origin: log.origin, size: 7 }])
  db.close()
  const again = await gateway.restart()
  const { status, text } = await post(again, asking(log, 0, 20))
  t.match({ status, text }, { status: 409, text: '7\n' })
  const [before, after] = [gateway, again].map(({ witness }) => witness.vkey)
  t.equal(after, before, 'its key stays')
})

t.test('of requests that race, only those in order are cosigned, and the size never goes back', async (t) => {
  const log = testLog({ size: 30 })
  const gateway = await witness(t, [log.signers[0].vkey])
  await post(gateway, asking(log, 0, 10))
  const sizes = [30, 20, 25, 11, 30, 12]
  const answers = await Promise.all(sizes.map((size) => post(gateway, asking(log, 10, size))))
  t.same(
    answers.map(({ status }) => status),
    [200, 409, 409, 409, 409, 409],
  )
  t.match((await gateway.ask('GET', '/witness/logs')).text, `${log.origin} 30 `)
})

t.test('two histories of one log are kept as proof and raise an alert', async (t) => {
  const log = testLog({ size: 9 })
  const fork = testLog({ size: 9, facts: { 3: { assetBarcode: 'P-forged' } } })
  const forked = noteOf(checkpointText(log.origin, 9, fork.tree.root()), log.signers)
  const gateway = await witness(t, [log.signers[0].vkey])
  const note = log.checkpoint()
  await post(gateway, asking(log, 0, 9, { note }))
  for (const old of [9, 0, 9])
    t.equal((await post(gateway, asking(log, old, 9, { note: forked, proof: [] }))).status, 409)
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const kept = db.prepare('SELECT origin, size, note, cosigned_note FROM witness_conflict').all()
  db.close()
  t.same(kept, [{ origin: log.origin, size: 9, note: forked, cosigned_note: note }])
  await gateway.health.look()
  const alerts = (await gateway.ask('GET', '/api/alerts', { by: people.ada })).body.data
  t.match(alerts, [{ kind: 'witness.conflict', subject: log.origin, message: /two different histories of 9 leaves/ }])
})

t.test('a gateway is no witness unless its config says so, and then it is limited by address', async (t) => {
  const log = testLog({ size: 3 })
  const off = await testGateway({ config: { witness: { enabled: false, name, logs: [log.signers[0].vkey] } } })
  t.teardown(() => off.end())
  t.equal((await post(off, asking(log, 0, 3))).status, 404)
  t.equal((await off.ask('GET', '/witness/logs')).status, 404)
  const on = await witness(t, [log.signers[0].vkey])
  t.equal((await post(on, Buffer.alloc(300_000, 'x'))).status, 413)
  const statuses: number[] = []
  for (let n = 0; n < 320; n += 1) statuses.push((await post(on, 'old 0\n')).status)
  t.equal(statuses.at(0), 400)
  t.equal(statuses.at(-1), 429)
})

/** A listener with TLS in front of a gateway, and its certificate. */
async function listener(t: Test, folder: string, n: number) {
  const { key, cert } = await certificate()
  const [certFile, keyFile] = [join(folder, `${n}.pem`), join(folder, `${n}.key`)]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  let gateway: TestGateway | undefined
  const api = {
    fetch: (...args: Parameters<TestGateway['api']['fetch']>) => (gateway as TestGateway).api.fetch(...args),
  }
  const options = { host: '127.0.0.1', port: 0, tls: { certFile, keyFile }, allowPlainHttp: false }
  const https = new HttpListener(options, api)
  const port = await https.start()
  t.teardown(() => https.stop())
  return { url: `https://127.0.0.1:${port}/witness`, caFile: certFile, serve: (one: TestGateway) => (gateway = one) }
}

t.test('two gateways witness each other over HTTPS, and a verifier of its own accepts both logs', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pair-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const wires = [await listener(t, folder, 0), await listener(t, folder, 1)]
  const names = ['north.example/w1', 'south.example/w1']
  // Each has to exist before the other knows its keys: the folder stays, the config follows.
  const first = await Promise.all(
    names.map((own) => testGateway({ config: { witness: { enabled: true, name: own } } })),
  )
  const keysOf = async (gateway: TestGateway) => (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  const logKeys = await Promise.all(first.map(keysOf))
  const vkeys = first.map((gateway) => gateway.witness.vkey)
  const pair = await Promise.all(
    first.map(async ({ folder, close }, i) => {
      close()
      const other = 1 - i
      const asked = { name: names[other], vkey: vkeys[other], url: wires[other]?.url, caFile: wires[other]?.caFile }
      const witness = { enabled: true, name: names[i], logs: [logKeys[other].logKey, logKeys[other].logKeyPostQuantum] }
      const gateway = await testGateway({ folder, config: { witness, evidence: { witnesses: [asked] } } })
      wires[i]?.serve(gateway)
      t.teardown(async () => {
        await gateway.witnesses.stop()
        gateway.end()
      })
      await furnish(gateway, ['A'])
      gateway.witnesses.start()
      return gateway
    }),
  )
  for (const [i, gateway] of pair.entries()) {
    for (const asset_barcode of ['P-1', 'P-2']) {
      const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode }
      await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
      await gateway.checkpoints.make()
      await gateway.witnesses.settled()
    }
    const { text } = await gateway.ask('GET', '/api/log/checkpoint', { by: people.vera })
    const { logKey, logKeyPostQuantum } = logKeys[i]
    const known = [logKey, logKeyPostQuantum, vkeys[1 - i]].map(parseVkey)
    const { size, signed } = openCheckpoint(text, known)
    t.match({ size, names: signed.map(({ vkey }) => vkey.type) }, { size: 2, names: [1, 6, 4] })
    const { evidence } = (await gateway.ask('GET', '/api/whms/events/1', { by: people.vera })).body
    t.match(evidence, { state: 'witnessed', witnesses: [{ name: names[1 - i] }] })
  }
})
