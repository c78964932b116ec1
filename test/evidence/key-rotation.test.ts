import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { stringify } from 'yaml'
import { rotateThroughDaemon } from '../../src/app/index.ts'
import { startGateway } from '../../src/app/lifecycle.ts'
import { run } from '../../src/cli/run.ts'
import { loadConfig } from '../../src/config/index.ts'
import { databaseFile } from '../../src/database/index.ts'
import {
  acceptFork,
  compareWithKept,
  logKeysOf,
  readVkey,
  verifyLedger,
  verifyStatement,
} from '../../src/evidence/index.ts'
import { silentLogger, systemClock, systemRandom, uuidv7Maker } from '../../src/platform/index.ts'
import { checkBundle } from '../../src/proof/index.ts'
import { type Bundle, canonical, verifyBundle as strangersVerdict } from '../support/evidence/bundle.ts'
import { openCheckpoint } from '../support/evidence/checkpoint.ts'
import { newSigner, noteOf } from '../support/evidence/forge.ts'
import { leafHash, sha256 } from '../support/evidence/merkle.ts'
import { openNote, parseVkey } from '../support/evidence/note.ts'
import { runRecipe, withRecipe } from '../support/evidence/recipe.ts'
import { cheapHash, people, signedIn, siteUrl, type TestGateway } from '../support/gateway.ts'
import { place, signedLedger, withoutGuards } from '../support/tamper.ts'

const by = people.vera
type Pair = readonly [string, string]

async function vkeysOf(gateway: TestGateway): Promise<Pair> {
  const { logKey, logKeyPostQuantum } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  return [logKey, logKeyPostQuantum]
}

const checkpointOf = async (gateway: TestGateway) => (await gateway.ask('GET', '/api/log/checkpoint', { by })).text
async function proofOf(gateway: TestGateway, id: number): Promise<Bundle> {
  await gateway.checkpoints.make()
  return (await gateway.ask('GET', `/api/whms/events/${id}/proof`, { by })).body
}
const signedBy = (note: string, vkey: string) => {
  try {
    return openNote(note, [parseVkey(vkey)]).signed.length === 1
  } catch {
    return false
  }
}
/** Whether a program that knows this key alone takes the bundle, by the independent verifier and by ours. */
const verdicts = async (bundle: Bundle, vkey: string) => [
  strangersVerdict(bundle, { keys: [vkey] }).ok,
  (await checkBundle(crypto.subtle, JSON.stringify(bundle), { keys: [vkey], file: () => undefined })).ok,
]

t.test(
  'the first checkpoint over the hand-over is signed by the old and the new keys, the next by the new',
  async (t) => {
    const gateway = await signedLedger(t)
    const old = await vkeysOf(gateway)
    const rotated = await gateway.rotateKeys('root')
    const now = await vkeysOf(gateway)
    t.strictSame(rotated, { keys: now, previousKeys: old, leaf: 8, checkpointSize: 8 })
    t.equal(new Set([...old, ...now]).size, 4)
    const shared = await checkpointOf(gateway)
    for (const vkey of [...old, ...now]) t.ok(signedBy(shared, vkey), vkey.slice(0, 80))
    t.equal(openCheckpoint(shared, [...old, ...now].map(parseVkey)).size, 8)
    await place(gateway, 9)
    await gateway.checkpoints.make()
    const later = await checkpointOf(gateway)
    t.strictSame(
      [...old, ...now].map((vkey) => signedBy(later, vkey)),
      [false, false, true, true],
    )
    t.match(verifyLedger(gateway.dataDir), {
      ok: true,
      mismatches: { length: 0 },
      signedHeads: { count: 5, areKeysHere: true },
    })
    const trail = await gateway.ask('GET', '/api/governance/audit?action=log.key_rotated', { by: people.ada })
    t.match(trail.body.data, [{ actor: 'root', entity: 'config', changes: { leaf: 8 } }])
  },
)

t.test('nothing that can sign as the old keys is left on the box', async (t) => {
  const gateway = await signedLedger(t)
  const folder = join(gateway.dataDir, 'keys')
  const pem = (name: string) => readFileSync(join(folder, name), 'utf8')
  const old = ['log.key', 'log-mldsa.key'].map(pem)
  await gateway.rotateKeys('root')
  const files = readdirSync(folder)
  t.notOk(files.includes('log-next.key'))
  for (const name of files)
    t.notOk(
      old.some((key) => pem(name).includes(key.trim())),
      name,
    )
})

t.test('who kept the old key and who has the new one both take a proof from before and one from after', async (t) => {
  const gateway = await signedLedger(t)
  const [old] = await vkeysOf(gateway)
  const before = await proofOf(gateway, 1)
  await gateway.rotateKeys('root')
  const [middle] = await vkeysOf(gateway)
  await gateway.rotateKeys('root')
  await place(gateway, 9)
  const [now, nowPostQuantum] = await vkeysOf(gateway)
  t.strictSame(await verdicts(before, old), [true, true], 'a proof that was kept goes on being one')
  for (const id of [1, 7]) {
    const bundle = await proofOf(gateway, id)
    for (const vkey of [old, middle, now, nowPostQuantum]) {
      t.strictSame(await verdicts(bundle, vkey), [true, true], `event ${id} by ${vkey.slice(-50)}`)
    }
    const stranger = newSigner(old.split('+')[0] ?? '', 1)
    t.strictSame(await verdicts(bundle, stranger.vkey), [false, false])
  }
  const { body } = await gateway.ask('GET', '/api/log/keys', { by })
  t.strictSame(body.keys, [now, nowPostQuantum])
  t.strictSame(body.handOvers, (await proofOf(gateway, 7)).handOvers)
})

t.test('with the recipe alone a kept key leads to the new one, and the new one to the proof', withRecipe, async (t) => {
  const gateway = await signedLedger(t)
  const [old] = await vkeysOf(gateway)
  await gateway.rotateKeys('root')
  await place(gateway, 9)
  const bundle = await proofOf(gateway, 7)
  const [handOver] = bundle.handOvers ?? []
  const first = await runRecipe({ file: JSON.stringify(handOver), env: { KEY: old } })
  t.match(first, { status: 0, output: /signature\s+holds/ })
  const { keys } = JSON.parse(Buffer.from(handOver?.leaf ?? '', 'base64').toString())
  t.match(await runRecipe({ file: JSON.stringify(bundle), env: { KEY: keys[0] } }), { status: 0 })
  t.match(await runRecipe({ file: JSON.stringify(bundle), env: { KEY: old } }), { status: 1, output: /no key of/ })
})

t.test(
  'who kept the old key takes a statement about a slot from after a rotation, and no forged way to it',
  withRecipe,
  async (t) => {
    const gateway = await signedLedger(t)
    const [old] = await vkeysOf(gateway)
    await gateway.rotateKeys('root')
    const [now] = await vkeysOf(gateway)
    gateway.clock.advance(60_000)
    const span = [60_000, 0].map((ago) => new Date(gateway.clock.now() - ago).toISOString())
    const path = `/api/whms/slots/1/untouched?from=${span[0]}&to=${span[1]}&format=note`
    const { text } = await gateway.ask('GET', path, { by })
    const holds = async (note: string, ...vkeys: string[]) =>
      (
        await verifyStatement(
          note,
          vkeys.flatMap((vkey) => readVkey(vkey) ?? []),
        )
      ).ok
    t.ok(await holds(text, now))
    t.ok(await holds(text, old))
    t.notOk(await holds(text, newSigner(old.split('+')[0] ?? '', 1).vkey), 'the key of somebody else')
    const statement = JSON.parse(text.split('\n')[1] ?? '')
    t.equal(openNote(text, [parseVkey(now)]).text, `gatehouse untouched statement v1\n${canonical(statement)}\n`)
    const [handOver] = statement.handOvers
    t.match(await runRecipe({ file: JSON.stringify(handOver), env: { KEY: old } }), { status: 0 })

    // Somebody who has stolen nothing signs a statement with his own key and names it as the one that followed.
    const thief = newSigner(old.split('+')[0] ?? '', 1)
    const leaf = Buffer.from(handOver.leaf, 'base64').toString().replace(now, thief.vkey)
    const forged = { ...handOver, leaf: Buffer.from(leaf).toString('base64') }
    const said = { ...statement, key: thief.vkey, handOvers: [forged] }
    const body = `gatehouse untouched statement v1\n${canonical(said)}\n`
    t.notOk(await holds(noteOf(body, [thief]), old))
  },
)

/** The lines of a proof without those of one signer. */
const withoutSigner = (proof: string, vkey: string) => {
  const id = Buffer.from(vkey.split('+')[1] ?? '', 'hex')
  return proof.replace(/^— .*\n/gm, (line) =>
    Buffer.from(line.split(' ')[2] ?? '', 'base64')
      .subarray(0, 4)
      .equals(id)
      ? ''
      : line,
  )
}

t.test('a forged hand-over leads nobody anywhere', async (t) => {
  const gateway = await signedLedger(t)
  const old = await vkeysOf(gateway)
  const { keys: now } = await gateway.rotateKeys('root')
  await place(gateway, 9)
  const good = await proofOf(gateway, 7)
  const other = newSigner(old[0].split('+')[0] ?? '', 1).vkey
  const [first] = good.handOvers ?? []
  if (!first) throw new Error('the bundle has no hand-over')
  const leaf = Buffer.from(first.leaf, 'base64').toString()
  const inLeaf = (from: string, to: string) => Buffer.from(leaf.replace(from, to)).toString('base64')
  const forged: Record<string, unknown> = {
    'names another new key': { ...first, leaf: inLeaf(now[0], other) },
    'names another old key': { ...first, leaf: inLeaf(old[0], other) },
    'is of another kind': { ...first, leaf: inLeaf('log-key', 'log-kez') },
    'has the proof of another leaf': { ...first, tlogProof: good.tlogProof },
    'is the leaf of the event': { ...first, leaf: good.leaf, tlogProof: good.tlogProof },
    'is a number': 7,
  }
  for (const vkey of [...old, ...now])
    forged[`lacks the signature of ${vkey.slice(-40)}`] = { ...first, tlogProof: withoutSigner(first.tlogProof, vkey) }
  for (const [what, handOver] of Object.entries(forged)) {
    const bundle = { ...good, handOvers: [handOver] } as Bundle
    t.strictSame(await verdicts(bundle, old[0]), [false, false], what)
    t.strictSame(await verdicts(bundle, now[0]), [false, false], `${what}, for who knows the new key`)
  }
  const { handOvers: _, ...bare } = good
  t.strictSame(await verdicts(bare, old[0]), [false, false], 'without a hand-over the old key knows nothing')
  t.strictSame(await verdicts(bare, now[0]), [true, true])
})

t.test('a later key vouches for no earlier one: a stolen old key signs nothing more', async (t) => {
  const gateway = await signedLedger(t)
  const before = await proofOf(gateway, 1)
  await gateway.rotateKeys('root')
  const [now] = await vkeysOf(gateway)
  const { handOvers } = await proofOf(gateway, 1)
  t.strictSame(await verdicts({ ...before, handOvers } as Bundle, now), [false, false])
})

/** Somebody appends the leaf and the row of a hand-over, with every hash right, and restarts the gateway. */
function forgeHandOver(gateway: TestGateway & { readonly dataDir: string }, previousKeys: Pair, keys: Pair): void {
  const { logId } = gateway.logIdentity
  const eventId = '0190a5c4-3c01-7000-8000-00000000000d'
  const facts = { eventId, id: 1, timestamp: '2026-03-02T08:00:00.000Z', previousKeys, keys }
  const bytes = Buffer.from(canonical({ ...facts, v: 2, kind: 'log-key', logId, siteId: 'test-site', seq: 8 }))
  const db = new BetterSqlite3(databaseFile(gateway.dataDir))
  db.prepare(`INSERT INTO log_leaf VALUES (8, 1, 8, 'log-key', '1', ?, ?)`).run(bytes, leafHash(bytes))
  const atMs = Date.parse(facts.timestamp)
  const row = [1, eventId, ...previousKeys, ...keys, atMs, 1, 8, 2, sha256(bytes).toString('hex')]
  db.prepare(`INSERT INTO log_key VALUES (${row.map(() => '?').join(', ')})`).run(...row)
  db.close()
}

t.test('a leaf that hands the log over to a key that never signed is found, and nothing more is signed', async (t) => {
  const gateway = await signedLedger(t)
  const old = await vkeysOf(gateway)
  const name = old[0].split('+')[0] ?? ''
  gateway.close()
  forgeHandOver(gateway, old, [newSigner(name, 1).vkey, newSigner(name, 6).vkey])
  const named = { where: 'leaf 8', what: 'hands the log over to keys that are not here and have signed nothing' }
  t.strictSame(verifyLedger(gateway.dataDir).mismatches, [named])
  const again = await gateway.restart()
  t.teardown(() => again.end())
  await t.rejects(again.checkpoints.make(), { code: 'NOT_READY' })
  t.equal(again.checkpoints.stopped, 'other-keys')
  await t.rejects(again.rotateKeys('root'), { code: 'NOT_READY' }, 'and no new keys are made over it')
  t.strictSame(verifyLedger(gateway.dataDir).mismatches, [named])
})

t.test('a head over a hand-over that the old or the new keys did not sign is named', async (t) => {
  const gateway = await signedLedger(t)
  const old = await vkeysOf(gateway)
  const { keys: now } = await gateway.rotateKeys('root')
  gateway.close()
  const findings = (vkey: string) => {
    withoutGuards(gateway.dataDir, (db) => {
      const note = db.prepare('SELECT note FROM log_checkpoint WHERE size = 8').pluck().get() as string
      db.prepare('UPDATE log_checkpoint SET note = ? WHERE size = 8').run(withoutSigner(note, vkey))
    })
    return verifyLedger(gateway.dataDir).mismatches.map(({ what }) => what)
  }
  t.strictSame(findings(now[1]), ['the ML-DSA-44 key to which leaf 8 hands the log over did not sign it'])
  t.strictSame(findings(old[0]).toSorted(), [
    'the Ed25519 key that handed the log over did not sign it',
    'the ML-DSA-44 key to which leaf 8 hands the log over did not sign it',
  ])
})

t.test('a kept checkpoint is compared by the key of its time, and a key that was kept by where it leads', async (t) => {
  const gateway = await signedLedger(t)
  const [old] = await vkeysOf(gateway)
  const kept = await checkpointOf(gateway)
  await gateway.rotateKeys('root')
  await place(gateway, 9)
  await gateway.checkpoints.make()
  const newest = await checkpointOf(gateway)
  const keys = [readVkey(old) as never]
  for (const [note, known] of [
    [kept, undefined],
    [newest, undefined],
    [kept, keys],
    [newest, keys],
  ] as const) {
    t.match(await compareWithKept(gateway.dataDir, note, known), { holds: true })
  }
  t.notOk(existsSync(join(gateway.dataDir, 'keys', 'log-next.key')))
})

t.test('at the box: the command rotates while no daemon runs, and prints what witnesses need', async (t) => {
  const gateway = await signedLedger(t)
  const old = await vkeysOf(gateway)
  gateway.close()
  const config = join(gateway.folder, 'gatehouse.yaml')
  t.equal(await run(['ledger', 'key', '--rotate', '--json', '--config', config]), 0)
  const now = logKeysOf(gateway.dataDir)
  t.equal(new Set([...old, ...now]).size, 4)
  t.match(verifyLedger(gateway.dataDir), { ok: true, mismatches: { length: 0 } })
})

t.test('through the control socket the running daemon rotates', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-rotation-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'gatehouse.yaml')
  const users = [{ username: by.username, role: by.role, secretHash: cheapHash('vera-secret') }]
  const site = { id: 'dc-7', url: siteUrl }
  const listen = [{ host: '127.0.0.1', port: 0 }]
  writeFileSync(file, stringify({ site, listen, dataDir: 'state', runtimeDir: 'run', auth: { users } }))
  const { config } = loadConfig(file)
  const outside = { clock: systemClock, random: systemRandom, log: silentLogger(), version: '1', configFile: file }
  const running = await startGateway(config, outside, undefined)
  t.teardown(() => running.stop())
  await running.gateway.checkpoints.make()
  const { keys, previousKeys } = await rotateThroughDaemon(config.runtimeDir, { by: 'root' })
  t.equal(new Set([...keys, ...previousKeys]).size, 4)
  const health = await running.gateway.api.request('/api/health', { headers: signedIn(by) })
  t.match(await health.json(), { logKey: keys[0], logKeyPostQuantum: keys[1] })
})

t.test('a log that forked from a rotated one is rotated again, and the heads of both are verified', async (t) => {
  const gateway = await signedLedger(t)
  await gateway.rotateKeys('root')
  gateway.close()
  const nowMs = gateway.clock.now()
  acceptFork(gateway.dataDir, { makeId: uuidv7Maker(gateway.clock, systemRandom), nowMs })
  const again = await gateway.restart()
  t.teardown(() => again.end())
  await again.checkpoints.make()
  await again.rotateKeys('root')
  await place(again, 9)
  await again.checkpoints.make()
  t.match(verifyLedger(gateway.dataDir), { ok: true, mismatches: { length: 0 } })
  const proof = await again.ask('GET', '/api/whms/events/1/proof', { by })
  t.match(strangersVerdict(proof.body), { ok: true }, 'a row of the parent is proved by the keys of its time')
  again.close()
  withoutGuards(gateway.dataDir, (db) => {
    const note = db.prepare('SELECT note FROM log_checkpoint WHERE log_id = 1 AND size = 4').pluck().get() as string
    const changed = note.replace(/(— \S+ .{12})(.)/, (_, head, one) => head + (one === 'A' ? 'B' : 'A'))
    db.prepare('UPDATE log_checkpoint SET note = ? WHERE log_id = 1 AND size = 4').run(changed)
  })
  t.match(verifyLedger(gateway.dataDir).mismatches, [
    { where: /^checkpoint over 4 leaves/, what: 'its Ed25519 signature does not verify' },
  ])
})
