import t from 'tap'
import { verifyBundle } from '../support/evidence/bundle.ts'
import { formatAddCheckpoint } from '../support/evidence/checkpoint.ts'
import { checkpointText, newSigner, noteOf, type TestLog, testLog } from '../support/evidence/forge.ts'
import { askAs, continuation, headOffice } from '../support/head-office.ts'
import { feedOf, feedPathOf, type TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const minuteMs = 60_000

const [siteId, logId] = ['dc-9', '0190a5c4-3c00-7000-8000-000000000099']
/** A log that signs each size once: the second signature is another one each time. */
function logOf(size: number): TestLog {
  const log = testLog({ siteId, logId, size })
  const signed = new Map<number, string>()
  const checkpoint = (of = size) => {
    const note = signed.get(of) ?? log.checkpoint(of)
    signed.set(of, note)
    return note
  }
  return { ...log, checkpoint }
}
/** A log of the same name that tells something else from its first leaf on. */
const otherOf = (size: number) => testLog({ siteId, logId, size, facts: { 0: { assetBarcode: 'Q-1' } } })

const send = (hub: TestHub, token: string, log: TestLog, from: number, end: number, size = end) =>
  hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, end, size) })

const witnessed = (hub: TestHub, log: TestLog, old: number, size: number) => {
  const bytes = Buffer.from(formatAddCheckpoint({ old, proof: log.tree.proof(old, size), note: log.checkpoint(size) }))
  return hub.ask('POST', '/witness/add-checkpoint', { bytes, headers: { 'Content-Encoding': 'identity' } })
}

const keptOf = async (hub: TestHub, of = logId) =>
  (await hub.rows('SELECT size FROM checkpoint WHERE log_id = $1 ORDER BY size', [of])).map(({ size }) => Number(size))

/** Asks for a leaf, and returns the size of the tree that its proof is of; undefined without a proof that holds. */
async function provedSize(hub: TestHub, log: TestLog, seq: number): Promise<number | undefined> {
  const { status, body } = await askAs(hub, `/api/hub/logs/${log.logId}/entries/${seq}`, 'sven')
  if (status !== 200 || !verifyBundle(body, { keys: [log.signers[0].vkey] }).ok) return undefined
  if (body.leaf !== log.leaves[seq - 1]?.toString('base64') || !body.tlogProof.includes('\n— hub.example/w1 '))
    return undefined
  return Number(body.tlogProof.split(`${log.origin}\n`)[1]?.split('\n')[0])
}

const office = (t: Parameters<typeof headOffice>[0]) =>
  headOffice(t, postgres, { hub: { witness: { name: 'hub.example/w1' } } })

t.test('of the checkpoints of an hour the last is kept, and each leaf is proved under the newest', async (t) => {
  const hub = await office(t)
  const log = logOf(300)
  const token = await hub.enrol(log)
  // From 08:00 on, every 10 minutes: six in each hour.
  for (let i = 0; i < 15; i += 1) {
    t.match(await send(hub, token, log, i * 20, i * 20 + 20), { status: 200, body: { witnessed: i * 20 + 20 } })
    t.equal(await provedSize(hub, log, i * 20 + 1), i * 20 + 20, 'proved at once')
    hub.clock.advance(10 * minuteMs)
  }
  t.same(await keptOf(hub), [120, 240], 'those of 08:50 and 09:50')
  t.same(await hub.rows('SELECT seen_at, root, note FROM checkpoint WHERE size = 120'), [
    { seen_at: new Date('2026-03-02T08:50:00Z'), root: log.tree.root(120), note: log.checkpoint(120) },
  ])
  for (const seq of [1, 120, 121, 256, 257, 300]) t.equal(await provedSize(hub, log, seq), 300, `leaf ${seq}`)
})

t.test(
  'a checkpoint ahead of the leaves leaves the one before it in use, and none that lies ahead is lost',
  async (t) => {
    const hub = await office(t)
    const log = logOf(60)
    const token = await hub.enrol(log)
    await send(hub, token, log, 0, 10)
    t.equal((await witnessed(hub, log, 10, 40)).status, 200)
    t.equal(await provedSize(hub, log, 10), 10)
    t.equal((await witnessed(hub, log, 40, 60)).status, 200)
    t.same(await keptOf(hub), [10, 40])
    const other = otherOf(60)
    t.match(await send(hub, token, log, 10, 30, 60), { status: 200, body: { size: 30, witnessed: 60 } })
    const note = noteOf(checkpointText(log.origin, 40, other.tree.root(40)), log.signers)
    const answer = await hub.ask('POST', feedPathOf(log), { token, body: { checkpoint: note, from: 30, leaves: [] } })
    t.equal(answer.status, 422)
    t.match(await hub.rows('SELECT place, known_note FROM fork_evidence'), [
      { place: '40', known_note: log.checkpoint(40) },
    ])
    t.same(await keptOf(hub), [10, 40, 60], 'with the end of the log')
  },
)

t.test('another root for any size is a fork, though no checkpoint of that size was kept', async (t) => {
  const hub = await office(t)
  const log = logOf(600)
  const token = await hub.enrol(log)
  for (const size of [100, 300, 600]) await send(hub, token, log, size === 100 ? 0 : size === 300 ? 100 : 300, size)
  t.same(await keptOf(hub), [])
  for (const size of [1, 100, 256, 299, 512]) {
    const body = { checkpoint: log.checkpoint(size), from: size, leaves: [] }
    t.equal((await hub.ask('POST', feedPathOf(log), { token, body })).status, 200, `its own root of ${size}`)
  }
  const note = noteOf(checkpointText(log.origin, 299, otherOf(600).tree.root(299)), log.signers)
  const forged = { checkpoint: note, from: 299, leaves: [] }
  t.match(await hub.ask('POST', feedPathOf(log), { token, body: forged }), {
    status: 422,
    body: { code: 'LOG_FORKED' },
  })
  t.match(await hub.rows('SELECT place, kind, known, known_note, sent_note FROM fork_evidence'), [
    { place: '299', kind: 'root', known: log.tree.root(299), known_note: log.checkpoint(600), sent_note: note },
  ])
  t.same(await keptOf(hub), [600])
})

t.test(
  'the end of a log and each change of its keys are kept, and a parent that is named otherwise is told',
  async (t) => {
    const hub = await office(t)
    const young = logOf(40)
    const keys = [newSigner(young.origin, 1), newSigner(young.origin, 6)] as const
    const [previousKeys, next] = [young.signers, keys].map((all) => all.map(({ vkey }) => vkey))
    const leaf = { v: 2, kind: 'log-key', siteId, logId, seq: 11, previousKeys, keys: next }
    const leaves = young.leaves.map((bytes, i) => (i === 10 ? Buffer.from(JSON.stringify(leaf)) : bytes))
    const log = { ...testLog({ siteId, logId, leaves }), signers: keys }
    const note = (size: number, signers: TestLog['signers']) =>
      noteOf(checkpointText(log.origin, size, log.tree.root(size)), signers)
    const token = await hub.enrol(young)
    for (const [from, end, signers] of [
      [0, 10, young.signers],
      [10, 15, young.signers],
      [15, 20, keys],
      [20, 40, keys],
    ] as const) {
      const body = { ...feedOf(log, from, end), checkpoint: note(end, signers) }
      t.match(await hub.ask('POST', feedPathOf(log), { token, body }), { status: 200, body: { size: end } })
    }
    t.same(await keptOf(hub), [15])
    await hub.rows('UPDATE log_head SET vkeys = NULL WHERE log_id = $1', [logId])
    const childId = '0190a5c4-3c00-7000-8000-00000000009a'
    const lie = { ...log, tree: otherOf(40).tree }
    const child = await continuation(hub, lie, 30, childId, [['09:00', 'PLACED', 1, 'P-1']])
    t.equal((await send(hub, token, child, 0, 2)).status, 200)
    t.same(await keptOf(hub), [15, 40])
    const alerts = await hub.rows('SELECT type FROM alert WHERE log_id = $1 ORDER BY type', [logId])
    t.same(alerts, [{ type: 'log.leaves-behind-fork' }, { type: 'log.parent-differs' }])
  },
)
