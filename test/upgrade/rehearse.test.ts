import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { migrations } from '../../src/database/migrations/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { type RehearsedUpgrade, rehearseUpgrade } from '../../src/upgrade/index.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { gatehouse, nodeOnSources, runToEnd } from '../support/process.ts'

const dayMs = 86_400_000
const previousVersion = join(import.meta.dirname, 'previous-version.ts')

/** The steps of a version to come: it adds a table. @param oldestReader the oldest schema that can still serve then */
const grown = (oldestReader: number) => {
  const newest = migrations.at(-1)?.version ?? 0
  const statements = ['CREATE TABLE pallet_note (id INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT']
  return [...migrations, { version: newest + 1, name: 'pallet notes', oldestReader, statements }]
}
const ours = migrations.at(-1)?.version ?? 0

type Act = readonly [type: string, slot: string, asset: string]

async function record(gateway: TestGateway, ...acts: readonly Act[]): Promise<void> {
  for (const [event_type, slot_code, asset_barcode] of acts) {
    gateway.clock.advance(60_000)
    const photo_url = 'https://photos.example/1.jpg'
    const body = { event_type, slot_code, asset_barcode, photo_url }
    const { status, text } = await gateway.ask('POST', '/api/whms/events', { by: people.sven, body })
    if (status !== 201) throw new Error(`${event_type}: ${status} ${text}`)
  }
}

/** A hall in which a pallet was placed ten days ago; today one is verified, one disputed, one taken away. */
async function hall(t: Test): Promise<TestGateway> {
  const gateway = await testGateway()
  t.teardown(() => rmSync(gateway.folder, { recursive: true, force: true }))
  await furnish(gateway, ['A-01', 'A-02', 'A-03'])
  await record(gateway, ['PLACED', 'A-01', 'P-1'])
  gateway.clock.advance(10 * dayMs)
  await record(gateway, ['PLACED', 'A-02', 'P-2'], ['PLACED', 'A-03', 'P-3'], ['VERIFIED', 'A-02', 'P-2'])
  await record(gateway, ['DISPUTED', 'A-03', 'P-3'], ['REMOVED', 'A-01', 'P-1'])
  return gateway
}

function rehearsed(
  gateway: TestGateway,
  kind: 'same' | 'unlike' | 'early' | `recorded:${string}` | undefined,
  next: typeof migrations = migrations,
): Promise<RehearsedUpgrade> {
  const { dataDir } = gateway.live.config
  return rehearseUpgrade({
    ...{
      dataDir,
      reserveBytes: 1,
      nowMs: gateway.clock.now(),
      windowMs: 7 * dayMs,
      mostEvents: 1000,
      limitMs: 120_000,
    },
    previous: kind && [...nodeOnSources, previousVersion, kind],
    migrations: next,
  })
}

t.test('a version that only adds to the ledger says of every moment what the one before said', async (t) => {
  const gateway = await hall(t)
  const found = await rehearsed(gateway, 'same', grown(ours))
  // Two slots are occupied now; the floor at each of five events; slot and asset of each, as known then and now.
  t.match(found, {
    ok: true,
    reasons: { length: 0 },
    different: 0,
    compared: 2 + 5 + 10,
    wayBack: true,
    acceptBy: null,
  })
  t.match(found, { schema: { from: ours, to: ours + 1 }, previous: { version: '0.9.0' } })
  t.notOk(readdirSync(gateway.live.config.dataDir).includes('upgrade.part'), 'the copy is gone')
  await record(gateway, ['PLACED', 'A-01', 'P-9'])
  t.equal(verifyLedger(gateway.live.config.dataDir).size, 7, 'the gateway served on, and its ledger is untouched')
  gateway.close()
})

t.test('a new version that judges a placement otherwise is stopped, and the placement is named', async (t) => {
  const gateway = await hall(t)
  const found = await rehearsed(gateway, 'unlike')
  t.match(found, { ok: false, wayBack: true, acceptBy: /^[0-9a-f]{12}$/ })
  t.match(found.reasons, [/answers differ from those of the previous version/])
  const named = found.differences.map(({ question, part, previous, next }) => [question, part, previous, next])
  t.strictSame(named[0], ['slot 3 (A-03) now', 'isVerified', true, false])
  t.ok(named.some(([question]) => /^event 5 \(A-03, P-3, 2026-.*\), as known then$/.test(String(question))))
  gateway.close()
})

/** As a binary from before the location by stay printed it, of a ledger with the events of `disorder`. */
const olderStates = join(import.meta.dirname, '../fixtures/upgrade/states-before-location-by-stay.txt')

/** P-1 is overwritten by P-2 and judged then; P-3 is taken out of a slot in which it is not, and overwritten by P-4. */
const disorder: readonly Act[] = [
  ['PLACED', 'A-01', 'P-1'],
  ['PLACED', 'A-01', 'P-2'],
  ['VERIFIED', 'A-01', 'P-1'],
  ['PLACED', 'A-02', 'P-3'],
  ['REMOVED', 'A-03', 'P-3'],
  ['PLACED', 'A-02', 'P-4'],
  ['VERIFIED', 'A-02', 'P-4'],
]

async function disorderlyHall(t: Test): Promise<TestGateway> {
  const gateway = await testGateway()
  t.teardown(() => rmSync(gateway.folder, { recursive: true, force: true }))
  await furnish(gateway, ['A-01', 'A-02', 'A-03'])
  await record(gateway, ...disorder)
  return gateway
}

t.test('a version with another rule for locations takes over where pallets were overwritten', async (t) => {
  const gateway = await disorderlyHall(t)
  const found = await rehearsed(gateway, `recorded:${olderStates}`)
  t.same(found.differences, [])
  t.match(found, { ok: true, reasons: { length: 0 }, different: 0, compared: 2 + 7 + 14, acceptBy: null })
  t.match(found.notes, [/"discrepancies" by another rule.*not compared/, /"location" by another rule.*not compared/])
  gateway.close()
})

t.test('a difference in the state of a slot stops the upgrade from such a version all the same', async (t) => {
  const gateway = await disorderlyHall(t)
  const recorded = readFileSync(olderStates, 'utf8')
  const file = join(gateway.folder, 'said.txt')
  /** The parts that differ when the previous version had said this of P-4, verified in A-02. */
  const partsWhenSaid = async (words: string, other: string) => {
    writeFileSync(file, recorded.replaceAll(words, other))
    const { ok, differences } = await rehearsed(gateway, `recorded:${file}`)
    return [ok, ...new Set(differences.map(({ question, part }) => `${question.replace(/ at .*| \(.*/, '')}: ${part}`))]
  }
  const now = (parts: string) => `slot 2 (A-02) now\t{"isOccupied":true,"assetBarcode":"P-4",${parts}`
  const verified = now('"isVerified":true')
  t.same(await partsWhenSaid(verified, now('"isVerified":false')), [false, 'slot 2: isVerified'])
  t.same(await partsWhenSaid('{"isOccupied":true', '{"isOccupied":false'), [
    false,
    ...['slot 1: isOccupied', 'slot 2: isOccupied'],
    ...[7, 6, 4, 3, 2, 1].map((event) => `event ${event}: isOccupied`),
  ])
  t.same(await partsWhenSaid(verified, now('"isVerified":true,"isBlocked":false')), [false, 'slot 2: isBlocked'])
  gateway.close()
})

t.test('without a previous version that can say its states, the rehearsal says so and compares nothing', async (t) => {
  const gateway = await hall(t)
  const early = await rehearsed(gateway, 'early', grown(ours))
  t.match(early, { ok: true, compared: 0, different: 0, wayBack: false })
  t.match(early.notes, [/has no command that says its states.*computed 17 answers/, /way back is not known/])
  t.match(await rehearsed(gateway, undefined), { ok: true, compared: 0, wayBack: false, previous: null })
  gateway.close()
})

t.test(
  'a step after which the previous version could not serve is refused before the upgrade, not after',
  async (t) => {
    const gateway = await hall(t)
    const found = await rehearsed(gateway, 'same', grown(ours + 1))
    t.match(found, { ok: false, different: 0, wayBack: false })
    t.match(found.reasons, [/no way back.*needs a gatehouse that knows at least schema/])
    gateway.close()
  },
)

t.test('the command rehearses with a real version of gatehouse, and prints what came of it', async (t) => {
  const gateway = await hall(t)
  gateway.close()
  const config = join(gateway.folder, 'gatehouse.yaml')
  const words = ['upgrade', 'rehearse', '--config', config, '--previous', gatehouse, '--days', '9000', '--json']
  const { code, stdout, stderr } = await runToEnd(gatehouse, words)
  t.equal(code, 0, stderr)
  t.match(JSON.parse(stdout), { ok: true, different: 0, wayBack: true, compared: 2 + 6 + 12 })
})

t.test('a rehearsal that the disk has no room for says how much is missing, and leaves nothing', async (t) => {
  const gateway = await hall(t)
  const { dataDir } = gateway.live.config
  const order = { dataDir, nowMs: gateway.clock.now(), windowMs: dayMs, mostEvents: 10, limitMs: 60_000 }
  await t.rejects(rehearseUpgrade({ ...order, previous: undefined, reserveBytes: 2 ** 60 }), /needs \d+ MiB.*are free/)
  t.notOk(readdirSync(dataDir).includes('upgrade.part'))
  gateway.close()
})

t.test('a copy of the ledger that a killed rehearsal left is gone at an erasure and at the next start', async (t) => {
  const gateway = await hall(t)
  const { dataDir } = gateway.live.config
  /** @param pid of the process that works there; beyond the largest that the kernel gives: it is dead */
  const left = (name: string, pid: number) => {
    mkdirSync(join(dataDir, name), { recursive: true })
    writeFileSync(join(dataDir, name, 'pid'), `${pid}\n`)
    writeFileSync(join(dataDir, name, 'gatehouse.db'), 'Dana Dock')
  }
  const parts = () => readdirSync(dataDir).filter((name) => name.endsWith('.part'))
  const dead = 2 ** 30
  left('upgrade.part', process.pid)
  await gateway.erasePerson({ name: 'Dana Dock', texts: true }, 'root')
  t.same(parts(), ['upgrade.part'], 'one that is under way is left alone; it removes its copy itself')
  left('upgrade.part', dead)
  await gateway.erasePerson({ name: 'Dana Dock', texts: true }, 'root')
  t.same(parts(), [])
  left('upgrade.part', dead)
  left('rehearsal.part', dead)
  gateway.close()
  const next = await gateway.restart()
  t.same(parts(), [])
  next.close()
})
