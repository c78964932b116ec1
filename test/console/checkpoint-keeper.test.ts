import t from 'tap'
import { type KeptCheckpoint, keepCheckpoint } from '../../src/console/page/proof/checkpoint-keeper.ts'
import { checkpointText, newSigner, noteOf, testLog } from '../support/evidence/forge.ts'
import { furnish, people, testGateway } from '../support/gateway.ts'

const log = testLog({ size: 21 })
const fork = testLog({ size: 21, facts: { 3: { assetBarcode: 'P-forged' } } })
const vkey = log.signers[0].vkey
const proof = async (from: number, to: number) => log.tree.proof(from, to).map((hash) => hash.toString('base64'))
const forked = (size: number) => noteOf(checkpointText(log.origin, size, fork.tree.root(size)), log.signers)
const never = async (): Promise<string[]> => {
  throw new Error('no proof is needed')
}

async function keptAt(size: number): Promise<KeptCheckpoint> {
  const verdict = await keepCheckpoint({ note: log.checkpoint(size), vkey, kept: undefined, proof: never })
  if (verdict.kind !== 'kept') throw new Error(verdict.words)
  return verdict.kept
}

t.test('a device keeps each checkpoint that continues the one it had, whatever their sizes', async (t) => {
  for (let from = 0; from <= 21; from += 1) {
    for (let to = from; to <= 21; to += 1) {
      const note = log.checkpoint(to)
      const verdict = await keepCheckpoint({ note, vkey, kept: await keptAt(from), proof })
      if (verdict.kind !== 'kept' || verdict.kept.size !== to) t.fail(`${from} to ${to}: ${JSON.stringify(verdict)}`)
    }
  }
  t.match(await keptAt(7), { size: 7, origin: log.origin, root: log.tree.root(7).toString('base64') })
})

t.test('a log that was changed behind what the device saw raises an alarm', async (t) => {
  for (const [from, to] of [
    [4, 9],
    [8, 21],
    [5, 5],
    [7, 20],
    [20, 21],
  ] as const) {
    const kept = await keptAt(from)
    const forkedProof = async () => fork.tree.proof(from, to).map((hash) => hash.toString('base64'))
    for (const one of [proof, forkedProof, async () => []]) {
      const verdict = await keepCheckpoint({ note: forked(to), vkey, kept, proof: one })
      t.match(verdict, { kind: 'alarm', words: new RegExp(`${from} entries then, ${to} now`) })
    }
  }
})

t.test('a proof that is cut, longer or altered proves nothing', async (t) => {
  const kept = await keptAt(7)
  const good = await proof(7, 20)
  const [first = '', ...rest] = good
  const bad = [
    rest,
    [...good, first],
    [...rest, first],
    [Buffer.alloc(32).toString('base64'), ...rest],
    ['x', ...rest],
    [],
  ]
  for (const one of bad) {
    t.match(await keepCheckpoint({ note: log.checkpoint(20), vkey, kept, proof: async () => one }), { kind: 'alarm' })
  }
  t.match(await keepCheckpoint({ note: log.checkpoint(20), vkey, kept, proof: async () => good }), { kind: 'kept' })
})

t.test('only the key that was first seen counts, and only its log', async (t) => {
  const kept = await keptAt(7)
  const text = checkpointText(log.origin, 9, log.tree.root(9))
  const stranger = newSigner(log.origin, 1)
  const strange = noteOf(text, [stranger])
  t.match(await keepCheckpoint({ note: strange, vkey: stranger.vkey, kept, proof }), {
    kind: 'alarm',
    words: /not signed/,
  })
  t.match(await keepCheckpoint({ note: `${text}\n`, vkey, kept, proof }), { kind: 'alarm' })
  t.match(await keepCheckpoint({ note: 'nonsense', vkey, kept, proof }), { kind: 'alarm', words: /cannot be read/ })
  const lying = log.checkpoint(9).replace('\n9\n', '\n8\n')
  t.match(await keepCheckpoint({ note: lying, vkey, kept, proof }), { kind: 'alarm', words: /not signed/ })
  const other = testLog({ siteId: 'dc-8' })
  const another = { note: other.checkpoint(), vkey: other.signers[0].vkey, kept, proof }
  t.match(await keepCheckpoint(another), { kind: 'alarm', words: /another one.*dc-8/ })
  const { words } = { words: '', ...(await keepCheckpoint({ note: log.checkpoint(6), vkey, kept, proof })) }
  t.match(words, /shows 6 entries; this device has seen 7/)
})

t.test('a gateway shows what a device needs, and nothing is decided while it cannot be reached', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const by = people.olga
  const shown = async (kept: KeptCheckpoint | undefined) => ({
    note: (await gateway.ask('GET', '/api/log/checkpoint', { by })).text,
    vkey: (await gateway.ask('GET', '/api/health', { by: people.ada })).body.logKey,
    kept,
    proof: async (from: number, to: number) =>
      (await gateway.ask('GET', `/api/log/consistency?from=${from}&to=${to}`, { by })).body.proof,
  })
  let kept: KeptCheckpoint | undefined
  for (const asset_barcode of ['P-1', 'P-2', 'P-3']) {
    const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode }
    await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
    await gateway.checkpoints.make()
    const verdict = await keepCheckpoint(await shown(kept))
    t.equal(verdict.kind, 'kept')
    kept = verdict.kind === 'kept' ? verdict.kept : undefined
  }
  t.match(kept, { size: 3 })
  const down = { ...(await shown({ ...(kept as KeptCheckpoint), size: 2 })), proof: never }
  await t.rejects(keepCheckpoint(down), { message: 'no proof is needed' })
})
