import t from 'tap'
import { checkpointText, noteOf, type TestLog, testLog } from '../support/evidence/forge.ts'
import { askAs, headOffice } from '../support/head-office.ts'
import { feedOf, feedPathOf, partsOf, peaksOf, type TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const [siteId, logId] = ['dc-9', '0190a5c4-3c00-7000-8000-000000000099']

const send = (hub: TestHub, token: string, log: TestLog, from: number, end: number) =>
  hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, end) })

async function storedOf(hub: TestHub): Promise<Buffer[]> {
  const rows = await hub.rows('SELECT packed FROM entry_bundle WHERE log_id = $1 ORDER BY n', [logId])
  return rows.map(({ packed }) => packed as Buffer)
}

/** How a bundle is divided: leaves of each part. */
const leavesOf = (packed: Buffer | undefined) =>
  partsOf(packed ?? Buffer.alloc(0)).map((entries) => {
    let count = 0
    for (let at = 0; at < entries.length; at += 2 + entries.readUInt16BE(at)) count += 1
    return count
  })

t.test(
  'leaves are written behind those that are stored, which are not packed again until the bundle is full',
  async (t) => {
    const hub = await headOffice(t, postgres)
    const log = testLog({ siteId, logId, size: 300 })
    const token = await hub.enrol(log)
    const feed = async (from: number, end: number) =>
      t.match(await send(hub, token, log, from, end), { status: 200, body: { size: end, witnessed: end } })
    await feed(0, 20)
    const [before] = await storedOf(hub)
    await feed(20, 45)
    const [after] = await storedOf(hub)
    t.ok(before && after?.subarray(0, before.length).equals(before), 'what was stored stays as it is')
    t.same(leavesOf(after), [20, 25])
    await feed(45, 46)
    t.same(
      leavesOf((await storedOf(hub))[0]),
      [46],
      'a few are packed with those before them, so parts do not become many',
    )
    await feed(46, 70)
    await feed(60, 90)
    t.same(leavesOf((await storedOf(hub))[0]), [90], 'so are those that come with leaves that are known')
    for (const [from, end] of [
      [90, 120],
      [120, 240],
      [240, 256],
      [256, 300],
    ] as const)
      await feed(from, end)
    const [full, begun] = await storedOf(hub)
    t.same([leavesOf(full), leavesOf(begun)], [[256], [44]])
    const bytes = [full, begun].flatMap((packed) => partsOf(packed as Buffer))
    const entries = log.leaves.flatMap((leaf) => [Buffer.of(leaf.length >> 8, leaf.length & 255), leaf])
    t.ok(Buffer.concat(bytes).equals(Buffer.concat(entries)), 'every byte')
  },
)

t.test('leaves of each part are proved, known when they come again, and a fork in one is caught', async (t) => {
  const hub = await headOffice(t, postgres)
  const log = testLog({ siteId, logId, size: 100 })
  const token = await hub.enrol(log)
  for (const [from, end] of [
    [0, 20],
    [20, 40],
    [40, 80],
  ] as const)
    t.match(await send(hub, token, log, from, end), { status: 200 })
  t.same(leavesOf((await storedOf(hub))[0]), [20, 20, 40])
  for (const seq of [1, 20, 21, 40, 41, 80]) {
    const { body } = await askAs(hub, `/api/hub/logs/${logId}/entries/${seq}`, 'sven')
    t.equal(body.leaf, log.leaves[seq - 1]?.toString('base64'), `leaf ${seq}`)
    const path = testLog({ siteId, logId, leaves: log.leaves.slice(0, 80) })
      .tree.path(seq - 1)
      .map((hash) => hash.toString('base64'))
    t.same(body.tlogProof.split('\n\n')[0].split('\n').slice(2), path)
  }
  t.match(await send(hub, token, log, 10, 80), { status: 200, body: { size: 80 } }, 'all of it again')
  const forged = log.leaves.map((leaf, i) => (i === 30 ? Buffer.from(leaf.toString().replace('P-', 'Q-')) : leaf))
  const other = testLog({ siteId, logId, leaves: forged })
  const note = noteOf(checkpointText(log.origin, 100, other.tree.root(100)), log.signers)
  const body = { ...feedOf(other, 25, 100), checkpoint: note, before: peaksOf(forged, 25) }
  t.match(await hub.ask('POST', feedPathOf(log), { token, body }), { status: 422, body: { code: 'LOG_FORKED' } })
  t.match(await hub.rows('SELECT place, kind FROM fork_evidence'), [{ place: '31', kind: 'leaf' }])
})
