import t from 'tap'
import { StoredRoots } from '../../src/hub/feed/stored-tree.ts'
import { connectionOf, HubDatabase } from '../../src/hub/store/database.ts'
import type { HubStatement } from '../../src/hub/store/statement.ts'
import { silentLogger } from '../../src/platform/index.ts'
import { formatAddCheckpoint, openCheckpoint } from '../support/evidence/checkpoint.ts'
import { checkpointText, newSigner, noteOf, type TestLog, testLog } from '../support/evidence/forge.ts'
import { sha256, treeOver } from '../support/evidence/merkle.ts'
import { parseVkey } from '../support/evidence/note.ts'
import { referenceWitness } from '../support/evidence/witness.ts'
import { floorLeaves } from '../support/floor-leaves.ts'
import { feedOf, feedPathOf, type TestHub, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const log = testLog({ leaves: floorLeaves({ count: 20 }) })

function asking(of: TestLog, old: number, size: number, note = of.checkpoint(size), proof = of.tree.proof(old, size)) {
  return formatAddCheckpoint({ old, proof, note })
}

const post = (hub: TestHub, body: string) =>
  hub.ask('POST', '/witness/add-checkpoint', { bytes: Buffer.from(body), headers: { 'Content-Encoding': 'identity' } })

/** Requests of every kind, one after the other. */
const requests: [string, string][] = [
  ['a first checkpoint from a size', asking(log, 3, 7)],
  ['a first checkpoint', asking(log, 0, 7)],
  ['the same again', asking(log, 7, 7)],
  ['from an older size', asking(log, 0, 20)],
  ['a smaller checkpoint', asking(log, 7, 5, undefined, [])],
  ['no proof', asking(log, 7, 20, undefined, [])],
  ['signed by another key', asking(log, 7, 20, testLog({ leaves: log.leaves }).checkpoint(20))],
  ['another log', asking(testLog({ siteId: 'dc-8', size: 20 }), 0, 20)],
  ['no checkpoint', 'old 7\n'],
  ['the next checkpoint', asking(log, 7, 20)],
]

t.test('the head office answers as a witness what the protocol says', async (t) => {
  const hub = await testHub(t, postgres, { hub: { witness: { name: 'hub.example/w1' } } })
  await hub.enrol(log)
  const logs = [log.signers[0].vkey]
  const reference = referenceWitness({ logs, signers: [newSigner('hub.example/w1', 4)], nowSeconds: () => 0n })
  for (const [what, body] of requests) {
    const expected = reference.addCheckpoint(body)
    const answer = await post(hub, body)
    t.equal(answer.status, expected.status, what)
    if (expected.status === 409) t.equal(answer.text, expected.body, `${what}: the size`)
    if (expected.status !== 200) continue
    const [vkey = ''] = (await hub.ask('GET', '/witness/logs')).text.split('\n')
    const note = body.slice(body.indexOf('\n\n') + 2)
    t.equal(openCheckpoint(note + answer.text, [parseVkey(vkey)]).signed.length, 1, `${what}: its signature holds`)
  }
  t.match((await hub.ask('GET', '/witness/logs')).text, `${log.origin} 20 ${log.tree.root(20).toString('base64')}`)
})

t.test('what a feed confirmed and what was asked for is one state', async (t) => {
  const hub = await testHub(t, postgres)
  const token = await hub.enrol(log)
  await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, 0, 7) })
  t.match(await post(hub, asking(log, 0, 12)), { status: 409, text: '7\n' })
  t.equal((await post(hub, asking(log, 7, 12))).status, 200)
  const fed = await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, 7, 9) })
  t.match(fed, { status: 200, body: { size: 9, cosignature: null, witnessed: 12 } }, 'a smaller tree is not confirmed')
  t.match(await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, 9, 20) }), { body: { witnessed: 20 } })
})

t.test('a checkpoint of another history is kept, and the log takes no more feeds', async (t) => {
  const hub = await testHub(t, postgres)
  const token = await hub.enrol(log)
  await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, 0, 7) })
  const other = testLog({ leaves: floorLeaves({ count: 20, seed: 8 }) })
  const note = noteOf(checkpointText(log.origin, 7, other.tree.root(7)), log.signers)
  t.equal((await post(hub, asking(log, 7, 7, note))).status, 409)
  t.match(await hub.rows('SELECT place, sent_note FROM fork_evidence'), [{ place: '7', sent_note: note }])
  t.equal((await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, 7, 9) })).status, 422)
})

t.test(
  'another root for an earlier size is a fork too, kept with the checkpoint that the head office had over it',
  async (t) => {
    const hub = await testHub(t, postgres)
    const token = await hub.enrol(log)
    const over = log.checkpoint(7)
    await hub.ask('POST', feedPathOf(log), { token, body: { ...feedOf(log, 0, 7), checkpoint: over } })
    await post(hub, asking(log, 7, 12))
    await post(hub, asking(log, 12, 20))
    for (const size of [0, 5, 12]) {
      t.match(
        await post(hub, asking(log, size, size)),
        { status: 409, text: '20\n' },
        `an honest one over ${size} leaves`,
      )
    }
    t.same(await hub.rows('SELECT place FROM fork_evidence'), [], 'is no fork')
    const other = testLog({ leaves: floorLeaves({ count: 20, seed: 8 }) })
    const note = noteOf(checkpointText(log.origin, 5, other.tree.root(5)), log.signers)
    t.match(await post(hub, asking(log, 5, 5, note)), { status: 409, text: '20\n' })
    const evidence = { place: '5', kind: 'root', known: log.tree.root(5), known_note: over }
    t.match(await hub.rows('SELECT place, kind, known, known_note, sent_note FROM fork_evidence'), [
      { ...evidence, sent_note: note },
    ])
    t.same(await hub.rows('SELECT type FROM alert'), [{ type: 'log.forked' }])
    t.equal((await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, 7, 9) })).status, 422)
  },
)

t.test('another root for a size that was confirmed ahead of the leaves is a fork', async (t) => {
  const hub = await testHub(t, postgres)
  await hub.enrol(log)
  const known = log.checkpoint(12)
  await post(hub, asking(log, 0, 12, known))
  await post(hub, asking(log, 12, 20))
  const other = testLog({ leaves: floorLeaves({ count: 20, seed: 8 }) })
  const note = noteOf(checkpointText(log.origin, 12, other.tree.root(12)), log.signers)
  t.match(await post(hub, asking(log, 12, 12, note)), { status: 409, text: '20\n' })
  t.match(await hub.rows('SELECT place, known_note, sent_note FROM fork_evidence'), [
    { place: '12', known_note: known, sent_note: note },
  ])
})

t.test('leaves that do not lead to the confirmed checkpoint are a fork', async (t) => {
  const hub = await testHub(t, postgres)
  const token = await hub.enrol(log)
  await post(hub, asking(log, 0, 12))
  const other = testLog({ leaves: floorLeaves({ count: 20, seed: 8 }) })
  const body = {
    ...feedOf(other, 0, 20),
    checkpoint: noteOf(checkpointText(log.origin, 20, other.tree.root(20)), log.signers),
  }
  t.equal((await hub.ask('POST', feedPathOf(log), { token, body })).status, 422)
  t.match(await hub.rows('SELECT place, kind FROM fork_evidence'), [{ place: '12', kind: 'root' }])
})

t.test('for an old note of a long log few rows are read, after those of its full blocks were read once', async (t) => {
  const hub = await testHub(t, postgres)
  const logId = '0190a5c4-3c00-7000-8000-0000000000aa'
  const rootOfBundle = (n: number) => sha256(Buffer.from(`bundle ${n}`))
  await hub.rows(
    `INSERT INTO entry_bundle (log_id, n, width, packed, root)
     SELECT $1, n, 256, '', sha256(('bundle ' || n)::bytea) FROM generate_series(0, 1199) AS n`,
    [logId],
  )
  const db = new HubDatabase({ connection: connectionOf(hub.config.hub.database, 'app'), log: silentLogger() })
  t.teardown(() => db.close())
  let read = 0
  const counted = {
    rows: async <R extends object>(statement: HubStatement, values: readonly unknown[]) => {
      const rows = await db.rows<R>(statement, values)
      read += rows.length
      return rows
    },
  }
  const roots = new StoredRoots()
  for (const [bundles, most] of [
    [1200, 1200],
    [1199, 255],
    [1025, 255],
    [700, 255],
    [3, 255],
  ] as const) {
    read = 0
    const expected = treeOver(Array.from({ length: bundles }, (_, n) => rootOfBundle(n)))
    t.equal(
      (await roots.at(counted, logId, bundles * 256)).toString('hex'),
      expected.toString('hex'),
      `${bundles} bundles`,
    )
    t.ok(read <= most, `${read} rows of ${bundles}`)
  }
})
